/** Jobs of one tenant, account and kind that may go now, in their order. */
export type Lane<J> = {
  tenant: string
  gate: string
  kind: string
  /** Only so many may pass as there are tokens of its account or kind. */
  isLimited: boolean
  /** There are more than these. */
  isCut: boolean
  jobs: readonly J[]
}

type Order = { runAt: Date; seq: number }

export type Allocation<J> = {
  jobs: J[]
  /** The tenant whose turn was the last; null where none was served in the round. */
  last: string | null
  /** A tenant has more jobs than its share lets through. */
  isHeldBack: boolean
  /** Tenants below their share want the rest of the room, and more than was given here. */
  isWanted: boolean
}

type Limits = {
  room: number
  /** Most jobs of one tenant in the window while others wait, those included that are there. */
  share: number
  /** The number of jobs to which tenants beyond their share may fill the window while no other tenant wants the rest. */
  depth: number
  /** Jobs of each tenant in the window; this function counts on. */
  held: Map<string, number>
  /** Jobs that accounts and kinds still let through; this function counts down. Names that are missing have no limit. */
  tokens: Map<string, number>
}

/** Keys under which a lane may be limited: its account and its kind. */
export const limitsOf = ({ gate, kind }: { gate: string; kind: string }): string[] =>
  gate === '' ? [`kind:${kind}`] : [gate, `kind:${kind}`]

type Contestant<J> = { tenant: string; jobs: { job: J; keys: string[] }[] }

const contestants = <J extends Order>(lanes: readonly Lane<J>[]): Contestant<J>[] => {
  const found = new Map<string, Contestant<J>>()
  for (const lane of lanes) {
    const one = found.get(lane.tenant) ?? { tenant: lane.tenant, jobs: [] }
    const keys = lane.isLimited ? limitsOf(lane) : []
    one.jobs.push(...lane.jobs.map((job) => ({ job, keys })))
    found.set(lane.tenant, one)
  }
  for (const { jobs } of found.values())
    jobs.sort((a, b) => a.job.runAt.getTime() - b.job.runAt.getTime() || a.job.seq - b.job.seq)
  return [...found.values()]
}

/** Serves one job of each lane in turn, round after round, until the room is used or no lane may go. Answers the last lane. */
const serve = <J>(
  round: Contestant<J>[],
  room: number,
  { held, tokens, share }: Pick<Limits, 'held' | 'tokens' | 'share'>,
  taken: J[],
): string | null => {
  let last: string | null = null
  let left = room
  for (let going = round; left > 0 && going.length > 0;) {
    const still: Contestant<J>[] = []
    for (const one of going) {
      if (left === 0) return last
      const has = held.get(one.tenant) ?? 0
      if (has >= share) continue
      const at = one.jobs.findIndex(({ keys }) => keys.every((key) => (tokens.get(key) ?? 1) >= 1))
      const [next] = at < 0 ? [] : one.jobs.splice(at, 1)
      if (!next) continue
      for (const key of next.keys) if (tokens.has(key)) tokens.set(key, (tokens.get(key) ?? 0) - 1)
      held.set(one.tenant, has + 1)
      taken.push(next.job)
      last = one.tenant
      left -= 1
      still.push(one)
    }
    going = still
  }
  return last
}

/** Shuffles items, so that no tenant can count on being first at a narrow gate. */
const shuffled = <T>(items: T[], random: () => number): T[] => {
  const mixed = [...items]
  for (let n = mixed.length - 1; n > 0; n -= 1) {
    const at = Math.floor(random() * (n + 1))
    const [one, other] = [mixed[n], mixed[at]]
    if (one !== undefined && other !== undefined) [mixed[n], mixed[at]] = [other, one]
  }
  return mixed
}

/**
 * Shares a room among tenants: lanes come in the order of their turns, and each tenant gets one job per round. Those that stand at a
 * gate with a rate are drawn by lot and get at most half of the room while others want it.
 */
export const allocate = <J extends Order>(
  lanes: readonly Lane<J>[],
  limits: Limits,
  random: () => number = Math.random,
): Allocation<J> => {
  const free = contestants(lanes.filter((lane) => !lane.isLimited))
  const limited = shuffled(contestants(lanes.filter((lane) => lane.isLimited)), random)
  const jobs: J[] = []
  if (limited.length > 0) serve(limited, free.length > 0 ? Math.ceil(limits.room / 2) : limits.room, limits, jobs)
  const last = serve(free, limits.room - jobs.length, limits, jobs)
  if (free.length > 0 && limited.length > 0) serve(limited, limits.room - jobs.length, limits, jobs)
  const hasMore = new Set(lanes.filter((lane) => lane.isCut && !lane.isLimited).map((lane) => lane.tenant))
  const isWanted = jobs.length < limits.room && [...hasMore].some((each) => (limits.held.get(each) ?? 0) < limits.share)
  // All have their share: what is left is theirs as well, as far as the queue drains it.
  const inWindow = [...limits.held.values()].reduce((sum, count) => sum + count, 0)
  const rest = isWanted ? 0 : Math.max(0, Math.min(limits.room - jobs.length, limits.depth - inWindow))
  const before = jobs.length
  const unbound = { ...limits, share: Number.POSITIVE_INFINITY }
  const again = serve(free, rest, unbound, jobs)
  serve(limited, rest - (jobs.length - before), unbound, jobs)
  const isHeldBack = lanes.some((lane) => !lane.isLimited && (limits.held.get(lane.tenant) ?? 0) >= limits.share)
  return { jobs, last: again ?? last, isHeldBack, isWanted }
}
