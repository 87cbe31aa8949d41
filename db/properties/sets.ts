import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../config/errors.ts'
import { sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { setAgeCategories } from './charges.ts'
import type { NewAgeCategory } from './charges.ts'
import { usualAges } from './catalogue.ts'
import type { AgeCategory } from './catalogue.ts'
import { lockForChange, requireTexts } from './editing.ts'
import { readPropertyRecord } from './properties.ts'

/** The end of every replacement of a set: the version that the next `If-Match` names, and the event. What guests see of it, its writer announces. */
export const closeSet = async (trx: Trx, propertyId: string, set: string): Promise<void> => {
  const row = await sqlOne<{ version: number }>(
    trx,
    `update property set version = version + 1 where id = ? returning version`,
    [propertyId],
  )
  await emit(trx, {
    type: 'property.changed',
    propertyId,
    entity: { type: 'property', id: propertyId, version: row?.version ?? null },
    data: { propertyId, set },
  })
}

/** 422 for an id that the set does not hold, and 400 for one that stands twice. */
export const refuseStrangers = (
  field: string,
  entries: readonly { id?: string | undefined }[],
  known: readonly string[],
) => {
  const ids = entries.map((entry) => entry.id)
  const twice = ids.findIndex((id, index) => id !== undefined && ids.indexOf(id) !== index)
  if (twice >= 0) throw invalid([{ field: `${field}.${twice}.id`, message: 'stands twice' }])
  const errors = ids.flatMap((id, index) =>
    id === undefined || known.includes(id) ? [] : [{ field: `${field}.${index}.id`, message: 'is not in the set' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'The set does not hold this entry', errors)
}

/** Stored bands, or those that hold where there are none. 404. */
export const readAgeCategories = async (trx: Trx, propertyId: string) => {
  const { version } = await readPropertyRecord(trx, propertyId)
  const stored = await sql<AgeCategory>(
    trx,
    `select id, code, name, min_age, max_age, kind, counts_in_occupancy from age_category where property_id = ? order by min_age`,
    [propertyId],
  )
  return { data: stored.length > 0 ? stored : usualAges, version }
}

/** 422 `in_use` names the plans and taxes that speak of a category that would be gone. */
const refuseUsedAges = async (trx: Trx, propertyId: string, gone: readonly string[]) => {
  if (gone.length === 0) return
  const users = await sql<{ what: string; code: string }>(
    trx,
    `select 'ratePlan' as what, r.code from rate_plan r join rate_plan_unit_type u on u.tenant_id = r.tenant_id and u.rate_plan_id = r.id
     where r.property_id = :propertyId and exists (select from jsonb_array_elements(u.children) c where (c ->> 'ageCategoryId')::uuid = any(:gone))
     union select 'taxRule', t.code from tax_rule t where t.property_id = :propertyId and t.exempt_age_category_ids && cast(:gone as uuid[])
     order by 1, 2 limit 50`,
    { propertyId, gone },
  )
  if (users.length > 0)
    throw unprocessable(
      'in_use',
      'An age category that is left out is still used',
      users.map(({ what, code }) => ({ field: what, message: code })),
    )
}

/** Replaces the bands; one that is kept keeps its id, and with it what plans and taxes say of it. */
export const replaceAgeCategories = async (trx: Trx, propertyId: string, entries: NewAgeCategory[]): Promise<void> => {
  const property = await lockForChange(trx, propertyId)
  for (const [index, entry] of entries.entries())
    requireTexts(property, { [`ageCategories.${index}.name`]: entry.name })
  const stored = await sql<{ id: string }>(trx, `select id from age_category where property_id = ?`, [propertyId])
  const known = stored.map((row) => row.id)
  refuseStrangers('ageCategories', entries, known)
  await setAgeCategories(trx, propertyId, entries)
  await refuseUsedAges(
    trx,
    propertyId,
    known.filter((id) => !entries.some((entry) => entry.id === id)),
  )
  await closeSet(trx, propertyId, 'ageCategories')
}

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
