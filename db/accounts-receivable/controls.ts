import type { ControlDeclaration, ItemDeclaration } from '../financial/index.ts'

/** Debts of customers as the ledger must have them (R21): invoices count once they have their number, folios as soon as they are billed. */
export const receivableControls: ControlDeclaration[] = [
  {
    kind: 'receivable',
    text: `select id as document_id, open as amount from receivable where tenant_id = :tenantId and book_id = :bookId and open <> 0
      and (status in ('unbilled', 'issued', 'partly_paid') or (status = 'issuing' and billed))`,
  },
]

export const receivableChecklist: ItemDeclaration[] = [
  {
    code: 'documents_numbering',
    blocking: true,
    early: true,
    text: `select r.id from receivable r where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'issuing'
      and r.posting_on between cast(:from as date) and cast(:to as date)`,
  },
  {
    code: 'receivables_draft',
    blocking: false,
    text: `select r.id from receivable r where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'draft'
      and r.posting_on between cast(:from as date) and cast(:to as date)`,
  },
]

/** Customers whose exposure is not what is open of their documents: for the integrity checks. */
export const exposureText = (): string => `
  select c.id as customer_id, c.exposure, coalesce(r.open, 0) as open from customer c
  left join (select customer_id, sum(open)::bigint as open from receivable
    where tenant_id = :tenantId and status in ('unbilled', 'issuing', 'issued', 'partly_paid') group by 1) r on r.customer_id = c.id
  where c.tenant_id = :tenantId and cast(:bookId as uuid) is not null and c.exposure <> coalesce(r.open, 0)`
