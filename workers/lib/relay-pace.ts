import type { Look } from '../../db/jobs/index.ts'

/** As long as nothing is known of how a queue drains. */
const fullPollMs = 20
/** The next look comes no sooner, however dry Redis was found. */
export const soonestMs = 2
const slowestPaceMs = 50
/** Share of the waiting jobs in Redis that may be taken before the next look: each look costs as much as several jobs. */
const takenBetween = 0.7
/** Shortest duration of one job that is assumed. Without it a dry queue would fall to nothing, and take long to recover. */
const quickestMs = 0.01
/** Fewer say little of how long one takes. */
const tellingJobs = 5

export type Depth = { depth: number; wasHeldBack: boolean }
/**
 * The speed at which a queue drains of which more waits. `left`: what the last look left in Redis, at `atMs` of the monotonic clock. `taken` over
 * `overMs`: since it was last known what each takes, which few jobs do not tell.
 */
export type Pace = { left: number; atMs: number; taken: number; overMs: number; eachMs: number | null }

/**
 * The part of a window that tenants may fill when their shares do not: two jobs for each that can run, and more where Redis is found nearly
 * dry while a tenant was held back. So a tenant alone keeps every worker busy, and the next tenant waits for about two jobs.
 */
export const nextDepth = (before: Depth | undefined, { window, concurrency, held, share }: Look): number => {
  const least = Math.min(window, Math.max(share, 2 * concurrency))
  if (concurrency === 0) return window
  const depth = Math.min(window, Math.max(least, before?.depth ?? least))
  if (before?.wasHeldBack && held <= depth / 2) return Math.min(window, depth * 2)
  return held > (depth * 3) / 4 ? Math.max(least, depth - Math.ceil(depth / 16)) : depth
}

/** As `left` jobs are in Redis after this look. Workers that are found without any would have taken more. */
export const keepPace = (before: Pace | null, { held, concurrency }: Look, left: number, atMs: number): Pace => {
  if (!before) return { left, atMs, taken: 0, overMs: 0, eachMs: null }
  const taken = before.taken + Math.max(0, before.left - held)
  const overMs = before.overMs + atMs - before.atMs
  if (taken < tellingJobs && overMs < slowestPaceMs) return { left, atMs, taken, overMs, eachMs: before.eachMs }
  const lately = overMs / Math.max(1, taken)
  const { eachMs: known } = before
  const isDry = held <= concurrency
  // Between what was known and what was seen: effects are committed, and told to Redis, in bursts.
  const mean = known === null ? lately : 2 / (1 / known + 1 / lately)
  const eachMs = isDry ? Math.min(lately, known ?? lately) / 1.5 : mean
  return { left, atMs, taken: 0, overMs: 0, eachMs: Math.max(quickestMs, eachMs) }
}

/** The next look at such a queue, in ms: once most of what is spare has been taken. Commits meanwhile wake the relay before. */
export const paceMs = ({ left, eachMs }: Pace, { held, concurrency }: Look): number => {
  if (concurrency === 0) return fullPollMs
  if (eachMs === null) return held <= concurrency ? soonestMs : fullPollMs
  return Math.min(slowestPaceMs, Math.max(soonestMs, (left - concurrency) * takenBetween * eachMs))
}
