import fc from 'fast-check'
import { sql } from '../../db/lib/connection.ts'
import { proposeAmendment } from '../../db/reservations/amendments.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { addStayExtra } from '../../db/reservations/stay-extras.ts'
import { addStayGuest } from '../../db/reservations/stay-guests.ts'
import { createBooking } from '../../db/reservations/create.ts'
import { createWaitlistEntry } from '../../db/reservations/waitlist.ts'
import { createQuote } from '../../db/reservations/quotes.ts'
import { addNote } from '../../db/reservations/notes.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { readBooking } from '../support/stay.ts'
import { readStay } from '../night-audit/support.ts'
import { arrive, leave, place } from '../units/stays.ts'
import type { Known } from './inputs.ts'

/** The main guest of the first stay, and companions that it gets. */
const readGuests = async (inn: House, stays: readonly string[]) => {
  const others: string[] = []
  const [stay = ''] = stays
  await inn.inHouse((trx) => sql(trx, `update reservation set adults = 3 where id = ?`, [stay]))
  for (const firstName of ['Ivo', 'Lia'])
    others.push(await inn.inHouse((trx) => addStayGuest(trx, stay, { firstName }, {})))
  await inn.inHouse((trx) => sql(trx, `update reservation set adults = 40 where id = any(?::uuid[])`, [stays]))
  const [main] = await inn.inHouse((trx) =>
    sql<{ id: string }>(trx, `select id from reservation_guest where reservation_id = ? and role = 'primary'`, [stay]),
  )
  return { main: main?.id, others }
}

/** Records that the front desk works on: stays with notes, holds, arrivals and departures of today. */
export const ofDesk = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const settings = { portal: { holdShare: 10_000 }, frontDesk: { noShowFrom: '00:00' } }
  const inn = await makeHouse({ tenantId: house.tenantId, deposit: null, units: 60, settings })
  await inn.inHouse((trx) =>
    sql(trx, `update unit set condition = 'inspected' where property_id = ?`, [inn.propertyId]),
  )
  await inn.inHouse((trx) => sql(trx, `update property set check_in_from = '00:00' where id = ?`, [inn.propertyId]))
  const stays = [await place(inn, { from: 20, nights: 2 }), await place(inn, { from: 23, nights: 2 })]
  const notes: string[] = []
  for (const reservationId of stays)
    notes.push(await house.inHouse((trx) => addNote(trx, reservationId, { text: 'A note', audience: 'all' })))
  const wish = { propertyId: inn.propertyId, contact: { name: 'Rui Alves' }, adults: 2 }
  const waiting: string[] = []
  for (const from of [40, 45, 50])
    waiting.push(
      await house.inHouse((trx) =>
        createWaitlistEntry(trx, { ...wish, arrival: house.day(from), departure: house.day(from + 2) }),
      ),
    )
  // From here on nights cost nothing, so that guests leave without a balance.
  await inn.inHouse(async (trx) => {
    await sql(trx, `update rate_plan_unit_type set standard_amount = 0 where rate_plan_id = ?`, [inn.ratePlanId])
    await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [inn.propertyId])
  })
  const today = async (count: number) => {
    const ids: string[] = []
    for (let made = 0; made < count; made += 1) ids.push(await place(inn, { from: 0, nights: 2 }))
    return ids
  }
  const [coming, missing, inHouse, reverted, left, moving] = [
    await today(3),
    await today(2),
    await today(3),
    await today(2),
    await today(2),
    await today(1),
  ]
  for (const id of [...inHouse, ...reverted, ...left, ...moving]) await arrive(inn, id)
  for (const id of left) await leave(inn, id)
  const gone = [await place(inn, { from: 30, nights: 1 }), await place(inn, { from: 31, nights: 1 })]
  for (const id of gone) {
    const { bookingId } = await readStay(inn, id)
    await inn.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'changed_plans' }))
  }
  const extraId = await inn.inHouse((trx) =>
    createExtra(trx, {
      propertyId: inn.propertyId,
      code: 'DESK',
      name: { en: 'Fruit', 'pt-BR': 'Frutas' },
      category: 'meal',
      revenueGroup: 'food',
      amount: 700,
      basis: 'per_night',
      mandatory: false,
    }),
  )
  const served = await place(inn, { from: 38, nights: 2 })
  const extras: string[] = []
  for (let made = 0; made < 12; made += 1)
    extras.push(await inn.inHouse((trx) => addStayExtra(trx, served, { extraId, quantity: 1 })))
  const party = await readGuests(inn, stays)
  const amended = await place(inn, { from: 34, nights: 2 })
  const amendmentId = await inn.inHouse((trx) => proposeAmendment(trx, amended, { departure: inn.day(37) }))
  const room = {
    unitTypeId: inn.unitTypeId,
    ratePlanId: inn.ratePlanId,
    arrival: inn.day(26),
    departure: inn.day(28),
    adults: 2,
    childrenAges: [],
    extras: [],
  }
  const held = async (kind: 'option') => {
    const bookingId = await inn.inHouse((trx) =>
      createBooking(trx, {
        propertyId: inn.propertyId,
        source: 'phone',
        booker: { firstName: 'Eva' },
        rooms: [room],
        hold: { kind, until: `${inn.day(5)}T12:00:00.000Z` },
      }),
    )
    return bookingId
  }
  const [extended, confirmed, cancelled, grown] = [
    await held('option'),
    await held('option'),
    await held('option'),
    await held('option'),
  ]
  const cancellable = (await readBooking(inn, await held('option'))).rooms[0]?.id
  const people = { booker: { firstName: 'Ana', lastName: 'Souza' }, source: 'phone' }
  const waived = (...rules: string[]) => ({ rules, reason: 'the guest waits' })
  const deposits: string[] = []
  for (const reservationId of stays)
    deposits.push(
      ...(
        await inn.inHouse((trx) =>
          sql<{ id: string }>(
            trx,
            `insert into deposit (reservation_id, position, due_at, amount) values (?, 1, now() - interval '1 hour', 1000) returning id`,
            [reservationId],
          ),
        )
      ).map((row) => row.id),
    )
  const quoted = await inn.inHouse((trx) =>
    createQuote(trx, {
      propertyId: inn.propertyId,
      rooms: [
        {
          unitTypeId: inn.unitTypeId,
          ratePlanId: inn.ratePlanId,
          arrival: inn.day(60),
          departure: inn.day(62),
          adults: 2,
          childrenAges: [],
          extras: [],
        },
      ],
    }),
  )
  return {
    records: { extraId },
    known: {
      contact: one({ name: 'Rui Alves' }, null),
      unitTypeIds: one([]),
      waitlistEntryId: one(...waiting),
      reservationId: one(...stays),
      quoteId: one(quoted),
      depositId: one(...deposits),
      noteId: one(...notes),
      'reservations.checkIn reservationId': one(...coming),
      'reservations.noShow reservationId': one(...missing),
      'reservations.checkOut reservationId': one(...inHouse),
      'reservations.revertCheckIn reservationId': one(...reverted),
      'reservations.revertCheckOut reservationId': one(...left),
      'reservations.reinstate reservationId': one(...gone),
      'reservations.move reservationId': one(...moving),
      extraId: one(extraId),
      reservationExtraId: one(extras[0]),
      'reservations.addExtra reservationId': one(served),
      'reservations.updateExtra reservationId': one(served),
      'reservations.removeExtra reservationId': one(served),
      'reservations.removeExtra reservationExtraId': one(...extras.slice(1)),
      amendmentId: one(amendmentId),
      'reservations.proposeAmendment reservationId': one(amended),
      'reservations.readAmendment reservationId': one(amended),
      'reservations.acceptAmendment reservationId': one(amended),
      'reservations.updateGuest reservationId': one(stays[0]),
      'reservations.removeGuest reservationId': one(stays[0]),
      reservationGuestId: one(party.main),
      'reservations.removeGuest reservationGuestId': one(...party.others),
      'reservations.cancel reservationId': one(cancellable),
      'bookings.extendHold bookingId': one(extended),
      'bookings.confirm bookingId': one(confirmed),
      'bookings.cancel bookingId': one(cancelled),
      'bookings.addReservation bookingId': one(grown, extended),
    },
    examples: {
      'reservations.addNote': [{ text: 'Arrives with a dog', audience: 'all', alertAt: 'check_in' }],
      'frontDesk.arrivals': [{ propertyId: inn.propertyId, date: inn.day(20) }],
      'frontDesk.summary': [{ propertyId: inn.propertyId }],
      'waitlist.list': [{}, { matched: false, status: 'waiting', sort: '-arrival' }],
      'waitlist.create': [{ ...wish, arrival: house.day(20), departure: house.day(22) }],
      'bookings.list': [{}, { held: true }, { q: 'souza', sort: '-number' }],
      'bookings.create': [
        { propertyId: inn.propertyId, ...people, rooms: [room], hold: { kind: 'option' } },
        { propertyId: inn.propertyId, ...people, rooms: [room, { ...room, arrival: inn.day(27) }] },
      ],
      'bookings.addReservation': [room, { ...room, arrivalTime: '15:00' }],
      'bookings.extendHold': [{ until: `${inn.day(6)}T12:00:00.000Z`, kind: 'option' }],
      'bookings.confirm': [{}],
      'bookings.cancel': [{ reason: 'changed_plans' }],
      'reservations.cancel': [{ reason: 'changed_plans' }],
      'reservations.checkIn': [{}, { override: waived('early_check_in', 'unit_condition') }],
      'reservations.checkOut': [{ early: true }, { early: true, override: waived('balance') }],
      'reservations.noShow': [{}],
      'reservations.move': inn.unitIds.slice(40).map((unitId) => ({ unitId, reason: 'noise' })),
      'reservations.assign': [{}, { unitId: inn.unitIds[39], lock: true }],
      'reservations.updateGuest': [{ age: 40 }],
      'reservations.addGuest': [{ firstName: 'Rui' }],
      'reservations.proposeAmendment': [
        { changes: { departure: inn.day(37) } },
        { changes: { departure: inn.day(38) } },
        { changes: { adults: 1 } },
        { changes: { adults: 2 } },
      ],
      'reservations.acceptAmendment': [{}],
      'reservations.addExtra': [{ extraId, quantity: 2 }],
      'reservations.updateExtra': [{ quantity: 2 }, { quantity: 3 }, { quantity: 4 }],
    },
  }
}
