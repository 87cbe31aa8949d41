import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationNightRow } from '../rows.ts'
import type { Move } from '../units/index.ts'
import type { AmendedNight, Sale, Target } from './amend-nights.ts'
import { nightsToPickUp } from './group/take-more.ts'
import type { MoreNight } from './group/take-more.ts'

/** Moves of the counters: old nights give back, new ones take, and unchanged ones cancel out. */
export const nightMoves = async (
  trx: Trx,
  before: readonly Pick<ReservationNightRow, 'date' | 'unitTypeId'>[],
  after: readonly Pick<AmendedNight, 'date' | 'unitTypeId'>[],
  counter: 'held' | 'sold',
): Promise<Move[]> => {
  const typeIds = [...new Set([...before, ...after].map((night) => night.unitTypeId))]
  const shares = await sql<{ unitTypeId: string; poolId: string; quantity: number }>(
    trx,
    `select unit_type_id, unit_pool_id as pool_id, quantity from unit_type_pool where unit_type_id = any(?::uuid[])`,
    [typeIds],
  )
  const of = (nights: readonly { date: string; unitTypeId: string }[], sign: 1 | -1) =>
    nights.flatMap(({ date, unitTypeId }) =>
      shares
        .filter((share) => share.unitTypeId === unitTypeId)
        .map(({ poolId, quantity }) => ({ poolId, night: date, [counter]: sign * quantity })),
    )
  return [...of(before, -1), ...of(after, 1)]
}

/**
 * The nights that an amended stay of a group picks up of its allotment, and the change with their price (R45): an added night costs the price of the allotment,
 * unless the desk sets another; a night that changes its type does so too, unless it keeps its price.
 */
export const withAllotment = async (
  trx: Trx,
  groupId: string | null,
  target: Target,
  { nights, sales }: { nights: readonly ReservationNightRow[]; sales: ReadonlyMap<string, Sale> },
): Promise<{ target: Target; picked: MoreNight[] }> => {
  const typeOn = new Map(nights.map((night) => [night.date, night.unitTypeId]))
  const taken = [...sales].flatMap(([date, { unitTypeId }]) =>
    typeOn.get(date) === unitTypeId ? [] : [{ date, unitTypeId }],
  )
  const picked = await nightsToPickUp(trx, groupId, taken)
  const priced = picked.flatMap(({ date, amount }): [string, number][] =>
    amount === null || (target.keepsPrice && typeOn.has(date)) ? [] : [[date, amount]],
  )
  if (priced.length === 0) return { target, picked }
  return { target: { ...target, manual: new Map([...priced, ...(target.manual ?? [])]) }, picked }
}
