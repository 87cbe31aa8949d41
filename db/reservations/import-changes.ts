import type { ChannelRevision } from '../../config/channels.ts'
import { unprocessable } from '../../config/errors.ts'
import type { QuotedNight } from '../../config/quote.ts'
import { addDays, daysIn } from '../../config/time.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { countParty, localTaxRules, onTop } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import { lockPools, lockPoolNights } from '../units/index.ts'
import { amendLocked } from './amend.ts'
import { fixedNights, missedNights } from './amend-nights.ts'
import { cancelReservations } from './cancel.ts'
import { changeBooker, namesOfStays, namesSaid, tellWhatIsNew, withBooker } from './channel-news.ts'
import { addRooms, openHouse, soldRooms, tellOverbooked, writeCommissions } from './import.ts'
import type { House, Imported, ImportedStay, Sold } from './import.ts'
import { lockBooking, propertyOfBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { withoutDays } from './night-taxes.ts'
import { besideCharged } from './rules/channel-price.ts'
import type { ChargedNight } from './rules/channel-price.ts'
import { staysMeant } from './rules/channel-rooms.ts'
import { isLive } from './rules/states.ts'

/** Pools of the nights that stays have, which a move may have sold as another type, and of their extras with a daily limit. */
const poolsTaken = (trx: Trx, reservationIds: readonly string[]) =>
  sql<{ poolId: string; ofExtra: boolean }>(
    trx,
    `select p.unit_pool_id as pool_id, false as of_extra from reservation_night n
       join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
       where n.reservation_id = any(?::uuid[]) and n.status <> 'released'
     union select x.pool_id, true from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id and x.pool_id is not null
       where e.reservation_id = any(?::uuid[]) and e.status = 'active'`,
    [reservationIds, reservationIds],
  )

/** All counters that a change of the rooms may move, and the units of their pools, in the one order, before the first of them moves. */
const lockCounters = async (
  trx: Trx,
  { catalogue }: House,
  before: readonly ReservationRow[],
  sold: readonly Sold[],
) => {
  const stays = [
    ...before.map(({ unitTypeId, arrival, departure }) => ({ unitTypeId, arrival, departure })),
    ...sold.map(({ type, room }) => ({ unitTypeId: type.id, arrival: room.arrival, departure: room.departure })),
  ]
  const types = new Set(stays.map((one) => one.unitTypeId))
  const taken = await poolsTaken(
    trx,
    before.map((one) => one.id),
  )
  const pools = new Set([
    ...catalogue.unitTypes.flatMap((type) => (types.has(type.id) ? type.pools.map((pool) => pool.poolId) : [])),
    ...taken.filter((one) => !one.ofExtra).map((one) => one.poolId),
  ])
  const limited = taken.filter((one) => one.ofExtra).map((one) => one.poolId)
  const from = stays.reduce((first, one) => (one.arrival < first ? one.arrival : first), stays[0]?.arrival ?? '')
  const until = stays.reduce((last, one) => (one.departure > last ? one.departure : last), addDays(from, 1))
  const keys = [...pools, ...limited].flatMap((poolId) => daysIn(from, until).map((night) => ({ poolId, night })))
  await lockPoolNights(trx, keys)
  // The units of a later room may be of a pool that comes before that of an earlier one.
  await lockPools(trx, [...pools])
}

/** A stay of the booking, and what a revision says of it. `index`: the room's in the revision. */
type Pair = { reservation: ReservationRow; room: Sold; index: number }

/** The stays that the rooms of a revision mean, in the order of the revision. */
const pairsOf = async (
  trx: Trx,
  places: readonly ReservationRow[],
  sold: readonly Sold[],
  { booker }: ChannelRevision,
): Promise<Pair[]> => {
  const namesOf = await namesOfStays(
    trx,
    places.map((one) => one.id),
  )
  const meant = staysMeant(
    sold.map(({ room, type }) => ({ ...room, unitTypeId: type.id, names: namesSaid(room, booker) })),
    places.map((one) => ({ ...one, names: namesOf.get(one.id) ?? [] })),
  )
  return sold.flatMap((room, index) => {
    const reservation = places[meant[index] ?? -1]
    return reservation ? [{ reservation, room, index }] : []
  })
}

/** 422 for a no-show room whose dates change: a guest means to come, and staff must know. */
const refuseMissed = (pairs: readonly Pair[]) => {
  const missed = pairs.filter(
    ({ reservation, room }) => reservation.status === 'no_show' && room.room.arrival !== reservation.arrival,
  )
  if (missed.length > 0)
    throw unprocessable(
      'transition_blocked',
      'The stay cannot be changed so',
      missed.map(({ index }) => ({
        field: `rooms.${index}`,
        message: 'The guest did not arrive; a guest who arrives now needs a new reservation',
      })),
    )
}

/**
 * Brings the stays of a booking to what a later revision says (T12): each room to the stay that it means, those that are left out cancelled, those that
 * are new added. The booking exists; a room whose guest has left keeps its place, and is not changed any more. `before`: the revision that was applied
 * last, where it is still kept.
 */
export const changeStay = async (
  trx: Trx,
  bookingId: string,
  stay: ImportedStay,
  before: ChannelRevision | null,
): Promise<Imported> => {
  const house = await openHouse(trx, stay.propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked) throw new Error(`booking ${bookingId} is gone`)
  const sold = soldRooms(house, stay)
  const places = locked.reservations.filter((one) => one.status !== 'cancelled' && one.status !== 'expired')
  const pairs = await pairsOf(trx, places, sold, stay.revision)
  refuseMissed(pairs)
  const known = pairs.length < sold.length ? await withBooker(trx, locked.booking, stay.revision) : locked.booking
  await lockCounters(
    trx,
    house,
    places.filter((one) => isLive(one.status)),
    sold,
  )
  const standing = pairs.filter(({ reservation }) => isLive(reservation.status))
  await amendRooms(trx, house, locked, standing)
  const kept = new Set(pairs.map(({ reservation }) => reservation.id))
  const tooMany = places.flatMap((one) => (isLive(one.status) && !kept.has(one.id) ? [one.id] : []))
  const missing = sold.filter((_, index) => !pairs.some((pair) => pair.index === index))
  const { reservations } = locked
  const revisions = before && { before, after: stay.revision }
  const booking = revisions ? await changeBooker(trx, known, reservations, revisions) : known
  const added =
    missing.length > 0
      ? await addRooms(trx, house, { booking, stay, sold: missing, after: reservations.at(-1)?.position ?? 0 })
      : []
  if (tooMany.length > 0)
    await cancelReservations(trx, bookingId, {
      reservationIds: tooMany,
      reason: 'guest_request',
      terms: stay.revision.collectedBy === 'property' ? 'policy' : 'free',
    })
  const { collectedBy, commission } = stay.revision
  await sql(trx, `update booking set collected_by = ?, commission = ?, version = version + 1 where id = ?`, [
    collectedBy,
    commission ?? null,
    bookingId,
  ])
  if (revisions)
    await tellWhatIsNew(
      trx,
      booking,
      standing.map(({ reservation, room }) => ({ stay: reservation, room: room.room })),
      revisions,
    )
  return { bookingId, reservationIds: [...kept, ...added.map((one) => one.id)] }
}

const amendRooms = async (trx: Trx, house: House, locked: LockedBooking, pairs: readonly Pair[]): Promise<void> => {
  const { businessDate, property, catalogue } = house
  const standing = await standingNights(
    trx,
    pairs.map(({ reservation }) => reservation),
    businessDate,
  )
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const wanted = pairs.map(({ reservation, room: sold }) => {
    const { charged, unpaid } = standing.get(reservation.id)!
    const room = { ...sold, nights: withoutDays(rules, sold.nights, countParty(catalogue, sold.room).persons, unpaid) }
    return { reservation, room, nights: besideCharged(property, catalogue, room, charged) }
  })
  for (const { reservation, room, nights } of wanted) {
    const { reservation: after } = await amendLocked(
      trx,
      locked,
      reservation.id,
      {
        arrival: room.room.arrival,
        departure: room.room.departure,
        unitTypeId: room.type.id,
        ratePlanId: room.plan.id,
        adults: room.room.adults,
        childrenAges: room.room.childrenAges,
        nights: nights.map(({ commission: _of, ...night }) => night),
      },
      { force: true, businessDate },
    )
    if (after.overbooked && !reservation.overbooked) await tellOverbooked(trx, locked.booking, [after])
  }
  await writeCommissions(
    trx,
    wanted.map(({ reservation, nights }) => ({ id: reservation.id, nights })),
  )
}

type Standing = {
  /** Nights that no revision reaches any more, with what they came to. */
  charged: ChargedNight[]
  /** Days that the guest does not pay for: missed before a late arrival, or waived, which are the house's own affair. */
  unpaid: ReadonlySet<string>
}

/** Nights of stays that are settled before a revision is applied. */
const standingNights = async (
  trx: Trx,
  stays: readonly ReservationRow[],
  businessDate: string,
): Promise<Map<string, Standing>> => {
  const rows = await sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = any(?::uuid[]) order by date`,
    [stays.map((one) => one.id)],
  )
  return new Map(
    stays.map((stay) => {
      const isFixed = fixedNights(stay, businessDate)
      const own = rows.filter((row) => row.reservationId === stay.id)
      const waived = own.filter(({ status }) => status === 'waived').map(({ date }) => date)
      const charged = own
        .filter((row) => (row.status === 'open' || row.status === 'charged') && isFixed(row))
        .map(({ date, amount, taxes, commission }) => ({
          date,
          owed: amount + onTop(taxes as QuotedNight['taxes']),
          commission: commission ?? 0,
        }))
      return [stay.id, { charged, unpaid: new Set([...missedNights(own, businessDate), ...waived]) }]
    }),
  )
}

/** Ends what a channel has cancelled (T11): by the policy where the property collects, free of charge where the channel does. Answers the rooms. */
export const cancelStay = async (
  trx: Trx,
  bookingId: string,
  collectedBy: ChannelRevision['collectedBy'],
): Promise<Imported> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) throw new Error(`booking ${bookingId} is gone`)
  await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  const live = (locked?.reservations ?? []).filter((one) => isLive(one.status)).map((one) => one.id)
  if (live.length > 0)
    await cancelReservations(trx, bookingId, {
      reservationIds: live,
      reason: 'guest_request',
      terms: collectedBy === 'property' ? 'policy' : 'free',
    })
  return { bookingId, reservationIds: live }
}
