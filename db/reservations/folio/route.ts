import { notFound } from '../../../config/errors.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Route } from '../rules/routing.ts'

/** A route, and whether its folio takes charges at the moment of reading. */
export type FoundRoute = Route & { isOpen: boolean }

/** Routes of reservations in their order; those of their group come last. */
export const routesOf = (trx: Trx, reservationIds: readonly string[]): Promise<FoundRoute[]> =>
  prepared<FoundRoute>(
    trx,
    `select x.reservation_id, x.folio_id, x.categories, x."from", x."until", f.status = 'open' as is_open from (
       select reservation_id, folio_id, categories, "from", "until", position from folio_route where reservation_id = any(?::uuid[])
       union all
       select r.id, g.master_folio_id, g.routing, null, null, 100 from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
       join booking_group g on g.tenant_id = b.tenant_id and g.id = b.group_id and g.master_folio_id is not null and g.routing <> '{}'
       where r.id = any(?::uuid[])) x
     join folio f on f.id = x.folio_id
     order by x.reservation_id, x.position`,
    [reservationIds, reservationIds],
  )

/** Routes of one reservation, and its version. 404. */
export const readRouting = async (
  trx: Trx,
  reservationId: string,
): Promise<{ reservationId: string; version: number; routes: Route[] }> => {
  const [routes, found] = await Promise.all([
    routesOf(trx, [reservationId]),
    preparedOne<{ version: number }>(trx, `select version from reservation where id = ?`, [reservationId]),
  ])
  if (!found) throw notFound()
  return { reservationId, version: found.version, routes }
}
