import { invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { isCnpj, isCpf } from '../../../config/tax-ids.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { blindIndex, unseal } from '../../lib/sealing/index.ts'
import type { DisputeRow, PaymentHistoryRow, PaymentRow, RefundRow } from '../../rows.ts'
import { bookOfProperty } from '../accounts.ts'
import { checkReturnUrl } from '../gateway-accounts/commands.ts'
import { cancelKey, captureKey, refundKey, submitKey } from '../journal.ts'
import type { Method } from '../rules/states.ts'
import { expiryOf } from '../rules/states.ts'
import { targetOf } from '../targets.ts'
import type { TargetType } from '../targets.ts'
import type { JudgeTarget } from './allocate.ts'
import { createPayment, payerPlace } from './create.ts'
import type { CreatedPayment, LinkSending, Payer } from './create.ts'
import { readPayment, standingAllocations } from './read.ts'
import { actionPlace } from './snapshot.ts'
import type { Action, Failure } from './snapshot.ts'

export type StaffPayment = {
  gatewayAccountId?: string | undefined
  method: Method
  mode?: 'charge' | 'authorise' | undefined
  amount: number
  currency: string
  targetType: TargetType
  targetId: string
  paymentMethodId?: string | undefined
  cardToken?: string | undefined
  saveMethod?: boolean | undefined
  consentTextVersion?: string | undefined
  installments?: number | undefined
  payer?: Payer | undefined
  returnUrl?: string | undefined
  expiresAt?: string | undefined
  description?: string | undefined
  allowExcess?: boolean | undefined
}

export type StaffLink = Pick<
  StaffPayment,
  'gatewayAccountId' | 'amount' | 'currency' | 'targetType' | 'targetId' | 'payer' | 'expiresAt' | 'description'
> & { methods?: Method[] | undefined; send?: LinkSending | undefined; testToken?: string | undefined }

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** The earliest and latest end of a payment, by method (R11); of a boleto, two days for the bank come on top. */
const spans: Record<Method | 'link', readonly [number, number]> = {
  card: [5 * minute, day],
  pix: [5 * minute, day],
  boleto: [day, 10 * day],
  link: [hour, 30 * day],
}

const expiry = (kind: Method | 'link', asked: string | undefined, now = new Date()): Date => {
  if (asked === undefined) return kind === 'link' ? new Date(now.getTime() + 72 * hour) : expiryOf(kind, now)
  const span = new Date(asked).getTime() - now.getTime()
  const [least, most] = spans[kind]
  if (span < least - minute || span > most + minute)
    throw invalid([{ field: 'expiresAt', message: 'is too soon or too late for this method' }])
  return new Date(new Date(asked).getTime() + (kind === 'boleto' ? 2 * day : 0))
}

const checkPayer = (method: Method, payer: Payer | undefined) => {
  const document = payer?.document
  if (method === 'boleto' && !document)
    throw invalid([{ field: 'payer.document', message: 'is required for a payment slip' }])
  if (document && !(document.type === 'cpf' ? isCpf : isCnpj)(document.number))
    throw invalid([{ field: 'payer.document.number', message: `is no ${document.type.toUpperCase()}` }])
}

const targetProperty = async (trx: Trx, { targetType, targetId }: Pick<StaffPayment, 'targetType' | 'targetId'>) => {
  const target = await targetOf(targetType).lock(trx, targetId)
  if (!target)
    throw unprocessable('reference_not_found', 'There is no such target', [
      { field: 'targetId', message: 'does not exist' },
    ])
  return target.propertyId
}

/** Charges or authorises through a gateway at the desk. Errors of `createPayment`, and 400 for a time or payer that cannot be. */
export const createStaffPayment = async (
  trx: Trx,
  { saveMethod, consentTextVersion, expiresAt, ...body }: StaffPayment,
  { judge, addressHash }: { judge: JudgeTarget; addressHash: Buffer | null },
): Promise<CreatedPayment> => {
  if (saveMethod && consentTextVersion === undefined)
    throw invalid([{ field: 'consentTextVersion', message: 'is required to save a method' }])
  checkPayer(body.method, body.payer)
  const propertyId = await targetProperty(trx, body)
  judge({ propertyId, targetType: body.targetType, targetId: body.targetId })
  if (body.returnUrl !== undefined) await checkReturnUrl(trx, await bookOfProperty(trx, propertyId), body.returnUrl)
  return createPayment(trx, {
    ...body,
    channel: 'desk',
    propertyId,
    payerIndex: body.payer?.document ? blindIndex(trx, 'document', body.payer.document.number) : null,
    expiresAt: expiry(body.method, expiresAt),
    saving: saveMethod ? { textVersion: consentTextVersion ?? '', addressHash } : undefined,
  })
}

/** Asks the gateway for a page on which the payment can be made, and for a message that brings the payer there. */
export const createLink = async (
  trx: Trx,
  { methods = ['card'], send, testToken, expiresAt, ...body }: StaffLink,
  judge: JudgeTarget,
): Promise<CreatedPayment> => {
  const propertyId = await targetProperty(trx, body)
  judge({ propertyId, targetType: body.targetType, targetId: body.targetId })
  const [method = 'card'] = methods
  if (send && send.to === undefined && (send.channel === 'email' ? body.payer?.email : body.payer?.phone) === undefined)
    throw invalid([{ field: 'send.to', message: 'is required where the payer has no such address' }])
  return createPayment(trx, {
    ...body,
    channel: 'link',
    method,
    propertyId,
    linkMethods: methods,
    send,
    cardToken: testToken,
    expiresAt: expiry('link', expiresAt),
  })
}

export type AttemptRecord = {
  operation: string
  tries: number
  startedAt: Date
  finishedAt: Date | null
  outcome: 'started' | 'known' | 'refused' | 'not_sent' | 'unknown'
  code: string | null
  httpStatus: number | null
  reference: string | null
}

const outcomes = {
  started: 'started',
  succeeded: 'known',
  failed: 'refused',
  not_sent: 'not_sent',
  unknown: 'unknown',
} as const

const attemptsOf = async (trx: Trx, payment: PaymentRow, refundIds: readonly string[]): Promise<AttemptRecord[]> => {
  const { id } = payment
  const keys = [submitKey(id), captureKey(id), cancelKey(id), ...refundIds.map(refundKey)]
  const rows = await sql<Omit<AttemptRecord, 'outcome'> & { state: keyof typeof outcomes }>(
    trx,
    `select operation, tries, started_at, finished_at, state, code, http_status, answer_reference as reference from external_call
     where tenant_id = ? and idempotency_key = any(?) order by started_at desc limit 20`,
    [payment.tenantId, keys],
  )
  return rows.map(({ state, ...row }) => ({ ...row, outcome: outcomes[state] }))
}

export type PaymentSummary = Omit<PaymentRow, 'action' | 'payer' | 'failure'> & {
  failure: Failure | null
  payable: { unallocated: number; refundable: number }
}

const summary = (payment: PaymentRow): PaymentSummary => {
  const free = payment.capturedAmount - payment.refundReserved
  return {
    ...payment,
    failure: payment.failure as Failure | null,
    payable: {
      unallocated: free - payment.allocatedAmount,
      refundable: Math.max(0, free - payment.disputedAmount),
    },
  }
}

type ShownPayer = {
  name: string
  email?: string
  phone?: string
  document?: { type: 'cpf' | 'cnpj'; number: string }
  address?: {
    street: string
    city: string
    postalCode: string
    country: string
    number?: string
    complement?: string
    district?: string
    region?: string
  }
}

export type PaymentDetail = PaymentSummary & {
  action: Action | null
  payer: ShownPayer | null
  allocations: { id: string; targetType: TargetType; targetId: string; amount: number; createdAt: Date }[]
  refunds: {
    id: string
    amount: number
    reason: RefundRow['reason']
    via: RefundRow['via']
    status: RefundRow['status']
    createdAt: Date
  }[]
  disputes: {
    id: string
    amount: number
    phase: DisputeRow['phase']
    status: DisputeRow['status']
    responseDueAt: Date | null
  }[]
  attempts: AttemptRecord[]
  history: { status: PaymentRow['status']; at: Date; by: Actor; cause: PaymentHistoryRow['cause'] }[]
}

/** A payment with all that has happened to it; 404. */
export const readPaymentDetail = async (trx: Trx, paymentId: string): Promise<PaymentDetail> => {
  const payment = await readPayment(trx, paymentId)
  if (!payment) throw notFound()
  const [allocations, refunds, disputes, history] = await Promise.all([
    standingAllocations(trx, paymentId),
    sql<PaymentDetail['refunds'][number]>(
      trx,
      `select id, amount, reason, via, status, created_at from refund where payment_id = ? order by created_at, id limit 200`,
      [paymentId],
    ),
    sql<PaymentDetail['disputes'][number]>(
      trx,
      `select id, amount, phase, status, response_due_at from dispute where payment_id = ? order by opened_at, id limit 50`,
      [paymentId],
    ),
    sql<PaymentDetail['history'][number]>(
      trx,
      `select status, at, actor as by, cause from payment_history where payment_id = ? order by seq limit 50`,
      [paymentId],
    ),
  ])
  const isWaiting = payment.status === 'requires_action' && payment.action !== null
  return {
    ...summary(payment),
    action:
      isWaiting && payment.action ? await unseal<Action>(trx, 'tenant', actionPlace(paymentId), payment.action) : null,
    payer: payment.payer ? await unseal<ShownPayer>(trx, 'tenant', payerPlace(paymentId), payment.payer) : null,
    allocations: allocations.map(({ id, targetType, targetId, amount, createdAt }) => ({
      id,
      targetType,
      targetId,
      amount,
      createdAt,
    })),
    refunds,
    disputes,
    attempts: await attemptsOf(
      trx,
      payment,
      refunds.map((one) => one.id),
    ),
    history,
  }
}

type Filter = Paging & {
  status?: string | undefined
  origin?: string | undefined
  channel?: string | undefined
  method?: string | undefined
  targetType?: string | undefined
  targetId?: string | undefined
  propertyId?: string | undefined
  gatewayAccountId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  unallocated?: boolean | undefined
  late?: boolean | undefined
  q?: string | undefined
  scope: Condition
}

/** A page of payments, newest first. */
export const listPayments = async (trx: Trx, { scope, ...filter }: Filter): Promise<Page<PaymentSummary>> => {
  const { total, rows } = await readPage<PaymentRow>(
    trx,
    {
      columns: 'p.*',
      from: 'payment p',
      conditions: [
        ...inScope(scope, { propertyId: 'p.property_id', targetType: 'p.target_type' }),
        ...where('p.status = ?', filter.status),
        ...where('p.origin = ?', filter.origin),
        ...where('p.channel = ?', filter.channel),
        ...where('p.method = ?', filter.method),
        ...where('p.target_type = ?', filter.targetType),
        ...where('p.target_id = ?', filter.targetId),
        ...where('p.property_id = ?', filter.propertyId),
        ...where('p.gateway_account_id = ?', filter.gatewayAccountId),
        ...where('p.created_at >= ?', filter.from),
        ...where('p.created_at < ?', filter.to),
        ...where(
          `(p.status = 'captured' and p.allocated_amount + p.refund_reserved < p.captured_amount) = ?`,
          filter.unallocated,
        ),
        ...where('p.late = ?', filter.late),
        ...where('? in (p.external_id, p.reference, p.link_id)', filter.q),
      ],
      order: 'p.created_at desc, p.id',
    },
    filter,
  )
  return { total, rows: rows.map(summary) }
}
