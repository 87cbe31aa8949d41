import { randomUUID } from 'node:crypto'
import { invalid, overtaken, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { taxRuleChanged, taxRuleCreated, taxRuleDeleted } from '../../../config/events/properties.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { todayIn } from '../../../config/time.ts'
import { prepared, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import type { ChangedField } from '../../lib/events.ts'
import { equal, matching, pageOf } from '../../lib/lists.ts'
import { changeRow, fieldsOf, insertRow, readRow } from '../../lib/records.ts'
import { model } from '../../lib/models.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import type { TaxRule as PricedRule } from '../rules/taxes.ts'

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

export const TaxRule = model<'tax_rule', Pick<NewTaxRule, 'name' | 'appliesTo'>>('tax_rule')
type TaxRuleRecord = NonNullable<(typeof TaxRule)['row']>

export const listTaxRules = pageOf(TaxRule, {
  order: ['code', 'validFrom', 'id'],
  filters: {
    propertyId: equal('propertyId'),
    validOn: matching<string>(`daterange(valid_from, valid_to, '[]') @> ?::date`),
  },
  scope: { propertyId: 'propertyId' },
})

export const readTaxRule = (trx: Trx, id: string) => readRow(trx, TaxRule, id)

export type TaxRuleChange = {
  [Field in Exclude<keyof NewTaxRule, 'id' | 'propertyId' | 'rate' | 'amount'>]?: NewTaxRule[Field] | undefined
} & { rate?: number | null | undefined; amount?: number | null | undefined }

/** Validates a tax rule beyond its schema. 400; 422 for missing records. */
export const judgeTaxRule = async (trx: Trx, property: LockedProperty, rule: TaxRuleChange): Promise<void> => {
  requireTexts(property, { name: rule.name })
  const percent = rule.basis === 'percent'
  const errors: FieldError[] = [
    ...(percent && (rule.rate ?? null) === null ? [{ field: 'rate', message: 'is required' }] : []),
    ...(!percent && (rule.amount ?? null) === null ? [{ field: 'amount', message: 'is required' }] : []),
    ...(percent && (rule.amount ?? null) !== null ? [{ field: 'amount', message: 'is for other bases' }] : []),
    ...(!percent && (rule.rate ?? null) !== null ? [{ field: 'rate', message: 'is for basis percent' }] : []),
    ...(rule.included && !percent ? [{ field: 'included', message: 'needs basis percent' }] : []),
    ...(rule.appliesTo !== 'room' && !percent ? [{ field: 'appliesTo', message: 'must be room for this basis' }] : []),
    ...(rule.validTo && rule.validFrom && rule.validTo < rule.validFrom
      ? [{ field: 'validTo', message: 'must not be before validFrom' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
  const exempt = rule.exemptAgeCategoryIds ?? []
  const ages = await sql<{ id: string }>(
    trx,
    `select id from age_category where property_id = ? and id = any(?::uuid[])`,
    [property.id, exempt],
  )
  const missing: FieldError[] = exempt
    .filter((id) => !ages.some((age) => age.id === id))
    .map((id) => ({ field: 'exemptAgeCategoryIds', message: id }))
  if (
    rule.accountId &&
    !(await sqlOne(trx, `select 1 from account where id = ? and book_id = ?`, [rule.accountId, property.bookId]))
  )
    missing.push({ field: 'accountId', message: 'is no account of the property’s book' })
  if (missing.length > 0)
    throw unprocessable('reference_not_found', 'The rule names records that are not there', missing)
}

/** 422 `tax_rule_overlap` where a rule of the same code is valid in that time. */
export const createTaxRule = async (trx: Trx, rule: NewTaxRule): Promise<string> => {
  const id = rule.id ?? randomUUID()
  await judgeTaxRule(trx, await lockForChange(trx, rule.propertyId), rule)
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
  await insertRow(trx, TaxRule, { ...rule, id })
  await emit(trx, taxRuleCreated, {
    propertyId: rule.propertyId,
    id,
    version: 1,
    data: {
      taxRuleId: id,
      code: rule.code,
      kind: rule.kind,
      validFrom: rule.validFrom,
      validTo: rule.validTo ?? null,
    },
  })
  return id
}

/** Tells whether a stay or a folio was charged by the rule, or is promised to be. */
const wasApplied = async (trx: Trx, { id, propertyId }: TaxRuleRecord): Promise<boolean> => {
  const taxes = [{ taxRuleId: id }]
  const row = await sqlOne(
    trx,
    `select 1 where exists (select from reservation r join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
         where r.property_id = :propertyId and n.taxes @> cast(:named as jsonb))
       or exists (select from reservation r join reservation_extra e on e.tenant_id = r.tenant_id and e.reservation_id = r.id
         where r.property_id = :propertyId and e.taxes @> cast(:named as jsonb))
       or exists (select from folio_line l where l.property_id = :propertyId and (l.tax_rule_id = :id or l.taxes @> cast(:named as jsonb)))
       or exists (select from quote q where q.property_id = :propertyId and q.expires_at > now()
         and (q.rooms @> cast(:nights as jsonb) or q.rooms @> cast(:extras as jsonb)))`,
    {
      id,
      propertyId,
      named: JSON.stringify(taxes),
      nights: JSON.stringify([{ nights: [{ taxes }] }]),
      extras: JSON.stringify([{ extras: [{ taxes }] }]),
    },
  )
  return row !== null
}

const stillFree = new Set(['name', 'validTo'])

const refuseApplied = (rule: TaxRuleRecord, change: TaxRuleChange, today: string) => {
  const given: Record<string, unknown> = change
  const stands: Record<string, unknown> = rule
  const errors: FieldError[] = fieldsOf(change)
    .filter((field) => !stillFree.has(field) && JSON.stringify(given[field]) !== JSON.stringify(stands[field]))
    .map((field) => ({ field, message: 'was applied; a new rate is a new rule' }))
  if (change.validTo && change.validTo !== rule.validTo && change.validTo < today)
    errors.push({ field: 'validTo', message: `must be ${today} or later` })
  if (errors.length > 0) throw unprocessable('locked_field', 'The rule was applied to stays', errors)
}

const announce = async (
  trx: Trx,
  rule: TaxRuleRecord,
  event: typeof taxRuleChanged,
  version: number,
  changed: ChangedField[] = [],
) => {
  await changePortal(trx, rule.propertyId)
  const { propertyId, id, code, kind, validFrom, validTo } = rule
  await emit(trx, event, {
    propertyId,
    id,
    version,
    data: { taxRuleId: id, code, kind, validFrom, validTo },
    changed,
  })
}

/** Waits for quotes with the rule that are just being booked, so that their stays are seen. */
const holdAlone = (trx: Trx, id: string) => sql(trx, `select 1 from tax_rule where id = ? for update`, [id])

/** Changes a rule: all of an unused one, name and end of one that was applied. The caller holds its row. */
export const changeTaxRule = async (trx: Trx, id: string, change: TaxRuleChange): Promise<void> => {
  await holdAlone(trx, id)
  const rule = await readTaxRule(trx, id)
  const property = await lockForChange(trx, rule.propertyId)
  if (fieldsOf(change).length === 0) return
  if (await wasApplied(trx, rule)) refuseApplied(rule, change, todayIn(property.timezone, property.now))
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const planned = { ...rule, ...sent } as TaxRuleChange & Pick<TaxRuleRecord, 'code' | 'validFrom'>
  await judgeTaxRule(trx, property, { ...planned, name: change.name ?? {} })
  const other = await sqlOne(
    trx,
    `select 1 from tax_rule where property_id = ? and code = ? and id <> ? and daterange(valid_from, valid_to, '[]') && daterange(?::date, ?::date, '[]')`,
    [rule.propertyId, planned.code, id, planned.validFrom, planned.validTo ?? null],
  )
  if (other)
    throw unprocessable('tax_rule_overlap', 'A rule of this code is valid in that time', [
      { field: 'validFrom', message: 'overlaps' },
    ])
  const { code, validFrom, validTo = null } = planned
  const changed = { ...rule, code, validFrom, validTo, kind: change.kind ?? rule.kind }
  const version = await changeRow(trx, TaxRule, id, sent)
  await announce(trx, changed, taxRuleChanged, version, sentFields(sent, rule))
}

/** Keeps the rules whose taxes are in the price of a quote until the transaction ends. 422 `quote_invalid` where one was deleted since. */
export const keepTaxRules = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return
  const found = await prepared(trx, `select id from tax_rule where id = any(?::uuid[]) order by id for key share`, [
    wanted,
  ])
  if (found.length < wanted.length)
    throw unprocessable('quote_invalid', 'A tax of this quote is charged no more; ask for a new one', [
      { field: 'quote', message: 'has a tax that is charged no more' },
    ])
}

const termsOf = (rule: Omit<PricedRule, 'id' | 'code' | 'name'>): string =>
  JSON.stringify([
    rule.basis,
    rule.rate,
    rule.amount,
    rule.included,
    rule.appliesTo,
    rule.maxNights,
    rule.validFrom,
    rule.validTo,
    [...rule.exemptAgeCategoryIds].sort(),
  ])

/**
 * Keeps the rules of a price that was just made until the transaction ends, so that they are known as applied then (R25). One that was changed or deleted
 * meanwhile has the command begin anew.
 */
export const holdTaxRules = async (trx: Trx, rules: readonly PricedRule[], ids: readonly string[]): Promise<void> => {
  const wanted = rules.filter((rule) => ids.includes(rule.id))
  if (wanted.length === 0) return
  const found = await prepared<Omit<PricedRule, 'code' | 'name'>>(
    trx,
    `select id, basis, rate, amount, included, applies_to, max_nights, valid_from, valid_to, exempt_age_category_ids from tax_rule
     where id = any(?::uuid[]) order by id for key share`,
    [wanted.map((rule) => rule.id)],
  )
  const held = new Map(found.map((rule) => [rule.id, termsOf(rule)]))
  if (wanted.some((rule) => held.get(rule.id) !== termsOf(rule))) throw overtaken()
}

/** Deletes a rule that was never applied; 422 `in_use`. The caller holds its row. */
export const deleteTaxRule = async (trx: Trx, id: string): Promise<TaxRuleRecord> => {
  await holdAlone(trx, id)
  const rule = await readTaxRule(trx, id)
  await lockForChange(trx, rule.propertyId)
  if (await wasApplied(trx, rule)) throw unprocessable('in_use', 'The rule was applied to stays; end it by validTo')
  await sql(trx, `delete from tax_rule where id = ?`, [id])
  await announce(trx, rule, taxRuleDeleted, rule.version)
  return rule
}
