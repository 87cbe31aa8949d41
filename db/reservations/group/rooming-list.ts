import { recoveryOf, unprocessable, withRecovery } from '../../../config/errors.ts'
import type { ApiError, FieldError } from '../../../config/errors.ts'
import { groupRoomingListImported } from '../../../config/events/groups.ts'
import { daysBetween } from '../../../config/time.ts'
import { prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { closeForms, fillAges, openForms } from '../../guests/index.ts'
import { propertyFor } from '../../properties/index.ts'
import type { BookingGroupRow, ReservationRow } from '../../rows.ts'
import { barredAmong } from '../party.ts'
import type { Named } from '../party.ts'
import { refuseBlocked } from '../rules/blockers.ts'
import { groupLifecycle } from '../rules/groups.ts'
import { tellGuestsChanged } from '../stay-guests.ts'
import { factOf } from './allotment.ts'
import { lockGroup } from './lock.ts'
import { inHalves, peopleOf } from './people.ts'
import type { People } from './people.ts'
import { keyOf, lockNights, takeRows, writePickUps } from './take-rows.ts'
import type { NewRow, Taking } from './take-rows.ts'

export type RoomingRow = NewRow & {
  /** The first is the main one. */
  guests: readonly Named[]
}

export type RoomingResult = {
  rowKey: string
  result: 'created' | 'unchanged' | 'changed' | 'error'
  reservationId: string | null
  errors: FieldError[]
}

type Known = Pick<
  ReservationRow,
  | 'id'
  | 'propertyId'
  | 'bookingId'
  | 'status'
  | 'unitTypeId'
  | 'arrival'
  | 'departure'
  | 'adults'
  | 'childrenAges'
  | 'position'
> & { number: string; groupRowKey: string; guests: { guestId: string; firstName: string; lastName: string }[] }

/** Stays that the group has of these rows, locked by id, since reservations come before nights in the order of locks. The group is locked. */
const knownRows = (trx: Trx, groupId: string, keys: readonly string[]): Promise<Known[]> =>
  prepared<Known>(
    trx,
    `select b.group_row_key, b.number, r.id, r.property_id, r.booking_id, r.status, r.unit_type_id, r.arrival, r.departure, r.adults, r.children_ages, r.position,
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

/** Names the guests of a confirmed stay anew; those who stay keep what is said of them, and their forms. */
const renameRow = async (trx: Trx, language: string, known: Known, row: RoomingRow) => {
  const kept = row.guests.map((named, place): Named => {
    const guestId = sameGuest(known, place, named)
    return guestId === null ? named : { guestId, age: named.age }
  })
  const [people = []] = await peopleOf(trx, [{ guests: kept }], language)
  const [booker] = people
  if (!booker) return
  const ids = people.map((one) => one.guestId)
  const added = ids.filter((id) => !known.guests.some((one) => one.guestId === id))
  refuseBlocked((await barredAmong(trx, known.propertyId, added)).blockers)
  await sql(
    trx,
    `update reservation_guest n set responsible_id = null from reservation_guest a
     where n.reservation_id = ? and a.tenant_id = n.tenant_id and a.id = n.responsible_id and not (a.guest_id = any(?::uuid[]))`,
    [known.id, ids],
  )
  await sql(trx, `delete from reservation_guest where reservation_id = ? and not (guest_id = any(?::uuid[]))`, [
    known.id,
    ids,
  ])
  await sql(trx, `update reservation_guest set role = 'companion', version = version + 1 where reservation_id = ?`, [
    known.id,
  ])
  await sql(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role, age) select ?::uuid, v.* from unnest(?::uuid[], ?::text[], ?::int[]) as v
     on conflict (tenant_id, reservation_id, guest_id) do update set role = excluded.role, age = coalesce(excluded.age, reservation_guest.age)`,
    [
      known.id,
      ids,
      people.map((_, place) => (place === 0 ? 'primary' : 'companion')),
      people.map((one) => one.age ?? null),
    ],
  )
  await fillAges(trx, [known.id])
  openForms(trx, [known.id])
  await closeForms(trx, [known.id])
  await tellGuestsChanged(trx, { booking: { id: known.bookingId, number: known.number }, stay: known })
}

/** Looks at a row that was imported before: it is left, or gets its guests named anew. */
const repeatRow = async (
  trx: Trx,
  language: string,
  known: Known,
  row: RoomingRow,
): Promise<'unchanged' | 'changed'> => {
  const fields = amended(known, row)
  if (fields.length > 0)
    throw unprocessable('rooming_list_invalid', 'The row was imported before; amend the stay', fields)
  const isSame =
    known.guests.length === row.guests.length &&
    row.guests.every((named, place) => sameGuest(known, place, named) !== null)
  if (isSame || known.status !== 'confirmed') return 'unchanged'
  await renameRow(trx, language, known, row)
  return 'changed'
}

/** The place in the request of an error of a row. */
const placedIn = (index: number, error: ApiError): FieldError[] => {
  const own = error.errors ?? []
  const fieldOf = (field: string) => `rows.${index}.${field}`.replace(/^(rows\.\d+)\.rooms\.0(?=\.|$)/, '$1')
  return own.length > 0
    ? own.map(({ field, message }) => ({ field: fieldOf(field), message }))
    : [{ field: `rows.${index}`, message: error.message }]
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
  { dryRun = false, expected = null }: { dryRun?: boolean; expected?: number | null } = {},
): Promise<RoomingResult[]> => {
  const locked = await lockGroup(trx, groupId, expected)
  const { group, nights } = locked
  groupLifecycle.allow('picked up', group.status)
  refuseTwice(rows)
  const property = await propertyFor(trx, group.propertyId, 'staff')
  const language = property.locales[0] ?? 'en'
  const standing = await knownRows(
    trx,
    groupId,
    rows.map((row) => row.rowKey),
  )
  const known = new Map(standing.map((one) => [one.groupRowKey, one]))
  const results = new Map<RoomingRow, RoomingResult>()
  let recovery: ReturnType<typeof recoveryOf>
  const refuse = (row: RoomingRow, error: ApiError) => {
    recovery ??= recoveryOf(error)
    const errors = placedIn(rows.indexOf(row), error)
    results.set(row, { rowKey: row.rowKey, result: 'error', reservationId: null, errors })
  }
  const done = (row: RoomingRow, result: RoomingResult['result'], reservationId: string | null) =>
    results.set(row, { rowKey: row.rowKey, result, reservationId, errors: [] })
  await sql(trx, `savepoint rooming_list`)
  const fresh = rows.filter((row) => !known.has(row.rowKey))
  const people = new Map<NewRow, People>()
  const name = async (some: readonly RoomingRow[]) => {
    const named = await peopleOf(trx, some, language)
    some.forEach((row, index) => people.set(row, named[index]!))
  }
  await inHalves(trx, fresh, name, refuse)
  for (const row of rows.filter((one) => known.has(one.rowKey))) {
    const before = known.get(row.rowKey)!
    const repeat = async () => void done(row, await repeatRow(trx, language, before, row), before.id)
    await inHalves(trx, [row], repeat, refuse)
  }
  const taking: Taking = {
    ...locked,
    property,
    language,
    people,
    left: new Map(nights.map((night) => [keyOf(night), night.allotted - night.pickedUp])),
    taken: new Map(),
    nightsTaken: [],
    sales: new Map(),
  }
  const wanted = fresh.filter((row) => people.has(row))
  await lockNights(trx, wanted)
  const take = async (some: readonly RoomingRow[]) => {
    const ids = await takeRows(trx, taking, some)
    some.forEach((row, index) => done(row, 'created', ids[index]!))
  }
  await inHalves(trx, wanted, take, refuse)
  const all = rows.map((row) => results.get(row)!)
  const errors = all.flatMap((one) => one.errors)
  if (dryRun) {
    await sql(trx, `rollback to savepoint rooming_list`)
    return all.map((one) => (one.result === 'created' ? { ...one, reservationId: null } : one))
  }
  if (errors.length > 0) {
    const refused = unprocessable('rooming_list_invalid', 'Rows cannot be imported; nothing is', errors.slice(0, 200))
    throw recovery ? withRecovery(refused, recovery) : refused
  }
  await writePickUps(trx, taking)
  if (all.some((one) => one.result !== 'unchanged')) await tell(trx, group, rows.length)
  return all
}
