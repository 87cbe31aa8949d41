import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { overDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'

export const assignmentStatuses = ['proposed', 'locked', 'occupied', 'blocked', 'ended', 'released'] as const

export type AssignmentRecord = {
  id: string
  propertyId: string
  unitId: string
  unitName: string
  reservationId: string | null
  unitBlockId: string | null
  from: string
  to: string
  status: (typeof assignmentStatuses)[number]
  createdAt: Date
  updatedAt: Date
}

/** Name of a guest `g` as a list shows it; null where there is none. */
export const guestName = `nullif(concat_ws(' ', nullif(coalesce(nullif(g.preferred_name, ''), g.first_name), ''), nullif(g.last_name, '')), '')`

const columns = `a.id, u.property_id, a.unit_id, u.name as unit_name, a.reservation_id, a.unit_block_id, a.starts_on as "from", a.ends_on as "to", a.status, a.created_at,
  a.updated_at`
const from = `unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id`
const order = 'a.starts_on, u.name, a.id'

/** Days of the longest assignment of the tenant, which an index tells. */
const longest = `(select x.ends_on - x.starts_on from unit_assignment x order by x.ends_on - x.starts_on desc limit 1)`

type Filter = Paging & {
  propertyId?: string | undefined
  unitId?: string | undefined
  reservationId?: string | undefined
  status?: string | undefined
  /** Rows with a night in `[from, to)`. */
  from?: string | undefined
  to?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Lists assignments by their first day; released ones only on request. */
export const listAssignments = (trx: Trx, { scope, ...filter }: Filter) =>
  readPage<AssignmentRecord>(
    trx,
    {
      columns,
      from,
      counted: { list: 'unit_assignment', as: 'a' },
      conditions: [
        ...inScope(scope, 'a.property_id'),
        ...where('a.property_id = ?', filter.propertyId),
        ...where('a.unit_id = ?', filter.unitId),
        ...where('a.reservation_id = ?', filter.reservationId),
        ...(filter.status === undefined
          ? [{ text: `a.status <> 'released'`, values: [] }]
          : where('a.status = ?', filter.status)),
      ],
      days: overDays(
        { first: 'a.starts_on', end: 'a.ends_on', mostDays: longest },
        { after: filter.from, before: filter.to },
      ),
      order,
    },
    filter,
  )

/** Assignments of some stays, without released ones. */
export const assignmentsOf = (trx: Trx, reservationIds: readonly string[]) =>
  sql<AssignmentRecord>(
    trx,
    `select ${columns} from ${from} where a.reservation_id = any(?::uuid[]) and a.status <> 'released' order by a.reservation_id, ${order}`,
    [reservationIds],
  )
