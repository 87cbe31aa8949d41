import { unprocessable } from '../../../config/errors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { ReceivableRecord } from '../models.ts'
import { lockCustomers, lockReceivables } from '../state.ts'
import { locking } from '../locking.ts'

/** An installment that money may be allocated to, with what its posting needs. Amounts in minor units. */
export type PayableInstallment = {
  installmentId: string
  receivableId: string
  bookId: string
  propertyId: string | null
  customerId: string
  customerKind: string
  currency: string
  status: string
  issuedOn: string
  dueOn: string
  seq: number
  open: number
}

const columns = `i.id as installment_id, d.id as receivable_id, d.book_id, d.property_id, d.customer_id, c.kind as customer_kind, d.currency, d.status,
  d.posting_on as issued_on, i.due_on, i.seq, i.open`
const joined = `receivable_installment i join receivable d on d.tenant_id = i.tenant_id and d.id = i.receivable_id
  join customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id`

const read = (trx: Trx, ids: readonly string[]) =>
  sql<PayableInstallment>(
    trx,
    `select ${columns} from ${joined} where i.tenant_id = ? and i.id = any(?::uuid[]) order by i.due_on, d.issued_on, i.id`,
    [contextOf(trx).tenantId, [...new Set(ids)]],
  )

export type HeldInstallments = { installments: PayableInstallment[]; documents: ReceivableRecord[] }

/**
 * Installments in the order in which they are due, with their documents as they are under the lock. The customers of the documents, and those of
 * `customerIds`, are locked before them.
 */
export const lockInstallments = async (
  trx: Trx,
  ids: readonly string[],
  customerIds: readonly string[] = [],
): Promise<HeldInstallments> => {
  const seen = ids.length === 0 ? [] : await read(trx, ids)
  const customers = [...new Set([...customerIds, ...seen.map((one) => one.customerId)])]
  if (customers.length > 0) await locking(lockCustomers(trx, customers))
  const documents = await locking(lockReceivables(trx, [...new Set(seen.map((one) => one.receivableId))]))
  return { installments: ids.length === 0 ? [] : await read(trx, ids), documents }
}

/** Up to 100 open installments of a customer in a book, or of one document, the oldest due first: what `auto` takes. */
export const oldestOpen = (
  trx: Trx,
  { bookId, customerId, receivableId }: { bookId: string; customerId?: string; receivableId?: string },
): Promise<PayableInstallment[]> =>
  sql<PayableInstallment>(
    trx,
    `select ${columns} from ${joined} where i.tenant_id = :tenantId and d.book_id = :bookId and i.open > 0 and d.status in ('issued', 'partly_paid')
       and (cast(:customerId as uuid) is null or d.customer_id = cast(:customerId as uuid))
       and (cast(:receivableId as uuid) is null or d.id = cast(:receivableId as uuid))
     order by i.due_on, d.issued_on, i.id limit 100`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId,
      customerId: customerId ?? null,
      receivableId: receivableId ?? null,
    },
  )

const payable = new Set(['issued', 'partly_paid'])

/** Tells whether money may be allocated: a document that was voided keeps what was open of it. */
export const isPayable = ({ status, open }: Pick<PayableInstallment, 'status' | 'open'>): boolean =>
  payable.has(status) && open > 0

/** Refuses what no receipt pays: 422 `reference_not_found`, `target_closed`, `currency_mismatch`. */
export const expectPayable = (
  one: PayableInstallment | undefined,
  { bookId, currency }: { bookId: string; currency: string },
  field: string,
): PayableInstallment => {
  if (!one || one.bookId !== bookId)
    throw unprocessable('reference_not_found', 'There is no such installment', [
      { field, message: one ? 'is of another book' : 'is no installment' },
    ])
  if (one.currency !== currency)
    throw unprocessable('currency_mismatch', `It is paid in ${one.currency}`, [
      { field, message: `must be in ${currency}` },
    ])
  if (!payable.has(one.status))
    throw unprocessable(
      one.status === 'paid' ? 'amount_exceeds_open' : 'target_closed',
      'The document takes no money',
      [{ field, message: `is of a document that is ${one.status.replaceAll('_', ' ')}` }],
    )
  return one
}
