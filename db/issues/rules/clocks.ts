import type { IssueRow } from '../../rows.ts'

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
const later = (at: Date, ms: number) => new Date(at.getTime() + ms)
const earliest = (...instants: (Date | null)[]): Date | null =>
  instants.reduce((first, one) => (first === null || (one !== null && one < first) ? one : first), null)

const isUnderWay = ({ status }: Pick<Clocks, 'status'>) => status === 'open' || status === 'in_progress'
const isUnanswered = ({ status, firstRespondedAt }: Clocks) =>
  firstRespondedAt === null && status !== 'resolved' && status !== 'closed'

/** Instants at which a resolution that is still missing is escalated: its deadline, and 150 and 200 % of its target (R5). */
const resolutionSteps = ({ resolutionDueAt, resolutionMinutes }: Clocks): Date[] =>
  [0, 1, 2].map((step) => later(resolutionDueAt, (step * resolutionMinutes * minute) / 2))

const stepsTaken = ({ resolutionBreachedAt, overdueSteps }: Clocks) =>
  resolutionBreachedAt === null ? 0 : 1 + overdueSteps

/**
 * `nextDueAt`: the nearest deadline that is not met, for people; null while none runs. `checkAt`: the instant at which the sweep has something to do.
 */
export const instantsOf = (clocks: Clocks): { nextDueAt: Date | null; checkAt: Date | null } => ({
  nextDueAt: earliest(
    isUnanswered(clocks) ? clocks.firstResponseDueAt : null,
    isUnderWay(clocks) ? clocks.resolutionDueAt : null,
  ),
  checkAt: earliest(
    isUnanswered(clocks) && clocks.firstResponseBreachedAt === null ? clocks.firstResponseDueAt : null,
    isUnderWay(clocks) ? (resolutionSteps(clocks)[stepsTaken(clocks)] ?? null) : null,
  ),
})

/** Deadlines that have passed and were not told of yet, and how often the issue is to be escalated for them. */
export const missedBy = (clocks: Clocks, now: Date) => {
  const firstResponse =
    isUnanswered(clocks) && clocks.firstResponseBreachedAt === null && clocks.firstResponseDueAt <= now
  const passed = isUnderWay(clocks) ? resolutionSteps(clocks).filter((at) => at <= now).length : 0
  const taken = stepsTaken(clocks)
  const steps = Math.max(0, passed - taken)
  return {
    firstResponse,
    resolution: steps > 0 && taken === 0,
    overdueSteps: Math.max(clocks.overdueSteps, passed - 1),
    escalations: (firstResponse ? 1 : 0) + steps,
  }
}

/** The resolution clock goes on after `now - waitingSince` of waiting. One that was missed does not run again (R3). */
export const afterWaiting = (clocks: Clocks, now: Date) => {
  const waited = clocks.waitingSince === null ? 0 : Math.max(0, now.getTime() - clocks.waitingSince.getTime())
  return {
    waitedSeconds: clocks.waitedSeconds + Math.round(waited / 1_000),
    resolutionDueAt:
      clocks.resolutionBreachedAt === null ? later(clocks.resolutionDueAt, waited) : clocks.resolutionDueAt,
  }
}

type Target = { firstResponseMinutes: number; resolutionMinutes: number }

/** Deadlines by other targets, from the creation or reopening, plus the time waited; a clock that was met or missed stays (R1). */
export const retargeted = (clocks: Clocks, { firstResponseMinutes, resolutionMinutes }: Target) => ({
  ...(clocks.firstRespondedAt === null && clocks.firstResponseBreachedAt === null
    ? { firstResponseMinutes, firstResponseDueAt: later(clocks.createdAt, firstResponseMinutes * minute) }
    : {}),
  ...(clocks.resolutionBreachedAt === null
    ? {
        resolutionMinutes,
        resolutionDueAt: later(clocks.resolutionFrom, resolutionMinutes * minute + clocks.waitedSeconds * 1_000),
      }
    : {}),
})

/** The clocks of an issue that begins at `now`. */
export const startedAt = (now: Date, { firstResponseMinutes, resolutionMinutes }: Target) => ({
  firstResponseMinutes,
  firstResponseDueAt: later(now, firstResponseMinutes * minute),
  resolutionMinutes,
  resolutionFrom: now,
  resolutionDueAt: later(now, resolutionMinutes * minute),
})

/** Fields that are derived for readers (R4). `paused`: the resolution waits for somebody. */
export const readingOf = (clocks: Clocks & Pick<IssueRow, 'nextDueAt'>, now: Date) => ({
  late:
    (clocks.nextDueAt !== null && clocks.nextDueAt < now) ||
    (clocks.status === 'waiting' && clocks.resolutionBreachedAt !== null),
  dueInMinutes: clocks.nextDueAt === null ? null : Math.ceil((clocks.nextDueAt.getTime() - now.getTime()) / minute),
  paused: clocks.status === 'waiting',
})
