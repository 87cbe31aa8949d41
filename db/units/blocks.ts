import { invalid, unprocessable } from '../../config/errors.ts'
import { unitBlockChanged, unitBlockCreated } from '../../config/events/units.ts'
import { daysBetween } from '../../config/time.ts'
import { audit } from '../lib/audit.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { fieldsOf } from '../lib/editing.ts'
import { sentFields } from '../lib/events.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import type { UnitBlockRow } from '../rows.ts'
import { blockMoves, shortNights, spanFrom } from './block-moves.ts'
import type { ShortNight } from './block-moves.ts'
import {
  addRows,
  endRows,
  giveBack,
  lockBlock,
  lockUnits,
  notOpen,
  readRow,
  readUnits,
  seenAs,
  tell,
} from './block-rows.ts'
import type { Unit } from './block-rows.ts'
import { moveInventory } from './inventory.ts'
import { clearUnits } from './clear.ts'
import type { Cleared } from './clear.ts'

/** The longest block, in days. */
const longest = 1_096

export type Override = { rules: readonly 'availability'[]; reason: string }
export type NewBlock = Pick<UnitBlockRow, 'propertyId' | 'unitIds' | 'kind' | 'reason' | 'from' | 'to'> & {
  note?: string | undefined
  issueId?: string | null | undefined
  override?: Override | undefined
}
export type BlockChange = {
  [Field in 'unitIds' | 'kind' | 'reason' | 'note' | 'from' | 'to' | 'issueId']?: UnitBlockRow[Field] | undefined
} & { override?: Override | undefined }

const outOfRange = (field: string, message: string) =>
  unprocessable('date_out_of_range', 'The dates of the block do not fit', [{ field, message }])

const refuseDates = ({ from, to }: Pick<NewBlock, 'from' | 'to'>, first: string) => {
  if (to <= from) throw invalid([{ field: 'to', message: 'must be after from' }])
  if (from < first) throw outOfRange('from', `must not be before ${first}`)
  if (daysBetween(from, to) > longest) throw outOfRange('to', `must be within ${longest} days`)
}

/** Units of a house that are there for the whole block. */
const judgeUnits = (
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

/** What it would do: proposed stays that move, locked ones that would have to go, and nights that are sold out. Nothing is stored. */
export const previewBlock = async (trx: Trx, block: NewBlock): Promise<Cleared & { shortNights: ShortNight[] }> => {
  refuseDates(block, await businessDay(trx, block.propertyId))
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  judgeUnits(units, block, block.from, block.to)
  return {
    ...(await clearUnits(trx, { ...block, force: true, dryRun: true })),
    shortNights: await shortNights(trx, await blockMoves(trx, units, null, block)),
  }
}

/** Takes units out of service, all or none (R12, R13). Answers its id and who had to move. */
export const createBlock = async (trx: Trx, block: NewBlock): Promise<{ id: string } & Cleared> => {
  refuseDates(block, await businessDay(trx, block.propertyId))
  await refuseArchived(trx, block.propertyId)
  const units = await readUnits(trx, block.unitIds)
  judgeUnits(units, block, block.from, block.to)
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

/** Who had to move is kept with the block; an override is written to the trail with its reason. */
const keepStays = async (trx: Trx, id: string, { moves, displaced }: Cleared, override: Override | undefined) => {
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
  if (block.status !== 'open') throw notOpen(block)
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
