import { bookingCreated } from '../../../config/events/reservations.ts'
import { daysIn } from '../../../config/time.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { priceForDesk } from '../../properties/index.ts'
import type { DeskSale, SaleProperty } from '../../properties/index.ts'
import { lockPoolNights, moveInventory, requireSoldAs } from '../../units/index.ts'
import type { Move } from '../../units/index.ts'
import { bookingFact } from '../booking-fact.ts'
import { writeConfirmed } from '../confirm.ts'
import { draftRooms, writeRooms } from '../hold-rows.ts'
import { barredAmong, writeParty } from '../party.ts'
import { refuseBlocked } from '../rules/blockers.ts'
import { holdTaxes, insertBookings } from '../take-rooms.ts'
import type { GroupNight, LockedGroup } from './lock.ts'
import type { People } from './people.ts'

/** A row of a rooming list that makes a booking. */
export type NewRow = {
  rowKey: string
  unitTypeId: string
  arrival: string
  departure: string
  adults: number
  childrenAges: readonly number[]
  notes?: string | undefined
}

/** The import of a list: the rooms that are left of the allotment change with each batch of rows. */
export type Taking = LockedGroup & {
  property: SaleProperty
  language: string
  people: ReadonlyMap<NewRow, People>
  /** Rooms that are left on each night of the allotment, by type. */
  left: Map<string, number>
  /** Rooms that were taken of it, and the nights of stays that took them. */
  taken: Map<string, number>
  nightsTaken: { reservationId: string; date: string }[]
  sales: Map<string, DeskSale>
}

export const keyOf = ({ unitTypeId, night }: Pick<GroupNight, 'unitTypeId' | 'night'>) => `${unitTypeId} ${night}`

/** Takes every night that rows may need before the first of them, in the one order of all commands. */
export const lockNights = async (trx: Trx, rows: readonly NewRow[]): Promise<void> => {
  const types = [...new Set(rows.map((row) => row.unitTypeId))]
  const shares = await sql<{ unitTypeId: string; poolId: string }>(
    trx,
    // Extras with a daily limit that come with every stay are pools, too.
    `select s.unit_type_id, s.unit_pool_id as pool_id from unit_type_pool s where s.unit_type_id = any(?::uuid[])
     union select t.id, x.pool_id from unit_type t join extra x on x.tenant_id = t.tenant_id and x.property_id = t.property_id and x.pool_id is not null
     where t.id = any(?::uuid[])`,
    [types, types],
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

/** Nights of the allotment that a row uses (R45), which are then gone. */
export const useAllotment = (
  left: Map<string, number>,
  { unitTypeId, arrival, departure }: Pick<NewRow, 'unitTypeId' | 'arrival' | 'departure'>,
): string[] => {
  const used = daysIn(arrival, departure).filter((night) => (left.get(keyOf({ unitTypeId, night })) ?? 0) > 0)
  for (const night of used) {
    const key = keyOf({ unitTypeId, night })
    left.set(key, (left.get(key) ?? 0) - 1)
  }
  return used
}

/** Prices of nights of the allotment, where it has any of its own. */
export const pricesOf = (
  nights: readonly GroupNight[],
  unitTypeId: string,
  used: readonly string[],
): { date: string; amount: number }[] =>
  used.flatMap((date) => {
    const amount = nights.find((one) => one.night === date && one.unitTypeId === unitTypeId)?.amount ?? null
    return amount === null ? [] : [{ date, amount }]
  })

/** A room at its price, nights of the allotment at theirs; rooms that are alike are priced once. */
const saleOf = async (trx: Trx, { group, nights, property, sales }: Taking, row: NewRow, used: readonly string[]) => {
  const { unitTypeId, arrival, departure, adults, childrenAges } = row
  const manualNights = pricesOf(nights, unitTypeId, used)
  const key = JSON.stringify([unitTypeId, arrival, departure, adults, childrenAges, manualNights])
  const known = sales.get(key)
  if (known) return known
  const room = {
    unitTypeId,
    ratePlanId: group.ratePlanId,
    arrival,
    departure,
    adults,
    childrenAges: [...childrenAges],
    extras: [],
    manualNights,
  }
  const sale = await priceForDesk(trx, {
    propertyId: group.propertyId,
    property,
    rooms: [room],
    waiveRestrictions: true,
  })
  sales.set(key, sale)
  return sale
}

type Priced = { row: NewRow; used: string[]; sale: DeskSale; people: People }

/** Moves of the counters for the nights of the allotment that each room uses. */
export const movesOf = (rooms: DeskSale['rooms'], used: readonly (readonly string[])[]): Move[] =>
  rooms.flatMap(({ sold }, index) =>
    (used[index] ?? []).flatMap((night) =>
      sold.unitType.pools.map(({ poolId, quantity }) => ({ poolId, night, allotted: -quantity })),
    ),
  )

const writeBookings = ({ group, property, language }: Taking, trx: Trx, priced: readonly Priced[]) =>
  insertBookings(
    trx,
    { propertyId: group.propertyId, currency: property.currency },
    priced.map(({ row, people }) => ({
      source: 'group' as const,
      language,
      bookerGuestId: people[0]!.guestId,
      groupId: group.id,
      groupRowKey: row.rowKey,
      companyId: group.companyId,
    })),
  )

/**
 * Makes a confirmed booking of one room for each row (T4): nights of the allotment at their price while there are any, others from free sale at the plan of the
 * group. The nights are locked. Answers the ids of the stays, as the rows. 409 `sold_out`; what is wrong with one row refuses them all.
 */
export const takeRows = async (trx: Trx, taking: Taking, rows: readonly NewRow[]): Promise<string[]> => {
  const { group, property, businessDate } = taking
  const left = new Map(taking.left)
  const priced: Priced[] = []
  for (const row of rows) {
    const used = useAllotment(left, row)
    priced.push({ row, used, sale: await saleOf(trx, taking, row, used), people: taking.people.get(row)! })
  }
  const guestIds = priced.flatMap(({ people }) => people.map((one) => one.guestId))
  refuseBlocked((await barredAmong(trx, group.propertyId, guestIds)).blockers)
  for (const sale of new Set(priced.map((one) => one.sale))) await holdTaxes(trx, sale)
  const types = new Map(priced.flatMap(({ sale }) => sale.rooms.map(({ sold }) => [sold.unitType.id, sold.unitType])))
  // The counters come before the rows, since they are what refuses.
  const moves = priced.flatMap(({ sale, used }) => [...sale.moves({ sold: 1 }), ...movesOf(sale.rooms, [used])])
  await moveInventory(trx, moves, {
    check: (locked) => requireSoldAs(trx, property.publicVersion, [...types.values()], locked),
  })
  const bookings = await writeBookings(taking, trx, priced)
  const drafted = await draftRooms(
    trx,
    priced.map(({ sale }) => sale.rooms[0]!),
    rows.map(({ notes = null }) => ({ requests: notes, arrivalTime: null })),
    bookings.map((booking) => ({ bookingId: booking.id, position: 1 })),
  )
  const written = await writeRooms(trx, { propertyId: group.propertyId, currency: property.currency }, drafted)
  const party = { rooms: priced.map(({ people }) => people) }
  const { primaryOf } = await writeParty(trx, { bookerGuestId: null }, written.reservations, party)
  await writeConfirmed(trx, {
    transition: 'T4',
    bookings,
    rooms: written.reservations,
    deposits: written.deposits,
    primaryOf,
    businessDate,
  })
  const ids = written.reservations.map((one) => one.id)
  await emitAll(
    trx,
    bookingCreated,
    bookings.map((booking, index) => bookingFact(booking, [{ id: ids[index]! }])),
  )
  taking.left = left
  for (const [index, { row, used }] of priced.entries())
    for (const night of used) {
      const key = keyOf({ unitTypeId: row.unitTypeId, night })
      taking.nightsTaken.push({ reservationId: ids[index]!, date: night })
      taking.taken.set(key, (taking.taken.get(key) ?? 0) + 1)
    }
  return ids
}

/** Writes which nights of the allotment were taken, and by which stays. */
export const writePickUps = async (
  trx: Trx,
  { group, taken, nightsTaken }: Pick<Taking, 'taken' | 'nightsTaken'> & { group: { id: string } },
): Promise<void> => {
  if (taken.size === 0) return
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
