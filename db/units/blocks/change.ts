import { unprocessable } from '../../../config/errors.ts'
import { unitBlockChanged } from '../../../config/events/units.ts'
import { businessDay } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { sentFields } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { fieldsOf } from '../../lib/records.ts'
import type { UnitBlockRow } from '../../rows.ts'
import { clearUnits } from '../assignments/clear.ts'
import type { Cleared } from '../assignments/clear.ts'
import { moveInventory } from '../inventory.ts'
import { judgeIssue, judgeUnits, keepStays, outOfRange, refuseDates } from './checks.ts'
import type { Override } from './checks.ts'
import { blockMoves, spanFrom } from './counters.ts'
import {
  blockLifecycle,
  addRows,
  endRows,
  giveBack,
  lockBlock,
  lockUnits,
  readRow,
  readUnits,
  seenAs,
  tell,
} from './rows.ts'

export type BlockChange = {
  [Field in 'unitIds' | 'kind' | 'reason' | 'note' | 'from' | 'to' | 'issueId']?: UnitBlockRow[Field] | undefined
} & { override?: Override | undefined }

const only = new Set(['to', 'unitIds', 'note', 'override'])

/** Changes an open block, by the delta on the union of what it was and will be. One that runs may change `to`, units and note only. */
export const changeBlock = async (
  trx: Trx,
  id: string,
  { override, ...change }: BlockChange,
  expected: number | null,
): Promise<Cleared> => {
  const block = await readRow(trx, id)
  const today = await businessDay(trx, block.propertyId)
  const sent = fieldsOf(change) as (keyof typeof change)[]
  const next: UnitBlockRow = { ...block, ...Object.fromEntries(sent.map((field) => [field, change[field]])) }
  blockLifecycle.allow('changed', block.status)
  await refuseArchived(trx, block.propertyId)
  if (sent.length === 0) return { moves: [], displaced: [] }
  const begun = block.from <= today
  const late = sent.filter((field) => !only.has(field) && change[field] !== block[field])
  if (begun && late.length > 0)
    throw unprocessable(
      'block_begun',
      'A block that has begun changes its end, units and note only',
      late.map((field) => ({ field, message: 'does not change any more' })),
    )
  refuseDates(next, begun ? block.from : today)
  if (next.to <= today) throw outOfRange('to', `must be after ${today}; end the block instead`)
  const [before, after] = [spanFrom(block, today), spanFrom(next, today)]
  const all = await readUnits(trx, [...new Set([...block.unitIds, ...next.unitIds])])
  judgeUnits(all, next, after?.from ?? next.from, next.to)
  if (change.issueId !== undefined || change.unitIds !== undefined) await judgeIssue(trx, next)
  const force = override !== undefined
  await moveInventory(trx, await blockMoves(trx, all, before, after), { force, check: seenAs(trx, block, all) })
  await lockUnits(trx, all)
  await lockBlock(trx, block, expected)
  const cleared = await clearUnits(trx, {
    unitIds: next.unitIds,
    from: after?.from ?? next.from,
    to: next.to,
    blockId: id,
    force,
  })
  const gone = block.unitIds.filter((unitId) => !next.unitIds.includes(unitId))
  await endRows(trx, [id], gone, today)
  await sql(
    trx,
    `update unit_assignment set during = daterange(case when ? then starts_on else ?::date end, ?::date) where unit_block_id = ? and status = 'blocked'`,
    [begun, next.from, next.to, id],
  )
  await addRows(
    trx,
    id,
    next.unitIds.filter((unitId) => !block.unitIds.includes(unitId)),
    after?.from ?? next.from,
    next.to,
  )
  if (begun) await giveBack(trx, gone, today, 'dirty')
  await keepStays(trx, id, cleared, override)
  await sql(
    trx,
    `update unit_block set unit_ids = ?::uuid[], kind = ?, reason = ?, note = ?, "from" = ?, "to" = ?, issue_id = ?, version = version + 1 where id = ?`,
    [next.unitIds, next.kind, next.reason, next.note, next.from, next.to, next.issueId, id],
  )
  await tell(trx, unitBlockChanged, [{ ...next, version: block.version + 1 }], sentFields(change, block))
  return cleared
}
