import { inner, rows, staying } from './table.ts'
import type { TenantTable } from './table.ts'

const kept = (keep: string, ...tables: readonly string[]): TenantTable[] => tables.map((table) => ({ table, keep }))

export const adminData = [
  ...rows('subscription', 'entitlement_grant', 'subscription_item', 'usage_day', 'usage_event'),
  ...staying('stands on bills', rows('billing_adjustment')),
  ...staying(
    'bills are numbered and collected by the installation that issued them',
    kept('bills are kept for five years', 'subscription_invoice', 'subscription_invoice_line', 'invoice_payment'),
  ),
  ...kept('the trail is kept for five years', 'audit_entry'),
  { table: 'audit_day', keep: 'the trail is kept for five years', leave: 'follows from the entries that it counts' },
  ...staying('superusers belong to their installation', kept('the trail is kept for five years', 'support_session')),
  ...staying('can be made again', inner('the export itself', 'tenant_export', 'tenant_export_part')),
  ...staying('counts what this installation did', [
    { table: 'tenant_purge', keep: 'the certificate counts by it', leave: 'of a tenant that is gone' },
    { table: 'tenant_move', keep: 'says where the tenant went', leave: 'keys and the way of the tenant' },
  ]),
]
