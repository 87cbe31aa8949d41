import { requestNightAudit } from '../../night-audit/index.ts'
import { createStaffPayment } from '../../payment/index.ts'
import { changeSettings } from '../../properties/index.ts'
import { cancelReservations, chargeFolio, checkIn, checkOut, createBooking } from '../../reservations/index.ts'
import { addDays } from '../../../config/time.ts'
import { always } from '../../lib/conditions.ts'
import type { Trx } from '../../lib/connection.ts'
import { createBlock, generateTasks, setConditions, shareOutDay, unitsFor } from '../../units/index.ts'
import { people, sol } from '../ids.ts'
import { tuneSales } from './accountant.ts'
import { book, roomOfRef, waive } from './book.ts'
import { meetIssues } from './issues.ts'
import { openRegister, runRegister } from './money.ts'
import { buildBooks, buildGroups, buildOffers, buildPapers } from './office.ts'
import { hearOfDispute, prepareHouse } from './outlook.ts'
import { stays } from './stays.ts'

const { propertyId } = sol
const housekeepers = people.filter(({ role, tenants }) => role === 'housekeeper' && tenants.includes('sol'))
const ready = waive(['early_check_in', 'unit_condition'], 'The room was ready')
const of = (refs: string) => stays.filter((stay) => stay.ref.startsWith(refs))

/** The first day: everything that was booked ahead. */
export const takeBookings = async (trx: Trx, today: string): Promise<void> => {
  for (const stay of stays.filter((one) => one.source !== 'walk_in')) await book(trx, stay, today)
}

const arrive = async (trx: Trx, refs: readonly string[]): Promise<void> => {
  for (const ref of refs) await checkIn(trx, (await roomOfRef(trx, ref)).id, { override: ready })
}

const leave = async (trx: Trx, refs: readonly string[]): Promise<void> => {
  for (const ref of refs) await checkOut(trx, (await roomOfRef(trx, ref)).id)
}

/** Charges a guest for something taken in the house. It is paid by card at the desk, or stays on the folio where `amount` is null. */
const consume = async (
  trx: Trx,
  ref: string,
  charge: Parameters<typeof chargeFolio>[2],
  amount: number | null,
): Promise<void> => {
  const { folioId } = await roomOfRef(trx, ref)
  await chargeFolio(trx, folioId, charge)
  if (amount === null) return
  await createStaffPayment(
    trx,
    { method: 'card', cardToken: 'success', amount, currency: 'BRL', targetType: 'folio', targetId: folioId },
    { judge: () => {}, addressHash: null },
  )
}

const cancel = async (trx: Trx, ref: string, refund: 'automatic' | 'later'): Promise<void> => {
  const { bookingId } = await roomOfRef(trx, ref)
  await cancelReservations(trx, bookingId, { reason: 'changed_plans', terms: 'policy', desk: { refund } })
}

/** The first day, with its guests; one of them does not come, and another one cancels. */
export const liveFirstDay = async (trx: Trx, day: string): Promise<void> => {
  await cancel(trx, 'SOL-108', 'later')
  await cancel(trx, 'SOL-502', 'later')
  await arrive(trx, ['SOL-101', 'SOL-102', 'SOL-103', 'SOL-104', 'SOL-105', 'SOL-106'])
  await consume(
    trx,
    'SOL-103',
    { category: 'beverage', description: 'Caipirinha', quantity: '2', unitAmount: 2_800 },
    null,
  )
  await consume(trx, 'SOL-104', { category: 'minibar', description: 'Minibar', quantity: '1', unitAmount: 3_400 }, null)
  await requestNightAudit(trx, { propertyId, businessDate: day })
}

/** The second day: the first ones leave, others come, one of them unannounced. */
export const liveSecondDay = async (trx: Trx, day: string, today: string): Promise<void> => {
  await leave(trx, ['SOL-101', 'SOL-102'])
  await arrive(trx, ['SOL-201', 'SOL-202', 'SOL-203'])
  for (const stay of of('SOL-2').filter((one) => one.source === 'walk_in')) await book(trx, stay, today)
  await consume(trx, 'SOL-203', { category: 'food', description: 'Moqueca', quantity: '2', unitAmount: 7_900 }, 15_800)
  await runRegister(trx)
  await requestNightAudit(trx, { propertyId, businessDate: day })
}

/** A hold that ends in the night before its guest arrives, and one that is over already. */
const holdRooms = async (trx: Trx, today: string): Promise<void> => {
  const room = {
    unitTypeId: sol.deluxe,
    ratePlanId: sol.flexible,
    adults: 2,
    childrenAges: [],
    extras: [],
  }
  const who = (firstName: string, lastName: string) => ({
    firstName,
    lastName,
    email: `${firstName}.${lastName}@guests.example`.toLowerCase(),
  })
  const day = (ahead: number) => addDays(today, ahead)
  await createBooking(trx, {
    propertyId,
    source: 'phone',
    booker: who('Alice', 'Gouveia'),
    rooms: [{ ...room, arrival: day(24), departure: day(27) }],
    externalReference: 'SOL-505',
    hold: { kind: 'option' },
  })
  await createBooking(trx, {
    propertyId,
    source: 'email',
    booker: who('Renan', 'Coelho'),
    rooms: [{ ...room, arrival: day(36), departure: day(38) }],
    externalReference: 'SOL-506',
    hold: { kind: 'payment', until: new Date(Date.now() + 2_000).toISOString() },
  })
}

/** Today as it stands in the morning: some have left, some are still to leave, and a room is under repair. */
export const beginToday = async (trx: Trx, today: string): Promise<void> => {
  await changeSettings(trx, propertyId, { registration: { mode: 'warn' } })
  await prepareHouse(trx, today)
  await hearOfDispute(trx)
  await leave(trx, ['SOL-201'])
  await cancel(trx, 'SOL-501', 'automatic')
  for (const stay of of('SOL-3').filter((one) => one.source === 'walk_in')) await book(trx, stay, today)
  await holdRooms(trx, today)
  await buildOffers(trx, today)
  await buildGroups(trx, today)
  await buildPapers(trx, today)
  await buildBooks(trx, today)
  await openRegister(trx)
  await meetIssues(trx)
  await tuneSales(trx, today)
  const [broken, painted, used] = await unitsFor(
    trx,
    { propertyId, unitTypeId: sol.standard, from: today, to: addDays(today, 3) },
    always,
    3,
  )
  if (broken)
    await createBlock(trx, {
      propertyId,
      unitIds: [broken.unitId],
      kind: 'out_of_order',
      reason: 'maintenance',
      from: today,
      to: addDays(today, 3),
      note: 'The shower leaks',
    })
  if (painted)
    await createBlock(trx, {
      propertyId,
      unitIds: [painted.unitId],
      kind: 'out_of_service',
      reason: 'deep_cleaning',
      from: addDays(today, 45),
      to: addDays(today, 47),
      note: 'New paint',
    })
  if (used) await setConditions(trx, propertyId, [{ unitId: used.unitId, condition: 'dirty' }])
  await generateTasks(trx, { propertyId, businessDate: today })
  await shareOutDay(trx, {
    propertyId,
    date: today,
    attendants: housekeepers.map(({ id }) => ({ userId: id, maxCredits: 14 })),
  })
  await changeSettings(trx, propertyId, { nightAudit: { automatic: true } })
}
