import { notFound, unprocessable } from '../../../config/errors.ts'
import { ratesChanged } from '../../../config/events/rates.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import { ratesOf } from '../../lib/channel-marks.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changePortal } from '../../lib/public-version.ts'
import { keyOf, rangesOf } from '../rules/rate-items.ts'
import type { CellChange, CellPlace, Present, PriceChange, RestrictionChange } from '../rules/rate-items.ts'
import { unrestricted } from '../rules/restrictions.ts'
import type { Restriction } from '../rules/restrictions.ts'

export type PriceCell = { ratePlanId: string; unitTypeId: string; date: string; amount: number }

const perStatement = 5_000
/** The number of days ahead for which prices are kept. */
export const horizonDays = 730

/**
 * One writer of a property's calendar at a time, before the property's row is locked: what a bulk change has read is what it
 * replaces, and two of them never wait for each other's cells.
 */
export const lockRates = (trx: Trx, propertyId: string) =>
  sql(trx, `select pg_advisory_xact_lock(hashtextextended('rates ' || ?, 0))`, [propertyId])

/** 404 for the property; 422 for days before the business date, or past the horizon. */
export const refuseDates = async (trx: Trx, propertyId: string, dates: readonly string[]) => {
  const place = await sqlOne<{ businessDate: string | null; timezone: string; now: Date }>(
    trx,
    `select business_date, timezone, now() as now from property where id = ?`,
    [propertyId],
  )
  if (!place) throw notFound()
  const today = todayIn(place.timezone, place.now)
  const first = place.businessDate ?? today
  const wrong = dates.find((date) => date < first || date > addDays(today, horizonDays))
  if (wrong !== undefined)
    throw unprocessable('date_out_of_range', 'A day is before the business date, or too far ahead', [
      { field: 'date', message: wrong },
    ])
}

/** Upserts cells in the order in which they come: (plan, type, date). */
export const putPrices = async (trx: Trx, cells: readonly PriceCell[]): Promise<void> => {
  for (let from = 0; from < cells.length; from += perStatement) {
    const part = cells.slice(from, from + perStatement)
    await sql(
      trx,
      `insert into rate_cell (rate_plan_id, unit_type_id, date, amount) select * from unnest(?::uuid[], ?::uuid[], ?::date[], ?::bigint[])
       on conflict (tenant_id, rate_plan_id, unit_type_id, date) do update set amount = excluded.amount`,
      [
        part.map((cell) => cell.ratePlanId),
        part.map((cell) => cell.unitTypeId),
        part.map((cell) => cell.date),
        part.map((cell) => cell.amount),
      ],
    )
  }
}

/** Writes prices of standard plans; what stood on a day is replaced. 422 `rate_plan_derived` where a plan is derived. */
export const writePrices = async (trx: Trx, propertyId: string, cells: PriceCell[]): Promise<void> => {
  await lockRates(trx, propertyId)
  await refuseDates(
    trx,
    propertyId,
    cells.map((cell) => cell.date),
  )
  await changePortal(trx, propertyId, ratesOf(cells))
  const plans = await sql<{ id: string; parentId: string | null }>(
    trx,
    `select id, parent_id from rate_plan where property_id = ? and id = any(?::uuid[])`,
    [propertyId, [...new Set(cells.map((cell) => cell.ratePlanId))]],
  )
  if (plans.some((plan) => plan.parentId !== null))
    throw unprocessable('rate_plan_derived', 'Prices of a derived plan follow its parent')
  const known = new Set(plans.map((plan) => plan.id))
  const sorted = cells
    .filter((cell) => known.has(cell.ratePlanId))
    .toSorted((a, b) =>
      `${a.ratePlanId} ${a.unitTypeId} ${a.date}` < `${b.ratePlanId} ${b.unitTypeId} ${b.date}` ? -1 : 1,
    )
  await putPrices(trx, sorted)
  await emit(trx, ratesChanged, {
    propertyId,
    id: propertyId,
    version: null,
    data: { rateChangeId: null, ranges: rangesOf(sorted) },
  })
}

export const restrictionColumns = {
  stopSell: 'stop_sell',
  closedToArrival: 'closed_to_arrival',
  closedToDeparture: 'closed_to_departure',
  minStayArrival: 'min_stay_arrival',
  maxStayArrival: 'max_stay_arrival',
  minStayThrough: 'min_stay_through',
  maxStayThrough: 'max_stay_through',
  minAdvanceDays: 'min_advance_days',
  maxAdvanceDays: 'max_advance_days',
} as const satisfies Record<keyof Restriction, string>

const columns = Object.values(restrictionColumns)
const types = columns.map((column) => (/^(stop|closed)/.test(column) ? 'boolean' : 'int'))
const kinds = Object.keys(restrictionColumns) as (keyof Restriction)[]

const inParts = async <T>(all: readonly T[], write: (part: T[]) => Promise<unknown>) => {
  for (let from = 0; from < all.length; from += perStatement) await write(all.slice(from, from + perStatement))
}

type Range = { from: string; to: string; ratePlanIds: readonly string[] }

/** Calendar of a property between two days, both included. */
export const readCells = async (
  trx: Trx,
  propertyId: string,
  { from, to, ratePlanIds }: Range,
): Promise<Pick<Present, 'prices' | 'restrictions'>> => {
  const prices = await sql<CellPlace & { amount: number }>(
    trx,
    `select rate_plan_id, unit_type_id, date, amount from rate_cell where rate_plan_id = any(?::uuid[]) and date between ?::date and ?::date`,
    [ratePlanIds, from, to],
  )
  const restrictions = await sql<CellPlace & Restriction>(
    trx,
    `select rate_plan_id, unit_type_id, date, ${columns.join(', ')} from restriction_cell where property_id = ? and date between ?::date and ?::date`,
    [propertyId, from, to],
  )
  return {
    prices: new Map(prices.map((cell) => [keyOf(cell), cell.amount])),
    restrictions: new Map(restrictions.map((cell) => [keyOf(cell), cell])),
  }
}

const places = (cells: readonly CellPlace[]) => [
  cells.map((cell) => cell.ratePlanId),
  cells.map((cell) => cell.unitTypeId),
  cells.map((cell) => cell.date),
]

const writeRestrictionCells = async (
  trx: Trx,
  propertyId: string,
  changes: RestrictionChange[],
  present: Present['restrictions'],
) => {
  await inParts(changes, (part) => {
    const rows = part.map((change) => ({ ...unrestricted, ...present.get(keyOf(change)), ...change.after }))
    return sql(
      trx,
      `insert into restriction_cell (property_id, rate_plan_id, unit_type_id, date, ${columns.join(', ')})
       select ?::uuid, * from unnest(?::uuid[], ?::uuid[], ?::date[], ${types.map((type) => `?::${type}[]`).join(', ')})
       on conflict (tenant_id, property_id, date, unit_type_id, rate_plan_id)
         do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
      [propertyId, ...places(part), ...kinds.map((kind) => rows.map((row) => row[kind]))],
    )
  })
  const dates = changes.map((change) => change.date)
  const silent = changes.some((change) => Object.values(change.after).includes(null))
  // A cell that says nothing any more is none.
  if (silent)
    await sql(
      trx,
      `delete from restriction_cell where property_id = ? and date = any(?::date[]) and num_nonnulls(${columns.join(', ')}) = 0`,
      [propertyId, [...new Set(dates)]],
    )
}

/** Writes changed cells, in their order, over what stands. The calendar is locked, so `present` is what they replace. */
export const writeCells = async (
  trx: Trx,
  propertyId: string,
  changes: readonly CellChange[],
  present: Pick<Present, 'restrictions'>,
): Promise<void> => {
  const prices = changes.filter((change): change is PriceChange => change.kind === 'price')
  await putPrices(
    trx,
    prices.flatMap(({ ratePlanId, unitTypeId, date, after }) =>
      after === null || ratePlanId === null || unitTypeId === null
        ? []
        : [{ ratePlanId, unitTypeId, date, amount: after }],
    ),
  )
  await inParts(
    prices.filter((change) => change.after === null),
    (part) =>
      sql(
        trx,
        `delete from rate_cell c using unnest(?::uuid[], ?::uuid[], ?::date[]) as g (rate_plan_id, unit_type_id, date)
         where c.rate_plan_id = g.rate_plan_id and c.unit_type_id = g.unit_type_id and c.date = g.date`,
        places(part),
      ),
  )
  const restrictions = changes.filter((change): change is RestrictionChange => change.kind === 'restriction')
  if (restrictions.length > 0) await writeRestrictionCells(trx, propertyId, restrictions, present.restrictions)
}

export type KeptCell = CellChange & { skipped: boolean }

/** Neighbours of one level, a thousand at most. */
const levelsIn = (cells: readonly KeptCell[]): KeptCell[][] => {
  const levels: KeptCell[][] = []
  for (const cell of cells) {
    const level = levels.at(-1)
    const first = level?.[0]
    const fits =
      first?.kind === cell.kind &&
      first.ratePlanId === cell.ratePlanId &&
      first.unitTypeId === cell.unitTypeId &&
      first.skipped === cell.skipped &&
      (level?.length ?? 0) < 1_000
    if (fits) level?.push(cell)
    else levels.push([cell])
  }
  return levels
}

/** Keeps each cell of a change as it was and as it is. */
export const keepCells = async (trx: Trx, rateChangeId: string, cells: readonly KeptCell[]): Promise<void> => {
  let position = 0
  const levels = levelsIn(cells)
  for (let from = 0; from < levels.length; from += 100) {
    const part = levels.slice(from, from + 100).map((level) => ({
      position: position++,
      kind: level[0]?.kind,
      rate_plan_id: level[0]?.ratePlanId,
      unit_type_id: level[0]?.unitTypeId,
      dates: level.map((cell) => cell.date),
      before: level.map((cell) => cell.before),
      after: level.map((cell) => cell.after),
      skipped: level[0]?.skipped,
    }))
    await sql(
      trx,
      `insert into rate_change_level (rate_change_id, position, kind, rate_plan_id, unit_type_id, dates, before, after, skipped)
       select ?::uuid, r.* from jsonb_to_recordset(?::jsonb) as r (position int, kind text, rate_plan_id uuid, unit_type_id uuid, dates date[],
         before jsonb, after jsonb, skipped boolean)`,
      [rateChangeId, JSON.stringify(part)],
    )
  }
}

/** The cells of a change, in their order. */
export const readKeptCells = (trx: Trx, rateChangeId: string, offset = 0, limit: number | null = null) =>
  sql<KeptCell>(
    trx,
    `select l.kind, l.rate_plan_id, l.unit_type_id, d.date, l.before -> (d.place::int - 1) as before, l.after -> (d.place::int - 1) as after, l.skipped
     from rate_change_level l cross join lateral unnest(l.dates) with ordinality as d (date, place)
     where l.rate_change_id = ? order by l.position, d.place offset ? limit ?`,
    [rateChangeId, offset, limit],
  )
