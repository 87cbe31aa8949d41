import { inner, rows } from './table.ts'
import type { TenantTable } from './table.ts'

const kept = (keep: string, ...tables: readonly string[]): TenantTable[] => tables.map((table) => ({ table, keep }))

export const adminData = [
  ...rows('subscription', 'entitlement_grant', 'subscription_item', 'billing_adjustment', 'usage_day', 'usage_event'),
  ...kept('bills are kept for five years', 'subscription_invoice', 'subscription_invoice_line', 'invoice_payment'),
  ...kept('the trail is kept for five years', 'audit_entry', 'support_session'),
  ...inner('the export itself', 'tenant_export', 'tenant_export_part'),
  { table: 'tenant_purge', keep: 'the certificate counts by it', leave: 'of a tenant that is gone' },
]
