import { randomUUID } from 'node:crypto'
import type { ChannelRevision, ChannelRoom } from '../../config/channels.ts'
import { unprocessable } from '../../config/errors.ts'
import { reservationConfirmed, reservationOverbooked } from '../../config/events/reservations.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emitAll } from '../lib/events.ts'
import { mostNights } from '../../config/events/event.ts'
import { businessDay } from '../financial/index.ts'
import { catalogueOf, readProperty, onTop } from '../properties/index.ts'
import type { Catalogue, SalePlan, SaleProperty, SaleType } from '../properties/index.ts'
import { sum } from '../lib/amounts.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { blindIndex } from '../lib/sealing/index.ts'
import { forcedNights, moveInventory, requireSoldAs } from '../units/index.ts'
import { nameChannelGuests } from './channel-guests.ts'
import { channelNights } from './rules/channel-price.ts'
import type { ChannelNight } from './rules/channel-price.ts'
import { openPrimaryFolios } from './folio/open.ts'
import { draftRooms, placesIn, writeRooms } from './hold-rows.ts'
import { snapshotsOf } from './snapshots.ts'
import { recordTransition } from './record.ts'
import { bookingNumber } from './rules/number.ts'
import { stockMoves } from './night-moves.ts'

/** A channel's room in the property's terms. */
export type MappedRoom = { unitTypeId: string; ratePlanId: string }
export type ImportedStay = {
  propertyId: string
  channelConnectionId: string
  revision: ChannelRevision
  /** In the order of the revision's rooms. */
  mapped: readonly MappedRoom[]
}
export type Imported = { bookingId: string; reservationIds: string[] }

export type Sold = { room: ChannelRoom; type: SaleType; plan: SalePlan; nights: ChannelNight[] }
export type House = { property: SaleProperty; catalogue: Catalogue; businessDate: string }

/** The rooms of a revision as the property sells them, at the channel's price. */
export const soldRooms = ({ property, catalogue }: House, { revision, mapped }: ImportedStay): Sold[] => {
  const nights = channelNights(property, catalogue, revision)
  return revision.rooms.map((room, index) => {
    const type = catalogue.unitTypes.find((one) => one.id === mapped[index]?.unitTypeId)
    const plan = catalogue.ratePlans.find((one) => one.id === mapped[index]?.ratePlanId)
    if (!type || !plan) throw new Error(`room ${index} is not mapped`)
    return { room, type, plan, nights: nights[index] ?? [] }
  })
}

export const requestsOf = ({ notes }: ChannelRevision, rooms: readonly ChannelRoom[]): string | null => {
  const extras = rooms.flatMap((room) => room.extras ?? []).map(({ name, quantity = 1 }) => `${quantity} × ${name}`)
  const words = [notes ?? '', extras.join(', ')].filter((text) => text !== '').join('\n')
  return words === '' ? null : words.slice(0, 500)
}

const insertBooking = async (trx: Trx, { property }: House, stay: ImportedStay): Promise<BookingRow> => {
  const { externalId, collectedBy, commission, booker } = stay.revision
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const booking = await sqlOne<BookingRow>(
      trx,
      `insert into booking (id, property_id, number, source, currency, channel_connection_id, external_id, collected_by, commission, external_reference,
         email_index, language)
       values (?, ?, ?, 'channel', ?, ?, ?, ?, ?, ?, ?, ?) on conflict (tenant_id, number) do nothing returning *`,
      [
        randomUUID(),
        stay.propertyId,
        bookingNumber(),
        property.currency,
        stay.channelConnectionId,
        externalId,
        collectedBy,
        commission ?? null,
        externalId.length <= 60 ? externalId : null,
        booker?.email ? blindIndex(trx, 'email', booker.email) : null,
        property.locales[0] ?? 'en',
      ],
    )
    if (booking) return booking
  }
  throw new Error('no booking number was free in five draws')
}

/** Holds the business day, and reads what the property sells. */
export const openHouse = async (trx: Trx, propertyId: string): Promise<House> => {
  const businessDate = await businessDay(trx, propertyId)
  const property = await readProperty(trx, propertyId)
  if (!property) throw new Error(`property ${propertyId} is gone`)
  return { property, catalogue: await catalogueOf(trx, property), businessDate }
}

/**
 * Makes confirmed stays of what a channel has sold (T4, R15): at its price, whatever is left and whatever the restrictions say. Nights that are
 * short are forced, and their stays flagged.
 */
export const importStay = async (trx: Trx, stay: ImportedStay): Promise<Imported> => {
  const house = await openHouse(trx, stay.propertyId)
  const booking = await insertBooking(trx, house, stay)
  const reservations = await addRooms(trx, house, { booking, stay, sold: soldRooms(house, stay), after: 0 })
  return { bookingId: booking.id, reservationIds: reservations.map((one) => one.id) }
}

type Adding = { booking: BookingRow; stay: ImportedStay; sold: readonly Sold[]; after: number }

/** Rooms that a booking gets, confirmed at once. The booking is new, or locked. 422 `property_not_selling` where the house is archived. */
export const addRooms = async (
  trx: Trx,
  house: House,
  { booking, stay, sold, after }: Adding,
): Promise<ReservationRow[]> => {
  const { property, businessDate } = house
  // The property is closed for good: staff must relocate guests that a channel still sends (R18).
  if (property.status === 'archived') throw unprocessable('property_not_selling', 'The property is archived')
  const rooms = sold.map(({ room, type, plan, nights }) => {
    const roomTotal = sum(nights.map((night) => night.amount))
    const taxTotal = sum(nights.map((night) => onTop(night.taxes)))
    return {
      quoted: {
        unitTypeId: type.id,
        ratePlanId: plan.id,
        adults: room.adults,
        childrenAges: room.childrenAges,
        arrival: room.arrival,
        departure: room.departure,
        nights,
        extras: [],
        roomTotal,
        extrasTotal: 0,
        taxTotal,
        total: roomTotal + taxTotal,
        policies: { cancellation: '', noShow: '', deposit: null },
        deposits: [],
      },
      sold: {
        unitType: { id: type.id, name: type.code, pools: type.pools },
        ratePlan: { id: plan.id, name: plan.code, marketSegment: plan.marketSegment },
        policies: snapshotsOf(plan, property),
      },
    }
  })
  const words = {
    requests: requestsOf(
      stay.revision,
      sold.map(({ room }) => room),
    ),
    arrivalTime: null,
  }
  // Written as held and confirmed in one transaction: readers see the second state only, and counters never the first.
  const drafted = await draftRooms(trx, rooms, words, placesIn(booking.id, rooms, after))
  const { reservations: held } = await writeRooms(trx, booking, drafted)
  await writeCommissions(
    trx,
    held.map((one, index) => ({ id: one.id, nights: sold[index]?.nights ?? [] })),
  )
  const named = await nameChannelGuests(
    trx,
    booking,
    held,
    stay.revision.booker,
    sold.map(({ room }) => room),
  )
  const short = new Set<string>()
  await moveInventory(
    trx,
    await stockMoves(
      trx,
      held.map((one) => one.id),
      'open',
      { sold: 1 },
    ),
    {
      force: true,
      check: (locked) =>
        requireSoldAs(
          trx,
          property.publicVersion,
          sold.map(({ type }) => type),
          locked,
        ),
      onShort: (nights) => nights.forEach((row) => short.add(`${row.poolId} ${row.night}`)),
    },
  )
  const overbooked = held.map((_, index) =>
    (sold[index]?.nights ?? []).some((night) =>
      sold[index]?.type.pools.some((pool) => short.has(`${pool.poolId} ${night.date}`)),
    ),
  )
  const confirmed = (
    await sql<ReservationRow>(
      trx,
      `update reservation r set status = 'confirmed', confirmed_at = now(), primary_guest_id = v.guest_id, guarantee = 'channel', channel_managed = true,
         overbooked = v.overbooked, version = r.version + 1
       from unnest(?::uuid[], ?::uuid[], ?::boolean[]) as v(id, guest_id, overbooked) where r.id = v.id returning r.*`,
      [held.map((one) => one.id), held.map((one) => named.primaryOf.get(one.id)), overbooked],
    )
  ).sort((a, b) => a.position - b.position)
  await sql(trx, `update booking set booker_guest_id = ?, ended_at = null, version = version + 1 where id = ?`, [
    named.bookerGuestId,
    booking.id,
  ])
  await openPrimaryFolios(trx, confirmed)
  const { tenantId } = contextOf(trx)
  if (tenantId && property.settings.assignment.automatic)
    for (const one of confirmed) await enqueue(trx, assignUnit, { tenantId, reservationId: one.id })
  await recordTransition(trx, {
    id: 'T4',
    booking,
    reservations: confirmed,
    event: reservationConfirmed,
    businessDate,
    data: { rescued: false },
  })
  await tellOverbooked(
    trx,
    booking,
    confirmed.filter((one) => one.overbooked),
  )
  return confirmed
}

export const tellOverbooked = async (trx: Trx, booking: BookingRow, reservations: readonly ReservationRow[]) => {
  if (reservations.length === 0) return
  const oversold = await forcedNights(trx, reservations)
  await emitAll(
    trx,
    reservationOverbooked,
    reservations.map(({ id, version, position, status }) => {
      const nights = oversold
        .filter((night) => night.reservationId === id)
        .map(({ date, units }) => ({ date, units }))
        .slice(0, mostNights)
      const number = `${booking.number}-${position}`
      const data = { reservationId: id, number, bookingId: booking.id, status, nights }
      return { propertyId: booking.propertyId, id, version, data }
    }),
  )
}

/** Stores the channel's commission of each open night; the night audit accrues it when it charges the night. */
export const writeCommissions = async (
  trx: Trx,
  rooms: readonly { id: string; nights: readonly Pick<ChannelNight, 'date' | 'commission'>[] }[],
) => {
  const rows = rooms.flatMap(({ id, nights }) => nights.map(({ date, commission }) => ({ id, date, commission })))
  await sql(
    trx,
    `update reservation_night n set commission = nullif(v.commission, 0) from unnest(?::uuid[], ?::date[], ?::bigint[]) as v(id, date, commission)
     where n.reservation_id = v.id and n.date = v.date and n.status = 'open' and n.commission is distinct from nullif(v.commission, 0)`,
    [rows.map((row) => row.id), rows.map((row) => row.date), rows.map((row) => row.commission)],
  )
}
