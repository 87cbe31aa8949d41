import { contextOf, later, onCommit } from './connection.ts'
import type { Actor, AnyTrx } from './connection.ts'

export type AuditInput = {
  /** `<subject in lower case>.<verb>`, such as `entitlement.grant`. */
  action: string
  subjectType: string
  subjectId?: string | null
  reason?: string | null
  /** Changed fields; of personal or secret ones the name only. */
  changes?: { field: string; before?: unknown; after?: unknown }[]
  /** The actor, if it is not the transaction's, such as a user whom a sign-in has just proven. */
  actor?: Actor
  /** The tenant whose trail it belongs to, where that is not the transaction's own. */
  tenantId?: string | null
}

const audited = new WeakSet<object>()

/** Tells whether this transaction has written an entry of its own; the pipeline writes one for writes that have not. */
export const hasAudited = (trx: AnyTrx) => audited.has(trx)

/** Statement that writes an audit entry, for callers that add it to a statement of their own. */
export const auditStatement = (trx: AnyTrx, entry: AuditInput): { text: string; bindings: Record<string, unknown> } => {
  const context = contextOf(trx)
  const actor = entry.actor ?? context.actor
  const tenantId = entry.tenantId === undefined ? context.tenantId : entry.tenantId
  return {
    text: `insert into audit_entry (chain, tenant_id, actor_type, actor_id, action, subject_type, subject_id, reason, changes, request_id, address, support_session_id, job_id)
     values (:chain, :tenantId, :actorType, :actorId, :action, :subjectType, :subjectId, :reason, :changes::jsonb, :requestId,
       (select network(set_masklen(a, case family(a) when 4 then 24 else 48 end))::text from (select :address::inet as a) as sent), :supportSessionId, :jobId)`,
    bindings: {
      chain: tenantId ?? 'platform',
      tenantId,
      actorType: actor.type,
      actorId: actor.id,
      action: entry.action,
      subjectType: entry.subjectType,
      subjectId: entry.subjectId ?? null,
      reason: entry.reason ?? null,
      changes: JSON.stringify(entry.changes ?? []),
      requestId: context.requestId,
      address: context.address,
      supportSessionId: context.supportSessionId,
      jobId: context.jobId,
    },
  }
}

/** Writes to the audit trail in the transaction of the act: if the entry cannot be written, the act does not happen. */
export const audit = async (trx: AnyTrx, entry: AuditInput): Promise<void> => {
  const { text, bindings } = auditStatement(trx, entry)
  later(trx, text, bindings)
  audited.add(trx)
  onCommit(trx, () => audited.delete(trx))
}
