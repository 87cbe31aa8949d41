import { forbidden, invalid } from '../../config/errors.ts'
import { reportFormats, reportLocales, reportOf } from '../../config/reports.ts'
import { sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Count,
  Int,
  Instant,
  List,
  Literal,
  MapOf,
  Anything,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  TimeZone,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeSchedule, createSchedule, deleteSchedule, listSchedules, readSchedule } from '../../db/reports/index.ts'
import { holds } from '../../db/lib/conditions.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { Parameters, refuseReport } from './runs.ts'
import { ReportKeys } from './schemas.ts'

const Clock = {
  type: Literal('clock'),
  every: OneOf(['day', 'week', 'month']),
  at: Matching('^([01]\\d|2[0-3]):[0-5]\\d$', 5),
  /** 1 is Monday. */
  weekDay: Opt(Int(1, 7)),
  /** 29 to 31 mean the last day of shorter months. */
  day: Opt(Int(1, 31)),
}
const Closed = Obj({ type: Literal('business_day_closed'), propertyId: Uuid })
const sent = {
  name: Words(1, 120),
  parameters: Parameters,
  format: OneOf([...reportFormats]),
  locale: OneOf([...reportLocales]),
  trigger: AnyOf([Obj({ ...Clock, timeZone: Opt(TimeZone) }), Closed]),
  recipients: List(Uuid, { min: 1, max: 20 }),
  /** With whose rights it runs. Owners and admins may name others. */
  ownerId: Uuid,
  active: Bool,
}
const { name, parameters, format, locale, trigger, recipients, ownerId, active } = sent

const ReportSchedule = Obj(
  {
    id: Uuid,
    name,
    report: ReportKeys,
    parameters: MapOf(Anything, { max: 20 }),
    format,
    locale,
    trigger: AnyOf([Obj({ ...Clock, timeZone: TimeZone }), Closed]),
    recipients,
    ownerId,
    active,
    nextRunAt: Nullable(Instant),
    lastRunId: Nullable(Uuid),
    failures: Count,
    /** Why it was switched off, where no person did. */
    disabledBecause: Nullable(Text(1, 100)),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'ReportSchedule' },
)

const schedules = resource({
  name: 'reportSchedules',
  subject: 'ReportSchedule',
  table: 'report_schedule',
  path: '/api/tenants/:tenantId/reports/schedules',
  param: 'reportScheduleId',
  record: ReportSchedule,
  read: readSchedule,
})

/** The owner asked for, else the caller. 403 where the caller may not give a schedule to others. */
const ownerOf = (caller: Caller, admission: Admission, action: 'create' | 'update', asked?: string): string => {
  const id = asked ?? (caller.kind === 'user' ? caller.userId : null)
  if (id === null) throw invalid([{ field: 'ownerId', message: 'is a member, with whose rights it runs' }])
  if (!holds(admission.scope(action, 'ReportSchedule'), { ownerId: id, propertyId: null })) throw forbidden()
  return id
}

const makerOf = (caller: Caller): string => {
  if (caller.kind === 'user') return caller.userId
  if (caller.kind === 'api_key') return caller.apiKeyId
  throw forbidden()
}

const list = schedules.list({
  summary: 'List report schedules with last and next run',
  description:
    'The latest first. Members see schedules of their own; owners, admins and auditors those of all. Runs of one are listed with `scheduleId`.',
  query: { report: Opt(ReportKeys), active: Opt(Bool), ownerId: Opt(Uuid) },
  example: { active: true },
  find: ({ trx, filter }) => listSchedules(trx, filter),
})

const create = schedules.create({
  summary: 'Schedule a report and its delivery',
  description:
    '`parameters` are those of the report, with `period` (today, yesterday, last_7_days, last_week, month_to_date, last_month, year_to_date, last_year or next_30_days) in place of days. A clock follows its zone, by default that of the tenant. Each time makes one run with the rights that its owner has then; recipients who may read the report get a mail with a link, never the file. A time missed by less than a day is made once.',
  body: Obj({
    name,
    report: ReportKeys,
    parameters: Opt(parameters),
    format,
    locale: Opt(locale),
    trigger,
    recipients,
    ownerId: Opt(ownerId),
    active: Opt(active),
  }),
  example: {
    name: 'Ocupação da semana',
    report: 'occupancy',
    parameters: { period: 'last_week' },
    format: 'pdf',
    trigger: { type: 'clock', every: 'week', weekDay: 1, at: '07:00', timeZone: 'America/Sao_Paulo' },
    recipients: [sampleId('userId')],
  },
  errors: [
    'not_found',
    'range_invalid',
    'report_too_large',
    'recipient_not_member',
    'schedule_limit',
    'reference_not_found',
    'currency_mismatch',
  ],
  command: ({ trx, body, admission, caller }) => {
    refuseReport(admission, reportOf(body.report).subject)
    const owner = ownerOf(caller, admission, 'create', body.ownerId)
    return createSchedule(trx, { ...body, ownerId: owner }, makerOf(caller))
  },
})

const change = schedules.change({
  summary: 'Change a schedule or switch it on or off',
  description:
    'Switched on it begins anew: what was missed is not made up for. One that failed five times in a row, or whose owner lost the right, was switched off.',
  body: Sparse(Obj(sent)),
  example: { active: false },
  errors: ['range_invalid', 'report_too_large', 'recipient_not_member', 'reference_not_found', 'currency_mismatch'],
  command: ({ trx, id, body, admission, caller }) => {
    if (body.ownerId !== undefined) ownerOf(caller, admission, 'update', body.ownerId)
    return changeSchedule(trx, id, body)
  },
})

const remove = schedules.remove({
  summary: 'Delete a schedule',
  description: 'Its runs and their files stay for their time.',
  command: ({ trx, id }) => deleteSchedule(trx, id),
})

export const routes = [list, create, change, remove]
