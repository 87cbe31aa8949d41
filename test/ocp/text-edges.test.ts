import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { decideSending, queueMessage, recordOutcome, segmentsOf } from '../../db/ocp/index.ts'
import { attemptsOf, deliverAll, messagesOf } from '../support/messages.ts'
import { makeHold } from '../support/stay.ts'
import { good, newTemplate, useWritingHouse } from './support.ts'

describe('texts at their edges', function () {
  this.timeout(120_000)
  const house = useWritingHouse()
  const { own, send, get, guestWith, twilioSays, enable } = house
  const plan = [{ channel: 'sms' as const, waitMinutes: 30 }]
  const write = (text: string) =>
    send('POST', 'messages', {
      propertyId: own.house.propertyId,
      recipient: { name: 'Ana', phone: '+5511987650101' },
      text: { text },
      plan,
    })

  it('a preview counts the parts of an SMS with a link where its text shows ••• for it', async () => {
    await enable()
    const bookingId = await makeHold(own.house)
    const guestId = await guestWith({ phone: '+5511987650101' })
    const [stay] = await own.house.inHouse((trx) =>
      sql<{ id: string }>(trx, `update reservation set primary_guest_id = ? where booking_id = ? returning id`, [
        guestId,
        bookingId,
      ]),
    )
    const text = `${'a'.repeat(140)} {{unsubscribe.link}}`
    const { id: templateId } = good(
      await send('POST', 'templates', newTemplate({ contents: [{ channel: 'sms', locale: 'en', text }] })),
      201,
    )
    good(await send('POST', `templates/${templateId}/publish`))
    const shown = good(
      await send('POST', `templates/${templateId}/preview`, { channel: 'sms', locale: 'en', reservationId: stay?.id }),
    )
    expect(shown.text).to.equal(`${'a'.repeat(140)} •••`)
    good(
      await send('POST', 'messages', {
        propertyId: own.house.propertyId,
        guestId,
        reservationId: stay?.id,
        templateId,
        plan,
      }),
      201,
    )
    await deliverAll()
    const body = house.peer.texts[0]?.body ?? ''
    expect(body).to.match(/^a{140} http/)
    expect(shown.segments).to.equal(segmentsOf(body))
  })

  it('the sandbox tells of as many parts as an SMS has', async () => {
    await own.house.inHouse((trx) => sql(trx, `update message_channel set enabled = true, transport = 'sandbox'`))
    good(await write('a'.repeat(161)), 201)
    await deliverAll()
    const [attempt] = await attemptsOf(own.house)
    expect(attempt).to.include({ segments: 2, transport: 'sandbox' })
  })

  it('what a guest writes is never cut within a character', async () => {
    await enable()
    const Body = `${'a'.repeat(499)}😀${'a'.repeat(9_498)}😀`
    await twilioSays('sms', { MessageSid: 'SM1', From: '+5511987650102', To: '+15005550006', Body })
    await deliverAll()
    const [heard] = good(await get('messages?direction=inbound')).data as { id: string }[]
    const { text } = good(await get(`messages/${heard?.id}`)) as { text: string }
    expect([text.length, text.isWellFormed()]).to.deep.equal([9_999, true])
    const [conversation] = good(await get('conversations')).data as { lastMessage: { text: string } }[]
    expect(conversation?.lastMessage.text).to.equal('a'.repeat(499))
  })

  it('a mail is known as accepted whatever the words of its server', async () => {
    await own.house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: own.house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: 'edge',
        recipient: { name: 'Ana', email: 'ana@example.com' },
      }),
    )
    const [message] = await messagesOf(own.house)
    const decision = await own.house.inHouse((trx) => decideSending(trx, message?.id ?? '', message?.turn ?? 0))
    if (!('send' in decision)) throw new Error(decision.done)
    const proof = `250 \0${'a'.repeat(294)}😀`
    await own.house.inHouse((trx) =>
      recordOutcome(trx, decision.send.attemptId, { kind: 'accepted', reference: 'x', proof }, false),
    )
    const [attempt] = await attemptsOf(own.house)
    expect(attempt?.status).to.equal('sent')
  })

  it('a text that its carrier cancelled has failed', async () => {
    await enable()
    const { id } = good(await write('Your room is ready'), 201)
    await deliverAll()
    await twilioSays('sms', { MessageSid: house.peer.texts[0]?.sid ?? '', MessageStatus: 'canceled' })
    await deliverAll()
    expect(good(await get(`messages/${id}`))).to.include({ status: 'failed', reason: 'canceled' })
  })
})
