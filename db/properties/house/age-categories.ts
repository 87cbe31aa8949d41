import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { usualAges } from '../sale/catalogue.ts'
import type { AgeCategory } from '../sale/catalogue.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { readPropertyRecord } from './properties/read.ts'
import { closeSet } from './properties/change.ts'
import { refuseStrangers } from '../../lib/sets.ts'

export type NewAgeCategory = {
  id?: string
  code: string
  name: LocalText
  minAge: number
  maxAge: number | null
  kind: 'infant' | 'child' | 'adult'
  countsInOccupancy: boolean
}

/** Replaces the age bands: contiguous from 0, and exactly one of adults, the last. Answers their ids by code. */
export const setAgeCategories = async (
  trx: Trx,
  propertyId: string,
  categories: NewAgeCategory[],
): Promise<Map<string, string>> => {
  const contiguous = categories.every(
    ({ minAge, maxAge }, index) =>
      minAge === (index === 0 ? 0 : (categories[index - 1]?.maxAge ?? -2) + 1) && (maxAge === null || maxAge >= minAge),
  )
  const adults = categories.filter((category) => category.kind === 'adult')
  const last = categories.at(-1)
  if (!contiguous || adults.length !== 1 || last?.kind !== 'adult' || last.maxAge !== null)
    throw unprocessable('bands_not_contiguous', 'Age bands begin at 0, leave no gap and end with the adults', [
      { field: 'ageCategories', message: 'are not contiguous' },
    ])
  await changePortal(trx, propertyId)
  await sql(trx, `delete from age_category where property_id = ?`, [propertyId])
  const rows = categories.map((category) => ({ ...category, id: category.id ?? randomUUID() }))
  await sql(
    trx,
    `insert into age_category (id, property_id, code, name, min_age, max_age, kind, counts_in_occupancy)
     select c.id, ?, c.code, c.name, c."minAge", c."maxAge", c.kind, c."countsInOccupancy" from jsonb_to_recordset(?::jsonb)
       as c (id uuid, code text, name jsonb, "minAge" int, "maxAge" int, kind text, "countsInOccupancy" boolean)`,
    [propertyId, JSON.stringify(rows)],
  )
  return new Map(rows.map(({ code, id }) => [code, id]))
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
