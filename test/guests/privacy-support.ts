import { resolveGuests } from '../../db/guests/index.ts'
import { cancelReservations } from '../../db/reservations/index.ts'
import type { House } from '../support/factories.ts'

/** Cancels all stays of a booking, at the desk. */
export const cancelStays = (house: House, bookingId: string) =>
  house.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'changed_plans' }))

/** The code with which a guest cannot be named; null where it can. */
export const resolveGuestsFor = async (house: House, guestId: string): Promise<string | null> => {
  try {
    await house.inHouse((trx) => resolveGuests(trx, [guestId]))
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}
