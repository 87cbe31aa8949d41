import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import { disputeSubmitted } from '../../../config/events/payment.ts'
import { respondDispute } from '../../../jobs/payment.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { equal, pageOf } from '../../lib/lists.ts'
import { changeRow, expression, readRow } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { DisputeRow, PaymentRow } from '../../rows.ts'
import { gateOfAccount } from '../accounts.ts'
import { Dispute } from '../models.ts'
import { sumOf } from '../notices.ts'
import { readPayment } from '../payments/read.ts'
import { emitDispute } from './snapshot.ts'

type EvidenceField =
  | 'explanation'
  | 'productDescription'
  | 'policyDisclosure'
  | 'refundPolicy'
  | 'serviceDate'
  | 'guestCommunication'
  | 'guestName'
  | 'guestEmail'
export type Evidence = Partial<Record<EvidenceField, string>>

export const evidencePlace = (id: string) => ({ table: 'dispute', rowId: id, purpose: 'evidence' })

/** A page of disputes, the nearest deadline first. */
export const listDisputes = pageOf(Dispute, {
  order: ['responseDueAt', 'openedAt desc', 'id'],
  filters: { status: equal('status'), paymentId: equal('paymentId') },
  scope: { propertyId: 'propertyId' },
})

/** Evidence as the records have it; a person edits it before it is sent. */
const suggestionOf = async (trx: Trx, payment: PaymentRow): Promise<Evidence> => {
  const stay = await sqlOne<{ number: string; arrival: string; departure: string; acceptedAt: string | null }>(
    trx,
    `select b.number, min(r.arrival)::text as arrival, max(r.departure)::text as departure, max(b.accepted_terms->>'at') as accepted_at
     from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
     where b.id = (select case :type when 'booking' then :id::uuid
       when 'reservation' then (select booking_id from reservation where id = :id::uuid)
       when 'folio' then (select r2.booking_id from folio f join reservation r2 on r2.tenant_id = f.tenant_id and r2.id = f.reservation_id where f.id = :id::uuid) end)
     group by b.number`,
    { type: payment.targetType ?? '', id: payment.targetId },
  )
  const paidAt = payment.capturedAt?.toISOString().slice(0, 10) ?? ''
  const paid = `${sumOf(payment.capturedAmount, payment.currency)} was paid by ${payment.method} on ${paidAt}.`
  if (!stay) return { explanation: paid }
  return {
    explanation: `Booking ${stay.number}, a stay from ${stay.arrival} to ${stay.departure}. ${paid}`,
    productDescription: `Accommodation from ${stay.arrival} to ${stay.departure}, booking ${stay.number}.`,
    serviceDate: stay.arrival,
    ...(stay.acceptedAt === null
      ? {}
      : { policyDisclosure: `The terms, with those of cancellation, were accepted on ${stay.acceptedAt}.` }),
  }
}

export type DisputeDetail = Omit<DisputeRow, 'evidence'> & { evidence: Evidence | null; suggested: Evidence | null }

/** A dispute with the evidence that was given, and what could be; 404. */
export const readDispute = async (trx: Trx, id: string): Promise<DisputeDetail> => {
  const dispute = await readRow(trx, Dispute, id)
  const payment = await readPayment(trx, dispute.paymentId)
  const isOpen = dispute.status === 'needs_response'
  return {
    ...dispute,
    evidence: dispute.evidence ? await unseal<Evidence>(trx, 'tenant', evidencePlace(id), dispute.evidence) : null,
    suggested: isOpen && payment ? await suggestionOf(trx, payment) : null,
  }
}

/**
 * Contests a dispute with evidence, or accepts it, once in each phase (R22). The same answer again changes nothing.
 * 409 invalid_transition, 422 response_overdue.
 */
export const answerDispute = async (
  trx: Trx,
  id: string,
  { action, evidence = {} }: { action: 'contest' | 'accept'; evidence?: Evidence | undefined },
): Promise<void> => {
  const dispute = await sqlOne<DisputeRow & { overdue: boolean }>(
    trx,
    `select *, coalesce(response_due_at <= now(), false) as overdue from dispute where id = ? for no key update`,
    [id],
  )
  if (!dispute) throw notFound()
  if (dispute.status === 'submitted' && dispute.response === action) return
  if (dispute.status !== 'needs_response' || dispute.provider === 'bank')
    throw conflict('invalid_transition', `A dispute that is ${dispute.status.replaceAll('_', ' ')} is not answered`)
  if (dispute.overdue)
    throw unprocessable('response_overdue', 'The time to answer is over', [
      { field: 'responseDueAt', message: dispute.responseDueAt?.toISOString() ?? '' },
    ])
  if (action === 'contest' && Object.values(evidence).every((text) => text.trim() === ''))
    throw unprocessable('rule_violated', 'Evidence is needed to contest a dispute', [
      { field: 'evidence', message: 'is required' },
    ])
  const version = await changeRow(trx, Dispute, id, {
    status: 'submitted',
    response: action,
    evidence: action === 'contest' ? await seal(trx, 'tenant', evidencePlace(id), evidence) : null,
    acceptedBy: action === 'accept' ? contextOf(trx).actor : null,
    nextReadAt: expression(`now() + interval '5 minutes'`),
  })
  await enqueue(
    trx,
    respondDispute,
    { tenantId: dispute.tenantId, disputeId: id },
    { gate: await gateOfAccount(trx, dispute.gatewayAccountId) },
  )
  await emitDispute(trx, disputeSubmitted, { ...dispute, version, status: 'submitted' })
}
