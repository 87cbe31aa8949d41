import { conflict } from '../../../config/errors.ts'
import { unitBlockCancelled, unitBlockEnded } from '../../../config/events/units.ts'
import { addDays } from '../../../config/time.ts'
import { closeBlocks as closeBlocksJob } from '../../../jobs/units.ts'
import { businessDay } from '../../financial/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import type { UnitBlockRow } from '../../rows.ts'
import { moveInventory } from '../inventory.ts'
import type { Condition } from '../unit-conditions.ts'
import { blockMoves, spanFrom } from './counters.ts'
import { blockLifecycle, endRows, giveBack, lockBlock, lockUnits, readRow, readUnits, seenAs, tell } from './rows.ts'

/** Gives the units back from tonight on. Ended before: nothing to do. */
export const endBlock = async (trx: Trx, id: string, condition: Condition, expected: number | null): Promise<void> => {
  const block = await readRow(trx, id)
  const today = await businessDay(trx, block.propertyId)
  if (!blockLifecycle.isDue('ended', block.status)) return
  if (block.from > today)
    throw conflict('invalid_transition', 'Only a block that has begun can be ended; cancel it instead')
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  await moveInventory(trx, await blockMoves(trx, units, spanFrom(block, today), null), {
    check: seenAs(trx, block, units),
  })
  await lockUnits(trx, units)
  await lockBlock(trx, block, expected)
  await endRows(trx, [id], block.unitIds, today)
  await giveBack(trx, block.unitIds, today, condition)
  // A block that ends on its first day keeps that day, though it kept no stay out.
  const to = [block.to, [today, addDays(block.from, 1)].sort().at(-1) ?? today].sort()[0] ?? today
  await sql(trx, `update unit_block set status = 'ended', "to" = ?, version = version + 1 where id = ?`, [to, id])
  await tell(trx, unitBlockEnded, [{ ...block, to, version: block.version + 1 }])
}

/** Takes back a block that has not begun. Cancelled before: nothing to do. */
export const cancelBlock = async (
  trx: Trx,
  id: string,
  reason: string | null,
  expected: number | null,
): Promise<void> => {
  const block = await readRow(trx, id)
  const today = await businessDay(trx, block.propertyId)
  if (!blockLifecycle.isDue('cancelled', block.status)) return
  if (block.from <= today)
    throw conflict('invalid_transition', 'A block that has begun cannot be cancelled; end it instead')
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  await moveInventory(trx, await blockMoves(trx, units, block, null), { check: seenAs(trx, block, units) })
  await lockUnits(trx, units)
  await lockBlock(trx, block, expected)
  await sql(trx, `update unit_assignment set status = 'released' where unit_block_id = ? and status = 'blocked'`, [id])
  await sql(trx, `update unit_block set status = 'cancelled', cancel_reason = ?, version = version + 1 where id = ?`, [
    reason,
    id,
  ])
  await tell(trx, unitBlockCancelled, [{ ...block, version: block.version + 1 }])
}

/** Asks, in the transaction that rolls a property's day, for the end of blocks that went no further. */
export const enqueueCloseBlocks = async (trx: Trx, propertyId: string, businessDate: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a business day belongs to a tenant')
  await enqueue(
    trx,
    closeBlocksJob,
    { tenantId, propertyId, businessDate },
    { uniqueKey: `${propertyId} ${businessDate}` },
  )
}

/** Ends the blocks of a property whose last night is over. Their counters are of the past, and stay. Answers how many. */
export const closeBlocks = async (trx: Trx, propertyId: string): Promise<number> => {
  const today = await businessDay(trx, propertyId)
  const due = `property_id = ? and status = 'open' and "to" <= ?::date`
  await sql(
    trx,
    `select id from unit where id in (select unnest(unit_ids) from unit_block where ${due}) order by id for no key update`,
    [propertyId, today],
  )
  const blocks = await sql<UnitBlockRow>(trx, `select * from unit_block where ${due} order by id for no key update`, [
    propertyId,
    today,
  ])
  const ids = blocks.map((block) => block.id)
  const unitIds = blocks.flatMap((block) => block.unitIds)
  await endRows(trx, ids, unitIds, today)
  await giveBack(trx, unitIds, today, 'dirty')
  await sql(trx, `update unit_block set status = 'ended', version = version + 1 where id = any(?::uuid[])`, [ids])
  await tell(
    trx,
    unitBlockEnded,
    blocks.map((block) => ({ ...block, version: block.version + 1 })),
  )
  return blocks.length
}
