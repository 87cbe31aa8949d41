import { randomUUID } from 'node:crypto'
import { disputeLost, disputeOpened, disputeWon } from '../../../config/events/payment.ts'
import { readPayment } from '../../../jobs/payment.ts'
import { businessDay, raisePosting } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import type { DisputeRow, GatewayAccountRow, PaymentRow } from '../../rows.ts'
import { gateOf } from '../accounts.ts'
import { closeExceptions } from '../exceptions.ts'
import { Dispute } from '../models.ts'
import { sumOf, tellFinance } from '../notices.ts'
import { lockPayment } from '../payments/read.ts'
import { consequenceOf, disputeMayFollow, isDecided } from '../rules/disputes.ts'
import type { Consequence, DisputePhase, DisputeStatus } from '../rules/disputes.ts'

/** A gateway's statement about a dispute. */
export type DisputeSnapshot = {
  externalId: string
  /** The charge, by the gateway's id. */
  paymentRef: string
  phase: DisputePhase
  status: Exclude<DisputeStatus, 'submitted'>
  amount: number
  currency: string
  reason: string
  responseDueAt: Date | null
  openedAt: Date
}

const day = 24 * 60 * 60_000
/** A dispute is read daily while it is open; what was answered, every few minutes until the gateway has it. */
const readAfter = (status: DisputeStatus) =>
  nextReadAt(isDecided(status) ? null : status === 'submitted' ? 5 * 60_000 : day)

export const emitDispute = (trx: Trx, event: typeof disputeOpened, dispute: DisputeRow) => {
  const { id, version, propertyId, paymentId, amount, currency, reason, responseDueAt } = dispute
  const data = {
    disputeId: id,
    paymentId,
    amount,
    currency,
    reason: reason.replace(/[\s@]/g, '_'),
    responseDueAt: responseDueAt?.toISOString() ?? null,
  }
  return emit(trx, event, { propertyId, id, version, data })
}

const events = {
  opened: 'dispute_opened',
  won: 'dispute_won',
  lost: 'dispute_lost',
  recovered: 'dispute_recovered',
} as const

const post = async (trx: Trx, dispute: DisputeRow, payment: PaymentRow, { postings }: Consequence) => {
  for (const name of postings)
    await raisePosting(trx, {
      event: `payment.${events[name]}`,
      source: { id: dispute.id },
      propertyId: dispute.propertyId,
      payload: {
        amounts: { amount: dispute.amount },
        documents: { payment: payment.id, dispute: dispute.id },
        context: { money: 'gateway', method: payment.method },
      },
    })
}

const noteRead = (trx: Trx, dispute: DisputeRow, responseDueAt: Date | null) =>
  sql(
    trx,
    `update dispute set read_count = read_count + 1, next_read_at = ?, response_due_at = coalesce(?, response_due_at) where id = ?`,
    [readAfter(dispute.status), responseDueAt, dispute.id],
  )

/**
 * The only writer of what a gateway says of a dispute (R3, R4): the phase goes before the status, so callbacks may come in any order and number.
 * `payment_unknown`: the charge is none of ours.
 */
export const applyDisputeSnapshot = async (
  trx: Trx,
  gatewayAccountId: string,
  snapshot: DisputeSnapshot,
): Promise<'applied' | 'dropped' | 'payment_unknown'> => {
  const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [gatewayAccountId])
  const found = await sqlOne<PaymentRow>(
    trx,
    `select * from payment where gateway_account_id = ? and external_id = ?`,
    [gatewayAccountId, snapshot.paymentRef],
  )
  if (!account || !found) return 'payment_unknown'
  await businessDay(trx, found.propertyId)
  const payment = await lockPayment(trx, found.id)
  if (!payment) return 'payment_unknown'
  const before = await sqlOne<DisputeRow>(
    trx,
    `select * from dispute where provider = ? and external_id = ? for no key update`,
    [account.provider, snapshot.externalId],
  )
  const { phase, status, reason, responseDueAt, externalId, openedAt } = snapshot
  if (before && !disputeMayFollow(before, snapshot)) {
    await noteRead(trx, before, responseDueAt)
    return 'dropped'
  }
  // The capture of disputed money may be heard of later: the dispute is for all that the gateway names then.
  const isCaptured = payment.status === 'captured' || payment.status === 'reversed'
  const most = isCaptured ? payment.capturedAmount : snapshot.amount
  const amount = before?.amount ?? Math.min(snapshot.amount, most)
  const consequence = consequenceOf(before, snapshot)
  const { takes, releases, opens } = consequence
  const facts = {
    phase,
    status,
    taken: (before?.taken ?? false) || takes,
    responseDueAt,
    nextReadAt: readAfter(status),
    closedAt: isDecided(status) ? new Date() : null,
    ...(opens ? { warnings: 0, response: null, acceptedBy: null } : {}),
  }
  const dispute = before
    ? { ...before, ...facts, version: await changeRow(trx, Dispute, before.id, facts) }
    : await insertRow(trx, Dispute, {
        id: randomUUID(),
        provider: account.provider,
        gatewayAccountId,
        paymentId: payment.id,
        propertyId: payment.propertyId,
        externalId,
        amount: Math.max(1, amount),
        currency: snapshot.currency,
        reason: reason.slice(0, 100),
        openedAt,
        ...facts,
      })
  const moved = (takes ? dispute.amount : 0) - (releases ? dispute.amount : 0)
  if (moved !== 0)
    await sql(
      trx,
      `update payment set disputed_amount = greatest(0, disputed_amount + ?), version = version + 1 where id = ?`,
      [moved, payment.id],
    )
  if (opens) {
    await emitDispute(trx, disputeOpened, dispute)
    const day = responseDueAt?.toISOString().slice(0, 10) ?? null
    const label = sumOf(dispute.amount, dispute.currency)
    await tellFinance(trx, { kind: 'finance_dispute', subjectId: dispute.id, label, day })
  }
  if (status === 'won') await emitDispute(trx, disputeWon, dispute)
  if (status === 'lost') await emitDispute(trx, disputeLost, dispute)
  await closeExceptions(trx, { type: 'dispute', id: dispute.id }, ['missing_there'])
  if (!isCaptured)
    await enqueue(
      trx,
      readPayment,
      { tenantId: payment.tenantId, paymentId: payment.id },
      { uniqueKey: `disputed-${payment.id}`, gate: gateOf(account) },
    )
  await post(trx, dispute, payment, consequence)
  return 'applied'
}
