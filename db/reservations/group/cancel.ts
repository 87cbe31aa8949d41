import { forbidden, overtaken, unprocessable } from '../../../config/errors.ts'
import { groupCancelled } from '../../../config/events/groups.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lockPaymentsOf } from '../../payment/index.ts'
import { readProperty } from '../../properties/index.ts'
import { lockPoolNights, lockUnitsOf } from '../../units/index.ts'
import { cancelReservations } from '../cancel.ts'
import type { CancelReason } from '../cancel.ts'
import { readFacts } from '../facts.ts'
import { closeSettled } from '../folio/close.ts'
import { lockFoliosOfGroup } from '../folio/lock.ts'
import { stockMoves } from '../night-moves.ts'
import { groupLifecycle, isTaken } from '../rules/groups.ts'
import { noFee, planCancel } from '../rules/plans.ts'
import { allotmentMoves, factOf } from './allotment.ts'
import { holdDayOf, lockGroup } from './lock.ts'
import type { LockedGroup } from './lock.ts'
import { moveRooms, writeStatus } from './status.ts'

type Cancelled = {
  reason: CancelReason
  cancelReservations?: boolean | undefined
  waiveFees?: boolean | undefined
  /** The caller has the rule fee. */
  mayWaive?: boolean
}

/** 403 where stays of a group would be cancelled for less than their policies ask for (R30), by a caller without the rule fee. */
const refuseWaiver = async (trx: Trx, { group, businessDate }: LockedGroup, bookingIds: readonly string[]) => {
  const property = await readProperty(trx, group.propertyId)
  if (!property) throw new Error(`property ${group.propertyId} is gone`)
  const stays = await sql<{ id: string }>(
    trx,
    `select id from reservation where booking_id = any(?::uuid[]) and status in ('held', 'confirmed') order by id`,
    [bookingIds],
  )
  const facts = await readFacts(
    trx,
    property,
    stays.map((one) => one.id),
  )
  const asked = facts.map((one) => planCancel({ facts: one, property, businessDate }, { reason: 'guest_request' }))
  if (asked.some(({ effects }) => effects.fee > 0))
    throw forbidden('override_not_permitted', 'Your role may not waive the fees of the stays', [
      { field: 'waiveFees', message: 'fee' },
    ])
}

const liveBookings = (trx: Trx, id: string) =>
  sql<{ id: string }>(
    trx,
    `select b.id from booking b where b.group_id = ? and exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id
       and r.status in ('held', 'confirmed', 'checked_in')) order by b.id`,
    [id],
  )

/**
 * Locks all that the cancellation of several bookings takes, class by class: reservations, nights, units, folios, payments. One booking after another would
 * lock the nights of the second after the folios of the first. The bookings and their group are locked.
 */
const lockForCancelling = async (
  trx: Trx,
  { group, nights, businessDate }: LockedGroup,
  bookingIds: readonly string[],
) => {
  const reservations = await sql<{ id: string }>(
    trx,
    `select id from reservation where booking_id = any(?::uuid[]) order by id for no key update`,
    [bookingIds],
  )
  const ids = reservations.map((one) => one.id)
  const allotted = nights
    .filter((one) => one.night >= businessDate)
    .map(({ unitTypeId, night, allotted: rooms }) => ({ unitTypeId, night, rooms }))
  await lockPoolNights(trx, [...(await stockMoves(trx, ids, 'open', {})), ...(await allotmentMoves(trx, allotted))])
  await lockUnitsOf(trx, ids)
  const folios = await lockFoliosOfGroup(trx, group.id, ids)
  await lockPaymentsOf(trx, [
    ...bookingIds.map((targetId) => ({ targetType: 'booking' as const, targetId })),
    ...folios.map(({ id }) => ({ targetType: 'folio' as const, targetId: id })),
  ])
}

/**
 * Cancels a group (G6): its allotment goes back to sale, and its reservations are cancelled where that is asked for, by their own terms or without a fee.
 * Nothing is done where one of them cannot be. 422 `transition_blocked` while reservations stand.
 */
export const cancelGroup = async (
  trx: Trx,
  id: string,
  { reason, cancelReservations: withStays = false, waiveFees = false, mayWaive = true }: Cancelled,
  expected: number | null = null,
): Promise<void> => {
  // The business day and the bookings come before the group in the order of locks.
  await holdDayOf(trx, id)
  const seen = withStays ? await liveBookings(trx, id) : []
  if (seen.length > 0)
    await sql(trx, `select id from booking where id = any(?::uuid[]) order by id for no key update`, [
      seen.map((one) => one.id),
    ])
  const locked = await lockGroup(trx, id, expected)
  const { group } = locked
  if (!groupLifecycle.isDue('cancelled', group.status)) return
  const live = await liveBookings(trx, id)
  if (!withStays && live.length > 0)
    throw unprocessable('transition_blocked', 'Reservations of the group stand', [
      { field: 'blockers.reservations_stand', message: `${live.length} bookings; send cancelReservations` },
    ])
  if (live.some((one) => !seen.some((each) => each.id === one.id))) throw overtaken()
  const bookingIds = live.map((one) => one.id)
  if (!mayWaive && (waiveFees || noFee.has(reason))) await refuseWaiver(trx, locked, bookingIds)
  if (live.length > 0) await lockForCancelling(trx, locked, bookingIds)
  for (const one of live) await cancelReservations(trx, one.id, { reason, terms: waiveFees ? 'free' : 'policy' })
  const fresh = await lockGroup(trx, id)
  if (isTaken(group.status)) await moveRooms(trx, fresh, -1)
  // A folio with money or a debt of the group stays open. An empty open one would keep its property from being archived.
  await closeSettled(
    trx,
    (await lockFoliosOfGroup(trx, id)).map((one) => one.id),
  )
  await emit(
    trx,
    groupCancelled,
    factOf(await writeStatus(trx, id, { status: 'cancelled', optionUntil: null }, { cancelReason: reason })),
  )
}
