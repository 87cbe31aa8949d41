import { Bool, Day, Int, List, LocalName, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { createTaxRule } from '../../db/properties/charges.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import { changeTaxRule, deleteTaxRule, judgeTaxRule, listTaxRules, readTaxRule } from '../../db/properties/tax-rules.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
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
const TaxRule = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    ...needed,
    rate: Nullable(value.rate),
    amount: Nullable(value.amount),
    ...optional,
    ...stamps,
  },
  { title: 'TaxRule' },
)
const path = '/api/tenants/:tenantId/tax-rules'
const record = { table: 'tax_rule', param: 'taxRuleId' }

const list = paged({
  id: 'taxRules.list',
  path,
  summary: 'List taxes and fees',
  access: can('read', 'TaxRule'),
  query: { propertyId: Opt(Uuid), validOn: Opt(Day) },
  of: TaxRule,
  find: ({ trx, query, admission }) => listTaxRules(trx, { ...query, scope: admission.scope('read', 'TaxRule') }),
})

const create = route({
  id: 'taxRules.create',
  method: 'POST',
  path,
  summary: 'Add a tax or fee with its validity',
  access: can('create', 'TaxRule'),
  status: 201,
  errors: ['tax_rule_overlap', 'reference_not_found'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj({ ...value, ...optional })).properties }),
  returns: TaxRule,
  handle: async ({ trx, body }) => {
    await judgeTaxRule(trx, await lockForChange(trx, body.propertyId), body)
    return readTaxRule(trx, await createTaxRule(trx, body))
  },
})

const change = route({
  id: 'taxRules.update',
  method: 'PATCH',
  path: `${path}/:taxRuleId`,
  summary: 'Change an unused tax rule or end a used one',
  description: 'Of a rule that was applied, `name` and `validTo` (today or later) change; a new rate is a new rule.',
  access: can('update', 'TaxRule'),
  record,
  errors: ['locked_field', 'tax_rule_overlap', 'reference_not_found'],
  body: Sparse(Obj({ ...needed, rate: Nullable(value.rate), amount: Nullable(value.amount), ...optional })),
  returns: TaxRule,
  handle: async ({ trx, params, body }) => {
    await changeTaxRule(trx, params.taxRuleId, body)
    return readTaxRule(trx, params.taxRuleId)
  },
})

const remove = route({
  id: 'taxRules.delete',
  method: 'DELETE',
  path: `${path}/:taxRuleId`,
  summary: 'Delete a tax rule that was never applied',
  access: can('delete', 'TaxRule'),
  record,
  errors: ['in_use'],
  returns: TaxRule,
  handle: ({ trx, params }) => deleteTaxRule(trx, params.taxRuleId),
})

export const routes = [list, create, change, remove]
