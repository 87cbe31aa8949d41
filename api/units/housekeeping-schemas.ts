import {
  Bool,
  Count,
  Day,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { taskKinds } from '../../config/housekeeping.ts'
import { stamps } from '../properties/schemas.ts'
import { Building, Floor, UnitName } from './schemas.ts'

export const TaskKind = OneOf([...taskKinds])
export const taskStatuses = ['open', 'started', 'done', 'passed', 'failed', 'skipped'] as const
/** 1 is the most urgent. */
export const Priority = Int(1, 5)
export const ItemKey = Matching('^[a-z0-9_]{1,40}$', 40)
export const Note = Words(1, 500)

export const HousekeepingTask = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    unitId: Uuid,
    unitName: UnitName,
    building: Nullable(Building),
    floor: Nullable(Floor),
    date: Day,
    kind: TaskKind,
    status: OneOf([...taskStatuses]),
    assigneeId: Nullable(Uuid),
    sheetId: Nullable(Uuid),
    priority: Priority,
    credits: Int(1, 20),
    dueAt: Nullable(Instant),
    checklist: List(Obj({ key: ItemKey, text: Words(1, 200), required: Bool, done: Bool }), { max: 50 }),
    reservationId: Nullable(Uuid),
    issueId: Nullable(Uuid),
    note: Text(0, 4000),
    startedAt: Nullable(Instant),
    completedAt: Nullable(Instant),
    completedBy: Nullable(Uuid),
    inspectedAt: Nullable(Instant),
    inspectedBy: Nullable(Uuid),
    minutes: Nullable(Int(0, 1440)),
    skipReason: Nullable(OneOf(['do_not_disturb', 'refused', 'not_needed', 'no_time', 'mistake', 'not_done'])),
    /** Made by the house itself, and not by a person. */
    generated: Bool,
    ...stamps,
  },
  { title: 'HousekeepingTask' },
)

export const HousekeepingSheet = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    date: Day,
    attendantId: Uuid,
    status: OneOf(['draft', 'published', 'closed']),
    maxCredits: Int(1, 200),
    publishedAt: Nullable(Instant),
    /** Totals of the tasks that were not skipped. */
    totals: Obj({ tasks: Count, credits: Count }),
    tasks: Opt(List(HousekeepingTask, { max: 5000 })),
    ...stamps,
  },
  { title: 'HousekeepingSheet' },
)

const ofTenant = '/api/tenants/:tenantId'
export const housekeeping = `${ofTenant}/housekeeping` as const
