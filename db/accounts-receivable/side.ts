import type { Side } from '../documents/index.ts'

/** Documents among what is owed by customers: they count from the day of their posting on, also those that were voided later. What is unbilled stands apart. */
export const receivableSide: Side = {
  document: 'receivable',
  sums: ['settled', 'credited', 'writtenOff'],
  counted: `d.posted_at is not null and d.status not in ('unbilled', 'consolidated')`,
  since: 'd.posting_on',
  party: 'd.customer_id::text',
  named: { type: `'invoice'`, number: `d.number_prefix || d.number` },
  factNumber: `coalesce(
    (select r.number_prefix || r.number from receipt_allocation a join receipt r on r.tenant_id = a.tenant_id and r.id = a.receipt_id
      where a.tenant_id = f.tenant_id and a.id = f.source_id),
    (select c.number_prefix || c.number from credit_note c where c.tenant_id = f.tenant_id and c.id = f.source_id))`,
}
