/** The close of a business day. Other modules and the edges import this file alone. */
export { advanceNightAudit, failNightAudit, handOver } from './advance.ts'
export { auditSteps, listNightAudits, readNightAudit, readNightAuditSteps } from './audits.ts'
export { daysDue, previewNightAudit, requestNightAudit, startDue } from './request.ts'
