import { preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { countsOfNight, overbookedNights, presentDayOf } from '../units/index.ts'
import { hasFlag } from './flags.ts'
import { conditionOf, countedOn, propertyOf } from './front-desk.ts'
import type { Day, DeskList } from './front-desk.ts'

type Counts = Record<
  | 'arrivalsExpected'
  | 'arrivalsDone'
  | 'arrivalsOverdue'
  | 'unassigned'
  | 'notReady'
  | 'departuresExpected'
  | 'departuresDone'
  | 'departuresOverdue'
  | 'reservations'
  | 'adults'
  | 'children'
  | 'held'
  | 'sold'
  | 'capacity'
  | 'blocked'
  | 'overbookedNights'
  | 'balanceDue',
  number
>

const isIn = (list: DeskList, day: Day) => {
  const { text, values } = conditionOf[list](day)
  return { text: `(${text})`, values }
}

/**
 * The counts of a day: what is expected, done and overdue, the guests in the house, and how full it is. Overdue ones are counted on the business date alone.
 * `rate` is in basis points of the units that can be sold; null where there are none.
 */
export const readDeskSummary = async (trx: Trx, propertyId: string, asked: string | undefined) => {
  const property = await propertyOf(trx, propertyId)
  const today = presentDayOf(property)
  const day: Day = { propertyId, today, date: asked ?? today }
  const { date } = day
  const [arriving, leaving, inHouse] = [isIn('arrivals', day), isIn('departures', day), isIn('in-house', day)]
  const counted = countedOn(day)
  const counts = (await preparedOne<Counts>(
    trx,
    `with stay as (
       select r.*, ${arriving.text} as arriving, ${leaving.text} as leaving, ${inHouse.text} as in_house
       from reservation r where ${counted.text})
     select
       count(*) filter (where arriving and r.status = 'confirmed' and r.arrival = ?::date) as arrivals_expected,
       count(*) filter (where arriving and r.status <> 'confirmed') as arrivals_done,
       count(*) filter (where arriving and r.status = 'confirmed' and r.arrival < ?::date) as arrivals_overdue,
       count(*) filter (where arriving and r.status = 'confirmed' and ${hasFlag('unassigned')}) as unassigned,
       count(*) filter (where arriving and r.status = 'confirmed' and ${hasFlag('not_ready')}) as not_ready,
       count(*) filter (where leaving and r.status <> 'checked_out' and r.departure = ?::date) as departures_expected,
       count(*) filter (where leaving and r.status = 'checked_out') as departures_done,
       count(*) filter (where leaving and r.status <> 'checked_out' and r.departure < ?::date) as departures_overdue,
       count(*) filter (where in_house) as reservations,
       coalesce(sum(r.adults) filter (where in_house), 0)::int as adults,
       coalesce(sum(cardinality(r.children_ages)) filter (where in_house), 0)::int as children,
       count(*) filter (where r.status = 'held' and r.arrival <= ?::date and r.departure > ?::date) as held,
       n.sold, n.capacity, n.blocked, o.nights as overbooked_nights, d.due as balance_due
     from property y
     cross join lateral (${countsOfNight}) n
     cross join lateral (${overbookedNights}) o
     cross join lateral (select coalesce(sum(f.balance), 0)::bigint as due from folio f
       join reservation x on x.tenant_id = f.tenant_id and x.id = f.reservation_id and x.status in ('checked_in', 'checked_out')
       where f.tenant_id = y.tenant_id and f.property_id = y.id and f.status = 'open' and f.balance > 0) d
     left join stay r on r.property_id = y.id
     where y.id = ?
     group by n.sold, n.capacity, n.blocked, o.nights, d.due`,
    [
      ...arriving.values,
      ...leaving.values,
      ...inHouse.values,
      ...counted.values,
      ...Array.from({ length: 6 }, () => date),
      date,
      today,
      propertyId,
    ],
  ))!
  const { sold, capacity, blocked } = counts
  return {
    businessDate: today,
    date,
    arrivals: {
      expected: counts.arrivalsExpected,
      done: counts.arrivalsDone,
      overdue: counts.arrivalsOverdue,
      unassigned: counts.unassigned,
      notReady: counts.notReady,
    },
    departures: {
      expected: counts.departuresExpected,
      done: counts.departuresDone,
      overdue: counts.departuresOverdue,
    },
    inHouse: { reservations: counts.reservations, adults: counts.adults, children: counts.children },
    occupancy: {
      sold,
      capacity,
      blocked,
      rate: capacity > blocked ? Math.floor((sold * 20_000 + (capacity - blocked)) / (2 * (capacity - blocked))) : null,
    },
    held: counts.held,
    overbookedNights: counts.overbookedNights,
    balanceDue: counts.balanceDue,
    currency: property.currency,
  }
}
