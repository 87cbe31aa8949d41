import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createGuest } from '../../db/guests/index.ts'
import { createIssue } from '../../db/issues/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { suppress } from '../../db/ocp/index.ts'
import { useOwner } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { useMailPeer } from '../support/messages.ts'
import { channelOf, makeTemplate } from './records.ts'

describe('What a house is not let write', function () {
  this.timeout(60_000)
  useMailPeer()
  const own = useOwner({ units: 2 }, { anew: false, more: () => ({}) })
  const send = (method: string, path: string, body: unknown = {}) => own.owner.send(method, `ocp/${path}`, body)
  const good = ({ status, body }: Reply, wanted = 200) => {
    expect(status, JSON.stringify(body)).to.equal(wanted)
    return body
  }
  const said = ({ status, body }: Reply) => [status, body.code]
  const plan = [{ channel: 'email', waitMinutes: 30 }]
  const message = (more: object) =>
    send('POST', 'messages', {
      propertyId: own.house.propertyId,
      recipient: { name: 'Ana', email: `${randomUUID()}@example.com` },
      text: { subject: 'Your question', text: 'Yes.' },
      plan,
      ...more,
    })
  const template = (more: object = {}) =>
    send('POST', 'templates', {
      key: `k-${randomUUID().slice(0, 8)}`,
      name: 'A template',
      purpose: 'service',
      urgency: 'normal',
      context: 'reservation',
      contents: [{ channel: 'email', locale: 'en', subject: 'Hello', text: 'Dear guest' }],
      ...more,
    })

  it('a number of a card, wherever it stands', async () => {
    const card = '4111 1111 1111 1111'
    expect(said(await message({ text: { subject: 'Paid', text: `By ${card}.` } }))).to.deep.equal([
      400,
      'card_data_refused',
    ])
    const contents = [{ channel: 'email', locale: 'en', subject: 'Hello', text: `Pay with ${card}` }]
    expect(said(await template({ contents }))).to.deep.equal([400, 'card_data_refused'])
  })

  it('a template of a stay to somebody without one, one that is no text of the channel, and two of a key', async () => {
    const { id, key } = good(await template(), 201)
    good(await send('POST', `templates/${id}/publish`))
    expect(said(await message({ text: undefined, templateId: id }))).to.deep.equal([422, 'context_mismatch'])
    expect(said(await template({ key }))).to.deep.equal([409, 'duplicate_key'])
    const wordless = [{ channel: 'sms', locale: 'en', subject: 'Hello' }]
    expect((await template({ contents: wordless })).status).to.equal(400)
    expect((await template({ contents: [{ channel: 'whatsapp', locale: 'en', text: 'Hello' }] })).status).to.equal(400)
    const twice = Array.from({ length: 2 }, () => ({ channel: 'email', locale: 'en', subject: 'Hi', text: 'Hi' }))
    expect((await template({ contents: twice })).status).to.equal(400)
  })

  it('a template away that an automation uses', async () => {
    const { id } = good(await template(), 201)
    good(await send('POST', `templates/${id}/publish`))
    const automation = { name: `Ours ${id}`, trigger: { event: 'reservation.confirmed' }, templateId: id, plan }
    const { id: automationId } = good(await send('POST', 'automations', automation), 201)
    expect(said(await send('POST', `templates/${id}/archive`))).to.deep.equal([422, 'template_in_use'])
    good(await send('PATCH', `automations/${automationId}`, { enabled: false }))
    good(await send('POST', `templates/${id}/archive`))
  })

  it('from a number that is no sender of its own account', async () => {
    const id = await channelOf(own.house, 'sms')
    const change = (more: object) => send('PATCH', `channels/${id}`, more)
    const senderAddress = '+5524999990000'
    expect((await change({ transport: 'platform', senderAddress })).status).to.equal(400)
    expect((await change({ senderAddress: 'hello@sol.example' })).status).to.equal(400)
    expect(good(await change({ transport: 'sandbox', senderAddress }))).to.include({ senderAddress })
    const mail = await channelOf(own.house, 'email')
    expect((await send('PATCH', `channels/${mail}`, { senderAddress })).status).to.equal(400)
  })

  it('of an issue that the house does not have; of one that it has, to its guest', async () => {
    const contents = [
      { channel: 'email', locale: 'en', subject: 'Told', text: '{{issue.number}}: {{issue.title | default:"-"}}' },
    ]
    const { id: templateId } = good(await template({ context: 'issue', contents }), 201)
    good(await send('POST', `templates/${templateId}/publish`))
    const issueId = await own.house.inHouse(async (trx) => {
      const guestId = await createGuest(trx, { firstName: 'Rui', source: 'staff', email: 'rui@example.com' } as never)
      const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = 'equipment'`)
      const { propertyId } = own.house
      const issue = {
        propertyId,
        categoryId: category?.id ?? '',
        title: 'A lamp',
        priority: 'normal' as const,
        guestId,
      }
      return createIssue(trx, issue)
    })
    const about = (id: string | undefined) =>
      message({ text: undefined, recipient: undefined, templateId, ...(id ? { data: { issueId: id } } : {}) })
    expect((await about(undefined)).status).to.equal(400)
    expect(said(await about(randomUUID()))).to.deep.equal([422, 'reference_not_found'])
    expect(good(await about(issueId), 201)).to.include({ issueId, status: 'queued' })
    expect((await message({ data: { guestAccessCodeId: randomUUID() } })).status).to.equal(400)
  })

  it('to somebody again who has complained', async () => {
    const suppressionId = await own.house.inHouse((trx) =>
      suppress(trx, { kind: 'email', address: 'cross@example.com', scope: 'all', cause: 'complaint', messageId: null }),
    )
    expect(said(await send('POST', `suppressions/${suppressionId}/lift`, { reason: 'we are sorry' }))).to.deep.equal([
      422,
      'lift_not_allowed',
    ])
  })

  it('a campaign to nobody, or by a template of service', async () => {
    const templateId = await own.house.inHouse((trx) => makeTemplate(trx, { marketing: true }))
    const serviceId = await own.house.inHouse((trx) => makeTemplate(trx))
    const campaign = { propertyId: own.house.propertyId, name: 'Winter', plan, segment: { tags: ['nobody'] } }
    const { id } = good(await send('POST', 'campaigns', { ...campaign, templateId }), 201)
    expect(said(await send('POST', `campaigns/${id}/launch`, {}))).to.deep.equal([422, 'audience_empty'])
    expect((await send('POST', 'campaigns', { ...campaign, templateId: serviceId })).status).to.be.oneOf([400, 422])
    expect((await send('POST', 'campaigns', { ...campaign, templateId, segment: {} })).status).to.equal(400)
  })

  it('more than 60 messages an hour by one person', async () => {
    good(await message({}), 201)
    await own.house.inHouse((trx) =>
      sql(
        trx,
        `insert into message (id, property_id, origin, purpose, urgency, plan, status, reason, dedupe_key, scheduled_for, expires_at, created_by)
         select gen_random_uuid(), m.property_id, 'staff', 'service', 'immediate', m.plan, 'cancelled', 'staff', 'staff:' || gen_random_uuid(), now(), now(), m.created_by
         from (select * from message where origin = 'staff' order by created_at desc limit 1) m, generate_series(1, 59)`,
      ),
    )
    const late = await message({})
    expect(said(late)).to.deep.equal([429, 'rate_limited'])
    await own.house.inHouse((trx) => sql(trx, `update message set created_at = now() - interval '61 minutes'`))
    good(await message({}), 201)
  })
})
