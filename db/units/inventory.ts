import { Counter } from 'prom-client'
import { conflict, unprocessable, withRecovery } from '../../config/errors.ts'
import { mostNights } from '../../config/events/event.ts'
import { availabilityChanged } from '../../config/events/rates.ts'
import { inventoryOversold, inventoryRecovered } from '../../config/events/units.ts'
import { registry } from '../../config/metrics.ts'
import { hasChannels, requestMarks } from '../lib/channel-marks.ts'
import { hasWaiting, requestMatches } from '../lib/waiting.ts'
import { contextOf, later, logOf, prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { usage } from './rules/availability.ts'
import type { Counters, PoolNight } from './rules/availability.ts'

type Movable = Omit<Counters, 'forced'>
/** Deltas of one night of one pool. */
export type Move = { poolId: string; night: string } & Partial<Movable>
export type PoolNightKey = Pick<PoolNight, 'poolId' | 'night'>

const kinds = ['capacity', 'sold', 'held', 'allotted', 'blocked', 'oversell'] as const
const keyOf = ({ poolId, night }: PoolNightKey) => `${poolId} ${night}`

/** One move per pool and night, without those that cancel out. */
const merge = (moves: readonly Move[]): (PoolNightKey & Movable)[] => {
  const merged = new Map<string, PoolNightKey & Movable>()
  for (const move of moves) {
    const known = merged.get(keyOf(move)) ?? {
      poolId: move.poolId,
      night: move.night,
      capacity: 0,
      sold: 0,
      held: 0,
      allotted: 0,
      blocked: 0,
      oversell: 0,
    }
    for (const kind of kinds) known[kind] += move[kind] ?? 0
    merged.set(keyOf(move), known)
  }
  return [...merged.values()].filter((move) => kinds.some((kind) => move[kind] !== 0))
}

const excess = (row: Counters) => Math.max(0, usage(row) - row.capacity - row.oversell)

type Reaper = (tenantId: string, nights: PoolNightKey[]) => Promise<boolean>
let reap: Reaper = () => Promise.reject(new Error('registerModules() has not been called in this process'))

/**
 * Registers the function that ends overdue holds on given nights, each in a transaction of its own, and answers whether it ended any.
 * It runs after a `sold_out`; the command is then repeated once. Holds belong to reservations, so `registerModules` calls this.
 */
export const registerReaper = (reaper: Reaper) => {
  reap = reaper
}

const refusals = {
  sold_out: ['Not enough is left on every night', 'is sold out'],
  capacity_in_use: ['More is sold than would be left', 'needs what would be taken away'],
} as const

const soldOut = (trx: Trx, short: PoolNightKey[], code: keyof typeof refusals = 'sold_out') => {
  const nights = [...new Set(short.map((row) => row.night))].sort()
  const { tenantId } = contextOf(trx)
  const [message, ofNight] = refusals[code]
  const error = conflict(
    code,
    message,
    nights.map((night) => ({ field: `nights.${night}`, message: ofNight })),
  )
  return tenantId === null
    ? error
    : withRecovery(error, () =>
        reap(
          tenantId,
          short.map(({ poolId, night }) => ({ poolId, night })),
        ),
      )
}

const beyondHorizon = (missing: PoolNightKey[]) =>
  unprocessable(
    'beyond_horizon',
    'These nights cannot be booked yet',
    [...new Set(missing.map((row) => row.night))]
      .sort()
      .map((night) => ({ field: `nights.${night}`, message: 'has no counters' })),
  )

export type LockedNight = PoolNight & {
  propertyId: string
  /** Public version of the property after all that the command has written before. */
  publicVersion: number
  /** A channel sells it too, and is to be told. */
  hasChannels: boolean
  /** A request on the waitlist waits for a room. */
  hasWaiting: boolean
  /** Those that are sold from the pool. */
  unitTypeIds: string[]
}

/** Locks counters in the one order of all commands, and reads them. */
export const lockPoolNights = (trx: Trx, keys: readonly PoolNightKey[]) =>
  prepared<LockedNight>(
    trx,
    `select n.pool_id, n.night, n.capacity, n.sold, n.held, n.allotted, n.blocked, n.oversell, n.forced, p.property_id, y.public_version,
       ${hasChannels('y')} as has_channels, ${hasWaiting('y')} as has_waiting,
       array(select t.unit_type_id from unit_type_pool t where t.tenant_id = n.tenant_id and t.unit_pool_id = n.pool_id order by t.unit_type_id) as unit_type_ids
     from pool_night n join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id
     join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
     where (n.pool_id, n.night) in (select * from unnest(?::uuid[], ?::date[]))
     order by n.pool_id, n.night for update of n`,
    [keys.map((key) => key.poolId), keys.map((key) => key.night)],
  )

const lastWall = new Counter({
  name: 'inventory_last_wall_total',
  help: 'Moves that only the check of the table has refused; there must be none',
  registers: [registry],
})
lastWall.inc(0)

/** Writes locked counters. The table's checks are the last wall. */
export const writePoolNights = (trx: Trx, rows: PoolNight[]): void =>
  later(
    trx,
    `update pool_night n set capacity = v.capacity, sold = v.sold, held = v.held, allotted = v.allotted, blocked = v.blocked,
       oversell = v.oversell, forced = v.forced
     from unnest(?::uuid[], ?::date[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[], ?::int[])
       as v(pool_id, night, capacity, sold, held, allotted, blocked, oversell, forced)
     where n.pool_id = v.pool_id and n.night = v.night`,
    [
      rows.map((row) => row.poolId),
      rows.map((row) => row.night),
      ...[...kinds, 'forced' as const].map((kind) => rows.map((row) => row[kind])),
    ],
    (error) => {
      if (!(error instanceof Error) || !('constraint' in error) || error.constraint !== 'pool_night_within_capacity')
        return undefined
      lastWall.inc()
      logOf(trx).error({ err: error, nights: rows.map(keyOf) }, 'the last wall of the inventory was reached')
      return soldOut(trx, rows)
    },
  )

type Options = {
  /** Takes what is not there: `forced` grows by the shortage. */
  force?: boolean
  /** Sees the locked rows as they will be, before they are written; may throw. */
  check?: (rows: LockedNight[]) => Promise<void> | void
  /** Error code of a short night; `capacity_in_use` if units are withdrawn rather than sold. */
  refusal?: keyof typeof refusals
  /** With `force`: the nights that were short. */
  onShort?: (rows: PoolNight[]) => void
}

/**
 * The only writer of the counters. All moves of a command come in one call, inside the transaction that writes what they stand
 * for. 409 `sold_out` names each short night, 422 `beyond_horizon` each one without counters. Answers the rows as written.
 */
export const moveInventory = async (
  trx: Trx,
  moves: readonly Move[],
  { force = false, check, refusal, onShort }: Options = {},
): Promise<PoolNight[]> => {
  const merged = merge(moves)
  if (merged.length === 0) return []
  const before = new Map((await lockPoolNights(trx, merged)).map((row) => [keyOf(row), row]))
  const missing = merged.filter((move) => !before.has(keyOf(move)))
  if (missing.length > 0) throw beyondHorizon(missing)

  const after: LockedNight[] = []
  const short: (PoolNight & { shortage: number })[] = []
  for (const move of merged) {
    const row = { ...before.get(keyOf(move))! }
    for (const kind of kinds) row[kind] += move[kind]
    const shortage = excess(row) - row.forced
    if (shortage > 0) {
      short.push({ ...row, shortage })
      if (force) row.forced += shortage
    }
    row.forced = Math.min(row.forced, excess(row))
    after.push(row)
  }
  if (short.length > 0 && !force) throw soldOut(trx, short, refusal)
  if (short.length > 0) onShort?.(short)
  after.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  await check?.(after)
  writePoolNights(trx, after)
  await announce(trx, before, after, force ? short : [])
  await tellChannels(trx, [...before.values()], after)
  await tellWaiting(trx, before, after)
  return after
}

export const freeOf = (row: Counters) => Math.max(0, row.capacity + row.oversell - usage(row))

/** Asks that channels be told of the nights on which more or less is free than before. */
const tellChannels = async (trx: Trx, before: readonly LockedNight[], after: readonly LockedNight[]) => {
  if (!before.some((row) => row.hasChannels)) return
  const freeBefore = new Map(before.map((row) => [keyOf(row), freeOf(row)]))
  const changed = after.filter((row) => row.hasChannels && freeOf(row) !== freeBefore.get(keyOf(row)))
  for (const propertyId of new Set(changed.map((row) => row.propertyId))) {
    const ofProperty = changed.filter((row) => row.propertyId === propertyId)
    const nights = ofProperty.map((row) => row.night).sort()
    await requestMarks(trx, {
      propertyId,
      kind: 'availability',
      from: nights[0]!,
      to: nights.at(-1)!,
      unitPoolIds: [...new Set(ofProperty.map((row) => row.poolId))],
    })
  }
}

/** Asks that those who wait be looked for where nights have become free. */
const tellWaiting = async (trx: Trx, before: ReadonlyMap<string, LockedNight>, after: readonly LockedNight[]) => {
  const freed = after.filter((row) => row.hasWaiting && freeOf(row) > freeOf(before.get(keyOf(row))!))
  for (const propertyId of new Set(freed.map((row) => row.propertyId))) await requestMatches(trx, propertyId)
}

type Told = { poolId: string; night: string; units: number }

/** Tells of the nights that changed, of those that were forced, and of those of which nothing is overbooked any more. */
const announce = async (
  trx: Trx,
  before: ReadonlyMap<string, PoolNight>,
  rows: LockedNight[],
  forced: (PoolNight & { shortage: number })[],
) => {
  const pools = new Map<string, LockedNight[]>()
  for (const row of rows) pools.set(row.poolId, [...(pools.get(row.poolId) ?? []), row])
  await emitAll(
    trx,
    availabilityChanged,
    [...pools].map(([poolId, ofPool]) => {
      const { propertyId, unitTypeIds, night: from } = ofPool[0]!
      return { propertyId, id: poolId, version: null, data: { unitTypeIds, from, to: ofPool.at(-1)!.night } }
    }),
  )
  const tell = async (event: typeof inventoryOversold, told: readonly Told[]) => {
    const facts = [...pools].flatMap(([poolId, ofPool]) => {
      const nights = told.filter((one) => one.poolId === poolId).map(({ night, units }) => ({ date: night, units }))
      const data = { unitPoolId: poolId, nights: nights.slice(0, mostNights) }
      return nights.length > 0 ? [{ propertyId: ofPool[0]!.propertyId, id: poolId, version: null, data }] : []
    })
    await emitAll(trx, event, facts)
  }
  await tell(
    inventoryOversold,
    forced.map(({ poolId, night, shortage }) => ({ poolId, night, units: shortage })),
  )
  await tell(
    inventoryRecovered,
    rows.flatMap((row) => {
      const units = before.get(keyOf(row))?.forced ?? 0
      return units > 0 && row.forced === 0 ? [{ poolId: row.poolId, night: row.night, units }] : []
    }),
  )
}
