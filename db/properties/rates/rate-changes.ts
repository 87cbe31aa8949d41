import { randomUUID } from 'node:crypto'
import { invalid, notFound } from '../../../config/errors.ts'
import { always, whereOf } from '../../lib/conditions.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { withinDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import type { RateChangeRow } from '../../rows.ts'
import { compute, computeRevert, write } from './rate-application.ts'
import type { RateChange } from './rate-application.ts'
import { askForNext, countWaiting, isAnyWaiting } from './rate-queue.ts'
import { houseOf, judgeItems } from './rate-requests.ts'
import { lockRates, refuseDates } from './rate-cells.ts'
import { daysOf, writesOf } from '../rules/rate-items.ts'
import type { CellChange, RateItem } from '../rules/rate-items.ts'

const rateChangeLifecycle = lifecycle<RateChangeRow['status']>('A rate change')({
  reverted: { from: ['applied'] },
})

/** So many cells are written while the caller waits; more by a job, up to `mostCells`. */
const atOnce = 2_000
const mostCells = 100_000

const columns = `id, property_id, status, note, items, cell_count, skipped_count, reverts_id, created_by, applied_at, error, version, created_at, updated_at`

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  createdBy?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Bulk changes, the newest first; `from` and `to` are days (UTC) on which they were made. */
export const listRateChanges = (trx: Trx, { scope, ...filter }: Filter) =>
  readPage<RateChange>(
    trx,
    {
      columns,
      from: 'rate_change',
      conditions: [
        ...inScope(scope, 'property_id'),
        ...where('property_id = ?', filter.propertyId),
        ...where('status = ?', filter.status),
        ...where('created_by = ?', filter.createdBy),
      ],
      days: withinDays('created_at', filter),
      order: 'created_at desc, id desc',
    },
    filter,
  )

export const readRateChange = async (trx: Trx, id: string, scope: Condition = always): Promise<RateChange> => {
  const row = await sqlOne<RateChange>(trx, `select ${columns} from rate_change where id = ? and ?`, [
    id,
    whereOf(scope, { propertyId: 'property_id' }),
  ])
  if (!row) throw notFound()
  return row
}

type NewChange = { propertyId: string; note?: string | undefined; items: RateItem[]; revertsId?: string; cells: number }

const insert = async (trx: Trx, { propertyId, note = '', items, revertsId, cells }: NewChange): Promise<string> => {
  const id = randomUUID()
  const { actor } = contextOf(trx)
  await sql(
    trx,
    `insert into rate_change (id, property_id, status, note, items, cell_count, reverts_id, created_by) values (?, ?, 'queued', ?, ?::jsonb, ?, ?, ?)`,
    [id, propertyId, note, JSON.stringify(items), cells, revertsId ?? null, actor.type === 'user' ? actor.id : null],
  )
  return id
}

export type RateRequest = { propertyId: string; note?: string | undefined; items: RateItem[] }

const tooMany = () =>
  invalid(
    [{ field: 'items', message: `name more than ${mostCells} cells` }],
    'range_too_long',
    'The change is too large',
  )

/** Refuses what no calendar could take, and counts. Cells that several items write count each time. */
const judgeAll = async (trx: Trx, { propertyId, items }: RateRequest) => {
  judgeItems(items)
  await refuseDates(
    trx,
    propertyId,
    items.flatMap((item) => [item.from, item.to]),
  )
  const house = await houseOf(trx, propertyId, items)
  const writes = writesOf(items, house)
  if (writes > 5 * mostCells) throw tooMany()
  if (items.every((item) => daysOf(item, house.seasons).length === 0))
    throw invalid([{ field: 'items', message: 'name no day' }])
  return writes
}

/** Previews a change against the present state. `waiting` changes would come before it, and may write the same cells. */
export const previewRateChange = async (
  trx: Trx,
  request: RateRequest,
): Promise<{ cells: CellChange[]; waiting: number }> => {
  await judgeAll(trx, request)
  const waiting = await countWaiting(trx, request.propertyId)
  const { cells } = await compute(trx, request.propertyId, request.items)
  if (cells.length > mostCells) throw tooMany()
  return { cells, waiting }
}

/** Locks the rate calendar, then the property. Answers false if earlier changes are still queued; this one must then queue behind them. */
const holdRates = async (trx: Trx, propertyId: string): Promise<boolean> => {
  // A change that finds others queued does not wait for the one being written.
  if (await isAnyWaiting(trx, propertyId)) return false
  await lockRates(trx, propertyId)
  await lockForChange(trx, propertyId)
  return !(await isAnyWaiting(trx, propertyId))
}

/**
 * Applies up to 2,000 cells at once, in this transaction; more are queued for a job, 100,000 at most, and so is whatever comes while others of the
 * property wait. Answers the change's id.
 */
export const createRateChange = async (trx: Trx, request: RateRequest): Promise<string> => {
  const writes = await judgeAll(trx, request)
  const { propertyId, items } = request
  if (writes <= atOnce && (await holdRates(trx, propertyId))) {
    const computed = await compute(trx, propertyId, items)
    const id = await insert(trx, { ...request, cells: computed.cells.length })
    await write(trx, { id, propertyId, revertsId: null }, computed)
    return id
  }
  await lockForChange(trx, propertyId)
  // Items that overlap write fewer cells than they name; the job counts them.
  const cells = writes <= mostCells ? writes : (await compute(trx, propertyId, items)).cells.length
  if (cells > mostCells) throw tooMany()
  const id = await insert(trx, { ...request, cells })
  await askForNext(trx, propertyId)
  return id
}

/** A revert that failed waits anew, behind what was asked for since. */
const askAgain = async (trx: Trx, id: string, propertyId: string) => {
  await lockForChange(trx, propertyId)
  await sql(
    trx,
    `update rate_change set status = 'queued', error = null, seq = nextval('rate_change_seq'), version = version + 1 where id = ? and status = 'failed'`,
    [id],
  )
  await askForNext(trx, propertyId)
}

/** Takes a change back where nothing was changed since; the second call answers the first revert. The caller holds the change's row. */
export const revertRateChange = async (trx: Trx, id: string): Promise<string> => {
  const change = await readRateChange(trx, id)
  const { propertyId } = change
  const first = await sqlOne<{ id: string; status: string }>(
    trx,
    `select id, status from rate_change where reverts_id = ?`,
    [id],
  )
  if (first?.status === 'failed') await askAgain(trx, first.id, propertyId)
  if (first) return first.id
  rateChangeLifecycle.allow('reverted', change.status)
  const isAtOnce = change.cellCount <= atOnce && (await holdRates(trx, propertyId))
  if (!isAtOnce) await lockForChange(trx, propertyId)
  const made = await insert(trx, { ...change, revertsId: id, cells: change.cellCount, items: change.items })
  if (isAtOnce) await write(trx, { id: made, propertyId, revertsId: id }, await computeRevert(trx, propertyId, id))
  else await askForNext(trx, propertyId)
  return made
}
