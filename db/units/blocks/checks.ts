import { invalid, unprocessable } from '../../../config/errors.ts'
import { daysBetween } from '../../../config/time.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Cleared } from '../assignments/clear.ts'
import type { NewBlock } from './create.ts'
import type { Unit } from './rows.ts'

/** The longest block, in days. */
const longest = 1_096

export type Override = { rules: readonly 'availability'[]; reason: string }

export const outOfRange = (field: string, message: string) =>
  unprocessable('date_out_of_range', 'The dates of the block do not fit', [{ field, message }])

export const refuseDates = ({ from, to }: Pick<NewBlock, 'from' | 'to'>, first: string) => {
  if (to <= from) throw invalid([{ field: 'to', message: 'must be after from' }])
  if (from < first) throw outOfRange('from', `must not be before ${first}`)
  if (daysBetween(from, to) > longest) throw outOfRange('to', `must be within ${longest} days`)
}

/** Units of a house that are there for the whole block. */
export const judgeUnits = (
  units: readonly Unit[],
  block: Pick<NewBlock, 'propertyId' | 'unitIds'>,
  from: string,
  to: string,
) => {
  const known = new Map(units.map((unit) => [unit.id, unit]))
  const errors = block.unitIds.flatMap((unitId, index) => {
    const unit = known.get(unitId)
    return unit?.propertyId === block.propertyId && unit.status === 'active'
      ? []
      : [{ field: `unitIds.${index}`, message: 'is not an active unit of the property' }]
  })
  if (errors.length > 0) throw unprocessable('unit_not_in_property', 'A unit does not belong to the property', errors)
  const away = block.unitIds.flatMap((unitId, index) => {
    const unit = known.get(unitId)
    return unit && (unit.activeFrom > from || (unit.activeUntil !== null && unit.activeUntil < to))
      ? [{ field: `unitIds.${index}`, message: `${unit.name} is not active on all days of the block` }]
      : []
  })
  if (away.length > 0) throw unprocessable('date_out_of_range', 'A unit is not there for the whole block', away)
}

/** A block is for an issue of its house, and takes the unit that this is about. 422 `reference_not_found`, `link_mismatch`. */
export const judgeIssue = async (
  trx: Trx,
  { propertyId, issueId, unitIds }: Pick<NewBlock, 'propertyId' | 'issueId' | 'unitIds'>,
): Promise<void> => {
  if (!issueId) return
  const issue = await sqlOne<{ unitId: string | null }>(
    trx,
    `select unit_id from issue where id = ? and property_id = ?`,
    [issueId, propertyId],
  )
  if (!issue)
    throw unprocessable('reference_not_found', 'The property does not have this issue', [
      { field: 'issueId', message: 'does not exist' },
    ])
  if (issue.unitId !== null && !unitIds.includes(issue.unitId))
    throw unprocessable('link_mismatch', 'The issue is about another unit', [
      { field: 'issueId', message: 'is about a unit that the block does not take' },
    ])
}

/** Stores the stays that had to move with the block; an override is audited with its reason. */
export const keepStays = async (
  trx: Trx,
  id: string,
  { moves, displaced }: Cleared,
  override: Override | undefined,
) => {
  const gone = new Set(displaced.map((one) => `${one.reservationId} ${one.unitId}`))
  // One that was to come back to a unit loses it twice.
  const touched = new Map(moves.map((move) => [`${move.reservationId} ${move.fromUnitId}`, move]))
  const stays = [...touched].map(([key, { reservationId, fromUnitId }]) => ({
    reservationId,
    unitId: fromUnitId,
    displaced: gone.has(key),
  }))
  await sql(
    trx,
    `insert into unit_block_stay (unit_block_id, reservation_id, unit_id, displaced) select ?, * from unnest(?::uuid[], ?::uuid[], ?::boolean[])
     on conflict (tenant_id, unit_block_id, reservation_id, unit_id) do update set displaced = excluded.displaced or unit_block_stay.displaced, at = now()`,
    [id, stays.map((one) => one.reservationId), stays.map((one) => one.unitId), stays.map((one) => one.displaced)],
  )
  if (override)
    await audit(trx, {
      action: 'unitBlocks.override',
      subjectType: 'UnitBlock',
      subjectId: id,
      reason: override.reason,
      changes: [
        { field: 'rules', after: override.rules },
        { field: 'displaced', after: displaced.map((one) => one.reservationId).slice(0, 100) },
      ],
    })
}
