import { ApiError, conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'
import { daysBetween, todayIn } from '../../config/time.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readProperty, portalMethods, termsVersion } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import { lockFoliosOf } from './folio/lock.ts'
import { depositsOf, lockBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { dueNowOf } from './rules/due-now.ts'
import { bookingStatus, isLive } from './rules/states.ts'
import type { BookingStatus } from './rules/states.ts'
import type { PaymentRow, ReservationRow } from '../rows.ts'
import { blindIndex, unseal } from '../lib/sealing/index.ts'
import { createPayment, expiryOf, shownStatus, actionPlace } from '../payment/index.ts'
import type { Payer, Method, Shown, Action, Failure } from '../payment/index.ts'
import { bookingTarget } from './payment-target.ts'

export type GuestPayment = {
  method: Method
  /** The amount due now, or the whole. */
  amount: 'due' | 'all'
  installments?: number | undefined
  /** The guest agrees that the card is kept, under the terms of the property as they stand. */
  saveMethod?: boolean | undefined
  payer?: Payer | undefined
  cardToken?: string | undefined
  returnUrl?: string | undefined
}

type GuestFailure = Exclude<Failure['code'], 'not_found_at_gateway'>

export type ShownPayment = {
  paymentId: string
  status: Shown
  method: Method
  amount: number
  currency: string
  expiresAt: Date | null
  action: Action | null
  failure: { code: GuestFailure; message: string } | null
  booking: { number: string; status: BookingStatus; holdExpiresAt: Date | null }
}

const refuseReturnUrl = (property: SaleProperty, returnUrl: string) => {
  const address = URL.canParse(returnUrl) ? new URL(returnUrl) : null
  if (
    address?.protocol !== 'https:' ||
    address.username !== '' ||
    address.password !== '' ||
    !property.settings.portal.returnHosts.includes(address.host)
  )
    throw unprocessable('return_url_not_allowed', 'The guest cannot be sent back there', [
      { field: 'returnUrl', message: 'must be https, with a host that the property has listed' },
    ])
}

const unavailable = (message: string, field = 'method') =>
  unprocessable('method_unavailable', message, [{ field, message }])

/** The method as the property offers it to guests, for this stay and amount. */
const offeredMethod = async (
  trx: Trx,
  property: SaleProperty,
  wanted: GuestPayment,
  arrival: string,
  amount: number,
) => {
  const offer = (await portalMethods(trx, property.id)).find((one) => one.method === wanted.method)
  if (!offer?.gatewayAccountId) throw unavailable('The property does not take this method here')
  const ahead = daysBetween(todayIn(property.timezone, property.now), arrival)
  // Without a minimum it is taken of guests in the house too.
  if (offer.minDaysBeforeArrival > 0 && ahead < offer.minDaysBeforeArrival)
    throw unavailable(`It takes this method up to ${offer.minDaysBeforeArrival} days before the arrival`)
  if (offer.maxAmount !== null && amount > offer.maxAmount) throw unavailable('The amount is too high for this method')
  const installments = wanted.installments ?? 1
  if (installments > (wanted.method === 'card' ? offer.maxInstallments : 1))
    throw unavailable('So many installments are not offered', 'installments')
  return { gatewayAccountId: offer.gatewayAccountId, installments }
}

const bad = (field: string, message: string) => invalid([{ field, message }])

const checkPayer = ({ method, payer }: GuestPayment) => {
  const document = payer?.document
  if (method === 'boleto' && !document) throw bad('payer.document', 'is required for a payment slip')
  if (document && !(document.type === 'cpf' ? isCpf : isCnpj)(document.number))
    throw bad('payer.document.number', `is no ${document.type.toUpperCase()}`)
}

/** One unpaid payment slip at a time per payer and per e-mail (R9 of public.md); two asking at once wait for each other. */
const limitSlips = async (trx: Trx, bookingId: string, emailIndex: Buffer | null, payerIndex: Buffer) => {
  for (const index of [emailIndex, payerIndex].filter((one) => one !== null).sort((a, b) => a.compare(b)))
    await sql(trx, `select pg_advisory_xact_lock(hashtextextended('slip ' || encode(?, 'hex'), 0))`, [index])
  const other = await sqlOne(
    trx,
    `select p.id from payment p join booking b on b.tenant_id = p.tenant_id and b.id = p.target_id
     where p.method = 'boleto' and p.target_type = 'booking' and p.status in ('created', 'unknown', 'requires_action', 'processing')
       and p.cancel_requested_at is null and p.target_id <> ? and (p.payer_index = ? or b.email_index = ?) limit 1`,
    [bookingId, payerIndex, emailIndex],
  )
  if (other)
    throw new ApiError('hold_limit', 'Another booking waits for a payment slip already', {
      retryAfterSeconds: 3600,
    })
}

const earliest = (reservations: readonly ReservationRow[]) => reservations.map((one) => one.arrival).sort()[0] ?? ''

/** Amount that deposits of live rooms make due by now, less the money that the booking has. */
const dueOf = async (trx: Trx, { booking, reservations, now }: LockedBooking): Promise<number> => {
  const ids = reservations.filter((one) => isLive(one.status)).map((one) => one.id)
  const folios = await lockFoliosOf(trx, ids)
  return dueNowOf({ booking, reservations, folios, deposits: await depositsOf(trx, ids), now })
}

/**
 * Starts the payment of what a booking owes; the amount is computed, never taken from the guest. The same method again answers the
 * live payment. 409 hold_expired, payment_in_progress; 422 nothing_due, method_unavailable, return_url_not_allowed.
 */
export const payForBooking = async (
  trx: Trx,
  bookingId: string,
  wanted: GuestPayment,
): Promise<{ shown: ShownPayment; repeated: boolean }> => {
  checkPayer(wanted)
  const target = await bookingTarget.lock(trx, bookingId)
  const locked = target && (await lockBooking(trx, bookingId))
  if (!locked) throw notFound()
  const { booking, reservations, now } = locked
  const status = bookingStatus(reservations)
  if (status === 'expired' || (status === 'held' && booking.holdExpiresAt !== null && booking.holdExpiresAt <= now))
    throw conflict('hold_expired', 'The hold has ended; ask for a new quote')
  const payable = target.open ? target.payable : 0
  const amount = wanted.amount === 'all' ? payable : Math.min(payable, await dueOf(trx, locked))
  if (amount <= 0) throw unprocessable('nothing_due', 'Nothing is due now')
  const property = await readProperty(trx, booking.propertyId)
  if (!property) throw notFound()
  if (wanted.returnUrl !== undefined) refuseReturnUrl(property, wanted.returnUrl)
  const { gatewayAccountId, installments } = await offeredMethod(
    trx,
    property,
    wanted,
    earliest(reservations.filter((one) => isLive(one.status))),
    amount,
  )
  const payerIndex = wanted.payer?.document ? blindIndex(trx, 'document', wanted.payer.document.number) : null
  if (wanted.method === 'boleto' && payerIndex) await limitSlips(trx, bookingId, booking.emailIndex, payerIndex)
  const { payment, repeated } = await createPayment(trx, {
    channel: 'portal',
    method: wanted.method,
    amount,
    currency: booking.currency,
    targetType: 'booking',
    targetId: bookingId,
    propertyId: booking.propertyId,
    gatewayAccountId,
    installments,
    payer: wanted.payer,
    payerIndex,
    cardToken: wanted.cardToken,
    returnUrl: wanted.returnUrl,
    saving: wanted.saveMethod
      ? { textVersion: termsVersion(property.settings.portal.terms), addressHash: booking.addressHash }
      : undefined,
    // A slip is due early enough that its money comes while the hold may still live.
    expiresAt: expiryOf(wanted.method, now, Math.floor(property.settings.holds.paymentMaxHours / 24) - 2),
  })
  return { shown: await show(trx, payment, { booking, reservations }), repeated }
}

const guestFailures: readonly GuestFailure[] = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'provider_unavailable',
]

const show = async (
  trx: Trx,
  payment: PaymentRow,
  { booking, reservations }: Pick<LockedBooking, 'booking' | 'reservations'>,
): Promise<ShownPayment> => {
  const status = shownStatus(payment)
  const failure = payment.failure as Failure | null
  return {
    paymentId: payment.id,
    status,
    method: payment.method as Method,
    amount: payment.amount,
    currency: payment.currency,
    expiresAt: payment.expiresAt,
    action:
      payment.action && status === 'action_required'
        ? await unseal<Action>(trx, 'tenant', actionPlace(payment.id), payment.action)
        : null,
    failure:
      failure && status === 'failed'
        ? { code: guestFailures.find((code) => code === failure.code) ?? 'other', message: failure.message }
        : null,
    booking: { number: booking.number, status: bookingStatus(reservations), holdExpiresAt: booking.holdExpiresAt },
  }
}

/** The status alone, by primary key: what a waiting reader looks at. Null where the booking has no such payment. */
export const shownStatusOf = async (trx: Trx, bookingId: string, paymentId: string): Promise<Shown | null> => {
  const row = await sqlOne<Pick<PaymentRow, 'status' | 'refundReserved' | 'refundedAmount'>>(
    trx,
    `select status, refund_reserved, refunded_amount from payment where id = ? and target_type = 'booking' and target_id = ?`,
    [paymentId, bookingId],
  )
  return row && shownStatus(row)
}

/** A payment of the booking as its guest sees it; 404 for any other. */
export const guestPayment = async (trx: Trx, bookingId: string, paymentId: string): Promise<ShownPayment> => {
  const payment = await sqlOne<PaymentRow>(
    trx,
    `select * from payment where id = ? and target_type = 'booking' and target_id = ?`,
    [paymentId, bookingId],
  )
  const [booking] = await sql<LockedBooking['booking']>(trx, `select * from booking where id = ?`, [bookingId])
  if (!payment || !booking) throw notFound()
  const reservations = await sql<ReservationRow>(trx, `select * from reservation where booking_id = ?`, [bookingId])
  return show(trx, payment, { booking, reservations })
}
