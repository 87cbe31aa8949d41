import { addDays, todayIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import { addNote, createBooking, createQuote, createWaitlistEntry, readBooking } from '../reservations/index.ts'
import { sol } from './ids.ts'
import { timeZone } from './prices.ts'

/** The desk of the inn at work: an anniversary that was booked by phone, with a note for the arrival, an open quote, and a family that waits for the suite. */
export const buildDesk = async (trx: Trx): Promise<void> => {
  const { propertyId } = sol
  const day = (ahead: number) => addDays(todayIn(timeZone), ahead)
  const bookingId = await createBooking(trx, {
    propertyId,
    source: 'phone',
    booker: { firstName: 'Teresa', lastName: 'Moura', email: 'teresa@example.com' },
    rooms: [
      {
        unitTypeId: sol.deluxe,
        ratePlanId: sol.flexible,
        arrival: day(90),
        departure: day(93),
        adults: 2,
        childrenAges: [],
        extras: [],
      },
    ],
    override: { rules: ['deposit'], reason: 'A guest of many years', priceCutBps: null },
  })
  const { reservations } = await readBooking(trx, bookingId)
  for (const { id } of reservations)
    await addNote(trx, id, {
      text: 'Their anniversary: flowers in the room',
      audience: 'front_desk',
      alertAt: 'check_in',
    })
  await createQuote(trx, {
    propertyId,
    rooms: [
      {
        unitTypeId: sol.standard,
        ratePlanId: sol.flexible,
        arrival: day(100),
        departure: day(104),
        adults: 2,
        childrenAges: [7],
        extras: [],
      },
    ],
    hours: 336,
  })
  await createWaitlistEntry(trx, {
    propertyId,
    contact: { name: 'Família Prates', email: 'prates@example.com' },
    arrival: day(95),
    departure: day(97),
    flexibleDays: 2,
    unitTypeIds: [sol.master],
    adults: 2,
    note: 'Only with the sea in sight',
  })
}
