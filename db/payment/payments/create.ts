import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { expirePayment, submitPayment } from '../../../jobs/payment.ts'
import { profilesOf } from '../../guests/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import type { GatewayAccountRow, PaymentMethodRow, PaymentRow } from '../../rows.ts'
import { accountFor, gateOf } from '../accounts.ts'
import { insertMethod } from '../methods/save.ts'
import type { Consent } from '../methods/save.ts'
import { Payment } from '../models.ts'
import { abilitiesOf } from '../rules/providers.ts'
import { expiryOf, isCancellable } from '../rules/states.ts'
import type { Method } from '../rules/states.ts'
import { targetOf } from '../targets.ts'
import type { Payable, TargetType } from '../targets.ts'
import { cancel } from './cancel.ts'
import { noteStatus } from './history.ts'
import { lockLivePayments } from './read.ts'

export type Payer = {
  name: string
  email?: string | undefined
  phone?: string | undefined
  document?: { type: 'cpf' | 'cnpj'; number: string } | undefined
  address?: Record<string, string | undefined> | undefined
}

export type LinkSending = {
  channel: 'email' | 'sms' | 'whatsapp'
  to?: string | undefined
  /** Of whom it is sent to, where that is not the payer. */
  name?: string | undefined
  language?: string | undefined
}

export type NewPayment = {
  channel: PaymentRow['channel']
  mode?: 'charge' | 'authorise' | undefined
  method: Method
  /** Minor units, more than 0. */
  amount: number
  currency: string
  targetType: TargetType
  targetId: string
  propertyId: string
  gatewayAccountId?: string | undefined
  /** A method that was saved before; it is charged without its owner. */
  paymentMethodId?: string | undefined
  /** A token of the gateway, or a test token of the sandbox; never the number of a card. */
  cardToken?: string | undefined
  /** The card is to be kept, with the consent of its owner. */
  saving?: Consent | undefined
  payer?: Payer | undefined
  /** Blind index of the payer's document. */
  payerIndex?: Buffer | null | undefined
  returnUrl?: string | undefined
  installments?: number | undefined
  expiresAt?: Date | undefined
  description?: string | undefined
  /** More than is payable is taken, and stays unallocated (R8). */
  allowExcess?: boolean | undefined
  /** Of a link: the methods that its page offers, and where it is sent. */
  linkMethods?: readonly Method[] | undefined
  send?: LinkSending | undefined
}

/** Data for the gateway beside the columns; kept sealed, so that a repeated call is identical. */
export type Submission = {
  cardToken: string | null
  returnUrl: string | null
  /** The saved method and its customer at the gateway. */
  methodRef?: string | null
  customerRef?: string | null
  save?: boolean
  linkMethods?: readonly string[]
  send?: LinkSending
}

export const submissionPlace = (paymentId: string) => ({ table: 'payment', rowId: paymentId, purpose: 'submission' })
export const payerPlace = (paymentId: string) => ({ table: 'payment', rowId: paymentId, purpose: 'payer' })

const inProgress = (payment: PaymentRow) =>
  conflict('payment_in_progress', 'Another payment of this is being processed; wait for its end', [
    { field: 'paymentId', message: payment.id },
  ])

export type CreatedPayment = { payment: PaymentRow; repeated: boolean }

type Locked = { target: Payable; wanted: NewPayment; account: GatewayAccountRow }

const nobody: NonNullable<Payable['payers']> = { bookingId: null, guestIds: [] }

/** The saved method that is to be charged: active, of the account, and of a guest, the booking or the customer of the target. */
const savedMethod = async (trx: Trx, { target, wanted, account }: Locked): Promise<PaymentMethodRow | null> => {
  if (wanted.paymentMethodId === undefined) return null
  const method = await sqlOne<PaymentMethodRow>(trx, `select * from payment_method where id = ? for key share`, [
    wanted.paymentMethodId,
  ])
  const { bookingId, guestIds, customerId } = target.payers ?? nobody
  const isTheirs =
    method !== null &&
    ((method.bookingId !== null && method.bookingId === bookingId) ||
      (method.customerId !== null && method.customerId === customerId) ||
      (method.guestId !== null && (await profilesOf(trx, guestIds)).includes(method.guestId)))
  if (!isTheirs)
    throw unprocessable('reference_not_found', 'There is no such saved method of who pays for this', [
      { field: 'paymentMethodId', message: 'is not known, or of somebody else' },
    ])
  if (method.status !== 'active' || wanted.method !== 'card')
    throw unprocessable('method_unavailable', 'The saved method cannot be charged', [
      { field: 'paymentMethodId', message: `is ${method.status}` },
    ])
  if (method.gatewayAccountId !== account.id)
    throw unprocessable('method_unavailable', 'The method was saved at another gateway account', [
      { field: 'paymentMethodId', message: 'belongs to another account' },
    ])
  return method
}

/** A method that the payment will save: of the booking, or of the guest who pays. */
const methodToSave = async (trx: Trx, { target, wanted, account }: Locked): Promise<PaymentMethodRow | null> => {
  if (!wanted.saving) return null
  if (wanted.method !== 'card') throw unprocessable('method_unavailable', 'Only a card can be saved')
  const { bookingId, guestIds, customerId } = target.payers ?? nobody
  const [guestId] = guestIds
  if (customerId !== undefined) return insertMethod(trx, account.id, { customerId }, wanted.saving)
  if (guestId !== undefined) return insertMethod(trx, account.id, { guestId }, wanted.saving)
  if (bookingId !== null) return insertMethod(trx, account.id, { bookingId }, wanted.saving)
  throw unprocessable('method_unavailable', 'Nobody is known whose card it would be')
}

const refuseMixed = ({ mode, method, paymentMethodId, cardToken, installments, saving }: NewPayment) => {
  if (mode === 'authorise' && method !== 'card')
    throw unprocessable('method_unavailable', 'Only a card can be authorised', [
      { field: 'method', message: 'must be card' },
    ])
  if (paymentMethodId !== undefined && (cardToken !== undefined || saving !== undefined))
    throw invalid([{ field: 'paymentMethodId', message: 'stands instead of cardToken and saveMethod' }])
  if ((installments ?? 1) > 1 && method !== 'card')
    throw unprocessable('method_unavailable', 'Only a card is charged in parts', [
      { field: 'installments', message: 'must be 1' },
    ])
}

/**
 * Makes a payment and asks a worker to take it to the gateway (R8 to R11). The same method, amount and channel again answers the
 * live payment (`repeated`); another one takes its place where the gateway has not begun with it, else 409 `payment_in_progress`.
 */
export const createPayment = async (trx: Trx, wanted: NewPayment): Promise<CreatedPayment> => {
  const { targetType, targetId, propertyId, channel, method, amount, currency } = wanted
  refuseMixed(wanted)
  const target = await targetOf(targetType).lock(trx, targetId)
  if (!target || target.propertyId !== propertyId) throw notFound()
  const live = await lockLivePayments(trx, targetType, targetId)
  const rivals = live.filter((payment) => payment.channel === channel)
  const same = rivals.find(
    (payment) =>
      payment.method === method &&
      payment.amount === amount &&
      payment.mode === (wanted.mode ?? 'charge') &&
      payment.cancelRequestedAt === null,
  )
  if (same) return { payment: same, repeated: true }
  const busy = rivals.find((payment) => !isCancellable(payment.status))
  if (busy) throw inProgress(busy)
  if (!target.open) throw unprocessable('target_closed', 'Nothing more can be paid for this')
  if (target.currency !== currency) throw unprocessable('currency_mismatch', `It is paid in ${target.currency}`)
  const elsewhere = sum(live.filter((payment) => payment.channel !== channel).map((payment) => payment.amount))
  const payable = target.payable - elsewhere
  if (amount > payable && !wanted.allowExcess)
    throw unprocessable('amount_exceeds_payable', `At most ${Math.max(0, payable)} is payable`, [
      { field: 'amount', message: 'is too much' },
    ])
  const account = await accountFor(trx, { propertyId, currency, method, gatewayAccountId: wanted.gatewayAccountId })
  if ((wanted.installments ?? 1) > 1 && !abilitiesOf(account.provider).installments)
    throw unprocessable('method_unavailable', 'The gateway does not charge in parts', [
      { field: 'installments', message: 'must be 1' },
    ])
  const locked = { target, wanted, account }
  const charged = await savedMethod(trx, locked)
  const saved = await methodToSave(trx, locked)

  const id = randomUUID()
  const expiresAt = wanted.expiresAt ?? expiryOf(method, new Date())
  const submission: Submission = {
    cardToken: wanted.cardToken ?? null,
    returnUrl: wanted.returnUrl ?? null,
    ...(charged ? { methodRef: charged.externalId, customerRef: charged.externalCustomerId } : {}),
    ...(saved ? { save: true, customerRef: saved.externalCustomerId } : {}),
    ...(wanted.linkMethods ? { linkMethods: wanted.linkMethods } : {}),
    ...(wanted.send ? { send: wanted.send } : {}),
  }
  const payment = await insertRow(trx, Payment, {
    id,
    channel,
    mode: wanted.mode,
    method,
    gatewayAccountId: account.id,
    propertyId,
    targetType,
    targetId,
    amount,
    currency,
    installments: wanted.installments,
    platformFeeRate: account.platformFeeRate,
    paymentMethodId: charged?.id ?? saved?.id ?? null,
    description: wanted.description,
    submission: await seal(trx, 'tenant', submissionPlace(id), submission),
    payer: wanted.payer ? await seal(trx, 'tenant', payerPlace(id), wanted.payer) : null,
    payerIndex: wanted.payerIndex,
    expiresAt,
    nextReadAt: expiresAt,
  })
  noteStatus(trx, id, 'created', 'command')
  for (const rival of rivals) await cancel(trx, rival, id)
  const payload = { tenantId: payment.tenantId, paymentId: id }
  const gate = gateOf(account)
  await enqueue(trx, submitPayment, payload, { gate })
  await enqueue(trx, expirePayment, payload, { at: expiresAt, gate })
  return { payment, repeated: false }
}
