import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { agesFor, blocksAmong } from '../guests/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type {
  BookingRow,
  DepositRow,
  ExtraRow,
  FolioRow,
  ReservationExtraRow,
  ReservationGuestRow,
  ReservationNightRow,
  ReservationRow,
  UnitAssignmentRow,
} from '../rows.ts'
import { fromUnits, stateColumns } from '../units/index.ts'
import type { UnitState } from '../units/index.ts'
import { guestsOfStays } from './hold-guests.ts'
import { openChecksOf } from './folio/open-checks.ts'
import { feesLeft } from './folio/rests.ts'
import type { Rest } from './folio/rests.ts'
import { routesOf } from './folio/route.ts'
import type { FoundRoute } from './folio/route.ts'

export type StayExtra = ReservationExtraRow & Pick<ExtraRow, 'category' | 'revenueGroup' | 'poolId'>

/** A unit that the stay has, had or is to have on `[from, to)`, as the unit is at this moment. */
export type StayUnit = Pick<UnitAssignmentRow, 'id' | 'unitId' | 'status'> &
  Pick<UnitState, 'occupancy' | 'ready'> & {
    name: string
    unitPoolId: string
    condition: string
    from: string
    to: string
  }

export type StayPayment = { status: string; targetType: string; authorised: number }

/** All that decides about a stay. What depends on the clock or on the day of the house comes from `House`. */
export type StayFacts = {
  stay: ReservationRow
  booking: BookingRow
  /** In order of date, released ones too. */
  nights: ReservationNightRow[]
  guests: ReservationGuestRow[]
  /** Cancelled ones too. */
  extras: StayExtra[]
  /** In order of what money fills first. */
  deposits: DepositRow[]
  /** By number. The first one is the primary one, once the stay is confirmed. */
  folios: FolioRow[]
  /** The routes of its charges, in their order, with the state of another stay's, group's or company's folio that one names. */
  routes: FoundRoute[]
  /** All but released ones, in order of their first day. */
  units: StayUnit[]
  /** Units of pools that its nights take: pool and number for each type. */
  shares: { unitTypeId: string; poolId: string; quantity: number }[]
  /** Live payments for the stay, its folios or its booking. */
  payments: StayPayment[]
  /** Captured money of gateways on each folio: it can go back the way it came. */
  refundable: { folioId: string; amount: number }[]
  /** Money of its folios is on its way back, or was sent back. */
  refunded: boolean
  /** The other rooms of its booking. */
  siblings: Pick<ReservationRow, 'id' | 'bookingId' | 'status'>[]
  /** Registration forms that are filled in and signed. */
  formsReady: number
  /** Its fees, each with the amount that is left of it on its own folios or on those that it was moved to. */
  fees: Rest[]
  /** Numbers of orders of outlets that are still open for it. */
  openChecks: string[]
  /** Personal data of one of its guests were erased. */
  isErased: boolean
  /** The strictest block against one of its guests, or the booker. */
  block: 'warn' | 'refuse' | null
}

type Owned<Row> = Row & { stayId: string }

/**
 * The facts of stays of one property, in the order of their ids and in one round trip whatever their number. Ids that are not known are left out. A command
 * reads them under its locks, a preview without: both decide by the same plan.
 */
export const readFacts = async (
  trx: Trx,
  property: Pick<SaleProperty, 'id'>,
  ids: readonly string[],
): Promise<StayFacts[]> => {
  const [
    stays,
    bookings,
    nights,
    guests,
    extras,
    deposits,
    folios,
    routes,
    units,
    shares,
    payments,
    refundable,
    refunds,
    rooms,
    blocked,
    forms,
    fees,
    checks,
    ages,
    erased,
  ] = await Promise.all([
    prepared<ReservationRow>(trx, `select * from reservation where id = any(?::uuid[]) and property_id = ?`, [
      ids,
      property.id,
    ]),
    prepared<BookingRow>(
      trx,
      `select * from booking where id = any(array(select booking_id from reservation where id = any(?::uuid[])))`,
      [ids],
    ),
    prepared<ReservationNightRow>(
      trx,
      `select * from reservation_night where reservation_id = any(?::uuid[]) order by reservation_id, date`,
      [ids],
    ),
    prepared<ReservationGuestRow>(
      trx,
      `select * from reservation_guest where reservation_id = any(?::uuid[]) order by reservation_id, role desc, created_at, id`,
      [ids],
    ),
    prepared<StayExtra>(
      trx,
      `select e.*, x.category, x.revenue_group, x.pool_id from reservation_extra e
         join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
         where e.reservation_id = any(?::uuid[]) order by e.reservation_id, e.name, e.id`,
      [ids],
    ),
    prepared<DepositRow>(
      trx,
      `select * from deposit where reservation_id = any(?::uuid[]) order by reservation_id, due_at, position`,
      [ids],
    ),
    prepared<FolioRow>(
      trx,
      `select * from folio where reservation_id = any(?::uuid[]) order by reservation_id, not is_primary, number`,
      [ids],
    ),
    routesOf(trx, ids),
    prepared<Owned<StayUnit>>(
      trx,
      `select a.reservation_id as stay_id, a.id, a.unit_id, a.status, a.starts_on as "from", a.ends_on as "to", u.name, u.unit_pool_id, u.condition,
           ${stateColumns}
         from ${fromUnits} join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id
         where a.reservation_id = any(?::uuid[]) and a.status <> 'released' order by a.reservation_id, a.starts_on, u.name`,
      [ids],
    ),
    prepared<StayFacts['shares'][number]>(
      trx,
      `select unit_type_id, unit_pool_id as pool_id, quantity from unit_type_pool
         where unit_type_id = any(array(select unit_type_id from reservation_night where reservation_id = any(?::uuid[])))`,
      [ids],
    ),
    prepared<StayPayment & { bookingId: string; stayId: string | null }>(
      trx,
      `select p.status, p.target_type, case p.status when 'authorised' then p.authorised_amount else 0 end as authorised, s.booking_id, s.stay_id
         from (select r.booking_id, null::uuid as stay_id, 'booking' as type, r.booking_id as id from reservation r where r.id = any(?::uuid[])
           union select r.booking_id, r.id, 'reservation', r.id from reservation r where r.id = any(?::uuid[])
           union select r.booking_id, r.id, 'folio', f.id from reservation r join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id
             where r.id = any(?::uuid[])) s
         join payment p on p.target_type = s.type and p.target_id = s.id
           and p.status in ('created', 'unknown', 'requires_action', 'processing', 'authorised')`,
      [ids, ids, ids],
    ),
    prepared<StayFacts['refundable'][number]>(
      trx,
      `select folio_id, sum(greatest(0, least(amount, free)))::bigint as amount
         from (select a.target_id as folio_id, sum(a.amount) as amount, p.captured_amount - p.refund_reserved - p.disputed_amount as free
           from folio f join payment_allocation a on a.tenant_id = f.tenant_id and a.target_type = 'folio' and a.target_id = f.id
           join payment p on p.tenant_id = a.tenant_id and p.id = a.payment_id and p.origin = 'gateway' and p.status = 'captured'
           where f.reservation_id = any(?::uuid[]) group by a.target_id, p.tenant_id, p.id) x
         group by folio_id`,
      [ids],
    ),
    prepared<{ folioId: string }>(
      trx,
      `select distinct f.id as folio_id from folio f join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id and l.kind = 'refund'
       where f.reservation_id = any(?::uuid[])`,
      [ids],
    ),
    prepared<StayFacts['siblings'][number]>(
      trx,
      `select id, booking_id, status from reservation
         where booking_id = any(array(select booking_id from reservation where id = any(?::uuid[]))) order by position`,
      [ids],
    ),
    blocksAmong(trx, property.id, guestsOfStays, ids),
    prepared<{ reservationId: string }>(
      trx,
      `select reservation_id from guest_registration where reservation_id = any(?::uuid[]) and status in ('ready', 'submitted', 'accepted')`,
      [ids],
    ),
    feesLeft(trx, ids),
    openChecksOf(trx, ids),
    agesFor(trx, ids),
    prepared<{ id: string }>(trx, `select id from guest where id in (${guestsOfStays}) and status = 'erased'`, [ids]),
  ])
  const of = <Row extends { reservationId: string | null }>(rows: readonly Row[], id: string) =>
    rows.filter((row) => row.reservationId === id)
  return ids.flatMap((id) => {
    const stay = stays.find((one) => one.id === id)
    const booking = bookings.find((one) => one.id === stay?.bookingId)
    if (!stay || !booking) return []
    const own = of(guests, id)
    const typeIds = new Set(of(nights, id).map((night) => night.unitTypeId))
    const people = new Set([booking.bookerGuestId, ...own.map((guest) => guest.guestId)])
    const levels = blocked.filter((one) => people.has(one.guestId)).map((one) => one.level)
    return [
      {
        stay,
        booking,
        nights: of(nights, id),
        // A birth date that became known since, such as by a form, counts too.
        guests: own.map((one) => ({ ...one, age: one.age ?? ages.get(one.id) ?? null })),
        extras: of(extras, id),
        deposits: of(deposits, id),
        folios: of(folios, id),
        routes: of(routes, id),
        units: units.filter((one) => one.stayId === id),
        shares: shares.filter((one) => typeIds.has(one.unitTypeId)),
        payments: payments.filter((one) => one.bookingId === booking.id && (one.stayId === null || one.stayId === id)),
        refundable: refundable.filter((one) => of(folios, id).some((folio) => folio.id === one.folioId)),
        refunded: refunds.some((one) => of(folios, id).some((folio) => folio.id === one.folioId)),
        siblings: rooms.filter((one) => one.bookingId === booking.id && one.id !== id),
        fees: of(fees, id),
        openChecks: of(checks, id).map((one) => one.number),
        formsReady: of(forms, id).length,
        isErased: erased.some((one) => people.has(one.id)),
        block: levels.includes('refuse') ? 'refuse' : (levels[0] ?? null),
      },
    ]
  })
}
