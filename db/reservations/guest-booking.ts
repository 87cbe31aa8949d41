import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { QuotedTax } from '../../config/quote.ts'
import { localInstant } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { maskEmail, bookerOf } from '../guests/index.ts'
import { paymentsOf, shownStatus } from '../payment/index.ts'
import type { PaymentShown } from '../payment/index.ts'
import { readProperty, feeAmount, feeTiers, addTaxes } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { BookingRow, FolioRow, ReservationRow } from '../rows.ts'
import type { BookerContact } from '../guests/index.ts'
import { isRunning } from './rules/deposits.ts'
import { dueNowOf } from './rules/due-now.ts'
import { feesOf } from './rules/cancellation-fee.ts'
import { policiesOf } from './rules/policies.ts'
import type { StayFee } from './rules/cancellation-fee.ts'
import type { HeldRows } from './hold-rows.ts'
import { bookingStatus, isLive, shownRoom } from './rules/states.ts'

type Named<Name> = ReservationRow & { unitTypeName: Name; ratePlanName: Name }

/** All that a guest is shown of a booking, as it was read, or was written a moment ago. */
export type BookingParts = Omit<HeldRows, 'reservations'> & {
  booking: BookingRow
  /** By position; names in the language of the booking. */
  reservations: Named<string>[]
  folios: FolioRow[]
  payments: PaymentShown[]
  booker: Pick<BookerContact, 'firstName' | 'lastName' | 'email'> | null
  property: SaleProperty
  businessDate: string
  now: Date
}

const unique = (texts: readonly string[]) => [...new Set(texts)].join('\n')

const ofRooms = `in (select id from reservation where booking_id = ?)`

const read = async (trx: Trx, bookingId: string, known?: SaleProperty): Promise<BookingParts | null> => {
  const [found, reservations, nights, extras, folios, deposits, payments] = await Promise.all([
    preparedOne<BookingRow & { now: Date; businessDate: string | null }>(
      trx,
      `select b.*, now() as now, (select d.date from business_day d where d.tenant_id = b.tenant_id and d.property_id = b.property_id and d.status = 'open')
         as business_date from booking b where b.id = ?`,
      [bookingId],
    ),
    prepared<Named<LocalText>>(
      trx,
      `select r.*, t.name as unit_type_name, p.name as rate_plan_name from reservation r
       join unit_type t on t.tenant_id = r.tenant_id and t.id = r.unit_type_id join rate_plan p on p.tenant_id = r.tenant_id and p.id = r.rate_plan_id
       where r.booking_id = ? order by r.position`,
      [bookingId],
    ),
    prepared<BookingParts['nights'][number]>(
      trx,
      `select * from reservation_night where reservation_id ${ofRooms} order by reservation_id, date`,
      [bookingId],
    ),
    prepared<BookingParts['extras'][number]>(
      trx,
      `select * from reservation_extra where reservation_id ${ofRooms} and status = 'active' order by reservation_id, name, id`,
      [bookingId],
    ),
    prepared<FolioRow>(trx, `select * from folio where reservation_id ${ofRooms}`, [bookingId]),
    prepared<BookingParts['deposits'][number]>(
      trx,
      `select * from deposit where reservation_id ${ofRooms} order by reservation_id, due_at, position`,
      [bookingId],
    ),
    paymentsOf(trx, 'booking', bookingId),
  ])
  if (!found) return null
  const { now, businessDate, ...booking } = found
  const property = known ?? (await readProperty(trx, booking.propertyId))
  if (!property) throw new Error(`property ${booking.propertyId} is gone`)
  const text = (value: LocalText) => textIn(value, booking.language, ...property.locales)
  return {
    booking,
    now,
    businessDate: businessDate ?? '',
    reservations: reservations.map((one) => ({
      ...one,
      unitTypeName: text(one.unitTypeName),
      ratePlanName: text(one.ratePlanName),
    })),
    nights,
    extras,
    folios,
    deposits,
    payments,
    property,
    booker: await bookerOf(trx, booking),
  }
}

/** A booking as its guest sees it, in the language of the booking; null where there is none. Nothing of any other booking is in it. `known`: its property, read already. */
export const readGuestBooking = async (trx: Trx, bookingId: string, known?: SaleProperty) => {
  const parts = await read(trx, bookingId, known)
  return parts && showBooking(parts)
}

/** Shows a booking to its guest, from records that were read already. */
export const showBooking = (parts: BookingParts) => {
  const { booking, booker, reservations, nights, folios, property, now } = parts
  const speaking = reservations.some((one) => isLive(one.status))
    ? reservations.filter((one) => isLive(one.status))
    : reservations
  const fees = feesOf(property, booking, speaking, now, nights)
  // A stay that came back may keep the fee of its end beside its price.
  const total = sum(
    reservations.map(
      (one) => (isLive(one.status) || one.status === 'checked_out' ? one.total : 0) + (one.feeAmount ?? 0),
    ),
  )
  const paid = booking.credit + sum(folios.map((folio) => folio.credits))
  return {
    bookingId: booking.id,
    number: booking.number,
    status: bookingStatus(reservations),
    holdExpiresAt: booking.holdExpiresAt,
    property: {
      propertyId: property.id,
      name: property.name,
      address: property.address,
      phone: property.phone,
      timezone: property.timezone,
      checkInFrom: property.checkInFrom,
      checkOutUntil: property.checkOutUntil,
    },
    arrival: speaking.map((one) => one.arrival).sort()[0] ?? '',
    departure:
      speaking
        .map((one) => one.departure)
        .sort()
        .at(-1) ?? '',
    booker: booker
      ? {
          firstName: booker.firstName,
          lastName: booker.lastName,
          emailMasked: booker.email === null ? '' : maskEmail(booker.email),
        }
      : { firstName: '', lastName: '', emailMasked: '' },
    rooms: reservations.map((one) => roomOf(one, parts)),
    currency: booking.currency,
    total,
    paid,
    balance: total - paid,
    dueNow: dueNowOf(parts),
    schedule: scheduleOf(parts, property),
    cancellation: cancellationOf(parts, speaking, fees),
    policies: policiesShown(speaking, fees),
    payments: parts.payments.map((payment) => ({
      paymentId: payment.id,
      method: payment.method,
      amount: payment.amount,
      status: shownStatus(payment),
      createdAt: payment.createdAt,
    })),
  }
}

export type GuestBooking = ReturnType<typeof showBooking>

/** The nights that make the price of a room: all of one that was never used, and those that were not given back of any other. */
const pricedNights = ({ id, status }: ReservationRow, nights: BookingParts['nights']) => {
  const own = nights.filter((night) => night.reservationId === id)
  const isUsed = isLive(status) || status === 'checked_out'
  return isUsed ? own.filter((night) => night.status === 'open' || night.status === 'charged') : own
}

const roomOf = (one: Named<string>, { nights, extras }: BookingParts) => {
  const own = pricedNights(one, nights)
  const ownExtras = extras.filter((extra) => extra.reservationId === one.id)
  return {
    reservationId: one.id,
    status: shownRoom(one.status),
    unitTypeId: one.unitTypeId,
    unitTypeName: one.unitTypeName,
    ratePlanName: one.ratePlanName,
    adults: one.adults,
    childrenAges: one.childrenAges,
    nights: own.map(({ date, amount }) => ({ date, amount })),
    extras: ownExtras.map(({ extraId, name, basis, quantity, amount }) => ({ extraId, name, basis, quantity, amount })),
    taxes: addTaxes([...own, ...ownExtras].flatMap((line) => line.taxes as QuotedTax[])),
    total: one.total,
  }
}

/** Installments and what is left on arrival, of rooms that stand; what a hold waits for is due by its end. */
const scheduleOf = (
  { reservations, deposits, booking }: BookingParts,
  property: SaleProperty,
): { dueAt: Date; amount: number }[] => {
  const amounts = new Map<number, number>()
  const add = (at: Date, amount: number) => void amounts.set(at.getTime(), (amounts.get(at.getTime()) ?? 0) + amount)
  for (const one of reservations.filter((each) => isLive(each.status))) {
    const own = deposits.filter((deposit) => deposit.reservationId === one.id)
    for (const { dueAt, amount, waivedAmount } of own)
      add(dueAt <= booking.createdAt ? (booking.holdExpiresAt ?? dueAt) : dueAt, amount - waivedAmount)
    add(
      localInstant(one.arrival, property.checkInFrom, property.timezone),
      one.total - sum(own.map((deposit) => deposit.amount - deposit.waivedAmount)),
    )
  }
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .sort(([a], [b]) => a - b)
    .map(([at, amount]) => ({ dueAt: new Date(at), amount }))
}

const refusal = ({ businessDate, payments }: BookingParts, rooms: readonly ReservationRow[]): string | null => {
  if (rooms.some((one) => one.status === 'checked_in' || one.status === 'checked_out')) return 'already_arrived'
  const status = bookingStatus(rooms)
  if (status === 'cancelled' || status === 'expired') return status
  if (rooms.some((one) => one.status === 'no_show' || (one.status === 'confirmed' && businessDate > one.arrival)))
    return 'cancellation_not_allowed'
  if (rooms.some((one) => one.channelManaged && isLive(one.status))) return 'channel_managed'
  return isRunning({ live: payments }) ? 'payment_in_progress' : null
}

const cancellationOf = (parts: BookingParts, rooms: readonly ReservationRow[], fees: readonly StayFee[]) => {
  const reason = refusal(parts, rooms)
  if (reason !== null) return { allowed: false, fee: 0, refund: 0, nextDeadline: null, reason }
  const backs = fees.map(({ reservationId, fee }) => {
    const folio = parts.folios.find((one) => one.reservationId === reservationId && one.isPrimary)
    return folio ? Math.max(0, folio.credits - folio.charges - fee) : 0
  })
  const deadlines = fees.flatMap((one) => (one.nextDeadline ? [one.nextDeadline.getTime()] : []))
  return {
    allowed: true,
    fee: sum(fees.map((one) => one.fee)),
    refund: parts.booking.credit + sum(backs),
    nextDeadline: deadlines.length > 0 ? new Date(Math.min(...deadlines)) : null,
    reason: null,
  }
}

/** The reservations' own copies of the policies: fees added up, a text for each plan. */
const policiesShown = (rooms: readonly ReservationRow[], fees: readonly StayFee[]) => {
  const copies = rooms.map((one, index) => ({
    ...policiesOf(one),
    base: fees[index]!.base,
    instants: fees[index]!.instants,
  }))
  const perRoom = copies.map(({ cancellation, base, instants }) => feeTiers(cancellation.rules, base, instants))
  const ends = [...new Set(perRoom.flat().map((tier) => tier.until?.getTime() ?? Infinity))].sort((a, b) => a - b)
  return {
    cancellation: {
      text: unique(copies.map((one) => one.cancellation.text)),
      tiers: ends.map((end) => ({
        until: end === Infinity ? null : new Date(end),
        fee: sum(
          perRoom.map((tiers) => tiers.find((tier) => tier.until === null || tier.until.getTime() >= end)?.fee ?? 0),
        ),
      })),
    },
    deposit: { text: unique(copies.map((one) => one.deposit?.text ?? '')) },
    noShow: {
      text: unique(copies.map((one) => one.noShow.text)),
      fee: sum(copies.map((one) => feeAmount(one.noShow.rules.fee, one.base))),
    },
  }
}
