import { CancellationRules, DepositRules, NoShowRules } from '../../config/policy-rules.ts'
import { sampleId } from '../../config/samples.ts'
import { AnyOf, Instant, Int, List, Matching, Nullable, Obj, OneOf, Opt, Uuid, Words } from '../../config/schema.ts'
import { archivePolicy, changePolicy, createPolicy, listPolicies, readPolicy } from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
import { Code, Lifecycle, stamps } from './schemas.ts'

const Kind = OneOf(['cancellation', 'deposit', 'no_show'])
const Rules = AnyOf([CancellationRules, DepositRules, NoShowRules])

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

const policies = resource({
  name: 'policies',
  subject: 'Policy',
  table: 'policy',
  path: '/api/tenants/:tenantId/policies',
  param: 'policyId',
  record: Policy,
  read: readPolicy,
})
const free = { type: 'none' as const, value: 0, of: 'total' as const }
const whole = { type: 'full' as const, value: 0, of: 'total' as const }
const rules = {
  tiers: [{ hoursBeforeArrival: 168, fee: free }],
  after: whole,
  graceHoursAfterBooking: 0,
  earlyDeparture: free,
}

const list = policies.list({
  summary: 'List cancellation, deposit and no-show policies',
  query: { propertyId: Opt(Uuid), kind: Opt(Kind), status: Opt(Lifecycle) },
  of: PolicySummary,
  example: { kind: 'cancellation' },
  find: ({ trx, filter }) => listPolicies(trx, filter),
})

const create = policies.create({
  summary: 'Create a policy',
  errors: ['duplicate_code', 'rule_violated', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, code: Code, name: Words(1, 120), kind: Kind, rules: Rules }),
  example: { propertyId: sampleId('propertyId'), code: 'FLEX', name: 'Flexible', kind: 'cancellation', rules },
  command: ({ trx, body }) => createPolicy(trx, body),
})

const read = policies.read({ summary: 'Read a policy with all its versions' })

const change = policies.change({
  summary: 'Change a policy by adding a version',
  description:
    'New rules are a new version: rate plans follow it, reservations and quotes keep theirs. A new name is none.',
  errors: ['rule_violated', 'invalid_transition'],
  body: Obj({ name: Opt(Words(1, 120)), rules: Opt(Rules) }),
  example: { name: 'Flexible until a week before', rules },
  command: ({ trx, id, body }) => changePolicy(trx, id, body),
})

const archive = policies.act('archive', {
  summary: 'Retire a policy that no active rate plan uses',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => archivePolicy(trx, id),
})

export const routes = [list, create, read, change, archive]
