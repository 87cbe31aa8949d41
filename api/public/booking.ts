import { setTimeout as wait } from 'node:timers/promises'
import { notFound, unauthenticated } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Amount, Email, List, Literal, LocaleTag, Matching, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { audit } from '../../db/lib/audit.ts'
import { sendAccessCode, useAccessCode, cancelReservations, confirmBooking } from '../../db/reservations/index.ts'
import type { CancelReason } from '../../db/reservations/index.ts'
import { propertyInBody, publicGuest, publicProperty } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { clientAddress } from './client-address.ts'
import { accessTokenSeconds, guestBooking, GuestBooking, GuestToken, mintGuestToken } from './guest-booking.ts'

const reasons = {
  changed_plans: 'changed_plans',
  found_other: 'found_other',
  health: 'illness',
  transport: 'transport',
  other: 'other',
} as const satisfies Record<string, CancelReason>

const CancelRequest = Obj({
  reservationIds: Opt(List(Uuid, { min: 1, max: 99 })),
  acceptedFee: Opt(Amount),
  reason: Opt(OneOf(['changed_plans', 'found_other', 'health', 'transport', 'other'])),
})

/** As people type it: with spaces, dashes, small letters. */
const BookingNumber = Text(8, 16)

/** The answer takes this long whether or not anything was sent. */
const accessAnswerMs = 250

export const routes = [
  route({
    id: 'public.reservations.current',
    method: 'GET',
    path: '/api/public/reservations/current',
    summary: "Read the guest's own booking",
    access: publicGuest(),
    returns: GuestBooking,
    handle: ({ trx, bookingId }) => guestBooking(trx, bookingId),
  }),
  route({
    id: 'public.reservations.confirm',
    method: 'POST',
    path: '/api/public/reservations/confirm',
    summary: 'Confirm a held booking',
    access: publicGuest(),
    body: Obj({}),
    example: {},
    returns: GuestBooking,
    errors: [
      'payment_required',
      'hold_expired',
      'invalid_transition',
      'booking_refused',
      'folio_busy',
      'business_day_changed',
    ],
    handle: async ({ trx, bookingId }) => {
      if ((await confirmBooking(trx, bookingId)) === null) throw notFound()
      return guestBooking(trx, bookingId)
    },
  }),
  route({
    id: 'public.reservations.cancel',
    method: 'POST',
    path: '/api/public/reservations/cancel',
    summary: 'Release a hold or cancel a booking',
    access: publicGuest(),
    body: CancelRequest,
    example: { reason: 'changed_plans' },
    returns: GuestBooking,
    errors: [
      'fee_changed',
      'payment_in_progress',
      'already_arrived',
      'cancellation_not_allowed',
      'channel_managed',
      'folio_busy',
      'business_day_changed',
    ],
    handle: async ({ trx, bookingId, body }) => {
      const { reservationIds, acceptedFee, reason } = body
      const done = await cancelReservations(trx, bookingId, {
        reservationIds,
        acceptedFee,
        byGuest: true,
        reason: reason ? reasons[reason] : 'guest_request',
      })
      if (done === null) throw notFound()
      return guestBooking(trx, bookingId)
    },
  }),
  route({
    id: 'public.reservations.access',
    method: 'POST',
    path: '/api/public/reservations/access',
    summary: 'Send a one-time code to the booker',
    access: publicProperty(propertyInBody),
    rate: 'guest_access',
    body: Obj({ propertyId: Uuid, number: BookingNumber, email: Email, locale: Opt(LocaleTag) }),
    example: { propertyId: sampleId('propertyId'), number: 'K7M2P9QX', email: 'ana@guest.example', locale: 'pt-BR' },
    returns: Obj({ sent: Literal(true) }),
    transaction: 'none',
    handle: async ({ open, body, caller, tenantId, request }) => {
      const client = clientAddress(caller, tenantId, request)
      await open(async (trx) => {
        await sendAccessCode(trx, { ...body, client })
        await audit(trx, { action: 'public.reservations.access', subjectType: 'Booking' })
      })
      const left = request.receivedAt.getTime() + accessAnswerMs - Date.now()
      if (left > 0) await wait(left)
      return { sent: true as const }
    },
  }),
  route({
    id: 'public.reservations.verify',
    method: 'POST',
    path: '/api/public/reservations/access/verify',
    summary: 'Exchange a one-time code for a guest token',
    access: publicProperty(propertyInBody),
    rate: 'guest_access',
    body: Obj({ propertyId: Uuid, number: BookingNumber, code: Matching('^[0-9]{6}$', 6) }),
    example: { propertyId: sampleId('propertyId'), number: 'K7M2P9QX', code: '493021' },
    returns: GuestToken,
    errors: ['code_invalid'],
    transaction: 'none',
    handle: async ({ open, body, tenantId }) => {
      // Its own transaction, which commits before the refusal: a wrong try counts.
      const bookingId = await open(async (trx) => {
        const found = await useAccessCode(trx, body)
        await audit(trx, { action: 'public.reservations.verify', subjectType: 'Booking', subjectId: found })
        return found
      })
      if (bookingId === null) throw unauthenticated('code_invalid', 'The code is not valid; ask for a new one')
      return mintGuestToken(tenantId, bookingId, accessTokenSeconds)
    },
  }),
]
