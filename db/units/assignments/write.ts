import { repack } from '../../../jobs/units.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import type { Plan } from '../rules/pool-plan.ts'
import { tellAssigned, tellStranded, tellUnassigned } from '../stay-events.ts'
import { lackingUnits } from './unassigned.ts'

/** The planned unit of a stay. `assignmentId` is its row; null makes one. Without a unit the row is given up. */
export type Change = {
  assignmentId: string | null
  reservationId: string
  poolId: string
  from: string
  to: string
  fromUnitId: string | null
  toUnitId: string | null
}

/**
 * Writes changes of proposed rows, all at once. The constraint looks at the end of each statement, and meets chains and circles of exchanges complete: places
 * are given up first, all moves are one statement, and new rows come last. The pools are locked. A stay that lost its unit meanwhile, since it was cancelled,
 * is left alone. Tells of units given and taken.
 */
export const settle = async (trx: Trx, changes: readonly Change[]): Promise<void> => {
  if (changes.length === 0) return
  const ids = changes.flatMap((change) => change.assignmentId ?? [])
  const standing = new Set(
    (
      await sql<{ id: string }>(
        trx,
        `select id from unit_assignment where id = any(?::uuid[]) and status in ('proposed', 'locked') order by id for update`,
        [ids],
      )
    ).map((row) => row.id),
  )
  const kept = changes.filter((change) => change.assignmentId === null || standing.has(change.assignmentId))
  const moved = kept.filter((change) => change.assignmentId !== null && change.toUnitId !== null)
  const made = kept.filter((change) => change.assignmentId === null && change.toUnitId !== null)
  const lost = kept.filter((change) => change.assignmentId !== null && change.toUnitId === null)
  await sql(trx, `update unit_assignment set status = 'released' where id = any(?::uuid[])`, [
    lost.map((change) => change.assignmentId),
  ])
  await sql(
    trx,
    `update unit_assignment a set unit_id = v.unit_id, during = daterange(v."from", v."to"), status = 'proposed'
     from unnest(?::uuid[], ?::uuid[], ?::date[], ?::date[]) as v (id, unit_id, "from", "to") where a.id = v.id`,
    [
      moved.map((change) => change.assignmentId),
      moved.map((change) => change.toUnitId),
      moved.map((change) => change.from),
      moved.map((change) => change.to),
    ],
  )
  await sql(
    trx,
    `insert into unit_assignment (unit_id, reservation_id, during, status)
     select v.unit_id, v.reservation_id, daterange(v."from", v."to"), 'proposed'
     from unnest(?::uuid[], ?::uuid[], ?::date[], ?::date[]) as v (unit_id, reservation_id, "from", "to")`,
    [
      made.map((change) => change.toUnitId),
      made.map((change) => change.reservationId),
      made.map((change) => change.from),
      made.map((change) => change.to),
    ],
  )
  const placed = [...moved, ...made].map(({ reservationId, toUnitId }) => ({ reservationId, unitId: toUnitId }))
  await tellAssigned(trx, placed, false)
  const gone = lost.map(({ reservationId, fromUnitId }) => ({ reservationId, unitId: fromUnitId }))
  await tellUnassigned(trx, gone)
}

export type Stranded = { reservationId: string; poolId: string; from: string; to: string }

/**
 * Keeps the stays that wait for a unit of a pool, and tells of each once, until the stay has one or its dates grow; the pool is then repacked, which may find
 * room by beginning anew.
 */
export const strand = async (trx: Trx, stranded: readonly Stranded[]): Promise<void> => {
  const one = new Map<string, Stranded>()
  for (const piece of stranded) {
    const key = `${piece.reservationId} ${piece.poolId}`
    const known = one.get(key)
    one.set(
      key,
      known
        ? {
            ...known,
            from: known.from < piece.from ? known.from : piece.from,
            to: known.to > piece.to ? known.to : piece.to,
          }
        : { ...piece },
    )
  }
  if (one.size === 0) return
  const rows = [...one.values()].sort((a, b) => (a.reservationId < b.reservationId ? -1 : 1))
  const told = await sql<Stranded>(
    trx,
    `insert into stranded_stay as s (reservation_id, unit_pool_id, "from", "to")
     select * from unnest(?::uuid[], ?::uuid[], ?::date[], ?::date[])
     on conflict (tenant_id, reservation_id, unit_pool_id) do update
       set "from" = least(s."from", excluded."from"), "to" = greatest(s."to", excluded."to"), since = now()
       where s."to" < excluded."to" or s."from" > excluded."from"
     returning reservation_id, unit_pool_id as pool_id, "from", "to"`,
    [
      rows.map((row) => row.reservationId),
      rows.map((row) => row.poolId),
      rows.map((row) => row.from),
      rows.map((row) => row.to),
    ],
  )
  await tellStranded(trx, told)
  const { tenantId } = contextOf(trx)
  for (const unitPoolId of new Set(told.map((row) => row.poolId)))
    if (tenantId !== null) await enqueue(trx, repack, { tenantId, unitPoolId }, { uniqueKey: unitPoolId })
}

/** They have what they waited for. */
export const unstrand = (trx: Trx, poolId: string, reservationIds: readonly string[]) =>
  sql(trx, `delete from stranded_stay where unit_pool_id = ? and reservation_id = any(?::uuid[])`, [
    poolId,
    reservationIds,
  ])

export const settleAll = async (trx: Trx, plans: readonly Plan[]): Promise<void> => {
  const changes = plans.flatMap((plan) => plan.changes)
  await settle(trx, changes)
  const stranded = plans.flatMap((plan) => plan.stranded)
  // A stay with one unit may still wait for another, on nights that were not looked at.
  const lacking = await lackingUnits(
    trx,
    changes.map((change) => change.reservationId),
  )
  const waiting = new Set([...stranded, ...lacking].map(({ reservationId, poolId }) => `${reservationId} ${poolId}`))
  for (const poolId of new Set(changes.map((change) => change.poolId)))
    await unstrand(
      trx,
      poolId,
      changes.flatMap(({ reservationId, poolId: of }) =>
        of === poolId && !waiting.has(`${reservationId} ${poolId}`) ? [reservationId] : [],
      ),
    )
  await strand(trx, stranded)
}
