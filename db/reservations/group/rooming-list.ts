import { randomUUID } from 'node:crypto'
import { ApiError, invalid, recoveryOf, unprocessable, withRecovery } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { groupRoomingListImported } from '../../../config/events/groups.ts'
import { bookingCreated } from '../../../config/events/reservations.ts'
import { daysBetween, daysIn } from '../../../config/time.ts'
import { createGuests, resolveGuests } from '../../guests/index.ts'
import { prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { priceForDesk, propertyFor } from '../../properties/index.ts'
import type { DeskRoom, DeskSale, SaleProperty } from '../../properties/index.ts'
import type { BookingGroupRow, ReservationRow } from '../../rows.ts'
import { lockPoolNights } from '../../units/index.ts'
import type { Move } from '../../units/index.ts'
import { bookingFact } from '../booking-fact.ts'
import { insertBooking, takeRooms } from '../take-rooms.ts'
import { barredAmong, writeParty } from '../party.ts'
import type { Named } from '../party.ts'
import { refuseBlocked } from '../rules/blockers.ts'
import { groupLifecycle } from '../rules/groups.ts'
import { bookingNumber } from '../rules/number.ts'
import { factOf } from './allotment.ts'
import { lockGroup } from './lock.ts'
import type { GroupNight, LockedGroup } from './lock.ts'

export type RoomingRow = {
  /** The caller's own key of the row, unique in the group. */
  rowKey: string
  unitTypeId: string
  arrival: string
  departure: string
  adults: number
  childrenAges: readonly number[]
  /** The first is the main one. */
  guests: readonly Named[]
  notes?: string | undefined
}

export type RoomingResult = {
  rowKey: string
  result: 'created' | 'unchanged' | 'changed' | 'error'
  reservationId: string | null
  errors: FieldError[]
}

type Known = Pick<
  ReservationRow,
  'id' | 'status' | 'unitTypeId' | 'arrival' | 'departure' | 'adults' | 'childrenAges' | 'position'
> & { groupRowKey: string; guests: { guestId: string; firstName: string; lastName: string }[] }

/** Stays that the group has of these rows, locked by id, since reservations come before nights in the order of locks. The group is locked. */
const knownRows = (trx: Trx, groupId: string, keys: readonly string[]): Promise<Known[]> =>
  prepared<Known>(
    trx,
    `select b.group_row_key, r.id, r.status, r.unit_type_id, r.arrival, r.departure, r.adults, r.children_ages, r.position,
       coalesce((select jsonb_agg(jsonb_build_object('guestId', g.id, 'firstName', g.first_name, 'lastName', g.last_name)
           order by x.role = 'primary' desc, x.created_at, x.id)
         from reservation_guest x join guest g on g.tenant_id = x.tenant_id and g.id = x.guest_id
         where x.tenant_id = r.tenant_id and x.reservation_id = r.id), '[]') as guests
     from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id and r.position = 1
     where b.group_id = ? and b.group_row_key = any(?::text[]) order by r.id for no key update of r`,
    [groupId, keys],
  )

/** Fields that a repeated row has otherwise: they change by an amendment of the stay. */
const amended = (known: Known, row: RoomingRow): FieldError[] => {
  const differs = (['unitTypeId', 'arrival', 'departure', 'adults'] as const).filter(
    (field) => known[field] !== row[field],
  )
  const ages = known.childrenAges.join() === row.childrenAges.join() ? [] : ['childrenAges']
  return [...differs, ...ages].map((field) => ({ field, message: 'use_amendment' }))
}

const nameOf = (one: { firstName?: unknown; lastName?: unknown }) => `${String(one.firstName)} ${String(one.lastName)}`

/** Profile of a guest that a repeated row names as before, which stays; null for another name. */
const sameGuest = (known: Known, place: number, named: Named): string | null => {
  const before = known.guests[place]
  if (!before) return null
  const isSame = 'guestId' in named ? named.guestId === before.guestId : nameOf(named) === nameOf(before)
  return isSame ? before.guestId : null
}

type People = { guestId: string; age: number | null }[]

const refuseNamedTwice = (people: People): People => {
  const twice = people.findIndex((one, place) => people.findIndex((other) => other.guestId === one.guestId) < place)
  if (twice >= 0) throw invalid([{ field: `guests.${twice}`, message: 'is named twice' }])
  return people
}

/** The people of a row, its booker first: those that are described are made. */
const peopleOf = async (trx: Trx, { guests }: Pick<RoomingRow, 'guests'>, language: string): Promise<People> => {
  const known = await resolveGuests(
    trx,
    guests.flatMap((one) => ('guestId' in one ? [one.guestId] : [])),
  )
  const [made] = await describedIn(trx, [{ guests }], language)
  const ids = [...(made ?? [])]
  return refuseNamedTwice(
    guests.map((one) => ({
      guestId: ('guestId' in one ? known.get(one.guestId) : ids.shift()) ?? '',
      age: one.age ?? null,
    })),
  )
}

/** Makes the guests that rows describe, all in the same few statements. Answers the ids of each row. */
const describedIn = async (
  trx: Trx,
  rows: readonly Pick<RoomingRow, 'guests'>[],
  language: string,
): Promise<string[][]> => {
  const described = rows.map((row) => row.guests.flatMap((one) => ('guestId' in one ? [] : [one])))
  const ids = await createGuests(
    trx,
    described.flat().map(({ age: _age, ...person }) => ({ language, ...person, source: 'staff' as const })),
  )
  let from = 0
  return described.map((own) => ids.slice(from, (from += own.length)))
}

/** The people of all rows that describe theirs, at once; none where one of them cannot be made, since rows are then tried one by one. */
const peopleOfAll = async (
  trx: Trx,
  rows: readonly RoomingRow[],
  language: string,
): Promise<Map<RoomingRow, People>> => {
  const plain = rows.filter((row) => row.guests.every((one) => !('guestId' in one)))
  await sql(trx, `savepoint rooming_people`)
  try {
    const ids = await describedIn(trx, plain, language)
    return new Map(
      plain.map((row, index) => [
        row,
        row.guests.map((one, place) => ({ guestId: ids[index]?.[place] ?? '', age: one.age ?? null })),
      ]),
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await sql(trx, `rollback to savepoint rooming_people`)
    return new Map()
  }
}

/** A room at its price; rooms that are alike are priced once. */
const saleOf = async (trx: Trx, { group, property, sales }: Import, room: DeskRoom) => {
  const { unitTypeId, arrival, departure, adults, childrenAges, manualNights } = room
  const key = JSON.stringify([unitTypeId, arrival, departure, adults, childrenAges, manualNights])
  const known = sales.get(key)
  if (known) return known
  const sale = await priceForDesk(trx, {
    propertyId: group.propertyId,
    property,
    rooms: [room],
    waiveRestrictions: true,
  })
  sales.set(key, sale)
  return sale
}

type Import = LockedGroup & {
  property: SaleProperty
  /** Rooms that are left on each night of the allotment, by type. */
  left: Map<string, number>
  /** Rooms that were taken of it, and the nights of stays that took them. */
  taken: Map<string, number>
  nightsTaken: { reservationId: string; date: string }[]
  sales: Map<string, DeskSale>
  /** Guests that are made already. */
  people: ReadonlyMap<RoomingRow, People>
  /** A guest may be barred, so each row is checked. */
  barred: boolean
}
const keyOf = ({ unitTypeId, night }: Pick<GroupNight, 'unitTypeId' | 'night'>) => `${unitTypeId} ${night}`

/** Confirms a room of the group (T4): nights of the allotment at their price while there are any, others from free sale at the plan of the group (R45). */
const createRow = async (trx: Trx, given: Import, row: RoomingRow): Promise<string> => {
  const { group, nights, property, businessDate, left, taken } = given
  const dates = daysIn(row.arrival, row.departure)
  const used = dates.filter((night) => (left.get(keyOf({ unitTypeId: row.unitTypeId, night })) ?? 0) > 0)
  const priceOf = (date: string) =>
    nights.find((night) => night.night === date && night.unitTypeId === row.unitTypeId)?.amount ?? null
  const room = {
    unitTypeId: row.unitTypeId,
    ratePlanId: group.ratePlanId,
    arrival: row.arrival,
    departure: row.departure,
    adults: row.adults,
    childrenAges: [...row.childrenAges],
    extras: [],
    guests: row.guests,
    requests: row.notes ?? null,
    manualNights: used.flatMap((date) => {
      const amount = priceOf(date)
      return amount === null ? [] : [{ date, amount }]
    }),
  }
  const sale = await saleOf(trx, given, room)
  const language = property.locales[0] ?? 'en'
  const people = given.people.get(row) ?? (await peopleOf(trx, row, language))
  const [booker] = people
  if (!booker) throw invalid([{ field: 'guests', message: 'must not be empty' }])
  if (given.barred)
    refuseBlocked(
      (
        await barredAmong(
          trx,
          group.propertyId,
          people.map((one) => one.guestId),
        )
      ).blockers,
    )
  const booking = await insertBooking(
    trx,
    {
      id: randomUUID(),
      number: bookingNumber(),
      propertyId: group.propertyId,
      currency: property.currency,
      bookerGuestId: booker.guestId,
    },
    {
      source: 'group',
      externalReference: undefined,
      language,
      promoCodeId: null,
      quoteId: null,
      hold: null,
      group: { id: group.id, rowKey: row.rowKey },
      firms: { companyId: group.companyId, agencyId: null, commissionRate: null },
    },
  )
  const shares = sale.rooms[0]?.sold.unitType.pools ?? []
  const moves = (deltas: Pick<Move, 'sold' | 'held'>): Move[] => [
    ...sale.moves(deltas),
    ...used.flatMap((night) => shares.map(({ poolId, quantity }) => ({ poolId, night, allotted: -quantity }))),
  ]
  const [made] = await takeRooms(trx, {
    booking,
    standing: [],
    sale: { ...sale, moves },
    rooms: [room],
    party: { bookerGuestId: booker.guestId, rooms: [people] },
    isHeld: false,
    businessDate,
    override: null,
    used: null,
    now: property.now,
  })
  if (!made) throw new Error('a room that was taken is answered')
  for (const night of used) {
    given.nightsTaken.push({ reservationId: made.id, date: night })
    const key = keyOf({ unitTypeId: row.unitTypeId, night })
    left.set(key, (left.get(key) ?? 0) - 1)
    taken.set(key, (taken.get(key) ?? 0) + 1)
  }
  await emit(trx, bookingCreated, bookingFact(booking, [made]))
  return made.id
}

/** Names the guests of a confirmed stay anew. */
const renameRow = async (trx: Trx, given: Import, known: Known, row: RoomingRow) => {
  const kept = row.guests.map((named, place): Named => {
    const guestId = sameGuest(known, place, named)
    return guestId === null ? named : { guestId, age: named.age }
  })
  const people = await peopleOf(trx, { guests: kept }, given.property.locales[0] ?? 'en')
  const [booker] = people
  if (!booker) return
  await sql(trx, `delete from reservation_guest where reservation_id = ?`, [known.id])
  await writeParty(trx, { bookerGuestId: booker.guestId }, [known], { rooms: [people] })
  await sql(trx, `update reservation set primary_guest_id = ?, version = version + 1 where id = ?`, [
    booker.guestId,
    known.id,
  ])
}

type Counts = Pick<RoomingResult, 'result' | 'reservationId'>

const importRow = async (trx: Trx, given: Import, known: Known | undefined, row: RoomingRow): Promise<Counts> => {
  if (!known) return { result: 'created', reservationId: await createRow(trx, given, row) }
  const fields = amended(known, row)
  if (fields.length > 0)
    throw unprocessable('rooming_list_invalid', 'The row was imported before; amend the stay', fields)
  const isSame =
    known.guests.length === row.guests.length &&
    row.guests.every((named, place) => sameGuest(known, place, named) !== null)
  if (isSame || known.status !== 'confirmed') return { result: 'unchanged', reservationId: known.id }
  await renameRow(trx, given, known, row)
  return { result: 'changed', reservationId: known.id }
}

/** Where an error of a row stands in the request. */
const placedIn = (index: number, error: ApiError): FieldError[] => {
  const own = error.errors ?? []
  const fieldOf = (field: string) => `rows.${index}.${field}`.replace(/^(rows\.\d+)\.rooms\.0(?=\.|$)/, '$1')
  return own.length > 0
    ? own.map(({ field, message }) => ({ field: fieldOf(field), message }))
    : [{ field: `rows.${index}`, message: error.message }]
}

/** Guests that rows name by id are held against erasure before any night is taken, in the one order of all commands. */
const holdGuests = (trx: Trx, rows: readonly RoomingRow[]) =>
  sql(trx, `select id from guest where id = any(?::uuid[]) order by id for share`, [
    rows.flatMap((row) => row.guests.flatMap((one) => ('guestId' in one ? [one.guestId] : []))),
  ])

/** Takes every night that rows may need before the first of them, in the one order of all commands. */
const lockNights = async (trx: Trx, rows: readonly RoomingRow[]) => {
  const shares = await sql<{ unitTypeId: string; poolId: string }>(
    trx,
    // Extras with a daily limit that come with every stay are pools, too.
    `select s.unit_type_id, s.unit_pool_id as pool_id from unit_type_pool s where s.unit_type_id = any(?::uuid[])
     union select t.id, x.pool_id from unit_type t join extra x on x.tenant_id = t.tenant_id and x.property_id = t.property_id and x.pool_id is not null
     where t.id = any(?::uuid[])`,
    [[...new Set(rows.map((row) => row.unitTypeId))], [...new Set(rows.map((row) => row.unitTypeId))]],
  )
  const keys = new Map(
    rows.flatMap((row) =>
      shares
        .filter((share) => share.unitTypeId === row.unitTypeId)
        .flatMap(({ poolId }) =>
          daysIn(row.arrival, row.departure).map((night) => [`${poolId} ${night}`, { poolId, night }] as const),
        ),
    ),
  )
  await lockPoolNights(trx, [...keys.values()])
}

const writePickUps = async (trx: Trx, { group, taken, nightsTaken }: Import) => {
  await sql(
    trx,
    `update reservation_night n set picked_up = true from unnest(?::uuid[], ?::date[]) as v (reservation_id, date)
     where n.reservation_id = v.reservation_id and n.date = v.date`,
    [nightsTaken.map((one) => one.reservationId), nightsTaken.map((one) => one.date)],
  )
  await sql(
    trx,
    `update booking_group_night n set picked_up = n.picked_up + v.rooms
     from jsonb_to_recordset(?::jsonb) as v ("unitTypeId" uuid, night date, rooms int)
     where n.group_id = ? and n.unit_type_id = v."unitTypeId" and n.night = v.night`,
    [
      JSON.stringify(
        [...taken].map(([key, rooms]) => {
          const [unitTypeId, night] = key.split(' ')
          return { unitTypeId, night, rooms }
        }),
      ),
      group.id,
    ],
  )
}

const tell = async (trx: Trx, group: BookingGroupRow, rowCount: number) => {
  const [now] = await sql<BookingGroupRow>(
    trx,
    `update booking_group set version = version + 1 where id = ? returning *`,
    [group.id],
  )
  const fact = factOf(now ?? group)
  await emit(trx, groupRoomingListImported, { ...fact, data: { ...fact.data, rowCount } })
}

const mostNights = 366

const refuseTwice = (rows: readonly RoomingRow[]) => {
  const twice = rows.flatMap((row, index) =>
    rows.findIndex((one) => one.rowKey === row.rowKey) < index
      ? [{ field: `rows.${index}.rowKey`, message: 'stands twice' }]
      : [],
  )
  const wrong = rows.flatMap((row, index) =>
    row.departure <= row.arrival || daysBetween(row.arrival, row.departure) > mostNights
      ? [{ field: `rows.${index}.departure`, message: `must be 1 to ${mostNights} nights after arrival` }]
      : [],
  )
  const crowded = rows.flatMap((row, index) =>
    row.guests.length > row.adults + row.childrenAges.length
      ? [{ field: `rows.${index}.guests`, message: 'names more people than the room is booked for' }]
      : [],
  )
  const errors = [...twice, ...wrong, ...crowded]
  if (errors.length > 0) throw unprocessable('rooming_list_invalid', 'Rows cannot be imported', errors)
}

/**
 * Imports a rooming list (R48): a booking of one room for each row, all rows or none. A row that was imported before is left, or gets its guests named anew;
 * a row that is missing cancels nothing. A dry run does all of it, and undoes it. 422 `rooming_list_invalid` names what is wrong with each row.
 */
export const importRoomingList = async (
  trx: Trx,
  groupId: string,
  rows: readonly RoomingRow[],
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<RoomingResult[]> => {
  const locked = await lockGroup(trx, groupId)
  const { group, nights } = locked
  groupLifecycle.allow('picked up', group.status)
  refuseTwice(rows)
  const property = await propertyFor(trx, group.propertyId, 'staff')
  const base = {
    ...locked,
    property,
    left: new Map(nights.map((night) => [keyOf(night), night.allotted - night.pickedUp])),
    taken: new Map<string, number>(),
    nightsTaken: [] as Import['nightsTaken'],
    sales: new Map<string, DeskSale>(),
  }
  const known = new Map(
    (
      await knownRows(
        trx,
        groupId,
        rows.map((row) => row.rowKey),
      )
    ).map((one) => [one.groupRowKey, one]),
  )
  await sql(trx, `savepoint rooming_list`)
  await holdGuests(trx, rows)
  const people = await peopleOfAll(
    trx,
    rows.filter((row) => !known.has(row.rowKey)),
    property.locales[0] ?? 'en',
  )
  const ids = [...people.values()].flat().map((one) => one.guestId)
  const isBarred = people.size < rows.length || (await barredAmong(trx, group.propertyId, ids)).blockers.length > 0
  const given: Import = { ...base, people, barred: isBarred }
  await lockNights(trx, rows)
  const results: RoomingResult[] = []
  let recovery: ReturnType<typeof recoveryOf>
  for (const [index, row] of rows.entries()) {
    await sql(trx, `savepoint rooming_row`)
    try {
      const done = await importRow(trx, given, known.get(row.rowKey), row)
      results.push({ rowKey: row.rowKey, ...done, errors: [] })
      await sql(trx, `release savepoint rooming_row`)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await sql(trx, `rollback to savepoint rooming_row`)
      recovery ??= recoveryOf(error)
      results.push({ rowKey: row.rowKey, result: 'error', reservationId: null, errors: placedIn(index, error) })
    }
  }
  const errors = results.flatMap((one) => one.errors)
  if (dryRun) {
    await sql(trx, `rollback to savepoint rooming_list`)
    return results.map((one) => (one.result === 'created' ? { ...one, reservationId: null } : one))
  }
  if (errors.length > 0) {
    const refused = unprocessable('rooming_list_invalid', 'Rows cannot be imported; nothing is', errors.slice(0, 200))
    throw recovery ? withRecovery(refused, recovery) : refused
  }
  if (given.taken.size > 0) await writePickUps(trx, given)
  if (results.some((one) => one.result !== 'unchanged')) await tell(trx, group, rows.length)
  return results
}
