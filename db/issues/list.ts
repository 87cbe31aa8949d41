import { isOfGuest } from '../guests/index.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Condition } from '../lib/conditions.ts'
import { withinDays } from '../lib/days.ts'
import { fact, flag, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Sort } from '../lib/paging.ts'
import { isNumber } from '../lib/words.ts'
import { columns, joins, shown } from './read.ts'
import type { IssueShown } from './read.ts'
import { inSight } from './sight.ts'
import type { Role } from './sight.ts'

export const issueSorts = {
  dueAt: 'i.next_due_at',
  createdAt: 'i.created_at',
  priority: `array_position(array['urgent', 'high', 'normal', 'low'], i.priority)`,
} as const

export type IssueFilter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  kind?: string | undefined
  categoryId?: string | undefined
  priority?: string | undefined
  team?: string | undefined
  /** An id, `me` or `none`. */
  assigneeId?: string | undefined
  guestId?: string | undefined
  reservationId?: string | undefined
  unitId?: string | undefined
  late?: boolean | undefined
  escalated?: boolean | undefined
  recurring?: boolean | undefined
  source?: string | undefined
  cause?: string | undefined
  /** Days of the opening, by UTC. */
  from?: string | undefined
  to?: string | undefined
  /** A number. */
  q?: string | undefined
  sort: Sort<keyof typeof issueSorts>
  scope: Condition
}

// Only issues that are not over can be late: saying so keeps those that are, which are most, unread.
const late = `i.status in ('open', 'in_progress', 'waiting')
  and (i.next_due_at < now() or (i.status = 'waiting' and i.resolution_breached_at is not null))`

const assignedTo = (trx: Trx, assignee: string | undefined) =>
  assignee === 'none'
    ? [{ text: 'i.assignee_id is null', values: [] }]
    : where('i.assignee_id = ?', assignee === 'me' ? contextOf(trx).actor.id : assignee)

/** Issues that the role sees, nearest deadline first; those without one come last. */
export const listIssues = async (trx: Trx, filter: IssueFilter, role: Role) => {
  const { total, rows } = await readPage<Parameters<typeof shown>[1]>(
    trx,
    {
      columns,
      from: 'issue i',
      joins,
      conditions: [
        ...inScope(filter.scope, 'i.property_id'),
        ...inSight(trx, role),
        ...where('i.property_id = ?', filter.propertyId),
        ...where('i.status = ?', filter.status),
        ...where('i.kind = ?', filter.kind),
        ...where('i.category_id = ?', filter.categoryId),
        ...where('i.priority = ?', filter.priority),
        ...where('i.team = ?', filter.team),
        ...assignedTo(trx, filter.assigneeId),
        ...where(isOfGuest('i.guest_id'), filter.guestId),
        ...where('i.reservation_id = ?', filter.reservationId),
        ...where('i.unit_id = ?', filter.unitId),
        ...flag('i.escalated', filter.escalated),
        ...flag('i.recurring', filter.recurring),
        ...where('i.source = ?', filter.source),
        ...where('i.cause = ?', filter.cause),
        ...(filter.q === undefined
          ? []
          : isNumber(filter.q)
            ? where('i.number = ?', Number(filter.q))
            : [{ text: 'false', values: [] }]),
      ].map(({ text, values }) => ({ text: `(${text})`, values })),
      days: withinDays('i.created_at', filter),
      facts: fact(filter.late, late),
      order: orderBy(filter.sort, issueSorts, 'i.id', ['priority']),
    },
    filter,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row))) } satisfies {
    total: number
    rows: IssueShown[]
  }
}
