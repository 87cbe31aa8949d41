import { sql } from '../../db/lib/connection.ts'
import { rollBusinessDay } from '../../db/financial/days.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { recountNights } from '../../db/units/recount.ts'
import type { UnitAssignmentRow } from '../../db/rows.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import type { StayOptions } from '../support/stay.ts'

export type Placed = { status: UnitAssignmentRow['status']; unitId: string; from: string; to: string }

/** A confirmed stay, without a unit. */
export const book = async (house: House, options: StayOptions = {}): Promise<string> => {
  const bookingId = await makeHold(house, options)
  await house.inHouse((trx) => confirmBooking(trx, bookingId))
  return (await readBooking(house, bookingId)).rooms[0]?.id ?? ''
}

export const assign = (house: House, reservationId: string) => house.inHouse((trx) => assignUnits(trx, reservationId))

/** A confirmed stay with the unit that fits best, or in `unitId`; `locked` where that was promised. */
export const place = async (
  house: House,
  { unitId, locked = false, ...options }: StayOptions & { unitId?: string; locked?: boolean } = {},
): Promise<string> => {
  const id = await book(house, options)
  await assign(house, id)
  await house.inHouse((trx) =>
    sql(
      trx,
      `update unit_assignment set unit_id = coalesce(?, unit_id), status = ? where reservation_id = ? and status = 'proposed'`,
      [unitId ?? null, locked ? 'locked' : 'proposed', id],
    ),
  )
  return id
}

/** Rows of a stay, or of a block, that are not released, by unit and first day. */
export const rowsOf = (house: House, ownerId: string): Promise<Placed[]> =>
  house.inHouse((trx) =>
    sql<Placed>(
      trx,
      `select a.status, a.unit_id, a.starts_on as "from", a.ends_on as "to" from unit_assignment a join unit u on u.id = a.unit_id
       where ? in (a.reservation_id, a.unit_block_id) and a.status <> 'released' order by u.position, u.name, a.starts_on`,
      [ownerId],
    ),
  )

export const unitsOf = async (house: House, ownerId: string) => (await rowsOf(house, ownerId)).map((row) => row.unitId)

const waived = { rules: ['unit_condition', 'early_check_in', 'deposit', 'balance'], reason: 'a test' } as const

export const arrive = (house: House, reservationId: string) =>
  house.inHouse((trx) => checkIn(trx, reservationId, { override: waived }))

export const leave = (house: House, reservationId: string) =>
  house.inHouse((trx) => checkOut(trx, reservationId, { early: true, override: waived }))

/** The house goes on to its next business date, without its audit; `day` is days from today. */
export const rollTo = (house: House, day: number) =>
  house.inHouse(async (trx) => {
    await rollBusinessDay(trx, house.propertyId, house.day(day - 1), {})
    await sql(trx, `update property set business_date = ? where id = ?`, [house.day(day), house.propertyId])
  })

/** Counters that differ from what they stand for, from today on; none, if all is well. */
export const drift = (house: House) =>
  house.inHouse((trx) => recountNights(trx, house.propertyId, house.today, house.day(400)))

/** Everything that a preview must leave as it was. */
export const stored = (house: House) =>
  house.inHouse((trx) =>
    sql(
      trx,
      `select (select count(*)::int from event) as events, (select count(*)::int from unit_block) as blocks, (select count(*)::int from jobs) as jobs,
         (select md5(string_agg(a::text, ',' order by a.id)) from unit_assignment a) as assignments,
         (select md5(string_agg(n::text, ',' order by n.pool_id, n.night)) from pool_night n) as counters`,
    ),
  )
