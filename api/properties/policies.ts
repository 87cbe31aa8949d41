import { invalid } from '../../config/errors.ts'
import { CancellationRules, DepositRules, NoShowRules } from '../../config/policy-rules.ts'
import { AnyOf, Instant, Int, List, Matching, Nullable, Obj, OneOf, Opt, Uuid, Words } from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import { archivePolicy, changePolicy, createPolicy, listPolicies, readPolicy } from '../../db/properties/policies.ts'
import type { NewPolicy } from '../../db/properties/policies.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Code, Lifecycle, stamps } from './schemas.ts'

const Kind = OneOf(['cancellation', 'deposit', 'no_show'])
const Rules = AnyOf([CancellationRules, DepositRules, NoShowRules])
const rulesOf = { cancellation: CancellationRules, deposit: DepositRules, no_show: NoShowRules }

const fields = {
  id: Uuid,
  propertyId: Uuid,
  code: Code,
  name: Words(1, 120),
  kind: Kind,
  status: Lifecycle,
  currentVersion: Int(1, 1_000_000),
  rules: Rules,
  ...stamps,
}
const PolicySummary = Obj(fields, { title: 'PolicySummary' })
const Version = Obj({
  id: Uuid,
  number: Int(1, 1_000_000),
  rules: Rules,
  hash: Matching('^[0-9a-f]{64}$', 64),
  createdBy: Nullable(Uuid),
  createdAt: Instant,
})
const Policy = Obj({ ...fields, versions: List(Version, { max: 200 }) }, { title: 'Policy' })

const path = '/api/tenants/:tenantId/policies'
const record = { table: 'policy', param: 'policyId' }

/** Rules of one kind: the schema of the body takes those of any. */
const judged = (kind: Static<typeof Kind>, rules: Static<typeof Rules>) => {
  const problems = compile(rulesOf[kind])(rules)
  if (problems)
    throw invalid(problems.map(({ field, message }) => ({ field: field ? `rules.${field}` : 'rules', message })))
  return { kind, rules } as Pick<NewPolicy, 'kind' | 'rules'>
}

const list = paged({
  id: 'policies.list',
  path,
  summary: 'List cancellation, deposit and no-show policies',
  access: can('read', 'Policy'),
  query: { propertyId: Opt(Uuid), kind: Opt(Kind), status: Opt(Lifecycle) },
  of: PolicySummary,
  find: ({ trx, query, admission }) => listPolicies(trx, { ...query, scope: admission.scope('read', 'Policy') }),
})

const create = route({
  id: 'policies.create',
  method: 'POST',
  path,
  summary: 'Create a policy',
  access: can('create', 'Policy'),
  status: 201,
  errors: ['duplicate_code', 'rule_violated', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, code: Code, name: Words(1, 120), kind: Kind, rules: Rules }),
  returns: Policy,
  handle: async ({ trx, body: { kind, rules, ...policy } }) => {
    await lockForChange(trx, policy.propertyId)
    const made = { ...policy, ...judged(kind, rules) } as NewPolicy
    return readPolicy(trx, await createPolicy(trx, made))
  },
})

const read = route({
  id: 'policies.read',
  method: 'GET',
  path: `${path}/:policyId`,
  summary: 'Read a policy with all its versions',
  access: can('read', 'Policy'),
  returns: Policy,
  handle: ({ trx, params, admission }) => readPolicy(trx, params.policyId, admission.scope('read', 'Policy')),
})

const change = route({
  id: 'policies.update',
  method: 'PATCH',
  path: `${path}/:policyId`,
  summary: 'Change a policy by adding a version',
  description:
    'New rules are a new version: rate plans follow it, reservations and quotes keep theirs. A new name is none.',
  access: can('update', 'Policy'),
  record,
  errors: ['rule_violated', 'invalid_transition'],
  body: Obj({ name: Opt(Words(1, 120)), rules: Opt(Rules) }),
  returns: Policy,
  handle: async ({ trx, params, body: { name, rules } }) => {
    const { kind } = await readPolicy(trx, params.policyId)
    await changePolicy(trx, params.policyId, { name, rules: rules && judged(kind, rules).rules })
    return readPolicy(trx, params.policyId)
  },
})

const archive = route({
  id: 'policies.archive',
  method: 'POST',
  path: `${path}/:policyId/archive`,
  summary: 'Retire a policy that no active rate plan uses',
  access: can('delete', 'Policy'),
  record,
  errors: ['in_use', 'invalid_transition'],
  returns: Policy,
  handle: async ({ trx, params }) => {
    await archivePolicy(trx, params.policyId)
    return readPolicy(trx, params.policyId)
  },
})

export const routes = [list, create, read, change, archive]
