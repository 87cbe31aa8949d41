import type { JobClass, QueueName } from '../../config/queues.ts'
import { later, prepared } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { allocate, limitsOf } from './rules/allocation.ts'
import type { Lane } from './rules/allocation.ts'
import { nearMs, noTenant, tenantKey as tenant } from './dispatch.ts'
import type { Candidate, Pick, Picked, Room } from './dispatch.ts'
import { milliTokensNow, pausedIn, spendTokens, tokensOf } from './gates.ts'

/** Most lanes that one look walks past, where most of them are paused or closed. */
const mostLanes = 1000
const classes: readonly JobClass[] = ['urgent', 'normal', 'bulk']
/** Share of a window that each waiting class gets, whatever is more urgent. */
const reserve = (window: number) => Math.max(1, Math.floor(window / 10))

const firstLane = (condition: string) => `
  select ${tenant} as tenant, gate, kind from jobs
  where queue = :queue and class = :class and status = 'pending' and ready and ${condition}
  order by ${tenant}, gate, kind limit 1`

/** Tells whether a lane may go: not paused, its account open (or due to be tried), a token there. */
const standing = (lane: string) => `
  select not ${pausedIn({ queue: ':queue', kind: `${lane}.kind`, tenantId: `${lane}.tenant`, gate: `${lane}.gate` })}
    and coalesce(bool_and(
      (g.state = 'open' or (g.closed_until <= clock_timestamp() and (g.probe_job_id is null or g.probe_until < clock_timestamp())))
      and (g.rate_per_second is null or ${milliTokensNow('g')} >= 1000)), true) as may,
    coalesce(bool_or(g.rate_per_second is not null or g.state = 'closed'), false) as limited
  from provider_gate g where g.gate in (${lane}.gate, 'kind:' || ${lane}.kind)`

const walk = (name: string, begin: string, end: string) => `
  ${name} as (
    select lane.*, stand.*, 1 as seen, (stand.may and not stand.limited)::int as served,
      case when stand.may and not stand.limited then lane.tenant end as last_served
    from (${firstLane(begin)}) lane cross join lateral (${standing('lane')}) stand
    union all
    select lane.*, stand.*, ${name}.seen + 1,
      ${name}.served + (stand.may and not stand.limited and lane.tenant is distinct from ${name}.last_served)::int,
      case when stand.may and not stand.limited then lane.tenant else ${name}.last_served end
    from ${name}
      cross join lateral (${firstLane(`(${tenant}, gate, kind) > (${name}.tenant, ${name}.gate, ${name}.kind) and ${end}`)}) lane
      cross join lateral (${standing('lane')}) stand
    where ${name}.seen < :mostLanes and ${name}.served <= :most)`

type Job = Candidate & { runAt: Date; seq: number }
type Found = Omit<Job, 'id'> & {
  id: string | null
  laneTenant: string
  laneGate: string
  laneKind: string
  limited: boolean
  may: boolean
  /** Jobs fetched of a lane, at most. */
  each: number
  walked: number
  /** The tenant whose turn was the last so far. */
  turn: string
}

/**
 * The lanes of a class from the tenant whose turn is next, each with its first jobs, locked. A lane is found by one step in the index
 * jobs_turn, so what this costs follows the number of tenants served, not the number of jobs that wait.
 */
const lanesOf = (trx: PlatformTrx, queue: QueueName, jobClass: JobClass, room: Room) =>
  prepared<Found>(
    trx,
    `with recursive turn as materialized (
       select coalesce((select tenant_id from relay_turn where queue = :queue and class = :class), '${noTenant}'::uuid) as last),
     ${walk('later', `${tenant} > (select last from turn)`, 'true')},
     ${walk(
       'early',
       `${tenant} <= (select last from turn) and coalesce((select max(served) <= :most and max(seen) < :mostLanes from later), true)`,
       `${tenant} <= (select last from turn)`,
     )},
     lane as materialized (select 0 as part, * from later union all select 1, * from early),
     held as materialized (select unnest(cast(:heldTenants as uuid[])) as tenant, unnest(cast(:heldCounts as int[])) as count),
     counted as materialized (
       select
         greatest(1, ceil(cast(:most as float8) / greatest(1, (select count(distinct tenant) from lane where may))))::int as each,
         (select count(*) from lane)::int as walked)
     select lane.tenant as lane_tenant, lane.gate as lane_gate, lane.kind as lane_kind, lane.limited, lane.may,
       counted.each, counted.walked, (select last from turn) as turn, picked.*
     from lane cross join counted left join held on held.tenant = lane.tenant left join lateral (
       select id, queue, kind, tenant_id, payload, gate, dispatch_no + 1 as dispatch_no, request_id, traceparent, run_at, seq, 0 as delay_ms
       from jobs where queue = :queue and class = :class and status = 'pending' and ready
         and ${tenant} = lane.tenant and gate = lane.gate and kind = lane.kind
       order by run_at, seq
       limit case when lane.may then least(counted.each, greatest(0, :share::int - coalesce(held.count, 0), :depth::int - :held::int)) else 0 end
       for update skip locked) as picked on true
     order by lane.part, lane.seen, picked.run_at, picked.seq`,
    {
      queue,
      class: jobClass,
      most: room.due,
      mostLanes,
      share: room.share,
      depth: room.depth,
      held: room.held,
      heldTenants: [...room.heldByTenant.keys()],
      heldCounts: [...room.heldByTenant.values()],
    },
  )

type Waiting = { first: Found; lastTenant: string; lanes: Lane<Job>[]; available: number }

const waitingIn = (rows: Found[]): Waiting | null => {
  const [first, end] = [rows[0], rows.at(-1)]
  if (!first || !end) return null
  const lanes = new Map<string, Lane<Job> & { jobs: Job[] }>()
  for (const row of rows.filter(({ may }) => may)) {
    const key = `${row.laneTenant} ${row.laneGate} ${row.laneKind}`
    const lane = lanes.get(key) ?? {
      tenant: row.laneTenant,
      gate: row.laneGate,
      kind: row.laneKind,
      isLimited: row.limited,
      isCut: false,
      jobs: [],
    }
    if (row.id !== null) lane.jobs.push({ ...row, id: row.id })
    lanes.set(key, { ...lane, isCut: !lane.isLimited && lane.jobs.length >= row.each })
  }
  const found = [...lanes.values()]
  return {
    first,
    lastTenant: end.laneTenant,
    lanes: found,
    available: found.reduce((sum, lane) => sum + lane.jobs.length, 0),
  }
}

const keepTurn = (trx: PlatformTrx, queue: QueueName, jobClass: JobClass, last: string): void =>
  later(
    trx,
    `insert into relay_turn (queue, class, tenant_id) values (?, ?, ?) on conflict (queue, class) do update set tenant_id = excluded.tenant_id`,
    [queue, jobClass, last],
  )

const pickDue = async (trx: PlatformTrx, queue: QueueName, room: Room): Promise<Picked> => {
  const waiting = new Map<JobClass, Waiting>()
  for (const each of room.readyClasses) {
    const found = waitingIn(await lanesOf(trx, queue, each, room))
    if (found) waiting.set(each, found)
  }
  const limited = [...waiting.values()].flatMap(({ lanes }) => lanes.filter((lane) => lane.isLimited))
  const tokens = await tokensOf(trx, limited.flatMap(limitsOf))
  const before = new Map(tokens)
  const kept = (jobClass: JobClass) =>
    Math.min(
      waiting.get(jobClass)?.available ?? 0,
      Math.max(0, reserve(room.window) - (room.heldByClass.get(jobClass) ?? 0)),
    )
  const picked: Picked = { jobs: [], isHeldBack: false, more: false }
  for (const [at, jobClass] of classes.entries()) {
    const here = waiting.get(jobClass)
    if (!here) continue
    const { first, lanes } = here
    const keptForOthers = classes.slice(at + 1).reduce((sum, later) => sum + kept(later), 0)
    const given = allocate(lanes, {
      room: Math.max(0, room.due - picked.jobs.length - keptForOthers),
      share: room.share,
      depth: room.depth,
      held: room.heldByTenant,
      tokens,
    })
    picked.jobs.push(...given.jobs)
    picked.isHeldBack ||= given.isHeldBack
    // No lane here may go: the next look begins behind those that this one passed.
    const last = given.last ?? (first.walked >= mostLanes ? here.lastTenant : null)
    if (last !== null && last !== first.turn) keepTurn(trx, queue, jobClass, last)
    const isUsedUp = given.jobs.length === here.available && lanes.some((lane) => lane.isCut)
    picked.more ||= given.jobs.length > 0 && (given.isWanted || isUsedUp)
    // A tenant here has less than its share and precedes less urgent work: the next look brings more of its jobs.
    if (given.isWanted) break
  }
  picked.more &&= picked.jobs.length < room.due
  await spendTokens(trx, before, tokens, picked.jobs)
  return picked
}

/** Picks jobs due within a minute, which wait in Redis for their moment. Without room there, a job takes its turn when it is due. */
const pickNear = (trx: PlatformTrx, queue: QueueName, room: Room): Promise<Candidate[]> =>
  prepared<Candidate>(
    trx,
    `with soon as materialized (
       select id, ${tenant} as tenant, gate, kind, run_at, seq from jobs
       where queue = :queue and status = 'pending' and not ready and run_at > now() and run_at <= now() + make_interval(secs => :nearMs / 1000.0)
       order by run_at, seq limit :looked),
     ranked as (
       select soon.id, row_number() over (partition by soon.tenant order by soon.run_at, soon.seq) as place
       from soon cross join lateral (${standing('soon')}) stand where stand.may and not stand.limited)
     select id, queue, kind, tenant_id, payload, gate, dispatch_no + 1 as dispatch_no, request_id, traceparent,
       greatest(0, ceil(extract(epoch from run_at - clock_timestamp()) * 1000))::int as delay_ms
     from jobs where id in (select id from ranked where place <= :share) and status = 'pending'
     order by run_at, seq limit :waiting for update skip locked`,
    { queue, nearMs, looked: room.waiting * 4, share: room.share, waiting: room.waiting },
  )

/**
 * Chooses what a queue gets next: urgent before normal before bulk, with a tenth of the window kept for each class that waits; within
 * a class one job per tenant and round, from the tenant after the one that was served last; no tenant above its share while others
 * wait, and none of what is paused or whose account is closed.
 */
export const pickFair: Pick = async (trx, queue, room) => {
  const picked: Picked =
    room.due > 0 && room.readyClasses.length > 0
      ? await pickDue(trx, queue, room)
      : { jobs: [], isHeldBack: false, more: false }
  if (room.waiting > 0 && room.hasNear) picked.jobs.push(...(await pickNear(trx, queue, room)))
  return picked
}
