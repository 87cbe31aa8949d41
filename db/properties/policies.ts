import { createHash, randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../config/errors.ts'
import type { CancellationRules, DepositRules, NoShowRules } from '../../config/policy-rules.ts'
import { contextOf, sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { changePortal } from './portal.ts'

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

export type NewPolicy = { id?: string; propertyId: string; code: string; name: string } & (
  | { kind: 'cancellation'; rules: CancellationRules }
  | { kind: 'deposit'; rules: DepositRules }
  | { kind: 'no_show'; rules: NoShowRules }
)

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

const writeVersion = (trx: Trx, policyId: string, number: number, rules: unknown) => {
  const { actor } = contextOf(trx)
  const text = canonical(rules)
  return sql(
    trx,
    `insert into policy_version (policy_id, number, rules, hash, created_by) values (?, ?, ?::jsonb, ?, ?)`,
    [policyId, number, text, createHash('sha256').update(text).digest('hex'), actor.type === 'user' ? actor.id : null],
  )
}

export const createPolicy = async (trx: Trx, policy: NewPolicy): Promise<string> => {
  judge(policy)
  const id = policy.id ?? randomUUID()
  await sql(trx, `insert into policy (id, property_id, code, name, kind) values (?, ?, ?, ?, ?)`, [
    id,
    policy.propertyId,
    policy.code,
    policy.name,
    policy.kind,
  ])
  await writeVersion(trx, id, 1, policy.rules)
  await emit(trx, {
    type: 'policy.created',
    propertyId: policy.propertyId,
    entity: { type: 'policy', id, version: 1 },
    data: { policyId: id, kind: policy.kind },
  })
  return id
}

/** New rules are a new version: plans follow it, reservations keep theirs. Answers its number. */
export const changePolicyRules = async (trx: Trx, policyId: string, rules: NewPolicy['rules']): Promise<number> => {
  const policy = await sqlOne<{ propertyId: string; kind: NewPolicy['kind']; currentVersion: number }>(
    trx,
    `update policy set current_version = current_version + 1, version = version + 1 where id = ? and status = 'active' returning property_id, kind, current_version`,
    [policyId],
  )
  if (!policy) throw conflict('invalid_transition', 'The policy is archived, or is not there')
  judge({ kind: policy.kind, rules })
  await writeVersion(trx, policyId, policy.currentVersion, rules)
  await changePortal(trx, policy.propertyId)
  await emit(trx, {
    type: 'policy.version_added',
    propertyId: policy.propertyId,
    entity: { type: 'policy', id: policyId, version: null },
    data: { policyId, number: policy.currentVersion },
  })
  return policy.currentVersion
}
