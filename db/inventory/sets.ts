import { versionConflict } from '../../config/errors.ts'
import { nilId } from '../../config/nil-id.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

type SetKind = 'categories' | 'locations' | 'outlets' | 'prices'

/** Version of a set as a list shows it: 0 before it was first written. */
export const versionOfSet = async (trx: Trx, kind: SetKind, ownerId: string | null): Promise<number> => {
  const row = await sqlOne<{ version: number }>(
    trx,
    `select version from inventory_set where kind = ? and owner_id = ?`,
    [kind, ownerId ?? nilId],
  )
  return row?.version ?? 0
}

const raise = (trx: Trx, of: string, owner: string) =>
  sqlOne<{ version: number }>(
    trx,
    `insert into inventory_set (kind, owner_id) values (?, ?)
     on conflict (tenant_id, kind, owner_id) do update set version = inventory_set.version + 1 returning version`,
    [of, owner],
  )

/** Locks the sets and recipes of the tenant: they refer to one another, so that they are written one at a time. */
export const lockSets = (trx: Trx) => raise(trx, 'all', nilId)

/**
 * Locks a set to replace it, and raises its version: sets of one tenant are written one at a time, since they refer to one another. 409 `version_conflict`
 * where `expected` is not its version.
 */
export const lockSet = async (
  trx: Trx,
  kind: SetKind,
  ownerId: string | null,
  expected: number | null,
): Promise<void> => {
  await lockSets(trx)
  const row = await raise(trx, kind, ownerId ?? nilId)
  const before = (row?.version ?? 1) - 1
  if (expected !== null && expected !== before) throw versionConflict(before)
}
