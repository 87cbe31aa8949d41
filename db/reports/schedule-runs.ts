import { ApiError } from '../../config/errors.ts'
import { reportOf } from '../../config/reports.ts'
import { todayIn } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { changeRow } from '../lib/records.ts'
import { mailUser } from '../ocp/index.ts'
import { parametersAt } from './check.ts'
import { ReportSchedule } from './models.ts'
import { rightsOf } from './rights.ts'
import { nextSlot } from './rules/schedule.ts'
import type { Clock } from './rules/schedule.ts'
import { startRun } from './runs.ts'
import { countFailure, disableSchedule } from './schedule-failures.ts'
import { readSchedule } from './schedules.ts'
import type { Schedule } from './schedules.ts'

/** A time that was missed by more is dropped. */
const dayMs = 86_400_000

/** Schedules whose time has come, or whose day has closed, by id. */
export const schedulesDue = (trx: PlatformTrx, after: string, count: number) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from report_schedules_due(?::uuid, ?)`, [
    after,
    count,
  ])

/** The run that a schedule is about to make: the slot is its name for ever, and no two runs have one. */
type Slot = { key: string; on: string; seen: Partial<Pick<Schedule, 'nextRunAt' | 'closedOn'>> }

const clockSlot = (trigger: Clock, nextRunAt: Date | null, now: Date): Slot | null => {
  if (nextRunAt === null || nextRunAt > now) return null
  const seen = { nextRunAt: nextSlot(trigger, now).at }
  // Of several times that were missed the last one is made, if it is not too old.
  let due = nextRunAt
  for (let next = nextSlot(trigger, due).at; next <= now; next = nextSlot(trigger, due).at) due = next
  const key = now.getTime() - due.getTime() < dayMs ? due.toISOString() : ''
  return { key, on: todayIn(trigger.timeZone, due), seen }
}

const closedSlot = async (trx: Trx, { propertyId, closedOn }: Schedule): Promise<Slot | null> => {
  const day = await sqlOne<{ date: string; isOld: boolean }>(
    trx,
    `select date, closed_at < now() - interval '1 day' as is_old from business_day where tenant_id = ? and property_id = ? and status = 'closed'
       and date > coalesce(?::date, '-infinity') order by date limit 1`,
    [contextOf(trx).tenantId, propertyId, closedOn],
  )
  if (!day) return null
  // A schedule that goes over to another property meets the days of both.
  return { key: day.isOld ? '' : `${day.date} ${propertyId}`, on: day.date, seen: { closedOn: day.date } }
}

const make = async (trx: Trx, schedule: Schedule, { key, on }: Slot): Promise<string | null> => {
  const { id, report, format, locale, ownerId } = schedule
  const { subject } = reportOf(report)
  const { sight, refusal } = await rightsOf(trx, { callerId: ownerId, byKey: false, subject })
  if (refusal !== null) {
    await disableSchedule(trx, schedule, refusal)
    return null
  }
  const parameters = await parametersAt(trx, report, { given: schedule.parameters, on, sight })
  const caller = { id: ownerId, isKey: false }
  return startRun(trx, { report, parameters, format, locale, caller, sight, schedule: { id, slot: key } })
}

/**
 * Makes the run of a schedule that is due, with its owner's rights of this moment, and moves it on to its next time, in one transaction. While a run of it is under way,
 * or the tenant has as many as it may have (`full`), it waits for the next tick.
 */
export const runSchedule = async (trx: Trx, id: string, now = new Date()): Promise<'done' | 'nothing' | 'full'> => {
  const { tenantId } = contextOf(trx)
  const locked = await sqlOne(
    trx,
    `select id from report_schedule where tenant_id = ? and id = ? and active for no key update skip locked`,
    [tenantId, id],
  )
  if (!locked) return 'nothing'
  const schedule = await readSchedule(trx, id)
  const { trigger } = schedule
  const slot = trigger.type === 'clock' ? clockSlot(trigger, schedule.nextRunAt, now) : await closedSlot(trx, schedule)
  if (!slot) return 'nothing'
  const busy = await sqlOne(
    trx,
    `select id from report_run where tenant_id = ? and schedule_id = ? and status in ('queued', 'running')`,
    [tenantId, id],
  )
  if (busy && slot.key !== '') return 'nothing'
  if (slot.key === '') {
    await changeRow(trx, ReportSchedule, id, slot.seen)
    return 'done'
  }
  try {
    const lastRunId = await make(trx, schedule, slot)
    if (lastRunId !== null) await changeRow(trx, ReportSchedule, id, { ...slot.seen, lastRunId })
    return 'done'
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    if (error.status === 429) return 'full'
    await changeRow(trx, ReportSchedule, id, slot.seen)
    await countFailure(trx, id, error.code)
    return 'done'
  }
}

export type Ended = { id: string; scheduleId: string | null; report: Schedule['report']; propertyIds: string[] | null }

/** Tells whether a member may fetch and read a file that was made with these properties. */
const mayRead = async (trx: Trx, userId: string, { report, propertyIds }: Ended): Promise<boolean> => {
  const { sight, refusal } = await rightsOf(trx, {
    callerId: userId,
    byKey: false,
    subject: reportOf(report).subject,
    to: 'fetch',
  })
  if (refusal !== null) return false
  const { propertyIds: seen } = sight
  return seen === null || (propertyIds !== null && propertyIds.every((one) => seen.includes(one)))
}

/** Tells the recipients of a schedule that a run has its file: those who may read it, once each. The others are counted. */
export const announceRun = async (trx: Trx, run: Ended): Promise<void> => {
  if (run.scheduleId === null) return
  const { tenantId } = contextOf(trx)
  await changeRow(trx, ReportSchedule, run.scheduleId, { failures: 0 })
  const { name, recipients, locale } = await readSchedule(trx, run.scheduleId)
  const readers: string[] = []
  for (const userId of recipients) if (await mayRead(trx, userId, run)) readers.push(userId)
  await sql(trx, `update report_run set shared_with = ?::uuid[], withheld = ? where tenant_id = ? and id = ?`, [
    readers,
    recipients.length - readers.length,
    tenantId,
    run.id,
  ])
  if (readers.length === 0) return
  await sql(trx, `insert into report_notice (id, tenant_id, report, name) values (?, ?, ?, ?) on conflict do nothing`, [
    run.id,
    tenantId,
    reportOf(run.report).name[locale],
    name,
  ])
  for (const userId of readers) await mailUser(trx, userId, 'report_ready', run.id)
}
