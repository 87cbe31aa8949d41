import type { ControlDeclaration, ItemDeclaration } from '../financial/index.ts'

/** Debts to suppliers and their debts to the house, as the ledger must have them (R24). */
export const payableControls: ControlDeclaration[] = [
  {
    kind: 'supplier',
    text: `select id as document_id, open as amount from payable where tenant_id = :tenantId and book_id = :bookId and status in ('approved', 'partly_paid', 'paid') and open <> 0
      union all
      select id, -available from supplier_credit where tenant_id = :tenantId and book_id = :bookId and kind = 'credit_note' and status = 'open' and available <> 0`,
  },
  {
    kind: 'advance',
    text: `select id as document_id, available as amount from supplier_credit
      where tenant_id = :tenantId and book_id = :bookId and kind = 'advance' and status = 'open' and available <> 0`,
  },
  {
    kind: 'received',
    text: `select l.payable_id as document_id, -sum(l.received_value) as amount from payable_line l join payable p on p.tenant_id = l.tenant_id and p.id = l.payable_id
      where p.tenant_id = :tenantId and p.book_id = :bookId and p.status in ('approved', 'partly_paid', 'paid') and l.received_value <> 0 group by 1`,
  },
]

export const payableChecklist: ItemDeclaration[] = [
  {
    code: 'payables_waiting',
    blocking: true,
    text: `select p.id from payable p where p.tenant_id = :tenantId and p.book_id = :bookId and p.status = 'awaiting_approval'
      and p.posting_on between cast(:from as date) and cast(:to as date)`,
  },
  {
    code: 'payables_draft',
    blocking: false,
    text: `select p.id from payable p where p.tenant_id = :tenantId and p.book_id = :bookId and p.status = 'draft'
      and p.posting_on between cast(:from as date) and cast(:to as date)`,
  },
  {
    code: 'payments_under_way',
    blocking: false,
    text: `select y.id from payable_payment y where y.tenant_id = :tenantId and y.book_id = :bookId and y.status = 'sending'
      and y.pay_on between cast(:from as date) and cast(:to as date)`,
  },
  {
    code: 'withholdings_not_collected',
    blocking: false,
    text: `select w.id from payable_withholding w join payable p on p.tenant_id = w.tenant_id and p.id = w.payable_id
      where p.tenant_id = :tenantId and p.book_id = :bookId and p.status in ('approved', 'partly_paid', 'paid') and w.collected_by_id is null
      and p.posting_on between cast(:from as date) and cast(:to as date) and cast(:to as date) < date_trunc('month', (select now() at time zone b.time_zone from book b where b.tenant_id = :tenantId and b.id = :bookId))`,
  },
]
