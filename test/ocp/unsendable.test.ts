import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import PostalMime from 'postal-mime'
import { createGuest } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { useOwner } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { deliverAll, useMailPeer } from '../support/messages.ts'

describe('messages that cannot be sent, or should not be read as written', () => {
  const mail = useMailPeer()
  const own = useOwner({ units: 4 }, { anew: false, more: () => ({}) })
  const send = (method: string, path: string, body: unknown = {}) => own.owner.send(method, `ocp/${path}`, body)
  const said = ({ status, body }: Reply) => [status, body.code]
  const good = ({ status, body }: Reply, wanted = 200) => {
    expect(status, JSON.stringify(body)).to.equal(wanted)
    return body
  }

  /** A published template for guests, with one content for mail. */
  const published = async (content: object): Promise<string> => {
    const { id } = good(
      await send('POST', 'templates', {
        key: `k-${randomUUID().slice(0, 8)}`,
        name: 'A template',
        purpose: 'service',
        urgency: 'normal',
        context: 'guest',
        contents: [
          {
            channel: 'email',
            locale: 'en',
            subject: 'Hello',
            text: 'Dear {{guest.firstName | default:"guest"}}',
            ...content,
          },
        ],
      }),
      201,
    )
    good(await send('POST', `templates/${id}/publish`))
    return id as string
  }

  before(() =>
    own.house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    ),
  )

  it('an address is refused once, more strictly at the most, and each such step is told', async () => {
    const refuse = async (scope: string) =>
      good(await send('POST', 'suppressions', { kind: 'email', address: 'twice@example.com', scope }), 201).id as string
    const ids = [await refuse('marketing'), await refuse('marketing'), await refuse('all'), await refuse('marketing')]
    expect(new Set(ids).size).to.equal(1)
    const told = await own.house.inHouse((trx) =>
      sql<{ scope: string }>(
        trx,
        `select data ->> 'scope' as scope from event where type = 'suppression.added' and data ->> 'suppressionId' = ? order by occurred_at, id`,
        [ids[0] ?? ''],
      ),
    )
    expect(told.map(({ scope }) => scope)).to.deep.equal(['marketing', 'all'])
  })

  it('tells at once what cannot be sent', async () => {
    const { propertyId } = own.house
    const message = (more: object) => send('POST', 'messages', { propertyId, text: { text: 'Hello' }, ...more })
    const to = (recipient: object) => ({ recipient: { name: 'Ana', ...recipient } })
    const plan = (channel: string) => ({ plan: [{ channel, waitMinutes: 30 }] })
    expect(said(await message({ ...to({ email: 'a@example.com' }), ...plan('sms') }))).to.deep.equal([
      422,
      'no_channel',
    ])
    await own.house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
    await own.house.inHouse((trx) => sql(trx, `update message_channel set countries = '{BR}' where kind = 'sms'`))
    expect(said(await message({ ...to({ email: 'a@example.com' }), ...plan('sms') }))).to.deep.equal([
      422,
      'recipient_missing',
    ])
    expect(said(await message({ ...to({ phone: '+351912345678' }), ...plan('sms') }))).to.deep.equal([
      422,
      'country_not_allowed',
    ])
    good(await send('POST', 'suppressions', { kind: 'email', address: 'no@example.com', scope: 'all' }), 201)
    expect(said(await message({ ...to({ email: 'no@example.com' }), ...plan('email') }))).to.deep.equal([
      422,
      'recipient_suppressed',
    ])
    const attachments = [{ name: 'map.pdf', content: 'JVBERi0=' }]
    expect(said(await message({ ...to({ email: 'a@example.com' }), attachments }))).to.deep.equal([
      400,
      'validation_failed',
    ])
    for (const email of ['a@b.com\r\nBcc:x@y.z', 'a@b.com,x@y.z', '"a@x" <b@y>'])
      expect((await message(to({ email }))).status, email).to.equal(400)
    expect((await message({})).status).to.equal(400)
    expect((await message({ ...to({ email: 'a@b.com' }), guestId: randomUUID() })).status).to.equal(400)
  })

  it('has no content of the template for any channel of the plan', async () => {
    const { propertyId } = own.house
    const templateId = await published({})
    const guestId = await own.house.inHouse((trx) =>
      createGuest(trx, {
        firstName: 'Ana',
        lastName: 'Souza',
        phone: '+5524999990000',
        source: 'staff',
        language: 'en',
      } as never),
    )
    const plan = [{ channel: 'sms', waitMinutes: 30 }]
    expect(said(await send('POST', 'messages', { propertyId, guestId, templateId, plan }))).to.deep.equal([
      422,
      'no_channel',
    ])
  })

  it('shows the name of a guest as text, whatever is in it', async () => {
    const firstName = `<img src=x onerror="alert(1)">`
    const email = 'html@example.com'
    const guestId = await own.house.inHouse((trx) =>
      createGuest(trx, { firstName, lastName: '<b>Bold</b>', email, source: 'staff', language: 'en' } as never),
    )
    const templateId = await published({
      html: '<p>Dear {{guest.firstName | default:"guest"}} {{guest.lastName | default:""}}</p>',
    })
    good(await send('POST', 'messages', { propertyId: own.house.propertyId, guestId, templateId }), 201)
    await deliverAll()
    const taken = mail.peer.mails.find(({ recipients }) => recipients.includes(email))
    const { html = '' } = await PostalMime.parse(taken?.source ?? '')
    expect(html).to.contain('&lt;img')
    expect(html).not.to.contain('<img')
    expect(html).not.to.contain('<b>Bold')
  })
})
