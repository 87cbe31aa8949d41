import { Count, Day, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const nightAudit = {
  entity: 'night_audit',
  subject: 'NightAudit',
  data: Obj({ nightAuditId: Uuid, businessDate: Day, step: Nullable(Code), exceptionCount: Count }),
} as const
export const nightAuditStarted = event({ type: 'night_audit.started', ...nightAudit })
export const nightAuditSucceeded = event({ type: 'night_audit.succeeded', ...nightAudit, listeners: ['issues ended'] })
export const nightAuditFailed = event({ type: 'night_audit.failed', ...nightAudit, listeners: ['issues'] })

export const nightAuditEvents: Event[] = [nightAuditStarted, nightAuditSucceeded, nightAuditFailed]
