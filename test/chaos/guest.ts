import { createHash } from 'node:crypto'
import type { Reply } from '../support/client.ts'
import type { House } from '../support/factories.ts'
import { saysYes } from './client.ts'
import type { Insistent } from './client.ts'
import type { Random } from './random.ts'

export type Guest = {
  bookingId: string
  email: string
  phone: string
  pay: (body: { method: 'card' | 'pix'; amount?: 'due' | 'all'; cardToken?: string }) => Promise<Reply | null>
  /** Cancels at the fee that the booking shows. */
  cancel: () => Promise<Reply | null>
  /** Reads one of the guest's payments, as it is shown to them. */
  payment: (paymentId: string) => Promise<Reply | null>
}

/** A number of its own for each guest. */
const phoneOf = (email: string): string =>
  `+55249${createHash('sha256').update(email).digest().readUInt32BE(0).toString().padStart(10, '0').slice(-8)}`

type Stay = { arrival: number; nights: number; saver: boolean; email: string; from: string }

/** Somebody who holds a stay of a house; null where there was none to have, or no answer. */
export const holdAsGuest = async (
  client: Insistent,
  random: Random,
  apis: readonly string[],
  house: House,
  { arrival, nights, saver, email, from }: Stay,
): Promise<Guest | null> => {
  const room = {
    unitTypeId: house.unitTypeId,
    ratePlanId: saver ? house.saverPlanId : house.ratePlanId,
    adults: 2,
    childrenAges: [],
    extras: [],
  }
  const quoted = await client.send(random.pick(apis), 'POST', '/api/public/quotes', {
    from,
    body: {
      propertyId: house.propertyId,
      arrival: house.day(arrival),
      departure: house.day(arrival + nights),
      rooms: [room],
    },
  })
  if (quoted?.status !== 200) return null
  const phone = phoneOf(email)
  const booker = { firstName: 'Ana', lastName: 'Souza', email, phone }
  const marketing = { email: true }
  const held = await client.command(
    random,
    'public.reservations.hold',
    '/api/public/reservations/hold',
    { from, body: { quote: quoted.body.quote, booker, acceptedTerms: house.termsVersion, marketing } },
    { bookingId: null, email },
  )
  if (!held || !saysYes(held)) return null
  const bookingId = String(held.body.bookingId)
  const guest = { guest: String(held.body.guestToken), from }
  const who = { bookingId, email }
  return {
    bookingId,
    email,
    phone,
    pay: (body) =>
      client.command(random, 'public.createPayment', '/api/public/payments/create', { ...guest, body }, who),
    cancel: async () => {
      const booking = await client.read(random, '/api/public/reservations/current', guest)
      if (booking?.status !== 200) return null
      const fee = Number(booking.body.cancellation.fee)
      const body = { ...(fee > 0 ? { acceptedFee: fee } : {}), reason: 'changed_plans' }
      return client.command(
        random,
        'public.reservations.cancel',
        '/api/public/reservations/cancel',
        { ...guest, body },
        who,
      )
    },
    payment: (paymentId) => client.read(random, `/api/public/payments/${paymentId}/status`, guest),
  }
}
