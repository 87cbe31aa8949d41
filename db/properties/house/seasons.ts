import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { readPropertyRecord } from './properties/read.ts'
import { closeSet } from './properties/change.ts'
import { refuseStrangers } from '../../lib/sets.ts'

export type SeasonEntry = {
  id?: string
  code: string
  name: string
  colour: string
  /** Both days included. */
  ranges: { from: string; to: string }[]
}

export const readSeasons = async (trx: Trx, propertyId: string) => {
  const { version } = await readPropertyRecord(trx, propertyId)
  const data = await sql<Required<SeasonEntry>>(
    trx,
    `select s.id, s.code, s.name, s.colour,
       (select jsonb_agg(jsonb_build_object('from', r."from", 'to', r."to") order by r."from") from season_range r
        where r.tenant_id = s.tenant_id and r.season_id = s.id) as ranges
     from season s where s.property_id = ? order by s.code`,
    [propertyId],
  )
  return { data, version }
}

const judgeSeasons = (seasons: readonly SeasonEntry[]) => {
  const placed = seasons.flatMap((season, index) =>
    season.ranges.map((range, position) => ({ ...range, field: `seasons.${index}.ranges.${position}` })),
  )
  const crossed = placed.filter((range) => range.to < range.from)
  if (crossed.length > 0)
    throw invalid(crossed.map(({ field }) => ({ field: `${field}.to`, message: 'must not be before from' })))
  const sorted = placed.toSorted((a, b) => (a.from < b.from ? -1 : 1))
  const overlapping = sorted.filter((range, index) => index > 0 && range.from <= (sorted[index - 1]?.to ?? ''))
  if (overlapping.length > 0)
    throw unprocessable(
      'seasons_overlap',
      'A day belongs to one season',
      overlapping.slice(0, 50).map(({ field }) => ({ field, message: 'overlaps with another range' })),
    )
}

/** Replaces the seasons. 422 `seasons_overlap`. A queued change of rates that names one that is gone will fail. */
export const replaceSeasons = async (trx: Trx, propertyId: string, seasons: SeasonEntry[]): Promise<void> => {
  judgeSeasons(seasons)
  await lockForChange(trx, propertyId)
  const stored = await sql<{ id: string }>(trx, `select id from season where property_id = ?`, [propertyId])
  refuseStrangers(
    'seasons',
    seasons,
    stored.map((row) => row.id),
  )
  await sql(trx, `delete from season where property_id = ?`, [propertyId])
  const rows = seasons.map((season) => ({ ...season, id: season.id ?? randomUUID() }))
  await sql(
    trx,
    `insert into season (id, property_id, code, name, colour)
     select s.id, ?, s.code, s.name, s.colour from jsonb_to_recordset(?::jsonb) as s (id uuid, code text, name text, colour text)`,
    [propertyId, JSON.stringify(rows)],
  )
  const ranges = rows.flatMap(({ id, ranges: own }) => own.map((range) => ({ id, ...range })))
  await sql(
    trx,
    `insert into season_range (season_id, property_id, "from", "to")
     select r.id, ?, r."from", r."to" from jsonb_to_recordset(?::jsonb) as r (id uuid, "from" date, "to" date)`,
    [propertyId, JSON.stringify(ranges)],
  )
  await closeSet(trx, propertyId, 'seasons')
}
