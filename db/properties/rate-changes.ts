import { randomUUID } from 'node:crypto'
import { ApiError, conflict, invalid, notFound } from '../../config/errors.ts'
import { applyRateChange as applyRateChangeJob } from '../../jobs/inventory.ts'
import { always, whereOf } from '../conditions.ts'
import type { Condition } from '../conditions.ts'
import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { enqueue } from '../enqueue.ts'
import { emit } from '../events.ts'
import { inScope, readPage, where } from '../paging.ts'
import type { Paging } from '../paging.ts'
import type { RateChangeRow } from '../rows.ts'
import { lockForChange } from './editing.ts'
import { ratesOf } from './channels/dirty.ts'
import { changePortal } from './portal.ts'
import { keepCells, readCells, readKeptCells, writeCells } from './rate-cells.ts'
import { houseOf, judgeItems } from './rate-requests.ts'
import { lockRates, refuseDates } from './rates.ts'
import { changesOf, daysOf, revertsOf, writesOf } from './rules/rate-items.ts'
import type { CellChange, Present, RateItem } from './rules/rate-items.ts'

/** So many cells are written while the caller waits; more by a job, up to `mostCells`. */
const atOnce = 2_000
const mostCells = 100_000

type RateChange = Omit<RateChangeRow, 'tenantId' | 'items'> & { items: RateItem[] }
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
        ...inScope(trx, scope, 'property_id'),
        ...where('property_id = ?', filter.propertyId),
        ...where('status = ?', filter.status),
        ...where('created_by = ?', filter.createdBy),
        ...where(`created_at >= ?::date::timestamp at time zone 'UTC'`, filter.from),
        ...where(`created_at < (?::date + 1)::timestamp at time zone 'UTC'`, filter.to),
      ],
      order: 'created_at desc, id desc',
    },
    filter,
  )

export const readRateChange = async (trx: Trx, id: string, scope: Condition = always): Promise<RateChange> => {
  const row = await sqlOne<RateChange>(trx, `select ${columns} from rate_change where id = ? and ?`, [
    id,
    whereOf(trx, scope, { propertyId: 'property_id' }),
  ])
  if (!row) throw notFound()
  return row
}

const spanOf = (dates: readonly string[]) => {
  let [from, to] = [dates[0] ?? '', dates[0] ?? '']
  for (const date of dates) {
    if (date < from) from = date
    if (date > to) to = date
  }
  return { from, to }
}

type Computed = { cells: CellChange[]; skipped: CellChange[]; present: Pick<Present, 'restrictions'> }

/** The cells of new items, by the calendar as it stands. */
const compute = async (trx: Trx, propertyId: string, items: readonly RateItem[]): Promise<Computed> => {
  const house = await houseOf(trx, propertyId, items)
  const { from, to } = spanOf(items.flatMap((item) => [item.from, item.to]))
  const ratePlanIds = [...new Set(items.flatMap((item) => item.ratePlanIds ?? []))]
  const present = await readCells(trx, propertyId, { from, to, ratePlanIds })
  return { cells: changesOf(items, { ...house, ...present }), skipped: [], present }
}

const computeRevert = async (trx: Trx, propertyId: string, revertsId: string): Promise<Computed> => {
  const kept = (await readKeptCells(trx, revertsId)).filter((cell) => !cell.skipped)
  const place = await sqlOne<{ first: string }>(
    trx,
    `select coalesce(business_date, (now() at time zone timezone)::date) as first from property where id = ?`,
    [propertyId],
  )
  const ratePlanIds = [...new Set(kept.flatMap((cell) => cell.ratePlanId ?? []))]
  const present = await readCells(trx, propertyId, { ...spanOf(kept.map((cell) => cell.date)), ratePlanIds })
  return { ...revertsOf(kept, present, place?.first ?? ''), present }
}

const write = async (trx: Trx, change: Pick<RateChange, 'id' | 'propertyId' | 'revertsId'>, computed: Computed) => {
  const { cells, skipped, present } = computed
  await writeCells(trx, change.propertyId, cells, present)
  await keepCells(trx, change.id, [
    ...cells.map((cell) => ({ ...cell, skipped: false })),
    ...skipped.map((cell) => ({ ...cell, skipped: true })),
  ])
  await sql(
    trx,
    `update rate_change set status = 'applied', applied_at = now(), cell_count = ?, skipped_count = ?, version = version + 1 where id = ?`,
    [cells.length, skipped.length, change.id],
  )
  if (change.revertsId !== null)
    await sql(trx, `update rate_change set status = 'reverted', version = version + 1 where id = ?`, [change.revertsId])
  await changePortal(trx, change.propertyId, ratesOf(cells))
  await emit(trx, {
    type: 'rates.changed',
    propertyId: change.propertyId,
    entity: { type: 'rate_change', id: change.id, version: null },
    data: {
      rateChangeId: change.id,
      cells: cells.length,
      ranges: cells.length > 0 ? [spanOf(cells.map((cell) => cell.date))] : [],
    },
  })
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

const later = (trx: Trx, rateChangeId: string) => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a change of rates belongs to a tenant')
  return enqueue(trx, applyRateChangeJob, { tenantId, rateChangeId })
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

/** What a change would do, and nothing done. */
export const previewRateChange = async (trx: Trx, request: RateRequest): Promise<CellChange[]> => {
  await judgeAll(trx, request)
  const { cells } = await compute(trx, request.propertyId, request.items)
  if (cells.length > mostCells) throw tooMany()
  return cells
}

/** Applies up to 2,000 cells at once, in this transaction; more are queued for a job, 100,000 at most. Answers the change's id. */
export const createRateChange = async (trx: Trx, request: RateRequest): Promise<string> => {
  const writes = await judgeAll(trx, request)
  const { propertyId, items } = request
  if (writes <= atOnce) {
    await lockRates(trx, propertyId)
    await lockForChange(trx, propertyId)
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
  await later(trx, id)
  return id
}

/** Takes a change back where nothing was changed since; the second call answers the first revert. The caller holds the change's row. */
export const revertRateChange = async (trx: Trx, id: string): Promise<string> => {
  const change = await readRateChange(trx, id)
  const first = await sqlOne<{ id: string }>(trx, `select id from rate_change where reverts_id = ?`, [id])
  if (first) return first.id
  if (change.status !== 'applied') throw conflict('invalid_transition', 'Only an applied change can be reverted')
  await lockRates(trx, change.propertyId)
  await lockForChange(trx, change.propertyId)
  const made = await insert(trx, { ...change, revertsId: id, cells: change.cellCount, items: change.items })
  if (change.cellCount > atOnce) await later(trx, made)
  else
    await write(
      trx,
      { id: made, propertyId: change.propertyId, revertsId: id },
      await computeRevert(trx, change.propertyId, id),
    )
  return made
}

/** Applies a queued change: all its cells, or none and the reason. One that is done already is left alone. */
export const applyRateChange = async (trx: Trx, id: string): Promise<void> => {
  const change = await sqlOne<RateChange>(trx, `select ${columns} from rate_change where id = ? for no key update`, [
    id,
  ])
  if (change?.status !== 'queued') return
  const { propertyId, revertsId } = change
  await lockRates(trx, propertyId)
  try {
    const computed =
      revertsId === null
        ? await compute(trx, propertyId, change.items)
        : await computeRevert(trx, propertyId, revertsId)
    await write(trx, change, computed)
  } catch (error) {
    // What stood when the change was asked for is not sold any more: nothing was written yet.
    if (!(error instanceof ApiError) || error.status !== 422) throw error
    await sql(trx, `update rate_change set status = 'failed', error = ?, version = version + 1 where id = ?`, [
      error.message,
      id,
    ])
    await emit(trx, {
      type: 'rate_change.failed',
      propertyId,
      entity: { type: 'rate_change', id, version: null },
      data: { rateChangeId: id, code: error.code },
    })
  }
}
