import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createGuest } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { queueMessage, retryMessage } from '../../db/ocp/index.ts'
import { suppress } from '../../db/ocp/suppression.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { deliverAll, makeConfirmed, messagesOf, useMailHouse } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'

describe('messages by e-mail, checked again when they are sent', () => {
  const mail = useMailHouse()

  const statuses = async () => (await messagesOf(mail.house)).map((one) => `${one.status} ${one.reason ?? ''}`.trim())

  it('a suppression added meanwhile stops them', async () => {
    await mail.queue()
    await mail.house.inHouse((trx) =>
      suppress(trx, { kind: 'email', address: 'ANA@example.com', scope: 'all', cause: 'manual', messageId: null }),
    )
    await deliverAll()
    expect(await statuses()).to.deep.equal(['suppressed recipient_suppressed'])
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('marketing needs the consent of that moment, and stops when it is withdrawn', async () => {
    const bookingId = await makeConfirmed(mail.house)
    await deliverAll()
    mail.peer.mails.splice(0)
    const { bookerGuestId } = await readBooking(mail.house, bookingId)
    await mail.house.inHouse((trx) =>
      sql(trx, `update message_template set purpose = 'marketing', urgency = 'normal' where key = 'thank-you'`),
    )
    await mail.house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )
    const consent = (decision: string) =>
      mail.house.inHouse((trx) =>
        sql(
          trx,
          `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', ?, 'desk', '1', '{}')`,
          [bookerGuestId, decision],
        ),
      )
    const ask = () =>
      mail.house.inHouse((trx) =>
        queueMessage(trx, {
          propertyId: mail.house.propertyId,
          templateKey: 'thank-you',
          dedupeKey: randomUUID(),
          guestId: bookerGuestId,
        }),
      )
    await ask()
    await deliverAll()
    await consent('granted')
    await ask()
    await deliverAll()
    await ask()
    await consent('withdrawn')
    await deliverAll()
    expect((await statuses()).slice(1)).to.deep.equal([
      'suppressed consent_missing',
      'sent',
      'suppressed consent_missing',
    ])
    expect(mail.peer.mails).to.have.length(1)
  })

  it('a reservation cancelled meanwhile is not confirmed to its guest', async () => {
    const bookingId = await makeConfirmed(mail.house)
    const { drain } = await import('../support/drain.ts')
    await drain({ kinds: ['messages.trigger'] })
    await mail.house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect((await statuses()).sort()).to.deep.equal(['sent', 'suppressed reservation_status'])
    expect(mail.peer.mails).to.have.length(1)
  })

  it('a guest erased meanwhile is not written to, nor is the booker in their place', async () => {
    const bookingId = await makeConfirmed(mail.house)
    await deliverAll()
    const { rooms } = await readBooking(mail.house, bookingId)
    const guestId = await mail.house.inHouse((trx) =>
      createGuest(trx, { firstName: 'Rui', lastName: 'Lima', source: 'staff', email: 'rui@example.com' } as never),
    )
    const id = await mail.queue({ guestId, recipient: undefined as never, reservationId: rooms[0]?.id ?? '' })
    await mail.database.admin.raw(
      `update guest set status = 'erased', erased_at = now(), sealed = null, email_index = null, phone_index = null, phone_tail_index = null,
         birth_index = null, name_index = null where id = ?`,
      [guestId],
    )
    mail.peer.mails.splice(0)
    await deliverAll()
    expect((await messagesOf(mail.house)).find((one) => one.id === id)).to.include({
      status: 'suppressed',
      reason: 'recipient_missing',
    })
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('a feature that ended, a time that is over, a channel that was switched off', async () => {
    await mail.queue({ scheduledFor: new Date(Date.now() - 7_200_000), validMinutes: 60 })
    await deliverAll()
    await mail.house.inHouse((trx) => sql(trx, `update message_channel set enabled = false where kind = 'email'`))
    await mail.queue()
    await deliverAll()
    await mail.database.admin.raw(
      `update entitlement_grant set ended_at = now(), end_cause = 'expired' where tenant_id = ? and key = 'ocp'`,
      [mail.house.tenantId],
    )
    await mail.queue()
    await deliverAll()
    expect(await statuses()).to.deep.equal(['expired too_late', 'suppressed no_channel', 'expired feature_not_enabled'])
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('no more a day than the house allows one guest and itself', async () => {
    await mail.house.inHouse((trx) =>
      sql(trx, `update message_template set urgency = 'normal' where key = 'registration-link'`),
    )
    await mail.house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00", "perGuestDaily": 2}}'::jsonb`,
      ),
    )
    for (let n = 0; n < 3; n += 1) await mail.queue()
    const { decideSending } = await import('../../db/ocp/sending.ts')
    const ids = await mail.house.inHouse((trx) => sql<{ id: string }>(trx, `select id from message`))
    const decisions = await Promise.all(ids.map(({ id }) => mail.house.inHouse((trx) => decideSending(trx, id, 0))))
    expect(decisions.filter((one) => 'send' in one)).to.have.length(2)
    expect(decisions.filter((one) => 'done' in one && one.done === 'guest_limit')).to.have.length(1)
    const [limited] = await mail.house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from message where reason = 'guest_limit'`),
    )
    const again = mail.house.inHouse((trx) => retryMessage(trx, limited?.id ?? '', undefined))
    expect(await again.catch((error: unknown) => error)).to.deep.include({
      code: 'invalid_transition',
      errors: [{ field: 'reason', message: 'guest_limit' }],
    })

    await mail.house.inHouse((trx) => sql(trx, `update message_channel set daily_cap = 3 where kind = 'email'`))
    const more = await Promise.all(
      Array.from({ length: 4 }, (_, n) => mail.queue({ recipient: { name: 'Rui', email: `rui${n}@example.com` } })),
    )
    const later = await Promise.all(more.map((id) => mail.house.inHouse((trx) => decideSending(trx, id ?? '', 0))))
    expect(later.filter((one) => 'send' in one)).to.have.length(1)
    expect(later.filter((one) => 'done' in one && one.done === 'postponed')).to.have.length(3)
  })
})
