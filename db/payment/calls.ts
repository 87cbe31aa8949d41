import { shareOf } from '../lib/amounts.ts'
import type { Trx } from '../lib/connection.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import { takeDue } from '../lib/due.ts'
import type { ReadSchedule } from '../lib/due.ts'
import type { DisputeRow, GatewayAccountRow, PaymentMethodRow, PaymentRow, RefundRow } from '../rows.ts'
import { unseal } from '../lib/sealing/index.ts'
import { gateOf } from './accounts.ts'
import { payerPlace, submissionPlace } from './payments/create.ts'
import type { Payer, Submission } from './payments/create.ts'
import { openException } from './exceptions.ts'
import { accountKey, lastAttempt, methodKey, refundKey, submitKey } from './journal.ts'
import { evidencePlace } from './disputes/commands.ts'
import type { Evidence } from './disputes/commands.ts'
import { readAccountRow } from './gateway-accounts/snapshot.ts'
import { methodSubmissionPlace } from './methods/commands.ts'
import type { MethodSubmission } from './methods/commands.ts'
import type { Cause } from './payments/history.ts'
import { lockPayment, readPayment } from './payments/read.ts'
import type { LastAttempt } from './journal.ts'
import { unknownExceptionAfterMs } from './rules/states.ts'
import { applySnapshot } from './payments/snapshot.ts'
import type { PaymentSnapshot } from './payments/snapshot.ts'

/** Data for a worker's call about a payment. */
export type PaymentCall = {
  payment: PaymentRow
  provider: string
  accountRef: string
  submission: Submission
  payer: Payer | null
  attempt: LastAttempt | null
  /** The owner of the account has withdrawn the connection there: the gateway may not answer us any more. */
  isWithdrawn: boolean
  /** By PostgreSQL's clock: whether it is time is not for that of one worker to say. */
  now: Date
}

type Account = { provider: string; externalId: string | null }

const accountOf = async (trx: Trx, id: string | null): Promise<{ provider: string; accountRef: string }> => {
  const account = await sqlOne<Account>(trx, `select provider, external_id from gateway_account where id = ?`, [id])
  if (!account?.externalId) throw new Error(`gateway account ${id} is not open`)
  return { provider: account.provider, accountRef: account.externalId }
}

const clockOf = async (trx: Trx): Promise<Date> => {
  const row = await sqlOne<{ now: Date }>(trx, `select clock_timestamp() as now`)
  if (!row) throw new Error('a clock has one time')
  return row.now
}

export const paymentCall = async (trx: Trx, paymentId: string): Promise<PaymentCall | null> => {
  const payment = await readPayment(trx, paymentId)
  if (!payment || payment.origin !== 'gateway') return null
  const submission = payment.submission
    ? await unseal<Submission>(trx, 'tenant', submissionPlace(paymentId), payment.submission)
    : { cardToken: null, returnUrl: null }
  return {
    payment,
    ...(await accountOf(trx, payment.gatewayAccountId)),
    submission,
    payer: payment.payer ? await unseal<Payer>(trx, 'tenant', payerPlace(paymentId), payment.payer) : null,
    attempt: await lastAttempt(trx, submitKey(paymentId)),
    isWithdrawn: await isWithdrawn(trx, payment.gatewayAccountId),
    now: await clockOf(trx),
  }
}

/**
 * Marks a payment as sent before anything is sent, so that a cancel from now on goes through the gateway. Null where it is not
 * wanted any more, or the gateway has it.
 */
export const beginSubmit = async (trx: Trx, paymentId: string): Promise<PaymentCall | null> => {
  const payment = await lockPayment(trx, paymentId)
  if (payment?.status !== 'created' || payment.cancelRequestedAt !== null) return null
  if (payment.expiresAt !== null && payment.expiresAt <= (await clockOf(trx))) return null
  await sql(trx, `update payment set sent_at = coalesce(sent_at, now()) where id = ?`, [paymentId])
  return paymentCall(trx, paymentId)
}

export const nothingKnown: PaymentSnapshot = {
  status: 'unknown',
  externalId: null,
  currency: '',
  authorisedAmount: 0,
  capturedAmount: 0,
  action: null,
  failure: null,
  authorisationExpiresAt: null,
}

/** The gateway did not say, or was not reached: it is asked again later. Unknown for a day, it needs a person. */
export const applyUnknown = async (
  trx: Trx,
  paymentId: string,
  reached: boolean,
  cause: Cause = 'read',
): Promise<void> => {
  const before = await readPayment(trx, paymentId)
  const status = reached || before?.status !== 'created' ? 'unknown' : null
  if (!before || status === null) return
  const { payment } = await applySnapshot(trx, paymentId, nothingKnown, cause)
  if (payment.status === 'unknown' && Date.now() - payment.createdAt.getTime() > unknownExceptionAfterMs)
    await openException(
      trx,
      'outcome_unknown',
      { type: 'payment', id: payment.id, propertyId: payment.propertyId, currency: payment.currency },
      payment.amount,
    )
}

export type RefundCall = {
  refund: RefundRow
  provider: string
  accountRef: string
  paymentRef: string
  /** The platform took a share of the payment. */
  returnsFee: boolean
  /** The owner of the account has withdrawn the connection there: the gateway takes nothing from us any more. */
  isWithdrawn: boolean
  attempt: LastAttempt | null
  now: Date
}

const isWithdrawn = async (trx: Trx, accountId: string | null): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select a.id from gateway_account a join payment_exception e on e.tenant_id = a.tenant_id and e.subject_type = 'gateway_account' and e.subject_id = a.id
     where a.id = ? and a.status = 'disconnected' and e.kind = 'account_gone' limit 1`,
    [accountId],
  )) !== null

export const refundCall = async (trx: Trx, refundId: string): Promise<RefundCall | null> => {
  const refund = await sqlOne<RefundRow>(trx, `select * from refund where id = ? and via = 'gateway'`, [refundId])
  if (!refund) return null
  const payment = await readPayment(trx, refund.paymentId)
  if (!payment?.externalId) return null
  return {
    refund,
    ...(await accountOf(trx, refund.gatewayAccountId)),
    paymentRef: payment.externalId,
    returnsFee: shareOf(payment.capturedAmount, payment.platformFeeRate) > 0,
    isWithdrawn: await isWithdrawn(trx, refund.gatewayAccountId),
    attempt: await lastAttempt(trx, refundKey(refundId)),
    now: await clockOf(trx),
  }
}

const gated = {
  columns: 'taken.id, a.id as account_id, a.provider, a.status',
  join: 'left join gateway_account a on a.id = taken.gateway_account_id',
}
const ofAccountItself = {
  columns: 'taken.id, taken.id as account_id, taken.provider, taken.status',
  join: '',
}
const schedules = {
  payment: { table: 'payment', ...gated },
  refund: { table: 'refund', ...gated },
  method: { table: 'payment_method', ...gated },
  dispute: { table: 'dispute', ...gated },
  account: { table: 'gateway_account', ...ofAccountItself },
} satisfies Record<string, ReadSchedule>

/** Takes records that are due to be read, each with the gate of its account, which is empty where it has none. */
export const takeReads = async (
  trx: Trx,
  kind: keyof typeof schedules,
  ids: readonly string[],
): Promise<{ id: string; gate: string }[]> => {
  const rows = await takeDue<{ id: string; accountId: string | null; provider: string | null; status: string | null }>(
    trx,
    schedules[kind],
    ids,
  )
  return rows.map(({ id, accountId, provider, status }) => ({
    id,
    gate: accountId !== null && provider !== null ? gateOf({ provider, id: accountId, status: status ?? '' }) : '',
  }))
}

/** Data for a call about an account: one that was opened, or is to be. */
export type AccountCall = { account: GatewayAccountRow; attempt: LastAttempt | null; now: Date }

export const accountCall = async (trx: Trx, id: string): Promise<AccountCall | null> => {
  const account = await readAccountRow(trx, id)
  if (!account || account.status === 'failed') return null
  return { account, attempt: await lastAttempt(trx, accountKey(id)), now: await clockOf(trx) }
}

export type MethodCall = {
  method: PaymentMethodRow
  provider: string
  accountRef: string
  submission: MethodSubmission
  attempt: LastAttempt | null
  now: Date
}

export const methodCall = async (trx: Trx, id: string): Promise<MethodCall | null> => {
  const method = await sqlOne<PaymentMethodRow>(trx, `select * from payment_method where id = ?`, [id])
  if (!method) return null
  return {
    method,
    ...(await accountOf(trx, method.gatewayAccountId)),
    submission: method.submission
      ? await unseal<MethodSubmission>(trx, 'tenant', methodSubmissionPlace(id), method.submission)
      : { cardToken: null, returnUrl: null },
    attempt: await lastAttempt(trx, methodKey(id)),
    now: await clockOf(trx),
  }
}

export type DisputeCall = { dispute: DisputeRow; provider: string; accountRef: string; evidence: Evidence }

/** The answer to a dispute that is still to be sent; null where there is none. */
export const disputeCall = async (trx: Trx, id: string): Promise<DisputeCall | null> => {
  const dispute = await sqlOne<DisputeRow>(trx, `select * from dispute where id = ?`, [id])
  if (dispute?.status !== 'submitted' || dispute.response === null) return null
  return {
    dispute,
    ...(await accountOf(trx, dispute.gatewayAccountId)),
    evidence: dispute.evidence ? await unseal<Evidence>(trx, 'tenant', evidencePlace(id), dispute.evidence) : {},
  }
}

/** A gateway account for a reading that concerns no record of ours yet. */
export const gatewayOfAccount = async (trx: Trx, id: string) => {
  const account = await readAccountRow(trx, id)
  return account?.externalId ? { provider: account.provider, accountRef: account.externalId } : null
}
