import type { ControlDeclaration, ItemDeclaration } from '../financial/index.ts'

/** The document that the ledger's line of a movement names: the transfer, the movement itself, or the record it was booked for. */
const documentOf = `case
  when o.transfer_id is not null and o.kind = 'transfer' then o.transfer_id
  when o.kind = 'pix_in' then (select p.claimed_by_id from pix_receipt p where p.tenant_id = o.tenant_id and p.cash_movement_id = o.id)
  when o.kind = 'pix_return' then (select r.document_id from pix_return r where r.tenant_id = o.tenant_id and r.movement_id = o.id)
  when o.kind in ('opening', 'manual', 'bank_line', 'difference', 'payout') then o.id
  else o.source_id end`

/** Balances that accounts of money expect in the ledger: all that came in less all that went out, and what is between two of them. */
export const cashControls: ControlDeclaration[] = [
  {
    kind: 'cash',
    text: `select ${documentOf} as document_id, m.amount from cash_movement m
      join cash_movement o on o.tenant_id = m.tenant_id and o.id = case when m.reverses_id is null then m.id else m.reverses_id end
      where m.tenant_id = :tenantId and m.book_id = :bookId`,
    byAccount: `select a.ledger_account_id as account_id, a.balance as amount from cash_account a where a.tenant_id = :tenantId and a.book_id = :bookId`,
  },
  {
    kind: 'transit',
    // A payout that a bank line has brought is in transit no more.
    text: `select t.id as document_id, t.amount from cash_transfer t where t.tenant_id = :tenantId and t.book_id = :bookId and t.status = 'in_transit'
      union all
      select o.source_id, -m.amount from cash_movement m join cash_movement o on o.tenant_id = m.tenant_id and o.id = case when m.reverses_id is null then m.id else m.reverses_id end
      where m.tenant_id = :tenantId and m.book_id = :bookId and o.kind = 'payout' and o.source_type = 'payout'`,
  },
]

/**
 * Registers that were not counted, or whose difference waits for a second person, keep their month open (R11); statements of banks that were not proven are
 * told.
 */
export const cashChecklist: ItemDeclaration[] = [
  {
    code: 'sessions_open',
    blocking: true,
    text: `select s.id from cash_session s join cash_account a on a.tenant_id = s.tenant_id and a.id = s.register_id and a.book_id = :bookId
      where s.tenant_id = :tenantId and s.status <> 'closed' and s.business_date <= cast(:to as date)`,
  },
  {
    code: 'statements_unreconciled',
    blocking: false,
    text: `select s.id from cash_account a join bank_statement s on s.tenant_id = a.tenant_id and s.cash_account_id = a.id
      where a.tenant_id = :tenantId and a.book_id = :bookId and s.status = 'imported' and s.first_on <= cast(:to as date)`,
  },
]
