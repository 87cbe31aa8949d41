import { invalid } from '../../../config/errors.ts'
import { ratesChanged } from '../../../config/events/rates.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { RateChangeRow } from '../../rows.ts'
import { ratesOf } from '../../lib/channel-marks.ts'
import { changePortal } from '../../lib/public-version.ts'
import { keepCells, readCells, readKeptCells, writeCells } from './rate-cells.ts'
import { houseOf } from './rate-requests.ts'
import { changesOf, rangesOf, revertsOf } from '../rules/rate-items.ts'
import type { CellChange, Present, RateItem } from '../rules/rate-items.ts'

export type RateChange = Omit<RateChangeRow, 'tenantId' | 'items' | 'seq'> & { items: RateItem[] }

/** The most that a night may cost, in minor units: what `rate_cell` takes. */
const mostAmount = 100_000_000_000

const spanOf = (dates: readonly string[]) => {
  let [from, to] = [dates[0] ?? '', dates[0] ?? '']
  for (const date of dates) {
    if (date < from) from = date
    if (date > to) to = date
  }
  return { from, to }
}

export type Computed = { cells: CellChange[]; skipped: CellChange[]; present: Pick<Present, 'restrictions'> }

/** The cells of new items, by the calendar as it stands. 400 where a price would be more than a night may cost. */
export const compute = async (trx: Trx, propertyId: string, items: readonly RateItem[]): Promise<Computed> => {
  const house = await houseOf(trx, propertyId, items)
  const { from, to } = spanOf(items.flatMap((item) => [item.from, item.to]))
  const ratePlanIds = [...new Set(items.flatMap((item) => item.ratePlanIds ?? []))]
  const present = await readCells(trx, propertyId, { from, to, ratePlanIds })
  const cells = changesOf(items, { ...house, ...present })
  const beyond = cells.find((cell) => cell.kind === 'price' && (cell.after ?? 0) > mostAmount)
  if (beyond)
    throw invalid([{ field: 'items', message: `would raise the price of ${beyond.date} above ${mostAmount}` }])
  return { cells, skipped: [], present }
}

/** Pairs of plan and type that have prices of their own now. */
const pricedOf = async (trx: Trx, ratePlanIds: readonly string[]): Promise<Set<string>> => {
  const rows = await sql<{ pair: string }>(
    trx,
    `select u.rate_plan_id || ' ' || u.unit_type_id as pair from rate_plan_unit_type u
     join rate_plan r on r.tenant_id = u.tenant_id and r.id = u.rate_plan_id and r.parent_id is null where r.id = any(?::uuid[])`,
    [ratePlanIds],
  )
  return new Set(rows.map((row) => row.pair))
}

/** Computes the revert of a change against the present calendar. Prices of combinations no longer sold are skipped. */
export const computeRevert = async (trx: Trx, propertyId: string, revertsId: string): Promise<Computed> => {
  const kept = (await readKeptCells(trx, revertsId)).filter((cell) => !cell.skipped)
  if (kept.length === 0) return { cells: [], skipped: [], present: { restrictions: new Map() } }
  const place = await sqlOne<{ first: string }>(
    trx,
    `select coalesce(business_date, (now() at time zone timezone)::date) as first from property where id = ?`,
    [propertyId],
  )
  const ratePlanIds = [...new Set(kept.flatMap((cell) => cell.ratePlanId ?? []))]
  const present = await readCells(trx, propertyId, { ...spanOf(kept.map((cell) => cell.date)), ratePlanIds })
  const priced = await pricedOf(trx, ratePlanIds)
  const { cells, skipped } = revertsOf(kept, present, place?.first ?? '')
  const isLost = (cell: CellChange) => cell.kind === 'price' && !priced.has(`${cell.ratePlanId} ${cell.unitTypeId}`)
  const lost = cells.filter(isLost).map((cell): CellChange => ({ ...cell, after: cell.before }) as CellChange)
  return { cells: cells.filter((cell) => !isLost(cell)), skipped: [...skipped, ...lost], present }
}

/** Writes what was computed under the lock of the calendar, and tells of it; ends with the property's row. */
export const write = async (
  trx: Trx,
  change: Pick<RateChange, 'id' | 'propertyId' | 'revertsId'>,
  computed: Computed,
) => {
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
  await emit(trx, ratesChanged, {
    propertyId: change.propertyId,
    id: change.propertyId,
    version: null,
    data: { rateChangeId: change.id, ranges: rangesOf(cells) },
  })
}
