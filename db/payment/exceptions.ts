import { paymentExceptionOpened, paymentExceptionResolved } from '../../config/events/payment.ts'
import type { Trx } from '../lib/connection.ts'
import { sql } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { PaymentExceptionRow } from '../rows.ts'

export type ExceptionKind = PaymentExceptionRow['kind']
type Subject = { type: 'payment' | 'refund'; id: string; propertyId: string; currency: string }

/** Opens what a person must look at; one of a kind stands open per subject. */
export const openException = async (
  trx: Trx,
  kind: ExceptionKind,
  subject: Subject,
  amount: number,
  expectedAmount: number | null = null,
) => {
  const [row] = await sql<{ id: string }>(
    trx,
    `insert into payment_exception (kind, property_id, subject_type, subject_id, amount, expected_amount, currency)
     values (?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, kind, subject_type, subject_id) where status = 'open' do nothing returning id`,
    [kind, subject.propertyId, subject.type, subject.id, amount, expectedAmount, subject.currency],
  )
  if (!row) return
  await emit(trx, paymentExceptionOpened, {
    propertyId: subject.propertyId,
    id: row.id,
    version: 1,
    data: {
      paymentExceptionId: row.id,
      kind,
      subjectType: subject.type,
      subjectId: subject.id,
      amount,
      currency: subject.currency,
      resolution: null,
    },
  })
}

/** Ends the exceptions whose cause is over, by themselves. */
export const closeExceptions = async (trx: Trx, subject: Subject, kinds: readonly ExceptionKind[]) => {
  const rows = await sql<Pick<PaymentExceptionRow, 'id' | 'kind' | 'amount' | 'version'>>(
    trx,
    `update payment_exception set status = 'resolved', resolution = 'accepted', automatic = true, resolved_at = now(), version = version + 1
     where subject_type = ? and subject_id = ? and kind = any(?) and status = 'open' returning id, kind, amount, version`,
    [subject.type, subject.id, kinds],
  )
  for (const row of rows)
    await emit(trx, paymentExceptionResolved, {
      propertyId: subject.propertyId,
      id: row.id,
      version: row.version,
      data: {
        paymentExceptionId: row.id,
        kind: row.kind,
        subjectType: subject.type,
        subjectId: subject.id,
        amount: row.amount,
        currency: subject.currency,
        resolution: 'accepted',
      },
    })
}
