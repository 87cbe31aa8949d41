import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { housekeepingSheetPublished } from '../../config/events/housekeeping.ts'
import { addDays } from '../../config/time.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { allOf, inScope, readPage, where } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import type { HousekeepingSheetRow } from '../rows.ts'
import { emitTasks, furthestDays, priorityOf, refuseStrangers } from './housekeeping-tasks/create.ts'
import { readTasks, tasksInScope } from './housekeeping-tasks/read.ts'
import type { ShownTask } from './housekeeping-tasks/read.ts'
import { shareOut } from './rules/task-distribution.ts'
import { presentDay } from './state.ts'

const sheetLifecycle = lifecycle<HousekeepingSheetRow['status']>('A housekeeping sheet')({
  published: { from: ['draft'], to: 'published' },
})

export type Sheet = Omit<HousekeepingSheetRow, 'tenantId'> & {
  totals: { tasks: number; credits: number }
  tasks?: ShownTask[]
}

/** First number of the advisory lock of a house's day: one share-out after the other. */
const dayClass = 7104

const columns = `h.id, h.property_id, h.date, h.attendant_id, h.status, h.max_credits, h.published_at, h.version, h.created_at, h.updated_at,
  (select json_build_object('tasks', count(*), 'credits', coalesce(sum(t.credits), 0)) from housekeeping_task t
   where t.tenant_id = h.tenant_id and t.sheet_id = h.id and t.status <> 'skipped') as totals`

export type SheetFilter = Paging & {
  propertyId?: string | undefined
  date?: string | undefined
  attendantId?: string | undefined
  withTasks: boolean
  /** The sheets that the caller may read, and the tasks. */
  scope: Condition
  taskScope: Condition
}

export const listSheets = async (trx: Trx, { scope, taskScope, withTasks, ...filter }: SheetFilter) => {
  const page = await readPage<Sheet>(
    trx,
    {
      columns,
      from: 'housekeeping_sheet h',
      conditions: [
        ...inScope(scope, { propertyId: 'h.property_id', attendantId: 'h.attendant_id', status: 'h.status' }),
        ...where('h.property_id = ?', filter.propertyId),
        ...where('h.date = ?::date', filter.date),
        ...where('h.attendant_id = ?', filter.attendantId),
      ],
      order: 'h.date desc, h.created_at, h.id',
    },
    filter,
  )
  return withTasks ? { ...page, rows: await withTheirTasks(trx, page.rows, tasksInScope(taskScope)) } : page
}

const withTheirTasks = async (trx: Trx, sheets: readonly Sheet[], scope: readonly Part[] = []): Promise<Sheet[]> => {
  const ofSheets = where(
    't.sheet_id = any(?::uuid[])',
    sheets.map((sheet) => sheet.id),
  )
  const tasks = await readTasks(trx, allOf([...ofSheets, ...scope]))
  return sheets.map((sheet) => ({ ...sheet, tasks: tasks.filter((task) => task.sheetId === sheet.id) }))
}

/** In the order of their ids as given. */
const readSheets = (trx: Trx, ids: readonly string[]) =>
  sql<Sheet>(
    trx,
    `select ${columns} from housekeeping_sheet h where h.id = any(?::uuid[]) order by array_position(?::uuid[], h.id)`,
    [ids, ids],
  )

export const readSheet = async (trx: Trx, id: string): Promise<Sheet> => {
  const [sheet] = await readSheets(trx, [id])
  if (!sheet) throw notFound()
  return sheet
}

export type ShareOut = {
  propertyId: string
  date: string
  attendants: readonly { userId: string; maxCredits: number }[]
}

/**
 * Shares out the open tasks of a day that no attendant has. What lies in drafts is taken back first; published sheets stay, and get more. Answers the
 * sheets of the attendants with their tasks, and the tasks that fit no attendant.
 */
export const shareOutDay = async (
  trx: Trx,
  { propertyId, date, attendants }: ShareOut,
): Promise<{ sheets: Sheet[]; unassigned: ShownTask[] }> => {
  await refuseDay(trx, propertyId, date)
  const userIds = attendants.map((one) => one.userId)
  const twice = userIds.flatMap((id, index) =>
    userIds.indexOf(id) === index ? [] : [{ field: `attendants.${index}.userId`, message: 'stands here twice' }],
  )
  if (twice.length > 0) throw invalid(twice)
  await refuseStrangers(trx, propertyId, userIds, (index) => `attendants.${index}.userId`)
  await sql(trx, `select pg_advisory_xact_lock(?, hashtext(?))`, [
    dayClass,
    `${contextOf(trx).tenantId} ${propertyId} ${date}`,
  ])
  await takeBack(trx, propertyId, date)
  const open = await openTasks(trx, propertyId, date)
  const sheets = (await sheetsOf(trx, propertyId, date, attendants)).toSorted(
    (a, b) => userIds.indexOf(a.attendantId) - userIds.indexOf(b.attendantId),
  )
  const given = await give(trx, open, sheets, await loadOf(trx, propertyId, date, userIds))
  await emitTasks(
    trx,
    'assigned',
    given.filter((task) => sheets.some((sheet) => sheet.id === task.sheetId && sheet.status === 'published')),
  )
  return {
    sheets: await withTheirTasks(
      trx,
      await readSheets(
        trx,
        sheets.map((sheet) => sheet.id),
      ),
    ),
    unassigned: await readTasks(trx, {
      text: `t.property_id = ? and t.date = ?::date and t.status = 'open' and t.assignee_id is null`,
      values: [propertyId, date],
    }),
  }
}

const refuseDay = async (trx: Trx, propertyId: string, date: string) => {
  const property = await sqlOne<{ status: string; today: string }>(
    trx,
    `select y.status, ${presentDay('y')} as today from property y where y.id = ?`,
    [propertyId],
  )
  if (!property) throw notFound('There is no such property')
  if (property.status === 'archived') throw conflict('invalid_transition', 'The property is archived')
  if (date < property.today || date > addDays(property.today, furthestDays))
    throw unprocessable('date_out_of_range', 'The day is over, or too far ahead', [
      { field: 'date', message: `must not be before ${property.today}, nor ${furthestDays} days after it` },
    ])
}

/** Unassigns open tasks of drafts, and deletes drafts that become empty. Tasks that were begun keep their attendant. */
const takeBack = async (trx: Trx, propertyId: string, date: string) => {
  await sql(
    trx,
    `select t.id from housekeeping_task t where t.property_id = ? and t.date = ?::date and t.status = 'open' order by t.id for no key update`,
    [propertyId, date],
  )
  await sql(
    trx,
    `update housekeeping_task t set assignee_id = null, sheet_id = null, version = t.version + 1 from housekeeping_sheet h
     where h.property_id = ? and h.date = ?::date and h.status = 'draft' and t.tenant_id = h.tenant_id and t.sheet_id = h.id and t.status = 'open'`,
    [propertyId, date],
  )
  // A command that adds a task to a draft holds the draft: this statement waits, then sees what was added.
  await sql(
    trx,
    `select h.id from housekeeping_sheet h where h.property_id = ? and h.date = ?::date and h.status = 'draft' order by h.id for update`,
    [propertyId, date],
  )
  await sql(
    trx,
    `delete from housekeeping_sheet h where h.property_id = ? and h.date = ?::date and h.status = 'draft'
       and not exists (select from housekeeping_task t where t.tenant_id = h.tenant_id and t.sheet_id = h.id)`,
    [propertyId, date],
  )
}

/** Open tasks of the day without an attendant, in their order. Tasks without a manual priority are ranked by today's arrivals. */
const openTasks = async (trx: Trx, propertyId: string, date: string) => {
  const rank = priorityOf({ unit: 'u', date: 't.date', kind: 't.kind' })
  await sql(
    trx,
    `update housekeeping_task t set priority = ${rank}, version = t.version + 1 from unit u
     where t.property_id = ? and t.date = ?::date and t.status = 'open' and t.assignee_id is null and not t.ranked
       and u.tenant_id = t.tenant_id and u.id = t.unit_id and t.priority <> ${rank}`,
    [propertyId, date],
  )
  return readTasks(trx, {
    text: `t.property_id = ? and t.date = ?::date and t.status = 'open' and t.assignee_id is null`,
    values: [propertyId, date],
  })
}

type LiveSheet = Pick<Sheet, 'id' | 'attendantId' | 'status' | 'maxCredits'>

const sheetsOf = (trx: Trx, propertyId: string, date: string, attendants: ShareOut['attendants']) =>
  sql<LiveSheet>(
    trx,
    `insert into housekeeping_sheet (property_id, date, attendant_id, max_credits)
     select ?, ?::date, n.user_id, n.max_credits from unnest(?::uuid[], ?::int[]) as n (user_id, max_credits) order by n.user_id
     on conflict (tenant_id, property_id, date, attendant_id) where status <> 'closed'
       do update set max_credits = excluded.max_credits, version = housekeeping_sheet.version + 1
     returning id, attendant_id, status, max_credits`,
    [propertyId, date, attendants.map((one) => one.userId), attendants.map((one) => one.maxCredits)],
  )

/** Credits that each has for the day already, and the floor of the last of them. */
const loadOf = async (trx: Trx, propertyId: string, date: string, userIds: readonly string[]) => {
  const rows = await sql<{ userId: string; credits: number; floor: string | null }>(
    trx,
    `select t.assignee_id as user_id, sum(t.credits)::int as credits,
       (array_agg(concat_ws(' ', u.building, u.floor) order by t.updated_at desc, t.id))[1] as floor
     from housekeeping_task t join unit u on u.tenant_id = t.tenant_id and u.id = t.unit_id
     where t.property_id = ? and t.date = ?::date and t.assignee_id = any(?::uuid[]) and t.status <> 'skipped' group by 1`,
    [propertyId, date, userIds],
  )
  return new Map(rows.map((row) => [row.userId, row]))
}

const give = async (
  trx: Trx,
  open: readonly ShownTask[],
  sheets: readonly LiveSheet[],
  loads: Awaited<ReturnType<typeof loadOf>>,
): Promise<ShownTask[]> => {
  const { given } = shareOut(
    open.map((task) => ({
      id: task.id,
      credits: task.credits,
      floor: [task.building, task.floor].filter((part) => part !== null).join(' '),
    })),
    sheets.map(({ attendantId, maxCredits }) => ({
      attendantId,
      maxCredits,
      credits: loads.get(attendantId)?.credits ?? 0,
      floor: loads.get(attendantId)?.floor ?? null,
    })),
  )
  const sheetOf = new Map(sheets.map((sheet) => [sheet.attendantId, sheet.id]))
  return sql<ShownTask>(
    trx,
    `update housekeeping_task t set assignee_id = n.user_id, sheet_id = n.sheet_id, version = t.version + 1
     from unnest(?::uuid[], ?::uuid[], ?::uuid[]) as n (id, user_id, sheet_id) where t.id = n.id and t.status = 'open' and t.assignee_id is null returning t.*`,
    [[...given.keys()], [...given.values()], [...given.values()].map((userId) => sheetOf.get(userId))],
  )
}

/** Gives a sheet to its attendant. The caller holds its row. */
export const publishSheet = async (trx: Trx, id: string): Promise<void> => {
  const sheet = await readSheet(trx, id)
  if (!sheetLifecycle.isDue('published', sheet.status)) return
  await refuseArchived(trx, sheet.propertyId)
  await sql(
    trx,
    `update housekeeping_sheet set status = 'published', published_at = now(), version = version + 1 where id = ?`,
    [id],
  )
  const tasks = await readTasks(trx, { text: `t.sheet_id = ?`, values: [id] })
  await emit(trx, housekeepingSheetPublished, {
    propertyId: sheet.propertyId,
    id,
    version: sheet.version + 1,
    data: {
      housekeepingSheetId: id,
      date: sheet.date,
      attendantId: sheet.attendantId,
      taskCount: sheet.totals.tasks,
    },
  })
  await emitTasks(trx, 'assigned', tasks)
}
