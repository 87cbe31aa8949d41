import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Int, List, LocalName, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { changeTaxRule, createTaxRule, deleteTaxRule, listTaxRules, readTaxRule } from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
import { Code, Price, TaxBasis, stamps } from './schemas.ts'

const needed = {
  code: Code,
  name: LocalName,
  kind: OneOf(['tax', 'fee']),
  basis: TaxBasis,
  appliesTo: OneOf(['room', 'extras', 'both']),
  validFrom: Day,
}
const value = { rate: Int(0, 10_000), amount: Price }
const optional = {
  included: Bool,
  exemptAgeCategoryIds: List(Uuid, { max: 20 }, { uniqueItems: true }),
  maxNights: Nullable(Int(1, 366)),
  validTo: Nullable(Day),
  accountId: Nullable(Uuid),
}
const fields = {
  id: Uuid,
  propertyId: Uuid,
  ...needed,
  rate: Nullable(value.rate),
  amount: Nullable(value.amount),
  ...optional,
  ...stamps,
}

const taxRules = resource({
  name: 'taxRules',
  subject: 'TaxRule',
  table: 'tax_rule',
  path: '/api/tenants/:tenantId/tax-rules',
  param: 'taxRuleId',
  record: Obj(fields, { title: 'TaxRule' }),
  read: readTaxRule,
})

const list = taxRules.list({
  summary: 'List taxes and fees',
  query: { propertyId: Opt(Uuid), validOn: Opt(Day) },
  example: { validOn: '2026-01-31' },
  find: ({ trx, filter }) => listTaxRules(trx, filter),
})

const create = taxRules.create({
  summary: 'Add a tax or fee with its validity',
  errors: ['tax_rule_overlap', 'reference_not_found', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj({ ...value, ...optional })).properties }),
  example: {
    propertyId: sampleId('propertyId'),
    code: 'TOURISM',
    name: { 'pt-BR': 'Taxa de turismo', en: 'Tourism fee' },
    kind: 'fee',
    basis: 'per_night',
    amount: 500,
    appliesTo: 'room',
    validFrom: '2026-01-01',
  },
  command: ({ trx, body }) => createTaxRule(trx, body),
})

const change = taxRules.change({
  summary: 'Change an unused tax rule or end a used one',
  description: 'Of a rule that was applied, `name` and `validTo` (today or later) change; a new rate is a new rule.',
  errors: ['locked_field', 'tax_rule_overlap', 'reference_not_found', 'invalid_transition'],
  body: Sparse(Obj({ ...needed, rate: Nullable(value.rate), amount: Nullable(value.amount), ...optional })),
  example: { amount: 600 },
  command: ({ trx, id, body }) => changeTaxRule(trx, id, body),
})

const remove = taxRules.remove({
  summary: 'Delete a tax rule that was never applied',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => deleteTaxRule(trx, id),
})

export const routes = [list, create, change, remove]
