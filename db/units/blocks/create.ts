import { unitBlockCreated } from '../../../config/events/units.ts'
import { businessDay } from '../../financial/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import type { UnitBlockRow } from '../../rows.ts'
import { clearUnits } from '../assignments/clear.ts'
import type { Cleared } from '../assignments/clear.ts'
import { moveInventory } from '../inventory.ts'
import { judgeIssue, judgeUnits, keepStays, refuseDates } from './checks.ts'
import type { Override } from './checks.ts'
import { blockMoves, shortNights } from './counters.ts'
import type { ShortNight } from './counters.ts'
import { addRows, lockUnits, readUnits, tell } from './rows.ts'

export type NewBlock = Pick<UnitBlockRow, 'propertyId' | 'unitIds' | 'kind' | 'reason' | 'from' | 'to'> & {
  note?: string | undefined
  issueId?: string | null | undefined
  override?: Override | undefined
}

/** Previews its effects: proposed stays that move, locked ones that would have to go, and sold-out nights. Nothing is stored. */
export const previewBlock = async (trx: Trx, block: NewBlock): Promise<Cleared & { shortNights: ShortNight[] }> => {
  refuseDates(block, await businessDay(trx, block.propertyId))
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  judgeUnits(units, block, block.from, block.to)
  await judgeIssue(trx, block)
  return {
    ...(await clearUnits(trx, { ...block, force: true, dryRun: true })),
    shortNights: await shortNights(trx, await blockMoves(trx, units, null, block)),
  }
}

/** Takes units out of service, all or none (R12, R13). Answers the block's id and the stays that had to move. */
export const createBlock = async (trx: Trx, block: NewBlock): Promise<{ id: string } & Cleared> => {
  refuseDates(block, await businessDay(trx, block.propertyId))
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  judgeUnits(units, block, block.from, block.to)
  await judgeIssue(trx, block)
  const force = block.override !== undefined
  await moveInventory(trx, await blockMoves(trx, units, null, block), { force })
  await lockUnits(trx, units)
  const cleared = await clearUnits(trx, { ...block, force })
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into unit_block (property_id, unit_ids, kind, reason, note, "from", "to", issue_id) values (?, ?::uuid[], ?, ?, ?, ?, ?, ?) returning id`,
    [
      block.propertyId,
      block.unitIds,
      block.kind,
      block.reason,
      block.note ?? '',
      block.from,
      block.to,
      block.issueId ?? null,
    ],
  )
  const id = row?.id ?? ''
  await addRows(trx, id, block.unitIds, block.from, block.to)
  await keepStays(trx, id, cleared, block.override)
  await tell(trx, unitBlockCreated, [{ ...block, id, version: 1 }])
  return { id, ...cleared }
}
