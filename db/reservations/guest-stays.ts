import { isOfGuest } from '../guests/index.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/**
 * The stays that a guest is named in, first or as a companion: a condition on `reservation r` with the guest's id as its value. Stays of all
 * profiles of a merged guest are the guest's. `listReservations` takes it as its filter `guestId`; a list of a guest's stays is that list.
 */
export const isGuestStay = `r.id in (select n.reservation_id from reservation_guest n where ${isOfGuest('n.guest_id')})`

type Counts = {
  stays: number
  nights: number
  upcoming: number
  cancelled: number
  noShows: number
  firstArrival: string | null
  lastDeparture: string | null
  averageLeadDays: number | null
}
type Revenue = { currency: string; room: number; other: number }

/**
 * Statistics of a guest's stays. They cover all profiles that are merged into the guest, in the properties within the caller's scope. Stays and nights are
 * those of stays that began, without nights that were given back. Revenue is posted revenue, net of adjustments and without taxes on top. It comes from the stays that began, with this
 * guest as their main guest.
 */
export const statisticsOf = async (
  trx: Trx,
  guestIds: readonly string[],
  scope: Condition,
): Promise<Counts & { revenue: Revenue[] }> => {
  const inScope = whereOf(scope, { propertyId: 'r.property_id' })
  const [counted, revenue] = await Promise.all([
    prepared<Counts>(
      trx,
      `with own as (
         select distinct r.id, r.status, r.arrival, r.departure, r.created_at,
           (select count(*) from reservation_night s where s.tenant_id = r.tenant_id and s.reservation_id = r.id and s.status <> 'released') as nights
         from reservation_guest n
         join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
         where n.guest_id = any(?::uuid[]) and ?)
       select count(*) filter (where status in ('checked_in', 'checked_out')) as stays,
         coalesce(sum(nights) filter (where status in ('checked_in', 'checked_out')), 0)::int as nights,
         count(*) filter (where status = 'confirmed') as upcoming, count(*) filter (where status = 'cancelled') as cancelled,
         count(*) filter (where status = 'no_show') as no_shows,
         min(arrival) filter (where status in ('checked_in', 'checked_out')) as first_arrival,
         max(departure) filter (where status in ('checked_in', 'checked_out')) as last_departure,
         round(avg(greatest(0, arrival - created_at::date)) filter (where status in ('checked_in', 'checked_out')))::int as average_lead_days
       from own`,
      [guestIds, inScope],
    ),
    prepared<Revenue>(
      trx,
      `select f.currency, coalesce(sum(l.amount) filter (where l.category = 'room'), 0)::bigint as room,
         coalesce(sum(l.amount) filter (where l.category <> 'room'), 0)::bigint as other
       from reservation r join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id
       join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id
       where r.primary_guest_id = any(?::uuid[]) and ? and l.kind in ('charge', 'adjustment', 'fee') and l.category <> 'tax'
         and r.status in ('checked_in', 'checked_out')
       group by f.currency order by f.currency`,
      [guestIds, inScope],
    ),
  ])
  const counts = counted[0]
  if (!counts) throw new Error('a count has one row')
  return { ...counts, revenue }
}
