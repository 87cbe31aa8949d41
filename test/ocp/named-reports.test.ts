import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { signTwilio } from '../chaos/carrier.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'
import { useWorld } from '../support/world.ts'

const minute = 60_000
const approved = {
  channel: 'whatsapp',
  locale: 'pt',
  subject: null,
  text: null,
  html: null,
  contentSid: `HX${'a'.repeat(32)}`,
  contentVariables: { 1: '{{property.name}}' },
}

describe('a report whose address names its text', function () {
  this.timeout(120_000)
  const world = useWorld()
  const twilio = useTwilio()
  let house: House

  const makeWriting = async (): Promise<House> => {
    const made = await makeHouse({ deposit: null })
    await made.inHouse(async (trx) => {
      await sql(trx, `update message_channel set enabled = true`)
      const [template] = await sql<{ id: string }>(
        trx,
        `select id from message_template where key = 'registration-link'`,
      )
      await sql(trx, `update message_template_version set status = 'replaced' where template_id = ?`, [template?.id])
      await sql(
        trx,
        `insert into message_template_version (template_id, number, status, contents, published_at) values (?, 2, 'published', ?::jsonb, now())`,
        [template?.id, JSON.stringify([approved])],
      )
      await sql(trx, `update message_template set published_number = 2 where id = ?`, [template?.id])
    })
    return made
  }

  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs; delete from provider_gate')
    settings.publicBaseUrl = world.baseUrl
    house = await makeWriting()
  })

  const queue = (from: House) =>
    from.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: from.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', phone: '+5524999990000' },
        plan: [{ channel: 'whatsapp', waitMinutes: 30 }],
      }),
    )
  /** Twilio reports a text at the address that came with it. */
  const report = async (index: number, MessageStatus: string, address?: string) => {
    const { sid = '', statusCallback = '' } = twilio.peer.texts.at(index) ?? {}
    const form = { MessageSid: sid, MessageStatus }
    const { status } = await world.request('POST', (address ?? statusCallback).slice(world.baseUrl.length), {
      raw: new URLSearchParams(form).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': signTwilio(twilio.peer.authToken, statusCallback, form),
      },
    })
    return status
  }
  const stands = async (of: House) => {
    const [attempt] = await attemptsOf(of)
    const [message] = await messagesOf(of)
    return [attempt?.status, attempt?.providerId ?? null, message?.status]
  }

  it('makes a text known whose answer never came: it is neither looked for nor sent again', async () => {
    twilio.peer.behave('reset after taking')
    await queue(house)
    await deliverAll()
    expect(await stands(house)).to.deep.equal(['unknown', null, 'sending'])
    const sid = twilio.peer.texts[0]?.sid
    expect(await report(0, 'queued')).to.equal(200)
    await deliverAll()
    expect(await stands(house)).to.deep.equal(['sent', sid, 'sent'])
    expect(await report(0, 'delivered')).to.equal(200)
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(await stands(house)).to.deep.equal(['delivered', sid, 'delivered'])
    expect(twilio.peer.texts).to.have.length(1)
  })

  it('that never comes leaves a text that may be there: it is given up, not sent again, and counts once it comes', async () => {
    twilio.peer.behave('reset after taking')
    await queue(house)
    await deliverAll()
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(await stands(house)).to.deep.equal(['failed', null, 'failed'])
    expect(twilio.peer.texts).to.have.length(1)
    await report(0, 'delivered')
    await deliverAll()
    expect(await stands(house)).to.deep.equal(['delivered', twilio.peer.texts[0]?.sid, 'delivered'])
  })

  it('keeps two houses apart that wrote to one number in one minute: the text of one is not that of the other', async () => {
    const other = await makeWriting()
    await queue(other)
    await deliverAll()
    expect((await stands(other)).at(0)).to.equal('sent')
    twilio.peer.behave('reset')
    await queue(house)
    await deliverAll()
    expect(await stands(house)).to.deep.equal(['unknown', null, 'sending'])
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(twilio.peer.texts).to.have.length(2)
    expect(await stands(house)).to.deep.equal(['sent', twilio.peer.texts[1]?.sid, 'sent'])
  })

  it('is refused where another text is named than the one that was signed, and changes none of another house', async () => {
    const other = await makeWriting()
    twilio.peer.behave('reset after taking')
    await queue(house)
    await queue(other)
    await deliverAll()
    const [mine, theirs] = [(await attemptsOf(house))[0], (await attemptsOf(other))[0]]
    const index = twilio.peer.texts.findIndex(({ statusCallback }) => statusCallback.endsWith(mine?.id ?? '-'))
    const address = twilio.peer.texts[index]?.statusCallback.replace(mine?.id ?? '-', theirs?.id ?? '-')
    expect(await report(index, 'delivered', address)).to.equal(401)
    // The account of the service has signed it, at the address of one house with the text of the other.
    const own = twilio.peer.texts[index]
    if (own) own.statusCallback = address ?? ''
    expect(await report(index, 'delivered')).to.equal(200)
    await deliverAll()
    expect((await stands(house)).at(0)).to.equal('unknown')
    expect((await stands(other)).at(0)).to.equal('unknown')
  })
})
