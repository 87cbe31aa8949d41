import { ofHouses } from '../documents/index.ts'
import type { Side } from '../documents/index.ts'

/** Bills among what is owed and due: they count from the day of their posting on, also those that were voided later. */
export const payableSide: Side = {
  document: 'payable',
  sums: ['settled'],
  counted: 'd.posted_at is not null',
  since: 'd.posting_on',
  party: 'd.payee_key',
  named: { type: `'bill'`, number: 'd.number' },
  factNumber: `(select coalesce(c.number, nullif(y.reference, '')) from payable_payment_item x
    join payable_payment y on y.tenant_id = x.tenant_id and y.id = x.payable_payment_id
    left join supplier_credit c on c.tenant_id = y.tenant_id and c.id = y.credit_id where x.tenant_id = f.tenant_id and x.id = f.source_id)`,
  // A credit note lowers what is owed when it is recorded; setting it off moves nothing.
  untold: `f.type in ('credit_applied', 'credit_restored')`,
  beside: `select c.issued_on as "on", 'credit_note' as type, c.id, c.number, cast(0 as bigint) as raised, c.amount as lowered, c.created_at
    from supplier_credit c where c.tenant_id = :tenantId and c.book_id = :bookId and c.payee_key = :party and c.kind = 'credit_note' and ${ofHouses('c')}
    union all
    select t.dated_on, case t.type when 'refunded' then 'refund' else 'reversal' end, t.source_id, c.number, t.amount, 0, t.created_at
    from supplier_credit_fact t join supplier_credit c on c.tenant_id = t.tenant_id and c.id = t.supplier_credit_id
    where c.tenant_id = :tenantId and c.book_id = :bookId and c.payee_key = :party and c.kind = 'credit_note' and ${ofHouses('c')} and t.type in ('refunded', 'voided')
    union all
    select c.issued_on, 'advance', c.id, c.number, 0, 0, c.created_at
    from supplier_credit c where c.tenant_id = :tenantId and c.book_id = :bookId and c.payee_key = :party and c.kind = 'advance' and ${ofHouses('c')}`,
}
