import type { ControlDeclaration, ItemDeclaration } from '../../financial/index.ts'

/**
 * Balances that receipts expect in the ledger (R21). A credit note lowers what is open at once, and is posted with its number: until then neither side of it is in
 * the ledger.
 */
export const receiptControls: ControlDeclaration[] = [
  {
    kind: 'unallocated',
    // A receipt that bounced after a part of it had gone back leaves that part.
    text: `select r.id as document_id, r.available - coalesce(n.excess, 0) + r.over_written_off as amount from receipt r
      left join credit_note n on r.source_type = 'credit_note' and n.tenant_id = r.tenant_id and n.id = r.source_id and n.status = 'issuing'
      where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'recorded'
      union all
      select r.id, r.over_written_off - r.refund_reserved from receipt r
      where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'reversed' and r.refund_reserved > 0`,
  },
  {
    kind: 'refund',
    text: `select f.id as document_id, f.amount from receipt_refund f join receipt r on r.tenant_id = f.tenant_id and r.id = f.receipt_id
      where f.tenant_id = :tenantId and r.book_id = :bookId and f.status = 'requested'`,
  },
  {
    kind: 'receivable',
    text: `select n.receivable_id as document_id, n.applied as amount from credit_note n
      where n.tenant_id = :tenantId and n.book_id = :bookId and n.status = 'issuing'`,
  },
]

export const receiptChecklist: ItemDeclaration[] = [
  {
    code: 'receipts_unallocated',
    blocking: false,
    text: `select r.id from receipt r where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'recorded' and r.available > 0
      and r.received_on <= cast(:to as date)`,
  },
  {
    code: 'documents_numbering',
    blocking: true,
    early: true,
    text: `select n.id from credit_note n where n.tenant_id = :tenantId and n.book_id = :bookId and n.status = 'issuing'
      and n.issued_on between cast(:from as date) and cast(:to as date)`,
  },
]
