import { createHash, randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { policyArchived, policyCreated, policyVersionAdded } from '../../../config/events/properties.ts'
import { CancellationRules, DepositRules, NoShowRules } from '../../../config/policy-rules.ts'
import { compile } from '../../../config/validator.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { PolicyRow } from '../../rows.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changePortal } from '../../lib/public-version.ts'

const policyLifecycle = archivable('A policy')

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

export type NewPolicy = {
  id?: string
  propertyId: string
  code: string
  name: string
  kind: 'cancellation' | 'deposit' | 'no_show'
  rules: CancellationRules | DepositRules | NoShowRules
}

/** Refuses rules whose order makes no sense, which a schema cannot say. */
const judge = (policy: Pick<NewPolicy, 'kind' | 'rules'>) => {
  if (policy.kind === 'cancellation') {
    const hours = (policy.rules as CancellationRules).tiers.map((tier) => tier.hoursBeforeArrival)
    if (hours.some((value, index) => index > 0 && value >= (hours[index - 1] ?? Infinity)))
      throw unprocessable('rule_violated', 'Tiers come in falling order of hours', [
        { field: 'rules.tiers', message: 'hoursBeforeArrival must fall strictly' },
      ])
  }
  if (policy.kind === 'deposit') {
    const { installments } = policy.rules as DepositRules
    if (installments.some((entry, index) => entry.type === 'remaining' && index !== installments.length - 1))
      throw unprocessable('rule_violated', 'The rest comes last', [
        { field: 'rules.installments', message: 'type remaining must be last' },
      ])
  }
}

const schemas = { cancellation: CancellationRules, deposit: DepositRules, no_show: NoShowRules }

/** 400 where rules are those of another kind. */
const requireRules = (kind: NewPolicy['kind'], rules: NewPolicy['rules']): void => {
  const problems = compile(schemas[kind])(rules)
  if (problems)
    throw invalid(problems.map(({ field, message }) => ({ field: field ? `rules.${field}` : 'rules', message })))
}

/** The rest of what a schema cannot say: shares above the whole. */
const refuseShares = (rules: unknown, at = 'rules'): void => {
  if (Array.isArray(rules)) return rules.forEach((entry, index) => refuseShares(entry, `${at}.${index}`))
  if (typeof rules !== 'object' || rules === null) return
  if ('type' in rules && rules.type === 'percent' && 'value' in rules && Number(rules.value) > 10_000)
    throw unprocessable('rule_violated', 'A share is at most the whole', [
      { field: `${at}.value`, message: 'must be at most 10000 basis points' },
    ])
  for (const [key, inner] of Object.entries(rules)) refuseShares(inner, `${at}.${key}`)
}

const writeVersion = (trx: Trx, policyId: string, number: number, rules: unknown) => {
  const { actor } = contextOf(trx)
  const text = canonical(rules)
  return sql(
    trx,
    `insert into policy_version (policy_id, number, rules, hash, created_by) values (?, ?, ?::jsonb, ?, ?)`,
    [policyId, number, text, createHash('sha256').update(text).digest('hex'), actor.type === 'user' ? actor.id : null],
  )
}

/** 409 `duplicate_code`, 422 `rule_violated`. */
export const createPolicy = async (trx: Trx, policy: NewPolicy): Promise<string> => {
  await lockForChange(trx, policy.propertyId)
  requireRules(policy.kind, policy.rules)
  judge(policy)
  refuseShares(policy.rules)
  const id = policy.id ?? randomUUID()
  await sql(trx, `insert into policy (id, property_id, code, name, kind) values (?, ?, ?, ?, ?)`, [
    id,
    policy.propertyId,
    policy.code,
    policy.name,
    policy.kind,
  ])
  await writeVersion(trx, id, 1, policy.rules)
  await emit(trx, policyCreated, {
    propertyId: policy.propertyId,
    id,
    version: 1,
    data: { policyId: id, code: policy.code, kind: policy.kind, number: 1 },
  })
  return id
}

/** New rules are a new version: plans follow it, reservations keep theirs. Answers its number. */
export const changePolicyRules = async (trx: Trx, policyId: string, rules: NewPolicy['rules']): Promise<number> => {
  const policy = await sqlOne<Pick<PolicyRow, 'propertyId' | 'code' | 'kind' | 'currentVersion' | 'version'>>(
    trx,
    `update policy set current_version = current_version + 1, version = version + 1 where id = ? and status = 'active' returning property_id, code, kind, current_version, version`,
    [policyId],
  )
  if (!policy) throw conflict('invalid_transition', 'The policy is archived, or is not there')
  judge({ kind: policy.kind, rules })
  refuseShares(rules)
  await writeVersion(trx, policyId, policy.currentVersion, rules)
  await changePortal(trx, policy.propertyId)
  await emit(trx, policyVersionAdded, {
    propertyId: policy.propertyId,
    id: policyId,
    version: policy.version,
    data: { policyId, code: policy.code, kind: policy.kind, number: policy.currentVersion },
  })
  return policy.currentVersion
}

type PolicyRecord = Omit<PolicyRow, 'tenantId'> & { rules: NewPolicy['rules'] }
const columns = `p.id, p.property_id, p.code, p.name, p.kind, p.status, p.current_version, v.rules, p.version, p.created_at, p.updated_at`
const current = `policy p join policy_version v on v.tenant_id = p.tenant_id and v.policy_id = p.id and v.number = p.current_version`

type Filter = Paging & {
  propertyId?: string | undefined
  kind?: string | undefined
  status?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Policies with the rules that hold now. */
export const listPolicies = (trx: Trx, { propertyId, kind, status = 'active', scope, ...paging }: Filter) =>
  readPage<PolicyRecord>(
    trx,
    {
      columns,
      from: current,
      conditions: [
        ...inScope(scope, 'p.property_id'),
        ...where('p.property_id = ?', propertyId),
        ...where('p.kind = ?', kind),
        ...where('p.status = ?', status),
      ],
      order: 'p.code, p.id',
    },
    paging,
  )

export type PolicyVersionRecord = {
  id: string
  number: number
  rules: NewPolicy['rules']
  hash: string
  createdBy: string | null
  createdAt: Date
}

/** A policy with the newest 200 of its versions, the newest first. 404. */
export const readPolicy = async (trx: Trx, id: string): Promise<PolicyRecord & { versions: PolicyVersionRecord[] }> => {
  const row = await sqlOne<PolicyRecord>(trx, `select ${columns} from ${current} where p.id = ?`, [id])
  if (!row) throw notFound()
  const versions = await sql<PolicyVersionRecord>(
    trx,
    `select id, number, rules, hash, created_by, created_at from policy_version where policy_id = ? order by number desc limit 200`,
    [id],
  )
  return { ...row, versions }
}

const openPolicy = async (trx: Trx, id: string) => {
  const row = await sqlOne<Pick<PolicyRow, 'propertyId' | 'code' | 'kind' | 'status' | 'currentVersion' | 'version'>>(
    trx,
    `select property_id, code, kind, status, current_version, version from policy where id = ?`,
    [id],
  )
  if (!row) throw notFound()
  await lockForChange(trx, row.propertyId)
  return row
}

/** A new name is no new version; new rules are one. The caller holds the policy's row. */
export const changePolicy = async (
  trx: Trx,
  id: string,
  { name, rules }: { name?: string | undefined; rules?: NewPolicy['rules'] | undefined },
): Promise<void> => {
  const policy = await openPolicy(trx, id)
  if (rules !== undefined) requireRules(policy.kind, rules)
  policyLifecycle.allow('changed', policy.status)
  if (name !== undefined) await sql(trx, `update policy set name = ?, version = version + 1 where id = ?`, [name, id])
  if (rules !== undefined) await changePolicyRules(trx, id, rules)
}

/** Retires a policy. 422 `in_use` names the active plans that need it. The caller holds the policy's row. */
export const archivePolicy = async (trx: Trx, id: string): Promise<void> => {
  const policy = await openPolicy(trx, id)
  if (!policyLifecycle.isDue('archived', policy.status)) return
  const plans = await sql<{ code: string }>(
    trx,
    `select code from rate_plan where property_id = :propertyId and status = 'active'
       and :id in (cancellation_policy_id, no_show_policy_id, deposit_policy_id) order by code limit 50`,
    { id, propertyId: policy.propertyId },
  )
  if (plans.length > 0)
    throw unprocessable(
      'in_use',
      'Active rate plans use this policy',
      plans.map(({ code }) => ({ field: 'ratePlan', message: code })),
    )
  await sql(trx, `update policy set status = 'archived', version = version + 1 where id = ?`, [id])
  await changePortal(trx, policy.propertyId)
  await emit(trx, policyArchived, {
    propertyId: policy.propertyId,
    id,
    version: policy.version + 1,
    data: { policyId: id, code: policy.code, kind: policy.kind, number: policy.currentVersion },
    changed: [{ field: 'status', before: policy.status, after: 'archived' }],
  })
}
