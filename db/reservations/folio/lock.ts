import { ApiError, notFound, versionConflict } from '../../../config/errors.ts'
import { businessDay } from '../../financial/index.ts'
import { nativeError, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioRow } from '../../rows.ts'
import type { Route } from '../rules/routing.ts'
import { routesOf } from './route.ts'

/** A lock that is not had within 2 s has a code of its own here: the caller repeats the request (R33). */
const locking = async <Row>(work: Promise<Row>): Promise<Row> => {
  try {
    return await work
  } catch (error) {
    const native = nativeError(error)
    if (!(native instanceof Error && 'code' in native && native.code === '55P03')) throw error
    throw new ApiError('folio_busy', 'The folio is in use; repeat the request', { cause: error, retryAfterSeconds: 1 })
  }
}

/** Locks folios by id, as every command does. */
export const lockFoliosById = (trx: Trx, ids: readonly string[]): Promise<FolioRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : locking(
        sql<FolioRow>(trx, `select * from folio where id = any(?::uuid[]) order by id for no key update`, [
          [...new Set(ids)],
        ]),
      )

/** Primary folios of reservations, locked by id. */
export const lockPrimaryFolios = (trx: Trx, reservationIds: readonly string[]): Promise<FolioRow[]> =>
  locking(
    sql<FolioRow>(
      trx,
      `select * from folio where reservation_id = any(?::uuid[]) and is_primary order by id for no key update`,
      [reservationIds],
    ),
  )

/** All folios of reservations, locked by id. */
export const lockFoliosOf = (trx: Trx, reservationIds: readonly string[]): Promise<FolioRow[]> =>
  locking(
    sql<FolioRow>(trx, `select * from folio where reservation_id = any(?::uuid[]) order by id for no key update`, [
      reservationIds,
    ]),
  )

/** All folios of a group, of some of its reservations, and of their routes, locked by id. */
export const lockFoliosOfGroup = (
  trx: Trx,
  groupId: string,
  reservationIds: readonly string[] = [],
): Promise<FolioRow[]> =>
  locking(
    sql<FolioRow>(
      trx,
      `select * from folio where group_id = ? or reservation_id = any(?::uuid[])
         or id in (select folio_id from folio_route where reservation_id = any(?::uuid[])) order by id for no key update`,
      [groupId, reservationIds, reservationIds],
    ),
  )

export type StayFolios = { folios: FolioRow[]; routes: Route[] }

/**
 * Locks the primary folios of reservations and every folio that their routes name, all by id, so that a charge finds its place among them. `all` locks the
 * other folios of the reservations, too, and `also` further ones by id. The reservations are locked, so their routes stay.
 */
export const lockRoutedFolios = async (
  trx: Trx,
  reservationIds: readonly string[],
  { all = false, also = [] }: { all?: boolean; also?: readonly string[] } = {},
): Promise<StayFolios> => {
  const routes = await routesOf(trx, reservationIds)
  const folios = await locking(
    sql<FolioRow>(
      trx,
      `select * from folio where (reservation_id = any(?::uuid[]) and (is_primary or ?)) or id = any(?::uuid[]) order by id for no key update`,
      [reservationIds, all, [...new Set([...routes.map((route) => route.folioId), ...also])]],
    ),
  )
  return { folios, routes }
}

/**
 * All folios of a reservation, locked by id with those that its charges are routed to. `also` answers further ones by id.
 */
export const lockFolios = async (
  trx: Trx,
  reservationId: string,
  { also = [] }: { also?: readonly string[] } = {},
): Promise<FolioRow[]> =>
  (await lockRoutedFolios(trx, [reservationId], { all: true, also })).folios.filter(
    (one) => one.reservationId === reservationId || also.includes(one.id),
  )

/** Holds the business day that lines of a folio are dated by, which comes before all other locks. 404. */
export const holdDayOfFolio = async (trx: Trx, folioId: string): Promise<string> => {
  const found = await sqlOne<{ propertyId: string }>(trx, `select property_id from folio where id = ?`, [folioId])
  if (!found) throw notFound()
  return businessDay(trx, found.propertyId)
}

/** A folio with the business day that its lines are dated by: the first step of commands on folios. 404; 409 `folio_busy`, `version_conflict`. */
export const lockFolio = async (
  trx: Trx,
  folioId: string,
  expected: number | null = null,
): Promise<{ folio: FolioRow; businessDate: string }> => {
  const businessDate = await holdDayOfFolio(trx, folioId)
  const [folio] = await lockFoliosById(trx, [folioId])
  if (!folio) throw notFound()
  if (expected !== null && expected !== folio.version) throw versionConflict(folio.version)
  return { folio, businessDate }
}
