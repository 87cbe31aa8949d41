import { paymentExceptionOpened, paymentExceptionResolved } from '../../config/events/payment.ts'
import type { Trx } from '../lib/connection.ts'
import { sql } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { PaymentExceptionRow } from '../rows.ts'

export type ExceptionKind = PaymentExceptionRow['kind']
export type ExceptionSubject = {
  type: PaymentExceptionRow['subjectType']
  id: string
  /** Null for what belongs to no property: an account, a payout, a transaction that is unknown here. */
  propertyId: string | null
  currency: string
  gatewayAccountId?: string | null
}

export const emitException = (
  trx: Trx,
  event: typeof paymentExceptionOpened,
  row: Pick<
    PaymentExceptionRow,
    'id' | 'kind' | 'amount' | 'version' | 'resolution' | 'propertyId' | 'subjectType' | 'subjectId' | 'currency'
  >,
) => {
  const { id, kind, amount, version, resolution, propertyId, subjectType, subjectId, currency } = row
  const data = { paymentExceptionId: id, kind, subjectType, subjectId, amount, currency, resolution }
  return emit(trx, event, { propertyId, id, version, data })
}

/** Opens what a person must look at; one of a kind stands open per subject. Answers whether it is new. */
export const openException = async (
  trx: Trx,
  kind: ExceptionKind,
  subject: ExceptionSubject,
  amount: number,
  expectedAmount: number | null = null,
  reconciliationId: string | null = null,
): Promise<boolean> => {
  const [row] = await sql<PaymentExceptionRow>(
    trx,
    `insert into payment_exception (kind, property_id, subject_type, subject_id, amount, expected_amount, currency, gateway_account_id, reconciliation_id)
     values (:kind, :propertyId, :type, :id, :amount, :expectedAmount, :currency, :gatewayAccountId, :reconciliationId)
     on conflict (tenant_id, kind, subject_type, subject_id) where status = 'open' do nothing returning *`,
    { gatewayAccountId: null, ...subject, kind, amount, expectedAmount, reconciliationId },
  )
  if (!row) return false
  await emitException(trx, paymentExceptionOpened, row)
  return true
}

type Unallocated = { id: string; propertyId: string; currency: string; amount: number }

/** Exceptions that tell of money without a place: a person who has resolved one has seen it. */
const ofPlaces: readonly ExceptionKind[] = [
  'unallocated',
  'late_payment',
  'amount_differs',
  'duplicate_payment',
  'currency_differs',
  'over_returned',
]

/** Opens an exception for money that has found no place for 24 hours; each payment is told of once, and anew once all of it had a place. */
export const tellUnallocated = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  const found = await sql<Unallocated>(
    trx,
    `with told as (
       update payment set unallocated_told = true where id in (
         select id from payment where id = any(?::uuid[]) and not unallocated_told order by id for no key update skip locked) returning *)
     select id, property_id, currency, captured_amount - allocated_amount - refund_reserved as amount from told
     where status = 'captured' and allocated_amount + refund_reserved < captured_amount
       and not exists (select from payment_exception e where e.tenant_id = told.tenant_id and e.subject_type = 'payment' and e.subject_id = told.id
         and e.kind = any(?::text[]) and (e.status = 'open' or not e.automatic))
     order by id`,
    [ids, ofPlaces],
  )
  for (const { amount, ...subject } of found)
    await openException(trx, 'unallocated', { type: 'payment', ...subject }, amount)
}

/** Ends the exceptions whose cause is over, by themselves. */
export const closeExceptions = async (
  trx: Trx,
  subject: Pick<ExceptionSubject, 'type' | 'id'>,
  kinds: readonly ExceptionKind[],
) => {
  const rows = await sql<PaymentExceptionRow>(
    trx,
    `update payment_exception set status = 'resolved', resolution = 'accepted', automatic = true, resolved_at = now(), version = version + 1
     where subject_type = ? and subject_id = ? and kind = any(?) and status = 'open' returning *`,
    [subject.type, subject.id, kinds],
  )
  for (const row of rows) await emitException(trx, paymentExceptionResolved, row)
}
