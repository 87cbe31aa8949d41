import { notFound, versionConflict } from '../../../config/errors.ts'
import { businessDay } from '../../financial/index.ts'
import { prepared, preparedOne, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { BookingGroupNightRow, BookingGroupRow } from '../../rows.ts'

export type GroupNight = Pick<
  BookingGroupNightRow,
  'unitTypeId' | 'night' | 'allotted' | 'pickedUp' | 'amount' | 'released'
>
export type LockedGroup = { group: BookingGroupRow; nights: GroupNight[]; businessDate: string; now: Date }

/** Locks a group: its bookings come before it, and its reservations after it. Its nights change under its lock alone. */
export const lockGroupRow = (trx: Trx, groupId: string) =>
  sqlOne<BookingGroupRow & { now: Date }>(
    trx,
    `select g.*, now() as now from booking_group g where g.id = ? for no key update`,
    [groupId],
  )

export const nightsOf = (trx: Trx, groupId: string): Promise<GroupNight[]> =>
  prepared<GroupNight>(
    trx,
    `select unit_type_id, night, allotted, picked_up, amount, released from booking_group_night where group_id = ? order by night, unit_type_id`,
    [groupId],
  )

/** Holds the business day of a group's house, which comes before all other locks. 404. */
export const holdDayOf = async (trx: Trx, groupId: string): Promise<string> => {
  const place = await preparedOne<{ propertyId: string }>(trx, `select property_id from booking_group where id = ?`, [
    groupId,
  ])
  if (!place) throw notFound()
  return businessDay(trx, place.propertyId)
}

/** A group with its nights and the business day of its house: the first step of its commands. 404; 409 `version_conflict`. */
export const lockGroup = async (trx: Trx, groupId: string, expected: number | null = null): Promise<LockedGroup> => {
  const businessDate = await holdDayOf(trx, groupId)
  const locked = await lockGroupRow(trx, groupId)
  if (!locked) throw notFound()
  if (expected !== null && expected !== locked.version) throw versionConflict(locked.version)
  const { now, ...group } = locked
  return { group, nights: await nightsOf(trx, groupId), businessDate, now }
}
