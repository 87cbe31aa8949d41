import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { groupChanged } from '../../../config/events/groups.ts'
import { daysIn } from '../../../config/time.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { BookingGroupRow } from '../../rows.ts'
import { moveInventory } from '../../units/index.ts'
import type { Move } from '../../units/index.ts'
import { groupLifecycle, isTaken } from '../rules/groups.ts'
import { lockGroup } from './lock.ts'
import type { GroupNight } from './lock.ts'

/** Rooms of a type on the nights of `[from, to)`. */
export type Allotment = {
  unitTypeId: string
  from: string
  to: string
  quantity: number
  /** Price of one night in minor units; that of the group's plan where it is left out. */
  amount?: number | null | undefined
}

type Wanted = Pick<GroupNight, 'unitTypeId' | 'night' | 'allotted' | 'amount'>
const keyOf = ({ unitTypeId, night }: Pick<GroupNight, 'unitTypeId' | 'night'>) => `${unitTypeId} ${night}`

/** The facts of a group that its events tell. */
export const factOf = ({ id, propertyId, version, code, status, arrival, departure }: BookingGroupRow) => ({
  propertyId,
  id,
  version,
  data: { groupId: id, code, status, arrival, departure },
})

/** Keeps types from being given other pools while rooms of them are taken. */
export const holdTypes = (trx: Trx, nights: readonly { unitTypeId: string }[]) =>
  sql(trx, `select id from unit_type where id = any(?::uuid[]) order by id for key share`, [
    [...new Set(nights.map((night) => night.unitTypeId))],
  ])

/** Moves of the counters for changed numbers of rooms: each pool's share times the delta. */
export const allotmentMoves = async (
  trx: Trx,
  deltas: readonly { unitTypeId: string; night: string; rooms: number }[],
): Promise<Move[]> => {
  const due = deltas.filter((one) => one.rooms !== 0)
  if (due.length === 0) return []
  const shares = await sql<{ unitTypeId: string; poolId: string; quantity: number }>(
    trx,
    `select unit_type_id, unit_pool_id as pool_id, quantity from unit_type_pool where unit_type_id = any(?::uuid[])`,
    [[...new Set(due.map((one) => one.unitTypeId))]],
  )
  return due.flatMap(({ unitTypeId, night, rooms }) =>
    shares
      .filter((share) => share.unitTypeId === unitTypeId)
      .map(({ poolId, quantity }) => ({ poolId, night, allotted: rooms * quantity })),
  )
}

/** The nights that an allotment names, one for each type. 400 where one stands twice, or lies outside of the group. */
export const nightsWanted = (
  { arrival, departure }: Pick<BookingGroupRow, 'arrival' | 'departure'>,
  allotment: readonly Allotment[],
): Wanted[] => {
  const errors = allotment.flatMap(({ from, to }, index) =>
    from < arrival || to > departure || from >= to
      ? [{ field: `nights.${index}.from`, message: `must be nights of ${arrival} to ${departure}` }]
      : [],
  )
  if (errors.length > 0) throw invalid(errors)
  const wanted = allotment.flatMap(({ unitTypeId, from, to, quantity, amount }, index) =>
    daysIn(from, to).map((night) => ({ unitTypeId, night, allotted: quantity, amount: amount ?? null, index })),
  )
  const seen = new Set<string>()
  for (const one of wanted) {
    if (seen.has(keyOf(one)))
      throw invalid([{ field: `nights.${one.index}.unitTypeId`, message: `stands twice on ${one.night}` }])
    seen.add(keyOf(one))
  }
  return wanted.filter((one) => one.allotted > 0)
}

/** 422 for types that the property does not have. */
export const refuseTypes = async (
  trx: Trx,
  propertyId: string,
  unitTypeIds: readonly string[],
  field = 'nights.unitTypeId',
) => {
  const ids = [...new Set(unitTypeIds)]
  if (ids.length === 0) return
  const known = await sql<{ id: string }>(
    trx,
    `select id from unit_type where id = any(?::uuid[]) and property_id = ? and status = 'active'`,
    [ids, propertyId],
  )
  const strangers = ids.filter((id) => !known.some((one) => one.id === id))
  if (strangers.length > 0)
    throw unprocessable(
      'reference_not_found',
      'The property does not have this unit type',
      strangers.map((id) => ({ field, message: `${id} does not exist` })),
    )
}

export const writeNights = (trx: Trx, groupId: string, nights: readonly GroupNight[]) =>
  nights.length === 0
    ? Promise.resolve([])
    : sql(
        trx,
        `insert into booking_group_night (group_id, unit_type_id, night, allotted, picked_up, amount, released)
         select ?, v."unitTypeId", v.night, v.allotted, v."pickedUp", v.amount, v.released
         from jsonb_to_recordset(?::jsonb) as v ("unitTypeId" uuid, night date, allotted int, "pickedUp" int, amount bigint, released boolean)
         on conflict (tenant_id, group_id, unit_type_id, night) do update set allotted = excluded.allotted, picked_up = excluded.picked_up,
           amount = excluded.amount, released = excluded.released`,
        [groupId, JSON.stringify(nights)],
      )

/**
 * Sets the rooms of a group for each type and night; what is not named has none, past nights stay. Counters move by the difference alone. 409
 * `allotment_in_use` below what was picked up, `sold_out`.
 */
export const setAllotment = async (
  trx: Trx,
  groupId: string,
  allotment: readonly Allotment[],
  expected: number | null,
): Promise<void> => {
  const { group, nights, businessDate } = await lockGroup(trx, groupId, expected)
  groupLifecycle.allow('changed', group.status)
  const wanted = nightsWanted(group, allotment)
  await refuseTypes(
    trx,
    group.propertyId,
    wanted.map((one) => one.unitTypeId),
  )
  const stood = new Map(nights.map((night) => [keyOf(night), night]))
  const named = new Set(wanted.map(keyOf))
  const after: GroupNight[] = [
    ...wanted.map((one) => ({ pickedUp: 0, released: false, ...stood.get(keyOf(one)), ...one })),
    ...nights
      .filter((night) => !named.has(keyOf(night)) && night.night >= businessDate)
      .map((night) => ({ ...night, allotted: 0 })),
  ]
  const changed = after.filter((one) => {
    const before = stood.get(keyOf(one))
    return before?.allotted !== one.allotted || before.amount !== one.amount
  })
  const past = changed.filter((one) => one.night < businessDate)
  if (past.length > 0)
    throw unprocessable('rule_violated', 'Nights that are over do not change', [
      { field: 'nights', message: `${past[0]?.night} is before ${businessDate}` },
    ])
  const used = changed.filter((one) => one.allotted < one.pickedUp)
  if (used.length > 0)
    throw conflict(
      'allotment_in_use',
      'More rooms are picked up than would be left',
      used.slice(0, 50).map((one) => ({ field: `nights.${one.night}`, message: `${one.pickedUp} are picked up` })),
    )
  if (changed.length === 0) return
  if (isTaken(group.status)) {
    await holdTypes(trx, changed)
    await moveInventory(
      trx,
      await allotmentMoves(
        trx,
        changed.map((one) => ({ ...one, rooms: one.allotted - (stood.get(keyOf(one))?.allotted ?? 0) })),
      ),
    )
  }
  await writeNights(
    trx,
    groupId,
    changed.map((one) => ({ ...one, released: false })),
  )
  await touchGroup(trx, group, ['allotment'])
}

/** Counts a change of a group that stands beside its row, and tells it. */
const touchGroup = async (trx: Trx, group: BookingGroupRow, fields: readonly string[]) => {
  const [now] = await sql<BookingGroupRow>(
    trx,
    `update booking_group set version = version + 1 where id = ? returning *`,
    [group.id],
  )
  if (now)
    await emit(trx, groupChanged, {
      ...factOf(now),
      changed: fields.map((field) => ({ field, before: null, after: null })),
    })
}
