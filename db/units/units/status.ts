import { conflict } from '../../../config/errors.ts'
import { unitArchived, unitRestored } from '../../../config/events/units.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { skipLeft } from '../housekeeping-tasks/moves.ts'
import { place, tell, unitLifecycle } from './place.ts'

/** Takes a unit out of capacity for good. 409 `capacity_in_use` or `unit_conflict` while it is needed. */
export const archiveUnit = async (trx: Trx, id: string, expectedVersion: number | null): Promise<void> => {
  const done = await place(trx, id, expectedVersion, (unit) =>
    Promise.resolve(unitLifecycle.isDue('archived', unit.status) ? { row: { status: 'archived' }, stand: null } : null),
  )
  if (!done) return
  await tell(trx, unitArchived, done.unit, done.version)
  await skipLeft(trx, id)
}

/** Brings an archived unit back, for as long as may be. 409 `duplicate_name` where another unit has its name now. */
export const restoreUnit = async (trx: Trx, id: string, expectedVersion: number | null): Promise<void> => {
  const done = await place(trx, id, expectedVersion, async (unit) => {
    if (!unitLifecycle.isDue('restored', unit.status)) return null
    const type = await sqlOne<{ status: string }>(trx, `select status from unit_type where id = ?`, [unit.unitTypeId])
    if (type?.status !== 'active') throw conflict('invalid_transition', 'Restore its unit type first')
    return {
      row: { status: 'active', activeUntil: null },
      stand: { poolId: unit.unitPoolId, from: unit.activeFrom, until: null },
    }
  })
  if (done) await tell(trx, unitRestored, done.unit, done.version)
}
