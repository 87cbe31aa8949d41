import { installmentsText } from '../documents/index.ts'
import { receivableSide } from './side.ts'

/** Invoices that differ from their installments, or those from what was received, credited and written off: for the integrity checks. */
export const receivableSumsText = (): string =>
  installmentsText(receivableSide, ['draft', 'unbilled', 'consolidated', 'void'])

/** Receipts whose allocated, reserved or refunded part is not the sum of their allocations and refunds. Refunds of payments are theirs alone. */
export const receiptSumsText = (): string => `
  select r.id as receipt_id, r.allocated, a.sum as by_allocations, r.refund_reserved, f.reserved, r.refunded, f.refunded as paid_back from receipt r
  cross join lateral (select coalesce(sum(a.cash), 0) as sum from receipt_allocation a where a.tenant_id = r.tenant_id and a.receipt_id = r.id) a
  cross join lateral (select coalesce(sum(f.amount) filter (where f.status <> 'failed'), 0) as reserved,
      coalesce(sum(f.amount) filter (where f.status = 'succeeded'), 0) as refunded
    from receipt_refund f where f.tenant_id = r.tenant_id and f.receipt_id = r.id) f
  where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'recorded'
    and (r.allocated <> a.sum or r.source_type <> 'payment' and (r.refund_reserved, r.refunded) is distinct from (f.reserved, f.refunded))`
