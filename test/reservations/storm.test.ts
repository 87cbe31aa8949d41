import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/lib/connection.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { readGuestBooking } from '../../db/reservations/guest-booking.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import type { ReservationRow } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { makeHold, miscounted, outlive } from '../support/stay.ts'

/** Codes that a command may answer when others were faster. Any other error is a fault. */
const expected = new Set([
  'sold_out',
  'hold_limit',
  'hold_expired',
  'payment_required',
  'fee_changed',
  'payment_in_progress',
  'invalid_transition',
  'cancellation_not_allowed',
  'nothing_due',
  'inventory_contended',
])

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

describe('Bookings in a storm', () => {
  useDatabase()
  let house: House
  const seconds = 6

  before(async () => {
    house = await makeHouse({ units: 6, suite: true, settings: { portal: { holdShare: 10_000 } } })
    // The suite is a room of its own and one of the others beside it: a type of two pools.
    await house.inHouse((trx) =>
      sql(trx, `insert into unit_type_pool (unit_type_id, unit_pool_id, quantity) values (?, ?, 1)`, [
        house.suiteTypeId,
        house.poolId,
      ]),
    )
    await house.inHouse((trx) => sql(trx, `update property set public_version = public_version + 1`))
  })

  it('keeps counters, folios and money right while everything happens at once', async () => {
    const known: string[] = []
    const some = () => pick(known)
    const seen: Record<string, number> = {}
    const acts: Record<string, () => Promise<unknown>> = {
      hold: async () =>
        void known.push(
          await makeHold(house, {
            from: 30 + Math.floor(Math.random() * 4),
            nights: 1 + Math.floor(Math.random() * 3),
            rooms: 1 + Math.floor(Math.random() * 2),
            unitTypeId: pick([house.unitTypeId, house.unitTypeId, house.suiteTypeId ?? '']),
          }),
        ),
      pay: async () =>
        gatewaySays(
          house,
          await startPayment(house, some(), pick(['due', 'all'])),
          pick(['captured', 'captured', 'failed', 'processing']),
        ),
      settle: () => house.inHouse((trx) => confirmPaid(trx, some())),
      confirm: () => house.inHouse((trx) => confirmBooking(trx, some())),
      expire: async () => {
        const id = some()
        await house.inHouse((trx) =>
          sql(
            trx,
            `update booking set hold_expires_at = now() - interval '1 second' where id = ? and hold_expires_at is not null`,
            [id],
          ),
        )
        await house.inHouse((trx) => expireHold(trx, id))
      },
      cancel: async () => {
        const id = some()
        const fee = (await house.inHouse((trx) => readGuestBooking(trx, id)))?.cancellation.fee
        await house.inHouse((trx) => cancelReservations(trx, id, { reason: 'other', acceptedFee: fee }))
      },
      assign: async () => {
        const rooms = await house.inHouse((trx) =>
          sql<{ id: string }>(trx, `select id from reservation where status = 'confirmed'`),
        )
        if (rooms.length > 0) await house.inHouse((trx) => assignUnits(trx, pick(rooms).id))
      },
    }
    const names = ['hold', 'hold', 'hold', 'pay', 'pay', 'settle', 'settle', 'confirm', 'expire', 'cancel', 'assign']
    known.push(await makeHold(house, { from: 30 }))
    const end = Date.now() + seconds * 1_000
    const worker = async () => {
      while (Date.now() < end) {
        const name = pick(names)
        try {
          await acts[name]?.()
          seen[name] = (seen[name] ?? 0) + 1
        } catch (error) {
          if (!(error instanceof ApiError) || !expected.has(error.code)) throw error
          seen[error.code] = (seen[error.code] ?? 0) + 1
        }
      }
    }
    await Promise.all(Array.from({ length: 9 }, worker))
    expect(seen['hold'], JSON.stringify(seen)).to.be.above(3)
    expect(seen['cancel'], JSON.stringify(seen)).to.be.above(0)

    expect(await miscounted(house)).to.deep.equal([])
    const wrong = await house.inHouse((trx) =>
      sql(
        trx,
        `select f.number from folio f left join lateral (select coalesce(sum(l.amount), 0) as balance from folio_line l
           where l.tenant_id = f.tenant_id and l.folio_id = f.id) l on true where f.balance <> l.balance`,
      ),
    )
    expect(wrong).to.deep.equal([])
    // Every centavo that was captured is credit of a booking, on a folio, on its way back, or on the payment itself.
    const [money] = await house.inHouse((trx) =>
      sql<{ captured: number; found: number }>(
        trx,
        `select (select coalesce(sum(captured_amount), 0) from payment)::bigint as captured,
           ((select coalesce(sum(credit), 0) from booking) + (select coalesce(sum(credits), 0) from folio)
            + (select coalesce(sum(refund_reserved + captured_amount - refund_reserved - allocated_amount), 0) from payment))::bigint as found`,
      ),
    )
    expect(money?.found).to.equal(money?.captured)
    const [events] = await house.inHouse((trx) =>
      sql<{ extra: number }>(
        trx,
        `select count(*) as extra from (select entity->>'id', type from event where type in ('reservation.confirmed', 'reservation.cancelled', 'reservation.expired')
           group by 1, 2 having count(*) > 1) x`,
      ),
    )
    expect(events?.extra).to.equal(0)
    expect(await deadlocks()).to.equal(0)
  }).timeout(60_000)

  it('ends with every hold over and nothing held', async () => {
    const held = await house.inHouse((trx) =>
      sql<Pick<ReservationRow, 'bookingId'>>(trx, `select distinct booking_id from reservation where status = 'held'`),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `update payment set status = 'failed', ended_at = now() where status in ('created', 'unknown', 'requires_action', 'processing')`,
      ),
    )
    for (const { bookingId } of held) {
      await outlive(house, bookingId)
      if ((await house.inHouse((trx) => expireHold(trx, bookingId))) === 'covered')
        await house.inHouse((trx) => confirmPaid(trx, bookingId))
    }
    const [left] = await house.inHouse((trx) =>
      sql<{ held: number }>(trx, `select coalesce(sum(held), 0)::int as held from pool_night`),
    )
    expect(left?.held).to.equal(0)
    expect(await miscounted(house)).to.deep.equal([])
  })
})
