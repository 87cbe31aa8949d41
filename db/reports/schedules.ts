import { isDeepStrictEqual } from 'node:util'
import { reportScheduleChanged, reportScheduleCreated } from '../../config/events/reports.ts'
import { forbidden, invalid, unprocessable } from '../../config/errors.ts'
import { reportOf } from '../../config/reports.ts'
import type { ReportFormat, ReportKey, ReportLocale } from '../../config/reports.ts'
import { reportLocaleOf } from '../../config/report-texts.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { todayIn } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { checkedParameters, parametersAt } from './check.ts'
import { ReportSchedule } from './models.ts'
import type { Asked } from './reading.ts'
import { rightsOf } from './rights.ts'
import { nextSlot, periods } from './rules/schedule.ts'
import type { Clock, Trigger } from './rules/schedule.ts'

const most = 100

export const listSchedules = pageOf(ReportSchedule, {
  order: ['createdAt desc', 'id'],
  filters: { report: equal('report'), active: equal('active'), ownerId: equal('ownerId') },
  scope: { ownerId: 'ownerId', propertyId: null },
})

export const readSchedule = (trx: Trx, id: string) => readRow(trx, ReportSchedule, id)
export type Schedule = Awaited<ReturnType<typeof readSchedule>>

/** The trigger as it is sent: a clock without a zone takes that of the tenant. */
export type AskedTrigger =
  | (Omit<Clock, 'timeZone'> & { timeZone?: string })
  | { type: 'business_day_closed'; propertyId: string }

export type NewSchedule = {
  name: string
  report: ReportKey
  parameters?: Asked
  format: ReportFormat
  locale?: ReportLocale
  trigger: AskedTrigger
  recipients: readonly string[]
  ownerId: string
  active?: boolean
}

const tenantOf = async (trx: Trx) => {
  const tenant = await sqlOne<{ timeZone: string; locale: string }>(
    trx,
    `select time_zone, locale from tenant where id = ?`,
    [contextOf(trx).tenantId],
  )
  if (!tenant) throw new Error('a schedule belongs to a tenant')
  return tenant
}

const triggerOf = async (trx: Trx, asked: AskedTrigger): Promise<Trigger> => {
  if (asked.type === 'business_day_closed') {
    const house = await sqlOne(trx, `select id from property where tenant_id = ? and id = ?`, [
      contextOf(trx).tenantId,
      asked.propertyId,
    ])
    if (!house)
      throw unprocessable('reference_not_found', 'No such property', [
        { field: 'trigger.propertyId', message: 'is no property' },
      ])
    return asked
  }
  const { every, weekDay, day } = asked
  if (weekDay !== undefined && every !== 'week')
    throw invalid([{ field: 'trigger.weekDay', message: 'goes with every=week alone' }])
  if (day !== undefined && every !== 'month')
    throw invalid([{ field: 'trigger.day', message: 'goes with every=month alone' }])
  return { ...asked, timeZone: asked.timeZone ?? (await tenantOf(trx)).timeZone }
}

/** 422 `recipient_not_member` for people who are no active members. */
const refuseStrangers = async (trx: Trx, users: readonly string[]) => {
  const found = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where tenant_id = ? and status = 'active' and user_id = any(?::uuid[])`,
    [contextOf(trx).tenantId, users],
  )
  const known = new Set(found.map(({ userId }) => userId))
  const missing = users.filter((id) => !known.has(id))
  if (missing.length > 0)
    throw unprocessable(
      'recipient_not_member',
      'Owner and recipients are active members of the tenant',
      missing.map((id) => ({ field: 'recipients', message: id })),
    )
}

/** The business day that a property closes next; today where it has none. */
const dayOf = async (trx: Trx, propertyId: string): Promise<string> => {
  const house = await sqlOne<{ day: string }>(
    trx,
    `select coalesce(business_date, (now() at time zone timezone)::date) as day from property where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, propertyId],
  )
  return house?.day ?? todayIn((await tenantOf(trx)).timeZone)
}

const dated = ['startDate', 'endDate', 'asOf', 'date', 'days']

/** Checks a schedule as a run of today would be, with the rights of its owner. */
const checkSchedule = async (
  trx: Trx,
  {
    report,
    parameters,
    ownerId,
    recipients,
    trigger,
  }: Required<Pick<NewSchedule, 'report' | 'parameters' | 'ownerId' | 'recipients'>> & { trigger: Trigger },
) => {
  const { period } = parameters
  if (period !== undefined && !(periods as readonly unknown[]).includes(period))
    throw invalid([{ field: 'parameters.period', message: `is one of ${periods.join(', ')}` }])
  const twice = period === undefined ? [] : dated.filter((key) => parameters[key] !== undefined)
  if (twice.length > 0)
    throw invalid(twice.map((key) => ({ field: `parameters.${key}`, message: 'follows from the period' })))
  await refuseStrangers(trx, [...new Set([ownerId, ...recipients])])
  const { subject } = reportOf(report)
  const { sight, refusal } = await rightsOf(trx, { callerId: ownerId, byKey: false, subject })
  if (refusal === 'feature_not_enabled')
    throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
      { field: 'feature', message: subjectFacts(subject).feature ?? '' },
    ])
  if (refusal !== null) throw forbidden()
  if (trigger.type === 'business_day_closed' && sight.propertyIds?.includes(trigger.propertyId) === false)
    throw forbidden('forbidden', 'The owner does not see the property whose day closes', [
      { field: 'trigger.propertyId', message: 'is outside the properties of the owner' },
    ])
  const today = trigger.type === 'clock' ? todayIn(trigger.timeZone) : await dayOf(trx, trigger.propertyId)
  await checkedParameters(trx, report, await parametersAt(trx, report, { given: parameters, on: today, sight }), sight)
}

/** The next run: by the clock, or after the next close of a day. Days that are closed already are not made up for. */
export const startOf = async (trx: Trx, trigger: Trigger, active: boolean) => {
  if (trigger.type === 'clock')
    return { propertyId: null, closedOn: null, nextRunAt: active ? nextSlot(trigger, new Date()).at : null }
  const closed = await sqlOne<{ date: string | null }>(
    trx,
    `select max(date) as date from business_day where tenant_id = ? and property_id = ? and status = 'closed'`,
    [contextOf(trx).tenantId, trigger.propertyId],
  )
  return { propertyId: trigger.propertyId, closedOn: closed?.date ?? null, nextRunAt: null }
}

const told = ({ id, report, version }: Schedule) => ({
  propertyId: null,
  id,
  version,
  data: { reportScheduleId: id, report },
})

/**
 * Makes a schedule. 422 `schedule_limit` above 100 of a tenant, `recipient_not_member`; 403 where its owner may not read the report; else what a run of the report
 * would refuse.
 */
export const createSchedule = async (trx: Trx, given: NewSchedule, createdBy: string): Promise<string> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('report_schedule ' || ?, 0))`, [tenantId])
  const counted = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from report_schedule where tenant_id = ?`,
    [tenantId],
  )
  if ((counted?.count ?? 0) >= most) throw unprocessable('schedule_limit', `A tenant has at most ${most} schedules`)
  const { parameters = {}, active = true, locale, recipients, trigger: asked, ...rest } = given
  const trigger = await triggerOf(trx, asked)
  await checkSchedule(trx, { ...rest, parameters, recipients, trigger })
  const row = await insertRow(trx, ReportSchedule, {
    ...rest,
    parameters,
    active,
    trigger,
    recipients: [...new Set(recipients)],
    locale: locale ?? reportLocaleOf((await tenantOf(trx)).locale),
    createdBy,
    ...(await startOf(trx, trigger, active)),
  })
  await emit(trx, reportScheduleCreated, told(await readSchedule(trx, row.id)))
  return row.id
}

export type ScheduleChange = Partial<NewSchedule>

/**
 * Changes a locked schedule. Switched on, or with another trigger, it runs from now on; what was missed meanwhile is not made up for. The trigger that it has, sent once
 * more, takes no time away from it that is due and not made yet.
 */
export const changeSchedule = async (trx: Trx, id: string, change: ScheduleChange): Promise<void> => {
  const before = await readSchedule(trx, id)
  const trigger = change.trigger === undefined ? before.trigger : await triggerOf(trx, change.trigger)
  const active = change.active ?? before.active
  const { report = before.report, parameters = before.parameters, ownerId = before.ownerId } = change
  const recipients = [...new Set(change.recipients ?? before.recipients)]
  // Recipients who have left since are told of nothing, and the rest can be changed with them.
  const asked = change.recipients ?? []
  if (active) await checkSchedule(trx, { report, parameters, ownerId, recipients: asked, trigger })
  else await refuseStrangers(trx, [...new Set([...(change.ownerId ? [ownerId] : []), ...asked])])
  const isNew = !isDeepStrictEqual(trigger, before.trigger) || active !== before.active
  const { trigger: _, ...fields } = change
  await changeRow(trx, ReportSchedule, id, {
    ...fields,
    recipients,
    trigger,
    active,
    ...(isNew ? await startOf(trx, trigger, active) : {}),
    ...(active && !before.active ? { failures: 0, disabledBecause: null } : {}),
  })
  await emit(trx, reportScheduleChanged, told(await readSchedule(trx, id)))
}

/** Deletes a locked schedule; its runs stay. Answers it as it was. */
export const deleteSchedule = async (trx: Trx, id: string): Promise<Schedule> => {
  const before = await readSchedule(trx, id)
  await sql(trx, `delete from report_schedule where tenant_id = ? and id = ?`, [contextOf(trx).tenantId, id])
  return before
}
