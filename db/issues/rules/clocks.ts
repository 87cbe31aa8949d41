import type { IssueRow } from '../../rows.ts'
import { always } from './hours.ts'
import type { Hours } from './hours.ts'

/** The fields of an issue by which its two clocks run. */
export type Clocks = Pick<
  IssueRow,
  | 'status'
  | 'createdAt'
  | 'firstResponseMinutes'
  | 'firstResponseDueAt'
  | 'firstRespondedAt'
  | 'firstResponseBreachedAt'
  | 'resolutionMinutes'
  | 'resolutionFrom'
  | 'resolutionDueAt'
  | 'resolutionBreachedAt'
  | 'overdueSteps'
  | 'waitingSince'
  | 'waitedSeconds'
>

const minute = 60_000
const earliest = (...instants: (Date | null)[]): Date | null =>
  instants.reduce((first, one) => (first === null || (one !== null && one < first) ? one : first), null)

const isUnderWay = ({ status }: Pick<Clocks, 'status'>) => status === 'open' || status === 'in_progress'
const isUnanswered = ({ status, firstRespondedAt }: Clocks) =>
  firstRespondedAt === null && status !== 'resolved' && status !== 'closed'

/** Instants at which a resolution that is still missing is escalated: its deadline, and 150 and 200 % of its target (R5). */
const resolutionSteps = ({ resolutionDueAt, resolutionMinutes }: Clocks, hours: Hours): Date[] =>
  [0, 1, 2].map((step) => hours.after(resolutionDueAt, (step * resolutionMinutes * minute) / 2))

const stepsTaken = ({ resolutionBreachedAt, overdueSteps }: Clocks) =>
  resolutionBreachedAt === null ? 0 : 1 + overdueSteps

/**
 * `nextDueAt`: the nearest deadline that is not met, for people; null while none runs. `checkAt`: the instant at which the sweep has something to do.
 */
export const instantsOf = (clocks: Clocks, hours = always): { nextDueAt: Date | null; checkAt: Date | null } => ({
  nextDueAt: earliest(
    isUnanswered(clocks) ? clocks.firstResponseDueAt : null,
    isUnderWay(clocks) ? clocks.resolutionDueAt : null,
  ),
  checkAt: earliest(
    isUnanswered(clocks) && clocks.firstResponseBreachedAt === null ? clocks.firstResponseDueAt : null,
    isUnderWay(clocks) ? (resolutionSteps(clocks, hours)[stepsTaken(clocks)] ?? null) : null,
  ),
})

/** Deadlines that have passed and were not told of yet, and how often the issue is to be escalated for them. */
export const missedBy = (clocks: Clocks, now: Date, hours = always) => {
  const firstResponse =
    isUnanswered(clocks) && clocks.firstResponseBreachedAt === null && clocks.firstResponseDueAt <= now
  const passed = isUnderWay(clocks) ? resolutionSteps(clocks, hours).filter((at) => at <= now).length : 0
  const taken = stepsTaken(clocks)
  const steps = Math.max(0, passed - taken)
  return {
    firstResponse,
    resolution: steps > 0 && taken === 0,
    overdueSteps: Math.max(clocks.overdueSteps, passed - 1),
    escalations: (firstResponse ? 1 : 0) + steps,
  }
}

/**
 * The resolution clock goes on after the wait with what was left of it when the wait began. One that was missed does not run again (R3). Time waited is counted as
 * the clock counts.
 */
export const afterWaiting = (clocks: Clocks, now: Date, hours = always) => {
  const { waitingSince, waitedSeconds, resolutionDueAt, resolutionBreachedAt } = clocks
  const waited = waitingSince === null ? 0 : hours.between(waitingSince, now)
  return {
    waitedSeconds: waitedSeconds + Math.round(waited / 1_000),
    resolutionDueAt: resolutionBreachedAt === null ? hours.after(resolutionDueAt, waited) : resolutionDueAt,
  }
}

type Target = { firstResponseMinutes: number; resolutionMinutes: number }

/** Deadlines by other targets, from the creation or reopening, plus the time waited; a clock that was met or missed stays (R1). */
export const retargeted = (clocks: Clocks, { firstResponseMinutes, resolutionMinutes }: Target, hours = always) => ({
  ...(clocks.firstRespondedAt === null && clocks.firstResponseBreachedAt === null
    ? { firstResponseMinutes, firstResponseDueAt: hours.after(clocks.createdAt, firstResponseMinutes * minute) }
    : {}),
  ...(clocks.resolutionBreachedAt === null
    ? {
        resolutionMinutes,
        resolutionDueAt: hours.after(clocks.resolutionFrom, resolutionMinutes * minute + clocks.waitedSeconds * 1_000),
      }
    : {}),
})

/** The clocks of an issue that begins at `now`. */
export const startedAt = (now: Date, { firstResponseMinutes, resolutionMinutes }: Target, hours = always) => ({
  firstResponseMinutes,
  firstResponseDueAt: hours.after(now, firstResponseMinutes * minute),
  resolutionMinutes,
  resolutionFrom: now,
  resolutionDueAt: hours.after(now, resolutionMinutes * minute),
})

/** Fields that are derived for readers (R4). `paused`: the resolution waits for somebody. */
export const readingOf = (clocks: Clocks & Pick<IssueRow, 'nextDueAt'>, now: Date) => ({
  late:
    (clocks.nextDueAt !== null && clocks.nextDueAt < now) ||
    (clocks.status === 'waiting' && clocks.resolutionBreachedAt !== null),
  dueInMinutes: clocks.nextDueAt === null ? null : Math.ceil((clocks.nextDueAt.getTime() - now.getTime()) / minute),
  paused: clocks.status === 'waiting',
})
