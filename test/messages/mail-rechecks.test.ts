import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { suppress } from '../../db/ocp/suppression.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { deliverAll, makeConfirmed, messagesOf, useMailPeer } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'

describe('messages by e-mail, checked again when they are sent', () => {
  const world = useDatabase()
  const mail = useMailPeer()
  let house: House

  beforeEach(async () => {
    // What an earlier test left to be done later is not this one's.
    await world.database.admin.raw('delete from jobs')
    house = await makeHouse({ deposit: null })
  })

  const queue = (request: Partial<Parameters<typeof queueMessage>[1]> = {}) =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana Souza', email: 'ana@example.com' },
        ...request,
      }),
    )

  const statuses = async () => (await messagesOf(house)).map((one) => `${one.status} ${one.reason ?? ''}`.trim())

  it('a suppression added meanwhile stops them', async () => {
    await queue()
    await house.inHouse((trx) =>
      suppress(trx, { kind: 'email', address: 'ANA@example.com', scope: 'all', cause: 'manual', messageId: null }),
    )
    await deliverAll()
    expect(await statuses()).to.deep.equal(['suppressed recipient_suppressed'])
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('marketing needs the consent of that moment, and stops when it is withdrawn', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    mail.peer.mails.splice(0)
    const { bookerGuestId } = await readBooking(house, bookingId)
    await house.inHouse((trx) =>
      sql(trx, `update message_template set purpose = 'marketing', urgency = 'normal' where key = 'thank-you'`),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )
    const consent = (decision: string) =>
      house.inHouse((trx) =>
        sql(
          trx,
          `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', ?, 'desk', '1', '{}')`,
          [bookerGuestId, decision],
        ),
      )
    const ask = () =>
      house.inHouse((trx) =>
        queueMessage(trx, {
          propertyId: house.propertyId,
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
    const bookingId = await makeConfirmed(house)
    const { drain } = await import('../support/drain.ts')
    await drain({ kinds: ['messages.trigger'] })
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect((await statuses()).sort()).to.deep.equal(['sent', 'suppressed reservation_status'])
    expect(mail.peer.mails).to.have.length(1)
  })

  it('a feature that ended, a time that is over, a channel that was switched off', async () => {
    await queue({ scheduledFor: new Date(Date.now() - 7_200_000), validMinutes: 60 })
    await deliverAll()
    await house.inHouse((trx) => sql(trx, `update message_channel set enabled = false where kind = 'email'`))
    await queue()
    await deliverAll()
    await world.database.admin.raw(
      `update entitlement_grant set ended_at = now(), end_cause = 'expired' where tenant_id = ? and key = 'ocp'`,
      [house.tenantId],
    )
    await queue()
    await deliverAll()
    expect(await statuses()).to.deep.equal(['expired too_late', 'suppressed no_channel', 'expired feature_not_enabled'])
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('no more a day than the house allows one guest and itself', async () => {
    await house.inHouse((trx) =>
      sql(trx, `update message_template set urgency = 'normal' where key = 'registration-link'`),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00", "perGuestDaily": 2}}'::jsonb`,
      ),
    )
    for (let n = 0; n < 3; n += 1) await queue()
    const { decideSending } = await import('../../db/ocp/sending.ts')
    const ids = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from message`))
    const decisions = await Promise.all(ids.map(({ id }) => house.inHouse((trx) => decideSending(trx, id, 0))))
    expect(decisions.filter((one) => 'send' in one)).to.have.length(2)
    expect(decisions.filter((one) => 'done' in one && one.done === 'guest_limit')).to.have.length(1)

    await house.inHouse((trx) => sql(trx, `update message_channel set daily_cap = 3 where kind = 'email'`))
    const more = await Promise.all(
      Array.from({ length: 4 }, (_, n) => queue({ recipient: { name: 'Rui', email: `rui${n}@example.com` } })),
    )
    const later = await Promise.all(more.map((id) => house.inHouse((trx) => decideSending(trx, id ?? '', 0))))
    expect(later.filter((one) => 'send' in one)).to.have.length(1)
    expect(later.filter((one) => 'done' in one && one.done === 'postponed')).to.have.length(3)
  })
})
