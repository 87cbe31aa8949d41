import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { putPrices, restrictionColumns } from './rates.ts'
import { keyOf } from '../rules/rate-items.ts'
import type { CellChange, CellPlace, Present, PriceChange, RestrictionChange } from '../rules/rate-items.ts'
import { unrestricted } from '../rules/restrictions.ts'
import type { Restriction } from '../rules/restrictions.ts'

const perStatement = 5_000
const columns = Object.values(restrictionColumns)
const types = columns.map((column) => (/^(stop|closed)/.test(column) ? 'boolean' : 'int'))
const kinds = Object.keys(restrictionColumns) as (keyof Restriction)[]

const inParts = async <T>(all: readonly T[], write: (part: T[]) => Promise<unknown>) => {
  for (let from = 0; from < all.length; from += perStatement) await write(all.slice(from, from + perStatement))
}

type Range = { from: string; to: string; ratePlanIds: readonly string[] }

/** What the calendar of a property says now between two days, both included. */
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
