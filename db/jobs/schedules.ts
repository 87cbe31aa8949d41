import { CronExpressionParser } from 'cron-parser'
import type { Schedule } from '../../jobs/job.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'

/** A slot of a cron schedule older than this is a missed one. */
const graceMs = 60_000
/** Number of missed slots that `all` makes up in one transaction, at most. */
const mostBackfilled = 1000

type Clock = Pick<Schedule, 'everySeconds' | 'cron' | 'timeZone'>

/** The first slot after `instant`. Seconds count from the epoch, so every process finds the same slots. */
export const slotAfter = (clock: Clock, instant: Date): Date => {
  if (clock.everySeconds !== undefined) {
    const step = clock.everySeconds * 1000
    return new Date((Math.floor(instant.getTime() / step) + 1) * step)
  }
  if (clock.cron === undefined) throw new TypeError('a schedule needs seconds or a cron expression')
  return CronExpressionParser.parse(clock.cron, { currentDate: instant, tz: clock.timeZone ?? 'UTC' })
    .next()
    .toDate()
}

const slotBefore = (clock: Clock, instant: Date): Date => {
  if (clock.everySeconds !== undefined) {
    const step = clock.everySeconds * 1000
    return new Date(Math.floor(instant.getTime() / step) * step)
  }
  if (clock.cron === undefined) throw new TypeError('a schedule needs seconds or a cron expression')
  return CronExpressionParser.parse(clock.cron, {
    currentDate: new Date(instant.getTime() + 1),
    tz: clock.timeZone ?? 'UTC',
  })
    .prev()
    .toDate()
}

/** The slots from `nextAt` up to `now` that become jobs, by the schedule's rule for missed ones. */
export const dueSlots = (schedule: Clock & Pick<Schedule, 'backfill'>, nextAt: Date, now: Date): Date[] => {
  if (nextAt > now) return []
  if (schedule.backfill === 'all') {
    const slots: Date[] = []
    for (let slot = nextAt; slot <= now && slots.length < mostBackfilled; slot = slotAfter(schedule, slot))
      slots.push(slot)
    return slots
  }
  const last = slotBefore(schedule, now)
  const slot = last < nextAt ? nextAt : last
  const missed = schedule.everySeconds === undefined && now.getTime() - slot.getTime() > graceMs
  return schedule.backfill === 'none' && missed ? [] : [slot]
}

/** Writes the declared schedules; one that is declared no more goes. A changed clock begins anew. */
export const declareSchedules = async (trx: PlatformTrx, schedules: readonly Schedule[], now: Date): Promise<void> => {
  const rows = schedules.map((schedule) => ({
    kind: schedule.job.name,
    everySeconds: schedule.everySeconds ?? null,
    cron: schedule.cron ?? null,
    timeZone: schedule.timeZone ?? 'UTC',
    backfill: schedule.backfill,
    nextAt: slotAfter(schedule, now),
  }))
  await sql(
    trx,
    `insert into schedule (kind, every_seconds, cron, time_zone, backfill, next_at)
     select kind, "everySeconds", cron, "timeZone", backfill, "nextAt" from jsonb_to_recordset(cast(:rows as jsonb))
       as r (kind text, "everySeconds" int, cron text, "timeZone" text, backfill text, "nextAt" timestamptz) order by kind
     on conflict (kind) do update set every_seconds = excluded.every_seconds, cron = excluded.cron, time_zone = excluded.time_zone,
       backfill = excluded.backfill, next_at = excluded.next_at, updated_at = now()
     where (schedule.every_seconds, schedule.cron, schedule.time_zone) is distinct from (excluded.every_seconds, excluded.cron, excluded.time_zone)
       or schedule.backfill <> excluded.backfill`,
    { rows: JSON.stringify(rows) },
  )
  await sql(trx, `delete from schedule where kind <> all(?)`, [schedules.map((schedule) => schedule.job.name)])
}

type Due = { kind: string; nextAt: Date; now: Date; isBusy: boolean }

/**
 * Makes the jobs of the slots that are due. Any number of schedulers may do so at once: a schedule's row is locked by one, and a
 * slot's key is unique. A kind that catches up by itself (backfill none) gets no second job while one is live.
 * Answers the kinds that got jobs.
 */
export const fireDue = async (trx: PlatformTrx, schedules: readonly Schedule[]): Promise<string[]> => {
  const due = await sql<Due>(
    trx,
    `select kind, next_at, clock_timestamp() as now,
       exists (select from jobs where jobs.kind = schedule.kind and tenant_id is null and status <> 'dead') as is_busy
     from schedule where next_at <= now() order by next_at, kind for update skip locked`,
  )
  const fired: string[] = []
  const moved: { kind: string; nextAt: Date; lastAt: Date | null }[] = []
  for (const { kind, nextAt, now, isBusy } of due) {
    const schedule = schedules.find((each) => each.job.name === kind)
    if (!schedule) continue
    const slots = dueSlots(schedule, nextAt, now)
    const last = slots.at(-1) ?? null
    // Slots beyond the most that is made up at once stay due, and follow with the next look.
    const isCut = slots.length === mostBackfilled && last !== null
    moved.push({ kind, nextAt: slotAfter(schedule, isCut ? last : now), lastAt: last })
    if (schedule.backfill === 'none' && isBusy) continue
    for (const slot of slots) await enqueue(trx, schedule.job, {}, { uniqueKey: `slot:${slot.toISOString()}` })
    if (slots.length > 0) fired.push(kind)
  }
  if (moved.length > 0)
    await sql(
      trx,
      `update schedule set next_at = moved."nextAt", last_at = coalesce(moved."lastAt", last_at), updated_at = now()
       from jsonb_to_recordset(cast(? as jsonb)) as moved (kind text, "nextAt" timestamptz, "lastAt" timestamptz) where moved.kind = schedule.kind`,
      [JSON.stringify(moved)],
    )
  return fired
}

/** Counts misses in a row of a scheduled kind; a slot that ran starts the count again. */
export const countMiss = async (trx: PlatformTrx, kind: string, missed: boolean): Promise<number> => {
  const row = await sqlOne<{ misses: number }>(
    trx,
    `update schedule set misses = case when ? then misses + 1 else 0 end where kind = ? and (? or misses > 0) returning misses`,
    [missed, kind, missed],
  )
  return row?.misses ?? 0
}
