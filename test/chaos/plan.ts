import { randomOf } from './random.ts'

type Shape = {
  /** Its duration in seconds; none for faults of a moment. */
  seconds?: readonly [number, number]
  /** Faults of one group never last at the same time: together they would only hide each other. */
  group?: 'redis' | 'postgres' | 'gateway' | 'smtp' | 'carrier' | 'workers' | 'relays' | 'schedulers'
  /** At most so often in a run. */
  most?: number
  /** Needs so many seconds before the end of the faults. */
  early?: number
}

export const faults = {
  'kill api': {},
  'kill relay': {},
  'kill scheduler': {},
  'kill worker': {},
  'kill all workers': { group: 'workers' },
  'freeze worker past its lock': { seconds: [12, 18] },
  'freeze relay': { seconds: [3, 9], group: 'relays' },
  'freeze api': { seconds: [2, 8] },
  'end worker': {},
  'end api': {},
  'end relay': {},
  deploy: {},
  'no relay': { seconds: [15, 60], group: 'relays' },
  'missed slot': { seconds: [5, 10], group: 'schedulers' },
  'kill redis': { seconds: [1, 5], group: 'redis' },
  'wipe redis': { group: 'redis' },
  'hang redis': { seconds: [20, 20], group: 'redis' },
  'fill redis': { seconds: [8, 15], group: 'redis' },
  'lose keys of redis': { group: 'redis' },
  'restart postgres': { group: 'postgres' },
  'kill postgres': { group: 'postgres' },
  'terminate backends': { seconds: [2, 6], group: 'postgres' },
  'freeze connections to postgres': { seconds: [4, 15], group: 'postgres' },
  'reset connections to postgres': {},
  'slow postgres': { seconds: [5, 12], group: 'postgres' },
  'freeze connections to redis': { seconds: [4, 15], group: 'redis' },
  'reset connections to redis': {},
  'slow redis': { seconds: [5, 12], group: 'redis' },
  'drop answers of redis': { seconds: [2, 6], group: 'redis' },
  'drop answers of the gateway': { seconds: [4, 10], group: 'gateway' },
  'reset connections to the gateway': {},
  'gateway busy': { seconds: [4, 10], group: 'gateway' },
  'gateway slow': { seconds: [5, 12], group: 'gateway' },
  'gateway failing': { seconds: [4, 8], group: 'gateway' },
  'gateway acts and hangs': { seconds: [5, 12], group: 'gateway' },
  'gateway hangs': { seconds: [5, 12], group: 'gateway' },
  'gateway repeats callbacks': { seconds: [8, 15], group: 'gateway' },
  'gateway reorders callbacks': { seconds: [8, 15], group: 'gateway' },
  'gateway loses callbacks': { seconds: [8, 15], group: 'gateway' },
  'reset connections to smtp': {},
  'drop answers of smtp': { seconds: [3, 8], group: 'smtp' },
  'reset connections to the carrier': {},
  'drop answers of the carrier': { seconds: [3, 8], group: 'carrier' },
  'clock ahead': { seconds: [10, 20], group: 'workers' },
  'clock behind': { seconds: [10, 20], group: 'workers' },
  poison: { most: 1, early: 75 },
  'blocked loop': { most: 3, early: 30 },
  'newer producer': {},
} as const satisfies Record<string, Shape>

export type FaultName = keyof typeof faults

export type Planned = {
  name: FaultName
  /** After the beginning of the load. */
  atMs: number
  lastsMs: number
  /** The choice among several: the fault takes it modulo their number. */
  which: number
}

const firstAtMs = 3_000

/**
 * The faults of a run, from its seed alone: each name in turn, in an order of its own every round, a few seconds apart; what lasts
 * overlaps with what follows.
 */
export const planOf = (seed: number, lengthMs: number, only: readonly FaultName[] = []): Planned[] => {
  const random = randomOf(seed, 'plan')
  const names = (only.length > 0 ? [...only] : Object.keys(faults)) as FaultName[]
  const busyUntil = new Map<string, number>()
  const used = new Map<FaultName, number>()
  const plan: Planned[] = []
  let waiting: FaultName[] = []
  for (let atMs = firstAtMs; atMs < lengthMs; atMs += random.between(1_200, 5_000)) {
    if (waiting.length === 0) waiting = random.shuffled(names)
    const fits = (name: FaultName) => {
      const shape: Shape = faults[name]
      const [least] = shape.seconds ?? [0]
      return (
        (used.get(name) ?? 0) < (shape.most ?? Number.POSITIVE_INFINITY) &&
        atMs + (shape.early ?? least) * 1_000 <= lengthMs &&
        (busyUntil.get(shape.group ?? name) ?? 0) <= atMs
      )
    }
    const name = waiting.find(fits)
    if (!name) {
      // The faults left of this round are dropped where none of them can find a place any more.
      if (!waiting.some((one) => (busyUntil.get((faults[one] as Shape).group ?? one) ?? 0) > atMs)) waiting = []
      continue
    }
    waiting.splice(waiting.indexOf(name), 1)
    const shape: Shape = faults[name]
    const [least, most] = shape.seconds ?? [0, 0]
    const lastsMs = Math.min(random.between(least * 1_000, most * 1_000), lengthMs - atMs)
    busyUntil.set(shape.group ?? name, atMs + lastsMs + 2_000)
    used.set(name, (used.get(name) ?? 0) + 1)
    plan.push({ name, atMs, lastsMs, which: random.between(0, 999) })
  }
  return plan
}

export const shown = ({ name, atMs, lastsMs, which }: Planned): string =>
  `${(atMs / 1_000).toFixed(1).padStart(7)} s  ${name}${lastsMs > 0 ? ` for ${(lastsMs / 1_000).toFixed(1)} s` : ''}  (${which})`
