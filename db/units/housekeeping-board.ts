import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Trx } from '../lib/connection.ts'
import { readPage } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { statusOf } from '../lib/locked-property.ts'
import type { UnitRow } from '../rows.ts'
import { refusedUntil } from './unit-conditions.ts'
import { fromUnits, stateColumns } from './state.ts'
import type { UnitState } from './state.ts'
import { doorOrder } from './housekeeping-tasks/read.ts'
import type { Task } from './housekeeping-tasks/read.ts'
import { unitConditionsOf } from './units/read.ts'
import type { UnitFilter } from './units/read.ts'

export type BoardLine = UnitState & {
  unit: Pick<UnitRow, 'id' | 'name' | 'building' | 'floor' | 'unitTypeId' | 'credits' | 'notes'>
  condition: UnitRow['condition']
  flags: { doNotDisturb: boolean; makeUpRequested: boolean; serviceRefused: boolean }
  departure: { reservationId: string; dueAt: string | null; done: boolean } | null
  arrival: { reservationId: string; expectedAt: string | null; guestName?: string | null } | null
  nextArrival: string | null
  task: Pick<Task, 'id' | 'kind' | 'status' | 'assigneeId' | 'priority'> | null
}

type Filter = Omit<UnitFilter, 'status' | 'propertyId'> &
  Paging & {
    propertyId: string
    date: string
    /** True if the caller may read guests; otherwise names are hidden. */
    withNames: boolean
    /** The tasks that the caller may read, of those of these houses. */
    scope: Condition
  }

/** A local time of the day of the board, as replies write instants. */
const instant = (time: string) =>
  `to_char(((g.date + (${time})::time) at time zone y.timezone) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const stays = `from unit_assignment a join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id`
const ofUnit = `a.tenant_id = u.tenant_id and a.unit_id = u.id`

// A guest past the departure date is due until they leave; one who arrives and leaves on a day has left on that day.
const departure = `(select json_build_object('reservationId', r.id, 'dueAt', ${instant('coalesce(r.departure_time, y.check_out_until)')}, 'done', a.status = 'ended')
  ${stays} where ${ofUnit} and (a.ends_on >= g.date or a.status = 'occupied') and (
    (a.status in ('proposed', 'locked', 'occupied') and a.ends_on = g.date) or (a.status = 'occupied' and a.ends_on < g.date)
    or (a.status = 'ended' and a.ends_on >= g.date and least(a.ends_on, r.check_out_business_date) = g.date))
  order by a.status = 'ended', a.ends_on, a.id limit 1)`

const arrival = (withNames: boolean) => `(select json_build_object('reservationId', r.id,
    'expectedAt', ${instant('coalesce(r.arrival_time, y.check_in_from)')}${
      withNames
        ? `, 'guestName', (select nullif(concat_ws(' ', nullif(coalesce(nullif(p.preferred_name, ''), p.first_name), ''), nullif(p.last_name, '')), '')
             from guest p where p.tenant_id = r.tenant_id and p.id = r.primary_guest_id)`
        : ''
    })
  ${stays} where ${ofUnit} and a.status in ('proposed', 'locked', 'occupied') and a.starts_on = g.date and a.ends_on > g.date
  order by a.status = 'occupied', a.id limit 1)`

const nextArrival = `(select min(a.starts_on) from unit_assignment a
  where ${ofUnit} and a.reservation_id is not null and a.status in ('proposed', 'locked') and a.starts_on > g.date and a.ends_on > g.date)`

// Of several tasks of a day the one that is being worked on, then the most urgent of those to come.
const task = `(select json_build_object('id', t.id, 'kind', t.kind, 'status', t.status, 'assigneeId', t.assignee_id, 'priority', t.priority)
  from housekeeping_task t where t.tenant_id = u.tenant_id and t.unit_id = u.id and t.date = g.date and ?
  order by array_position(array['started', 'open', 'done', 'failed', 'passed', 'skipped'], t.status), t.priority, t.created_at, t.id limit 1)`

/** The state of every unit for a day: three statements, whatever the number of units. */
export const readHousekeepingBoard = async (
  trx: Trx,
  { page, limit, date, withNames, scope, ...filter }: Filter,
): Promise<Page<BoardLine>> => {
  await statusOf(trx, filter.propertyId)
  const tasks = whereOf(scope, { propertyId: 't.property_id', assigneeId: 't.assignee_id', kind: 't.kind' })
  const columns = `json_build_object('id', u.id, 'name', u.name, 'building', u.building, 'floor', u.floor, 'unitTypeId', u.unit_type_id, 'credits', u.credits,
         'notes', u.notes) as unit,
       u.condition, ${stateColumns},
       json_build_object('doNotDisturb', u.do_not_disturb, 'makeUpRequested', u.make_up_requested,
         'serviceRefused', coalesce(${refusedUntil} >= g.date, false)) as flags,
       ${departure} as departure, ${arrival(withNames)} as arrival, ${nextArrival} as next_arrival, ${task} as task`
  return readPage<BoardLine>(
    trx,
    {
      columns: { text: columns, values: [tasks] },
      from: { text: `${fromUnits} cross join (select ?::date as date) g`, values: [date] },
      conditions: unitConditionsOf(filter),
      order: `${doorOrder}, u.id`,
    },
    { page, limit },
  )
}
