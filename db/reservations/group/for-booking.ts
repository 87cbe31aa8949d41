import { invalid, unprocessable } from '../../../config/errors.ts'
import type { Trx } from '../../lib/connection.ts'
import type { DeskSale } from '../../properties/index.ts'
import type { Move } from '../../units/index.ts'
import { groupLifecycle } from '../rules/groups.ts'
import type { NewRoom } from '../take-rooms.ts'
import { lockGroupRow, nightsOf } from './lock.ts'
import { keyOf, movesOf, pricesOf, useAllotment, writePickUps } from './take-rows.ts'

/** The allotment of a group as some rooms pick it up (R45). */
export type PickUp = {
  groupId: string
  companyId: string | null
  /** The rooms at the prices of the group. */
  rooms: NewRoom[]
  /** Moves of the counters: rooms taken from free sale and from the allotment. */
  moves: (sale: DeskSale) => Move[]
  /** Marks the nights that the written stays took, in the order of the rooms. */
  write: (trx: Trx, reservationIds: readonly string[]) => Promise<void>
}

/**
 * Locks a group for rooms of a booking by the desk: nights of its allotment at their price while there are any, others from free sale at its plan. The business
 * day is held. 409 `invalid_transition` unless the group is confirmed; 422 `reference_not_found`.
 */
export const pickUpFor = async (
  trx: Trx,
  { groupId, propertyId }: { groupId: string; propertyId: string },
  rooms: readonly NewRoom[],
): Promise<PickUp> => {
  const group = await lockGroupRow(trx, groupId)
  if (group?.propertyId !== propertyId)
    throw unprocessable('reference_not_found', 'The property does not have this group', [
      { field: 'groupId', message: 'does not exist' },
    ])
  groupLifecycle.allow('picked up', group.status)
  const others = rooms.flatMap((room, index) =>
    room.ratePlanId === group.ratePlanId
      ? []
      : [{ field: `rooms.${index}.ratePlanId`, message: 'must be the plan of the group' }],
  )
  if (others.length > 0) throw invalid(others)
  const nights = await nightsOf(trx, groupId)
  const left = new Map(nights.map((night) => [keyOf(night), night.allotted - night.pickedUp]))
  const used = rooms.map((room) => useAllotment(left, room))
  const byHand = (room: NewRoom) => new Set((room.manualNights ?? []).map((night) => night.date))
  return {
    groupId,
    companyId: group.companyId,
    rooms: rooms.map((room, index) => ({
      ...room,
      manualNights: [
        ...(room.manualNights ?? []),
        ...pricesOf(nights, room.unitTypeId, used[index]!).filter(({ date }) => !byHand(room).has(date)),
      ],
    })),
    moves: (sale) => [...sale.moves({ sold: 1 }), ...movesOf(sale.rooms, used)],
    write: async (trxOfStays, reservationIds) => {
      const nightsTaken = used.flatMap((dates, index) =>
        dates.map((date) => ({ reservationId: reservationIds[index]!, date, unitTypeId: rooms[index]!.unitTypeId })),
      )
      const taken = new Map<string, number>()
      for (const { date, unitTypeId } of nightsTaken) {
        const key = keyOf({ unitTypeId, night: date })
        taken.set(key, (taken.get(key) ?? 0) + 1)
      }
      await writePickUps(trxOfStays, { group, taken, nightsTaken })
    },
  }
}
