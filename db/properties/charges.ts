import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../config/errors.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { ExtraBasis } from '../../config/quote.ts'
import { sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { createPool } from '../units/pools.ts'
import { moveInventory } from '../units/inventory.ts'
import { nightsFrom } from '../units/nights.ts'
import { changePortal } from './portal.ts'

export type NewTaxRule = {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  kind: 'tax' | 'fee'
  basis: 'percent' | 'per_night' | 'per_stay' | 'per_person_per_night'
  rate?: number
  amount?: number
  included?: boolean
  appliesTo: 'room' | 'extras' | 'both'
  exemptAgeCategoryIds?: string[]
  maxNights?: number | null
  validFrom: string
  validTo?: string | null
  accountId?: string | null
}

/** 422 `tax_rule_overlap` where a rule of the same code is valid in that time. */
export const createTaxRule = async (trx: Trx, rule: NewTaxRule): Promise<string> => {
  const id = rule.id ?? randomUUID()
  await changePortal(trx, rule.propertyId)
  const other = await sqlOne(
    trx,
    `select 1 from tax_rule where property_id = ? and code = ? and daterange(valid_from, valid_to, '[]') && daterange(?::date, ?::date, '[]')`,
    [rule.propertyId, rule.code, rule.validFrom, rule.validTo ?? null],
  )
  if (other)
    throw unprocessable('tax_rule_overlap', 'A rule of this code is valid in that time', [
      { field: 'validFrom', message: 'overlaps' },
    ])
  await sql(
    trx,
    `insert into tax_rule (id, property_id, code, name, kind, basis, rate, amount, included, applies_to, exempt_age_category_ids, max_nights, valid_from, valid_to, account_id)
     values (?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?)`,
    [
      id,
      rule.propertyId,
      rule.code,
      JSON.stringify(rule.name),
      rule.kind,
      rule.basis,
      rule.rate ?? null,
      rule.amount ?? null,
      rule.included ?? false,
      rule.appliesTo,
      rule.exemptAgeCategoryIds ?? [],
      rule.maxNights ?? null,
      rule.validFrom,
      rule.validTo ?? null,
      rule.accountId ?? null,
    ],
  )
  await emit(trx, {
    type: 'tax_rule.created',
    propertyId: rule.propertyId,
    entity: { type: 'tax_rule', id, version: 1 },
    data: { taxRuleId: id, code: rule.code },
  })
  return id
}

export type NewExtra = {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  category:
    | 'early_check_in'
    | 'late_check_out'
    | 'cleaning'
    | 'meal'
    | 'transport'
    | 'parking'
    | 'pet'
    | 'bed'
    | 'activity'
    | 'other'
  revenueGroup: 'rooms' | 'food' | 'beverage' | 'laundry' | 'spa' | 'parking' | 'tours' | 'other'
  amount: number
  basis: ExtraBasis
  mandatory?: boolean
  bookableOnline?: boolean
  unitTypeIds?: string[]
  maxQuantity?: number
  cutoffHours?: number
  dailyLimit?: number | null
}

/** Counters of the days of one limited extra. Nobody reads the name, and codes change hands. */
export const createExtraPool = (trx: Trx, propertyId: string) =>
  createPool(trx, { propertyId, name: `extra ${randomUUID()}`, kind: 'extra' })

/** An extra with a daily limit gets a pool of counters of its own. */
export const createExtra = async (trx: Trx, extra: NewExtra): Promise<string> => {
  const id = extra.id ?? randomUUID()
  await changePortal(trx, extra.propertyId)
  const dailyLimit = extra.dailyLimit ?? null
  const poolId = dailyLimit === null ? null : await createExtraPool(trx, extra.propertyId)
  await sql(
    trx,
    `insert into extra (id, property_id, code, name, description, category, revenue_group, amount, basis, mandatory, bookable_online, unit_type_ids, max_quantity, cutoff_hours, daily_limit, pool_id)
     values (?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?)`,
    [
      id,
      extra.propertyId,
      extra.code,
      JSON.stringify(extra.name),
      JSON.stringify(extra.description ?? {}),
      extra.category,
      extra.revenueGroup,
      extra.amount,
      extra.basis,
      extra.mandatory ?? false,
      extra.bookableOnline ?? true,
      extra.unitTypeIds ?? [],
      extra.maxQuantity ?? 1,
      extra.cutoffHours ?? 0,
      dailyLimit,
      poolId,
    ],
  )
  if (poolId !== null && dailyLimit !== null) {
    const nights = await nightsFrom(trx, poolId, '1970-01-01', null)
    await moveInventory(
      trx,
      nights.map((night) => ({ poolId, night, capacity: dailyLimit })),
    )
  }
  await emit(trx, {
    type: 'extra.created',
    propertyId: extra.propertyId,
    entity: { type: 'extra', id, version: 1 },
    data: { extraId: id, code: extra.code },
  })
  return id
}

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

export type NewPromoCode = {
  id?: string
  propertyId: string
  code: string
  type: 'percent' | 'amount'
  value: number
  ratePlanIds?: string[]
  unitTypeIds?: string[]
  bookableFrom?: string | null
  bookableUntil?: string | null
  stayFrom?: string | null
  stayUntil?: string | null
  minNights?: number | null
  maxRedemptions?: number | null
  maxPerBooker?: number | null
}

export const createPromoCode = async (trx: Trx, promo: NewPromoCode): Promise<string> => {
  const id = promo.id ?? randomUUID()
  await sql(
    trx,
    `insert into promo_code (id, property_id, code, type, value, rate_plan_ids, unit_type_ids, bookable_from, bookable_until, stay_from, stay_until, min_nights, max_redemptions, max_per_booker)
     values (?, ?, ?, ?, ?, ?::uuid[], ?::uuid[], ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      promo.propertyId,
      promo.code.toUpperCase(),
      promo.type,
      promo.value,
      promo.ratePlanIds ?? [],
      promo.unitTypeIds ?? [],
      promo.bookableFrom ?? null,
      promo.bookableUntil ?? null,
      promo.stayFrom ?? null,
      promo.stayUntil ?? null,
      promo.minNights ?? null,
      promo.maxRedemptions ?? null,
      promo.maxPerBooker ?? null,
    ],
  )
  await emit(trx, {
    type: 'promo_code.created',
    propertyId: promo.propertyId,
    entity: { type: 'promo_code', id, version: 1 },
    data: { promoCodeId: id },
  })
  return id
}
