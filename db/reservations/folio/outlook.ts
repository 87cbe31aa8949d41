import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioRow, ReservationRow } from '../../rows.ts'
import { comingExtras } from '../charge-extras.ts'
import { comingNights } from '../charge-nights.ts'
import { folioFor } from '../rules/routing.ts'
import { routesOf } from './route.ts'
import { owedOf } from './write.ts'

/** Minor units that folios will take by their routes: up to the business date, and to the end of the stays. */
export type Outlook = { unposted: number; toCome: number }
type Stay = Pick<
  ReservationRow,
  'id' | 'propertyId' | 'status' | 'total' | 'postedTotal' | 'primaryGuestId' | 'marketSegment'
>
type Place = Pick<FolioRow, 'id' | 'reservationId' | 'isPrimary' | 'status'>

const lastDay = '9999-12-31'
/** Prices of other stays are posted, frozen, or on no folio yet. */
const isComing = ({ status }: Pick<Stay, 'status'>) => status === 'confirmed' || status === 'checked_in'

type Options = {
  /** Splits off what is not posted by the end of this day, which costs reading each night. */
  businessDate?: string
}

/**
 * The part of the price of stays that is not posted, by the folio that will take it, as things stand. Together it is their total less what is posted. Only
 * stays with routes need their nights read.
 */
export const outlookOf = async (
  trx: Trx,
  reservations: readonly Stay[],
  { businessDate }: Options = {},
): Promise<Map<string, Outlook>> => {
  const stays = reservations.filter((one) => isComing(one) && one.total !== one.postedTotal)
  const outlook = new Map<string, Outlook>()
  if (stays.length === 0) return outlook
  const ids = stays.map((one) => one.id)
  const routes = await routesOf(trx, ids)
  const places = await prepared<Place>(
    trx,
    `select id, reservation_id, is_primary, status from folio where (reservation_id = any(?::uuid[]) and is_primary) or id = any(?::uuid[])`,
    [ids, [...new Set(routes.map((one) => one.folioId))]],
  )
  const primaryOf = new Map(places.flatMap((one) => (one.isPrimary ? [[one.reservationId, one.id]] : [])))
  const isOpen = (id: string) => places.find((one) => one.id === id)?.status === 'open'
  const add = (folioId: string | undefined, amount: number, unposted: number) => {
    if (folioId === undefined) return
    const known = outlook.get(folioId) ?? { unposted: 0, toCome: 0 }
    outlook.set(folioId, { unposted: known.unposted + unposted, toCome: known.toCome + amount })
  }
  const routed = new Set(routes.map((one) => one.reservationId))
  const read = stays.filter((one) => businessDate !== undefined || routed.has(one.id))
  for (const one of stays.filter((stay) => !read.includes(stay)))
    add(primaryOf.get(one.id), one.total - one.postedTotal, 0)
  if (read.length === 0) return outlook
  const charges = [...(await comingNights(trx, read, lastDay)), ...(await comingExtras(trx, read, lastDay))]
  for (const charge of charges) {
    const { stay, routed: by } = charge
    const primaryId = primaryOf.get(stay.id)
    const own = routes.filter((route) => route.reservationId === stay.id)
    const isDue = businessDate !== undefined && by !== null && by.date <= businessDate
    const owed = owedOf(charge)
    add(primaryId && by ? folioFor(own, by, isOpen, primaryId) : primaryId, owed, isDue ? owed : 0)
  }
  return outlook
}

/**
 * Stays whose charges may come on a folio: its own where it is the primary one, and those with a route to it. They are few, which PostgreSQL does not know of
 * groups: each step is an array, so that no plan reads all stays.
 */
export const staysOfFolio = (trx: Trx, folioId: string): Promise<Stay[]> =>
  prepared<Stay>(
    trx,
    `select r.id, r.property_id, r.status, r.total, r.posted_total, r.primary_guest_id, r.market_segment from reservation r
     where r.status in ('confirmed', 'checked_in') and r.id = any(array(
       select f.reservation_id from folio f where f.id = ? and f.is_primary
       union select x.reservation_id from folio_route x where x.folio_id = ?
       union select s.id from reservation s where s.booking_id = any(array(
         select b.id from booking b where b.group_id = any(array(select g.id from booking_group g where g.master_folio_id = ?))))))`,
    [folioId, folioId, folioId],
  )

/** Balance of a folio at the end of the stays that it pays for; what is open up to the business date stands beside it. */
export const projectionOf = async (
  trx: Trx,
  folio: Pick<FolioRow, 'id' | 'balance'>,
  options: Options = {},
): Promise<{ unposted: number; projected: number }> => {
  const { unposted, toCome } = (await outlookOf(trx, await staysOfFolio(trx, folio.id), options)).get(folio.id) ?? {
    unposted: 0,
    toCome: 0,
  }
  return { unposted, projected: folio.balance + toCome }
}
