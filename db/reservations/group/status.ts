import { invalid, unprocessable } from '../../../config/errors.ts'
import {
  groupChanged,
  groupClosed,
  groupConfirmed,
  groupOptioned,
  groupOptionEnded,
  groupReleased,
} from '../../../config/events/groups.ts'
import { releaseGroups } from '../../../jobs/reservations.ts'
import { folioOpened } from '../../../config/events/folios.ts'
import { mostNights } from '../../../config/events/event.ts'
import { daysBetween, localInstant } from '../../../config/time.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { readProperty } from '../../properties/index.ts'
import type { BookingGroupRow, FolioRow } from '../../rows.ts'
import { moveInventory } from '../../units/index.ts'
import { factOf as folioFact } from '../folio/open.ts'
import { groupLifecycle, isTaken, nightsToRelease } from '../rules/groups.ts'
import { allotmentMoves, factOf, holdTypes, refuseTypes, writeNights } from './allotment.ts'
import { lockGroup } from './lock.ts'
import type { GroupNight, LockedGroup } from './lock.ts'

/** Writes the state of a group. */
export const writeStatus = async (
  trx: Trx,
  id: string,
  { status, optionUntil }: { status: BookingGroupRow['status']; optionUntil: Date | null },
  more: { masterFolioId?: string; cancelReason?: string } = {},
): Promise<BookingGroupRow> => {
  const row = await sqlOne<BookingGroupRow>(
    trx,
    `update booking_group set status = ?, option_until = ?, master_folio_id = coalesce(?, master_folio_id), cancel_reason = coalesce(?, cancel_reason),
       version = version + 1 where id = ? returning *`,
    [status, optionUntil, more.masterFolioId ?? null, more.cancelReason ?? null, id],
  )
  if (!row) throw new Error(`group ${id} is gone`)
  return row
}

/** Takes the rooms of a group out of sale, or gives back those that are not picked up, on the nights to come. */
export const moveRooms = async (trx: Trx, { nights, businessDate }: LockedGroup, sign: 1 | -1) => {
  await holdTypes(trx, nights)
  await moveInventory(
    trx,
    await allotmentMoves(
      trx,
      nights
        .filter((night) => night.night >= businessDate)
        .map((night) => ({ ...night, rooms: sign * (night.allotted - night.pickedUp) })),
    ),
  )
}

/**
 * Takes the allotment out of sale until an instant (G2), at the latest the start of the day of departure, since a group may be optioned on the
 * day it comes; of a group that has an option, moves that instant. 409 `sold_out`.
 */
export const optionGroup = async (
  trx: Trx,
  id: string,
  until: string,
  expected: number | null = null,
): Promise<void> => {
  const locked = await lockGroup(trx, id, expected)
  const { group, now } = locked
  const isMoved = group.status === 'optional'
  if (!isMoved) groupLifecycle.allow('optioned', group.status)
  const property = await readProperty(trx, group.propertyId)
  const latest = localInstant(group.departure, '00:00', property?.timezone ?? 'UTC')
  const at = new Date(until)
  if (at <= now) throw invalid([{ field: 'until', message: 'must be in the future' }])
  if (at > latest) throw invalid([{ field: 'until', message: `must not be after ${latest.toISOString()}` }])
  if (isMoved && group.optionUntil?.getTime() === at.getTime()) return
  if (!isMoved) await moveRooms(trx, locked, 1)
  const moved = await writeStatus(trx, id, { status: 'optional', optionUntil: at })
  await emit(trx, isMoved ? groupChanged : groupOptioned, {
    ...factOf(moved),
    ...(isMoved ? { changed: [{ field: 'optionUntil', before: null, after: null }] } : {}),
  })
}

const openMaster = async (trx: Trx, group: BookingGroupRow): Promise<string> => {
  const made = await sqlOne<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, group_id, label, currency)
     select p.id, ?, 'group', ?, left(?, 60), p.currency from property p where p.id = ? returning *`,
    [`${group.number}-1`, group.id, group.code, group.propertyId],
  )
  if (!made) throw new Error('a folio that was inserted is answered')
  await emit(trx, folioOpened, folioFact(made))
  return made.id
}

/** Confirms a group (G3): its rooms are out of sale, its master folio is open, and it takes pick-up. 409 `sold_out`; 422 `transition_blocked` for one that is over. */
export const confirmGroup = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const locked = await lockGroup(trx, id, expected)
  const { group, businessDate } = locked
  if (!groupLifecycle.isDue('confirmed', group.status)) return
  if (group.departure <= businessDate)
    throw unprocessable('transition_blocked', 'The group is over', [
      { field: 'blockers.group_over', message: `it was to leave on ${group.departure}` },
    ])
  if (group.status === 'inquiry') await moveRooms(trx, locked, 1)
  const masterFolioId = await openMaster(trx, group)
  await emit(
    trx,
    groupConfirmed,
    factOf(await writeStatus(trx, id, { status: 'confirmed', optionUntil: null }, { masterFolioId })),
  )
}

/** Gives rooms that are not picked up back to sale on some nights (G5). Tells it once. */
const releaseNights = async (trx: Trx, group: BookingGroupRow, nights: readonly GroupNight[]) => {
  const given = nights.filter((night) => night.allotted > night.pickedUp)
  if (given.length === 0) return
  await moveInventory(
    trx,
    await allotmentMoves(
      trx,
      given.map((night) => ({ ...night, rooms: night.pickedUp - night.allotted })),
    ),
  )
  await writeNights(
    trx,
    group.id,
    given.map((night) => ({ ...night, allotted: night.pickedUp, released: true })),
  )
  const [now] = await sql<BookingGroupRow>(
    trx,
    `update booking_group set version = version + 1 where id = ? returning *`,
    [group.id],
  )
  const fact = factOf(now ?? group)
  const units = new Map<string, number>()
  for (const { night, allotted, pickedUp } of given) units.set(night, (units.get(night) ?? 0) + allotted - pickedUp)
  const told = [...units].map(([date, count]) => ({ date, units: count })).slice(0, mostNights)
  await emit(trx, groupReleased, { ...fact, data: { ...fact.data, nights: told } })
}

type Released = { from?: string | undefined; to?: string | undefined; unitTypeIds?: readonly string[] | undefined }

/** Gives rooms that are not picked up back to sale (G5): all nights to come, or those of `[from, to)` and some types. 400 for a range without a night. */
export const releaseGroup = async (
  trx: Trx,
  id: string,
  { from, to, unitTypeIds }: Released,
  expected: number | null = null,
): Promise<void> => {
  const { group, nights, businessDate } = await lockGroup(trx, id, expected)
  groupLifecycle.allow('released', group.status)
  if (from !== undefined && to !== undefined && to <= from)
    throw invalid([{ field: 'to', message: 'must be after from' }])
  const others = (unitTypeIds ?? []).filter((one) => !nights.some(({ unitTypeId }) => unitTypeId === one))
  await refuseTypes(trx, group.propertyId, others, 'unitTypeIds')
  const named = nights.filter(
    ({ night, unitTypeId }) =>
      night >= businessDate &&
      (from === undefined || night >= from) &&
      (to === undefined || night < to) &&
      (unitTypeIds === undefined || unitTypeIds.includes(unitTypeId)),
  )
  await releaseNights(trx, group, named)
}

/** Groups for which the clock may have something to do, of every tenant. */
export const dueGroups = (trx: PlatformTrx, most = 500) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from groups_due(?)`, [most])

/** Groups of a house for which the clock may have something to do, by id. */
export const dueGroupsOf = async (trx: Trx, propertyId: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select id from booking_group where property_id = ? and status in ('optional', 'confirmed') order by id`,
      [propertyId],
    )
  ).map((one) => one.id)

/** Asks for what a new business day means to the groups of a house. */
export const enqueueReleaseGroups = async (trx: Trx, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId !== null && (await dueGroupsOf(trx, propertyId)).length > 0)
    await enqueue(trx, releaseGroups, { tenantId, propertyId })
}

const isDone = async (trx: Trx, { id, masterFolioId }: BookingGroupRow): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select 1 from booking_group g where g.id = ?
       and not exists (select from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
         where b.tenant_id = g.tenant_id and b.group_id = g.id and r.status in ('held', 'confirmed', 'checked_in'))
       and exists (select from folio f where f.tenant_id = g.tenant_id and f.id = ? and f.status = 'closed')
       and not exists (select from folio f where f.tenant_id = g.tenant_id and f.group_id = g.id and f.status = 'open')`,
    [id, masterFolioId],
  )) !== null

/**
 * The work of the clock on a group. An option that is over ends (G4), and rooms beyond the cut-off go back to sale (G5). A group that has left and paid is
 * closed (G7). A repeated call changes nothing.
 */
export const advanceGroup = async (trx: Trx, id: string): Promise<void> => {
  const locked = await lockGroup(trx, id)
  const { group, nights, businessDate, now } = locked
  if (group.status === 'optional' && group.optionUntil && group.optionUntil <= now) {
    await moveRooms(trx, locked, -1)
    await emit(trx, groupOptionEnded, factOf(await writeStatus(trx, id, { status: 'inquiry', optionUntil: null })))
    return
  }
  if (!isTaken(group.status)) return
  if (group.status === 'confirmed' && group.departure < businessDate && (await isDone(trx, group))) {
    await emit(trx, groupClosed, factOf(await writeStatus(trx, id, { status: 'closed', optionUntil: null })))
    return
  }
  await releaseNights(
    trx,
    group,
    nightsToRelease(group, nights, businessDate, (night) => daysBetween(businessDate, night)),
  )
}
