import { installmentsText } from '../documents/index.ts'
import { payableSide } from './side.ts'

/** Bills that differ from their installments, or those from what was paid: for the integrity checks. */
export const payableSumsText = (): string => installmentsText(payableSide, ['draft', 'void'])

/** Credits and advances whose used or refunded part is not what was set off and given back. */
export const creditSumsText = (): string => `
  select c.id as supplier_credit_id, c.applied, f.applied as set_off, c.refunded, f.refunded as given_back from supplier_credit c
  cross join lateral (select coalesce(sum(f.amount) filter (where f.type in ('applied', 'restored')), 0) as applied,
      coalesce(sum(f.amount) filter (where f.type = 'refunded'), 0) as refunded
    from supplier_credit_fact f where f.tenant_id = c.tenant_id and f.supplier_credit_id = c.id) f
  where c.tenant_id = :tenantId and c.book_id = :bookId and c.status = 'open' and (c.applied, c.refunded) is distinct from (f.applied, f.refunded)`
