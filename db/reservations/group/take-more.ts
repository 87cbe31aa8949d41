import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Move } from '../../units/index.ts'
import { allotmentMoves } from './allotment.ts'
import { keyOf, writePickUps } from './take-rows.ts'

/** A night that a stay picks up, at the price of the allotment; null is that of the group's plan. */
export type MoreNight = { date: string; unitTypeId: string; amount: number | null }

/**
 * Of the nights that a standing stay of a group comes to, those that its allotment has rooms for (R45): a stay that is changed or comes back picks up like a
 * new one (R6). None unless the group is confirmed. The group is locked.
 */
export const nightsToPickUp = (
  trx: Trx,
  groupId: string | null,
  nights: readonly Pick<MoreNight, 'date' | 'unitTypeId'>[],
): Promise<MoreNight[]> =>
  groupId === null || nights.length === 0
    ? Promise.resolve([])
    : sql<MoreNight>(
        trx,
        `select n.night as date, n.unit_type_id, n.amount from booking_group_night n
         join booking_group g on g.tenant_id = n.tenant_id and g.id = n.group_id and g.status = 'confirmed'
         join unnest(?::uuid[], ?::date[]) as v (unit_type_id, date) on v.unit_type_id = n.unit_type_id and v.date = n.night
         where n.group_id = ? and n.allotted > n.picked_up order by n.night`,
        [nights.map((one) => one.unitTypeId), nights.map((one) => one.date), groupId],
      )

/** Moves that take one room of the allotment for each night. */
export const movesOfMore = (trx: Trx, nights: readonly MoreNight[]): Promise<Move[]> =>
  allotmentMoves(
    trx,
    nights.map(({ unitTypeId, date }) => ({ unitTypeId, night: date, rooms: -1 })),
  )

/** Writes the nights that a stay has picked up; they are written as its nights before. */
export const writeMore = async (
  trx: Trx,
  groupId: string | null,
  reservationId: string,
  nights: readonly MoreNight[],
): Promise<void> => {
  if (groupId === null) return
  await writePickUps(trx, {
    group: { id: groupId },
    taken: new Map(nights.map(({ unitTypeId, date }) => [keyOf({ unitTypeId, night: date }), 1])),
    nightsTaken: nights.map(({ date }) => ({ reservationId, date })),
  })
}
