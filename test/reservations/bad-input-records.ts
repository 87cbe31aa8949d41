import { randomUUID } from 'node:crypto'
import { addDocument, createCompany, createGuest, mergeGuests, registerRequest } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { proposeAmendment } from '../../db/reservations/amendments.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { addNote } from '../../db/reservations/notes.ts'
import { createQuote } from '../../db/reservations/quotes.ts'
import { addStayExtra } from '../../db/reservations/stay-extras.ts'
import { addStayGuest } from '../../db/reservations/stay-guests.ts'
import { createWaitlistEntry } from '../../db/reservations/waitlist.ts'
import { arrive } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'

export type Ids = Record<string, string>

/** Makes records beside guests: but for the block, of guests of their own, so that no command stands in the way of another's. */
const besideGuests = async ({ inHouse }: House, guestId: string, reservationId: string): Promise<Ids> =>
  inHouse(async (trx) => {
    const guest = (firstName: string) =>
      createGuest(trx, { firstName, lastName: 'Costa', language: 'en', source: 'staff' })
    const survivor = await guest('Ana')
    const mergedGuestId = await guest('Anna')
    await mergeGuests(trx, survivor, { mergedGuestId, reason: 'One person' })
    const [block] = await sql<{ id: string }>(
      trx,
      `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, 'warn', current_date, '', ?) returning id`,
      [guestId, randomUUID()],
    )
    const [pair] = await sql<{ id: string }>(
      trx,
      `insert into guest_duplicate (guest_a, guest_b, score, matches) select least(a, b), greatest(a, b), 60, '{email}'
       from (values (?::uuid, ?::uuid)) as pair(a, b) returning id`,
      [await guest('Caio'), await guest('Kaio')],
    )
    const [form] = await sql<{ id: string }>(
      trx,
      `insert into guest_registration (reservation_guest_id, reservation_id, guest_id, property_id)
       select n.id, r.id, n.guest_id, r.property_id from reservation r join reservation_guest n on n.reservation_id = r.id
       where r.id = ? and n.guest_id is not null order by n.id limit 1 returning id`,
      [reservationId],
    )
    return {
      mergedGuestId,
      guestBlockId: block?.id ?? '',
      duplicateId: pair?.id ?? '',
      guestRegistrationId: form?.id ?? '',
      privacyRequestId: await registerRequest(trx, { guestId: await guest('Davi'), kind: 'access', channel: 'email' }),
    }
  })

/** A record of each kind that a request may name, in one house. */
export const makeRecords = async (house: House): Promise<Ids> => {
  const { propertyId, unitTypeId, ratePlanId, inHouse } = house
  const stay = { propertyId, unitTypeId, ratePlanId }
  const bookingId = await makeHold(house, { from: 10, nights: 3 })
  await inHouse((trx) => confirmBooking(trx, bookingId))
  const coming = await makeHold(house, { from: 0, nights: 2 })
  await inHouse((trx) => confirmBooking(trx, coming))
  const [guestRoom] = await inHouse((trx) =>
    sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [coming]),
  )
  const inHouseId = guestRoom?.id ?? ''
  await arrive(house, inHouseId)
  const [room] = await inHouse((trx) =>
    sql<{ id: string; folioId: string; guestId: string; reservationGuestId: string }>(
      trx,
      `select r.id, f.id as folio_id, n.guest_id, n.id as reservation_guest_id from reservation r join folio f on f.reservation_id = r.id
       join reservation_guest n on n.reservation_id = r.id where r.booking_id = ?`,
      [bookingId],
    ),
  )
  const reservationId = room?.id ?? ''
  const extraId = await inHouse((trx) =>
    createExtra(trx, {
      propertyId,
      code: 'PARK',
      name: { en: 'Parking', 'pt-BR': 'Vaga' },
      category: 'parking',
      revenueGroup: 'parking',
      amount: 1_000,
      basis: 'per_night',
    }),
  )
  const { lineIds } = await inHouse((trx) =>
    chargeFolio(trx, room?.folioId ?? '', { category: 'food', description: 'Dinner', unitAmount: 10_000 }),
  )
  const guest = (lastName: string) =>
    inHouse((trx) => createGuest(trx, { firstName: 'Rui', lastName, language: 'en', source: 'staff' }))
  const [guestId, otherGuestId] = [await guest('Alves'), await guest('Braga')]
  const company = (kind: 'company' | 'agency') =>
    inHouse((trx) => createCompany(trx, { kind, legalName: `A firm of ${randomUUID()}` }))
  const groupId = await inHouse((trx) =>
    createGroup(trx, {
      propertyId,
      code: 'GROUP',
      name: 'A group',
      arrival: house.day(30),
      departure: house.day(32),
      ratePlanId,
    }),
  )
  await inHouse((trx) => confirmGroup(trx, groupId))
  const dates = { arrival: house.day(15), departure: house.day(16), adults: 2, childrenAges: [] }
  const documentId = await inHouse((trx) =>
    addDocument(trx, guestId, {
      kind: 'passport',
      countryCode: 'PT',
      number: randomUUID().slice(0, 8),
      issuer: null,
      expiresOn: null,
    }),
  )
  const [deposit] = await inHouse((trx) =>
    sql<{ id: string }>(
      trx,
      `insert into deposit (reservation_id, position, due_at, amount) values (?, 1, now() + interval '1 day', 500) returning id`,
      [reservationId],
    ),
  )
  const made = {
    ...stay,
    bookingId,
    inHouseId,
    reservationId,
    reservationGuestId: await inHouse((trx) => addStayGuest(trx, reservationId, { firstName: 'Lia' }, {})),
    mainGuestId: room?.reservationGuestId ?? '',
    folioId: room?.folioId ?? '',
    masterFolioId: (
      await inHouse((trx) => sql<{ id: string }>(trx, `select id from folio where group_id = ?`, [groupId]))
    )[0]!.id,
    lineId: lineIds[0] ?? '',
    guestId,
    otherGuestId,
    companyId: await company('company'),
    agencyId: await company('agency'),
    groupId,
    extraId,
    unitId: house.unitIds[0] ?? '',
    depositId: deposit?.id ?? '',
    documentId,
    noteId: await inHouse((trx) => addNote(trx, reservationId, { text: 'A note', audience: 'all' })),
    reservationExtraId: await inHouse((trx) => addStayExtra(trx, reservationId, { extraId, quantity: 1 })),
    quoteId: await inHouse((trx) =>
      createQuote(trx, { propertyId, rooms: [{ unitTypeId, ratePlanId, ...dates, extras: [] }] }),
    ),
    waitlistEntryId: await inHouse((trx) =>
      createWaitlistEntry(trx, { propertyId, guestId, ...dates, unitTypeIds: [unitTypeId] }),
    ),
    ...(await besideGuests(house, guestId, reservationId)),
    amendmentId: await inHouse((trx) => proposeAmendment(trx, reservationId, { departure: house.day(12) })),
  }
  await inHouse((trx) => sql(trx, `update reservation set adults = 3 where id = ?`, [reservationId]))
  return made
}

/** Requests that name every id that a body may hold. */
export const bodiesOf = (house: House, ids: Ids): Record<string, object> => {
  const { propertyId, unitTypeId, ratePlanId, guestId, unitId, extraId, companyId, folioId, lineId } = ids
  const dates = { arrival: house.day(15), departure: house.day(16), adults: 2, childrenAges: [] }
  const room = {
    unitTypeId,
    ratePlanId,
    ...dates,
    guests: [{ guestId }],
    extras: [{ extraId, quantity: 1 }],
    unitId,
  }
  const booking = { propertyId, source: 'phone', booker: { guestId }, companyId, agencyId: ids.agencyId }
  const place = { responsibleId: ids.mainGuestId, kinship: 'aunt', authorisationDocumentId: ids.documentId }
  return {
    'bookings.create': { ...booking, rooms: [room] },
    'bookings.create of a quote': {
      ...booking,
      quoteId: ids.quoteId,
      quoted: [{ guests: [{ guestId }], unitId }],
      waitlistEntryId: ids.waitlistEntryId,
    },
    'bookings.create of a group': { ...booking, groupId: ids.groupId, rooms: [{ ...room, ...dates }] },
    'bookings.create of a walk-in': {
      ...booking,
      source: 'walk_in',
      rooms: [{ ...room, unitId: house.unitIds[1], arrival: house.day(0), departure: house.day(1) }],
      checkIn: { unitId },
      override: { rules: ['early_check_in', 'unit_condition'], reason: 'The guest waits' },
    },
    'bookings.update': { bookerGuestId: guestId },
    'bookings.addReservation': room,
    'bookings.confirm': { reservationIds: [ids.reservationId] },
    'companies.create': { kind: 'company', legalName: 'A firm', ratePlanIds: [ratePlanId], customerId: randomUUID() },
    'companies.update': { ratePlanIds: [ratePlanId], customerId: randomUUID() },
    'folios.adjust': { lineId, amount: 1, reason: 'Not as it should be' },
    'folios.charge': { extraId },
    'folios.create': { propertyId, kind: 'guest', reservationId: ids.reservationId, payerGuestId: guestId },
    'folios.create of a firm': { propertyId, kind: 'company', groupId: ids.groupId, payerCompanyId: companyId },
    'folios.transfer': { toFolioId: ids.masterFolioId, lines: [{ lineId, amount: 1 }] },
    'folios.update': { payerGuestId: guestId },
    'folios.update of a firm': { payerCompanyId: companyId },
    'groups.allotment': { nights: [{ unitTypeId, from: house.day(30), to: house.day(31), quantity: 1 }] },
    'groups.create': {
      propertyId,
      code: `G${randomUUID().slice(0, 6).toUpperCase()}`,
      name: 'A choir',
      arrival: house.day(30),
      departure: house.day(31),
      ratePlanId,
      companyId,
      allotment: { nights: [{ unitTypeId, from: house.day(30), to: house.day(31), quantity: 1 }] },
    },
    'groups.release': { unitTypeIds: [unitTypeId] },
    'groups.roomingList': {
      rows: [
        { ...dates, rowKey: 'r1', unitTypeId, arrival: house.day(30), departure: house.day(31), guests: [{ guestId }] },
      ],
    },
    'groups.update': { companyId, ratePlanId },
    'guestBlocks.create': { level: 'warn', reason: 'Smokes inside', propertyId },
    'guests.merge': { mergedGuestId: ids.otherGuestId, reason: 'One person' },
    'guests.reveal': { reason: 'verification', documentIds: [ids.documentId] },
    'guests.reveal of a file': { reason: 'verification', file: { documentId: ids.documentId, side: 'front' } },
    'privacyRequests.create': { guestId, kind: 'access', channel: 'email' },
    'quotes.create': {
      propertyId,
      rooms: [{ unitTypeId, ratePlanId, ...dates, extras: [{ extraId, quantity: 1 }] }],
      guestId,
      companyId,
    },
    'reservations.addExtra': { extraId, quantity: 1 },
    'reservations.addGuest': { guestId, ...place },
    'reservations.assign': { unitId },
    'reservations.checkIn': { unitId },
    'reservations.checkOut': {
      early: true,
      invoice: [folioId],
      override: { rules: ['balance'], reason: 'Pays later' },
    },
    'reservations.move': { unitId, reason: 'noise' },
    'reservations.proposeAmendment': { changes: { unitTypeId, ratePlanId } },
    'reservations.routing': { routes: [{ folioId }] },
    'reservations.updateGuest': place,
    'waitlist.create': { propertyId, guestId, ...dates, unitTypeIds: [unitTypeId], ratePlanId },
    'waitlist.update': { guestId, unitTypeIds: [unitTypeId], ratePlanId },
  }
}
