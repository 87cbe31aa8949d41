import { randomUUID } from 'node:crypto'
import { addDays } from '../../config/time.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { createYear, yearStart } from '../../db/financial/years.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import { requestNightAudit } from '../../db/night-audit/request.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import type { NightAuditRow, ReservationRow } from '../../db/rows.ts'
import { makeHouse } from '../support/factories.ts'
import type { House, HouseOptions } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { holdQuote, quotedClaims } from '../support/stay.ts'

/** Days before today of the first night that these houses have. */
const past = 20
/** Days from today for which stays are sold, before they are put where a test wants them. */
const sold = 40

/**
 * A house whose open business day is some days ago, so that it is over: breakfast is in the price of the night, parking comes with each day and a
 * welcome with each stay, and there are taxes inside and on top.
 */
export const makeLateHouse = async (daysAgo = 1, options: HouseOptions = {}): Promise<House> => {
  const house = await makeHouse({
    units: 6,
    taxes: true,
    deposit: null,
    ...options,
    settings: { portal: { holdShare: 10_000 }, ...options.settings },
  })
  const { propertyId } = house
  await house.inHouse(async (trx) => {
    const extra = { propertyId, mandatory: true, name: { en: 'Extra', 'pt-BR': 'Extra' } }
    const breakfast = await createExtra(trx, {
      ...extra,
      code: 'BREAKFAST',
      category: 'meal',
      revenueGroup: 'food',
      amount: 1_501,
      basis: 'per_person_per_night',
      mandatory: false,
      bookableOnline: false,
    })
    await createExtra(trx, {
      ...extra,
      code: 'PARKING',
      category: 'parking',
      revenueGroup: 'parking',
      amount: 1_003,
      basis: 'per_night',
    })
    await createExtra(trx, {
      ...extra,
      code: 'WELCOME',
      category: 'other',
      revenueGroup: 'beverage',
      amount: 2_999,
      basis: 'per_stay',
    })
    await sql(trx, `update rate_plan set included_extras = ?::jsonb where id = ?`, [
      JSON.stringify([{ extraId: breakfast, quantity: 1 }]),
      house.ratePlanId,
    ])
    await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [propertyId])
    const begins = house.day(-past)
    if (yearStart(begins, 1) !== yearStart(house.today, 1)) await createYear(trx, house.bookId, yearStart(begins, 1))
    await sql(trx, `update unit set active_from = ?, condition = 'inspected' where property_id = ?`, [
      begins,
      propertyId,
    ])
    await sql(
      trx,
      `insert into pool_night (pool_id, night, capacity)
       select n.pool_id, d.day::date, n.capacity from pool_night n join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id and p.property_id = ?
       cross join lateral generate_series(?::date::timestamp, ?::date::timestamp, interval '1 day') as d (day) where n.night = ?`,
      [propertyId, begins, house.day(-1), house.today],
    )
  })
  await setDay(house, -daysAgo)
  return house
}

/** Puts the open business day somewhere else. */
export const setDay = (house: House, days: number) =>
  house.inHouse(async (trx) => {
    await sql(trx, `update business_day set date = ? where property_id = ? and status = 'open'`, [
      house.day(days),
      house.propertyId,
    ])
    await sql(trx, `update property set business_date = ? where id = ?`, [house.day(days), house.propertyId])
  })

export const openDay = async (house: House): Promise<string> => {
  const row = await house.inHouse((trx) =>
    sqlOne<{ date: string; copy: string }>(
      trx,
      `select d.date, p.business_date as copy from business_day d join property p on p.tenant_id = d.tenant_id and p.id = d.property_id
       where d.property_id = ? and d.status = 'open'`,
      [house.propertyId],
    ),
  )
  if (!row || row.date !== row.copy) throw new Error(`the property says ${row?.copy} and the ledger ${row?.date}`)
  return row.date
}

export type StayAt = { from: number; nights?: number; checkedIn?: boolean; ratePlanId?: string; unitTypeId?: string }

/** Confirmed stays from a day on, which may be past; with `checkedIn` the guests are in the house. Answers their ids. */
export const makeStays = async (
  house: House,
  count: number,
  { from, nights = 2, checkedIn = false, ...sale }: StayAt,
): Promise<string[]> => {
  const claims = await quotedClaims(house, { from: sold, nights, ...sale })
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) {
    const { bookingId } = await holdQuote(house, { ...claims, jti: randomUUID() })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    await shift(house, bookingId, from - sold)
    const [room] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    if (room) ids.push(room.id)
  }
  if (checkedIn) for (const id of ids) await arrive(house, id)
  return ids
}

export const arrive = (house: House, reservationId: string) =>
  house.inHouse((trx) =>
    checkIn(trx, reservationId, { override: { rules: ['early_check_in', 'unit_condition'], reason: 'a test' } }),
  )

/** The guest pays all that the stay will owe, by a gateway; the money is on the folio afterwards. */
export const payAll = async (house: House, reservationId: string): Promise<void> => {
  const { bookingId } = await readStay(house, reservationId)
  await pay(house, bookingId, 'all')
  await house.inHouse((trx) => confirmPaid(trx, bookingId))
}

/** Moves a confirmed booking by days, with all that hangs on its dates. */
const shift = (house: House, bookingId: string, days: number) =>
  house.inHouse(async (trx) => {
    const bound = { bookingId, days }
    const rooms = `select id from reservation where booking_id = :bookingId`
    const nights = await sql<{ poolId: string; night: string; quantity: number }>(
      trx,
      `select p.unit_pool_id as pool_id, n.date as night, sum(p.quantity)::int as quantity from reservation_night n
       join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id where n.reservation_id in (${rooms}) group by 1, 2
       union all
       select x.pool_id, d.day::date, sum(e.quantity)::int from reservation_extra e
       join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
       cross join lateral generate_series(e."from"::timestamp, e."until"::timestamp, interval '1 day') as d (day)
       where e.reservation_id in (${rooms}) and e.status = 'active' group by 1, 2`,
      bound,
    )
    for (const { poolId, night, quantity } of nights) {
      const change = `update pool_night set sold = sold + ? where pool_id = ? and night = ?`
      await sql(trx, change, [-quantity, poolId, night])
      await sql(trx, change, [quantity, poolId, addDays(night, days)])
    }
    await sql(
      trx,
      `update reservation set arrival = arrival + cast(:days as int), departure = departure + cast(:days as int) where booking_id = :bookingId`,
      bound,
    )
    // Far away first, since a night is found by its date.
    await sql(trx, `update reservation_night set date = date + 5000 where reservation_id in (${rooms})`, bound)
    await sql(
      trx,
      `update reservation_night set date = date - 5000 + cast(:days as int) where reservation_id in (${rooms})`,
      bound,
    )
    await sql(
      trx,
      `update reservation_extra set "from" = "from" + cast(:days as int), "until" = "until" + cast(:days as int) where reservation_id in (${rooms})`,
      bound,
    )
  })

export const readStay = async (house: House, id: string): Promise<ReservationRow> => {
  const row = await house.inHouse((trx) => sqlOne<ReservationRow>(trx, `select * from reservation where id = ?`, [id]))
  if (!row) throw new Error('no such stay')
  return row
}

export const request = (house: House, businessDate: string) =>
  house.inHouse((trx) => requestNightAudit(trx, { propertyId: house.propertyId, businessDate }))

/** Runs an audit to its end, as its job would: one transaction after the other. Answers how many. */
export const runAudit = async (
  house: House,
  id: string,
  { atOnce = 200, runner }: { atOnce?: number; runner?: string } = {},
): Promise<number> => {
  const owner = runner ?? randomUUID()
  for (let count = 1; count < 500; count += 1)
    if ((await house.inHouse((trx) => advanceNightAudit(trx, id, owner, atOnce))) === 'over') return count
  throw new Error('the audit does not come to an end')
}

/** Closes the open day. */
export const closeOpenDay = async (house: House, options: { atOnce?: number } = {}): Promise<string> => {
  const { id } = await request(house, await openDay(house))
  await runAudit(house, id, options)
  return id
}

export const readAudit = async (house: House, id: string): Promise<NightAuditRow> => {
  const row = await house.inHouse((trx) => sqlOne<NightAuditRow>(trx, `select * from night_audit where id = ?`, [id]))
  if (!row) throw new Error('no such audit')
  return row
}

export type Line = {
  stay: string
  key: string
  kind: string
  category: string | null
  amount: number
  businessDate: string
}

/** Lines of folios as they may be compared: by stay and by what they charge. */
export const linesOf = (house: House, reservationIds: readonly string[]): Promise<Line[]> =>
  house.inHouse((trx) =>
    sql<Line>(
      trx,
      `select array_position(?::uuid[], f.reservation_id)::text as stay,
         regexp_replace(l.source_key, '[0-9a-f]{8}-[0-9a-f-]{27}', 'id', 'g') as key, l.kind, l.category, l.amount, l.business_date
       from folio_line l join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id where f.reservation_id = any(?::uuid[])
       order by 1, l.business_date, 2, l.category, l.amount`,
      [reservationIds, reservationIds],
    ),
  )

/** Charges and fees without exactly one event each of their own, taxes that were told twice, adjustments and transfers told otherwise: none, if all is well. */
export const unposted = (house: House): Promise<unknown[]> =>
  house.inHouse((trx) =>
    sql(
      trx,
      `select l.id, l.category, l.amount, count(e.id) as events from folio_line l
       left join posting_event e on e.tenant_id = l.tenant_id and e.source_id = l.id and e.event <> 'reservations.tax_included_recognised'
       where l.kind in ('charge', 'fee') group by l.tenant_id, l.id having count(e.id) <> 1 or max((e.payload #>> '{amounts,amount}')::bigint) <> l.amount
       union all
       select l.id, 'included', sum((t ->> 'amount')::bigint), (select coalesce(sum((e.payload #>> '{amounts,amount}')::bigint), 0) from posting_event e
         where e.tenant_id = l.tenant_id and e.source_id = l.id and e.event = 'reservations.tax_included_recognised')
       from folio_line l cross join lateral jsonb_array_elements(l.taxes) t where (t ->> 'included')::boolean and l.kind in ('charge', 'fee') group by l.tenant_id, l.id
       having sum((t ->> 'amount')::bigint) <> (select coalesce(sum((e.payload #>> '{amounts,amount}')::bigint), 0) from posting_event e
         where e.tenant_id = l.tenant_id and e.source_id = l.id and e.event = 'reservations.tax_included_recognised')
       union all
       select l.source_id, 'adjusted', sum(l.amount), (select coalesce(sum((e.payload #>> '{amounts,total}')::bigint), 0) from posting_event e
         where e.tenant_id = l.tenant_id and e.source_id = l.source_id and e.event = 'reservations.charge_adjusted')
       from folio_line l where l.kind = 'adjustment' and l.source_type = 'adjustment' group by l.tenant_id, l.source_id
       having -sum(l.amount) <> (select coalesce(sum((e.payload #>> '{amounts,total}')::bigint), 0) from posting_event e
         where e.tenant_id = l.tenant_id and e.source_id = l.source_id and e.event = 'reservations.charge_adjusted')
       union all
       select l.transfer_id, 'transferred', sum(l.amount), (select coalesce(sum((e.payload #>> '{amounts,amount}')::bigint), 0) from posting_event e
         where e.tenant_id = l.tenant_id and e.source_id = l.transfer_id and e.event = 'reservations.folio_lines_transferred')
       from folio_line l where l.kind in ('transfer_in', 'transfer_out') group by l.tenant_id, l.transfer_id
       having sum(l.amount) <> 0 or coalesce(sum(l.amount) filter (where l.kind = 'transfer_in' and l.payment_id is null), 0)
         <> (select coalesce(sum((e.payload #>> '{amounts,amount}')::bigint), 0) from posting_event e
           where e.tenant_id = l.tenant_id and e.source_id = l.transfer_id and e.event = 'reservations.folio_lines_transferred')`,
    ),
  )
