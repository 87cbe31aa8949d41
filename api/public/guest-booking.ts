import { ChildrenAges, extraBases } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  TimeOfDay,
  Uuid,
} from '../../config/schema.ts'
import { notFound } from '../../config/errors.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { SaleProperty } from '../../db/properties/index.ts'
import { readGuestBooking } from '../../db/reservations/index.ts'
import type { GuestBooking as Booking } from '../../db/reservations/index.ts'
import { signToken } from '../../config/tokens.ts'
import { AnyMethod } from '../payment/schemas.ts'
import { QuotedPolicies } from './quotes.ts'

export const BookingStatus = OneOf(['held', 'confirmed', 'in_house', 'completed', 'cancelled', 'expired', 'no_show'])
export const PaymentStatus = OneOf([
  'pending',
  'action_required',
  'processing',
  'paid',
  'failed',
  'cancelled',
  'expired',
  'refunding',
  'refunded',
])

const Line = Text(0, 200)

const Room = Obj(
  {
    reservationId: Uuid,
    status: BookingStatus,
    unitTypeId: Uuid,
    unitTypeName: Text(0, 5000),
    ratePlanName: Text(0, 5000),
    adults: Int(1, 40),
    childrenAges: ChildrenAges,
    nights: List(Obj({ date: Day, amount: Amount }), { max: 366 }),
    extras: List(
      Obj({ extraId: Uuid, name: Line, basis: OneOf([...extraBases]), quantity: Int(1, 99), amount: Amount }),
      { max: 50 },
    ),
    taxes: List(Obj({ code: Text(1, 20), name: Line, included: Bool, amount: Amount }), { max: 50 }),
    total: Amount,
  },
  { title: 'GuestRoom' },
)

const fields = {
  bookingId: Uuid,
  number: Text(8, 8),
  status: BookingStatus,
  holdExpiresAt: Nullable(Instant),
  property: Obj(
    {
      propertyId: Uuid,
      name: Text(1, 120),
      address: Obj({
        line1: Opt(Line),
        line2: Opt(Line),
        district: Opt(Line),
        city: Opt(Line),
        region: Opt(Line),
        postalCode: Opt(Line),
        countryCode: Opt(Line),
      }),
      phone: Nullable(Text(0, 40)),
      timezone: Text(1, 64),
      checkInFrom: TimeOfDay,
      checkOutUntil: TimeOfDay,
    },
    { title: 'HouseOfBooking' },
  ),
  arrival: Day,
  departure: Day,
  booker: Obj({ firstName: Text(0, 100), lastName: Text(0, 100), emailMasked: Text(0, 60) }),
  /** Nine live ones at most; rooms that have ended stand beside them. */
  rooms: List(Room, { max: 99 }),
  currency: Currency,
  total: Amount,
  paid: SignedAmount,
  balance: SignedAmount,
  dueNow: Amount,
  schedule: List(Obj({ dueAt: Instant, amount: Amount }), { max: 70 }),
  cancellation: Obj(
    {
      allowed: Bool,
      fee: Amount,
      refund: Amount,
      nextDeadline: Nullable(Instant),
      reason: Nullable(Text(1, 40)),
    },
    { title: 'CancellationNow' },
  ),
  policies: QuotedPolicies,
  payments: List(
    Obj(
      { paymentId: Uuid, method: AnyMethod, amount: Amount, status: PaymentStatus, createdAt: Instant },
      { title: 'BookingPayment' },
    ),
    { max: 500 },
  ),
}

/** A booking as its guest sees it. */
export const GuestBooking = Obj(fields, { title: 'GuestBooking' })
const token = { guestToken: Text(1, 2_048), guestTokenExpiresAt: Instant }
export const HeldBooking = Obj({ ...fields, ...token }, { title: 'HeldBooking' })
export const GuestToken = Obj(token)

/** The booking of a token; 404 where it is not there. */
export const guestBooking = async (trx: Trx, bookingId: string, property?: SaleProperty): Promise<Booking> => {
  const booking = await readGuestBooking(trx, bookingId, property)
  if (!booking) throw notFound()
  return booking
}

export const holdTokenSeconds = 2 * 3_600
export const accessTokenSeconds = 3_600

/** A token good for one booking. */
export const mintGuestToken = async (tenantId: string, bookingId: string, seconds: number) => {
  const now = new Date()
  const guestToken = await signToken('guest', { tenant: tenantId, booking: bookingId }, seconds, now)
  return { guestToken, guestTokenExpiresAt: new Date(now.getTime() + seconds * 1_000) }
}
