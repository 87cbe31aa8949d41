import { addDays } from '../../../config/time.ts'
import { prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { presentDay } from '../state.ts'

/** One unit of a pool that a stay needs on `[from, to)`. */
export type Need = { reservationId: string; poolId: string; unitTypeId: string; from: string; to: string }
type Night = { reservationId: string; poolId: string; unitTypeId: string; date: string; lacking: number }

/** Nights of stays from the present day on, with what each takes of pools and what it has been given of them: `s`, `n` and `g`. */
const nights = (given: string) => `reservation r
  join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
  join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released' and n.date >= ${presentDay('y')}
  join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
  cross join lateral (select count(*)::int as given from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
    where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status in (${given}) and u.unit_pool_id = s.unit_pool_id
      and a.starts_on <= n.date and a.ends_on > n.date) g`
const standing = `r.status in ('confirmed', 'checked_in') and g.given < s.quantity`

/** Nights in a row are one stretch; a stay that takes two of a pool has two of them. */
const stretches = (rows: readonly Night[]): Need[] => {
  const open = new Map<string, Need>()
  const needs: Need[] = []
  for (const { lacking, date, ...of } of rows)
    for (let each = 0; each < lacking; each += 1) {
      const key = `${of.reservationId} ${of.poolId} ${of.unitTypeId} ${each}`
      const before = open.get(key)
      if (before?.to === date) before.to = addDays(date, 1)
      else {
        const need = { ...of, from: date, to: addDays(date, 1) }
        open.set(key, need)
        needs.push(need)
      }
    }
  return needs
}

/**
 * Units that confirmed stays and those in house lack from the present day on. `beside: 'fixed'` counts only locked and occupied rows as given: what a
 * stay would need if its proposed units were taken back.
 */
export const lackingUnits = async (
  trx: Trx,
  reservationIds: readonly string[],
  beside: 'all' | 'fixed' = 'all',
): Promise<Need[]> =>
  stretches(
    await prepared<Night>(
      trx,
      `select r.id as reservation_id, s.unit_pool_id as pool_id, n.unit_type_id, n.date, s.quantity - g.given as lacking
       from ${nights(beside === 'all' ? `'proposed', 'locked', 'occupied'` : `'locked', 'occupied'`)}
       where r.id = any(?::uuid[]) and ${standing} order by r.id, s.unit_pool_id, n.date`,
      [reservationIds],
    ),
  )

/** Stays with a night in `[from, to)` that lack a unit of these pools then. */
export const lackingStays = async (trx: Trx, poolIds: readonly string[], from: string, to: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select distinct r.id from ${nights(`'proposed', 'locked', 'occupied'`)}
       where s.unit_pool_id = any(?::uuid[]) and n.date >= ?::date and n.date < ?::date and ${standing}`,
      [poolIds, from, to],
    )
  ).map((row) => row.id)
