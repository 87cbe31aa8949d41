import type { IssueKind, IssuePriority, IssueTeam } from '../../config/issues.ts'
import { conflict, invalid } from '../../config/errors.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { sentFields } from '../lib/events.ts'
import type { IssueRow } from '../rows.ts'
import { readCategory, usableCategory } from './categories.ts'
import { checkAssignee, checkLinks } from './links.ts'
import type { Links } from './links.ts'
import { retargeted } from './rules/clocks.ts'
import { holdFor } from './moves.ts'
import type { Asked } from './moves.ts'
import { clockOf, houseOf, note, tell, writeIssue } from './state.ts'
import { openText, sealText } from './texts.ts'

export type IssueChange = Links & {
  title?: string | undefined
  description?: string | undefined
  kind?: IssueKind | undefined
  categoryId?: string | undefined
  priority?: IssuePriority | undefined
  team?: IssueTeam | undefined
  assigneeId?: string | null | undefined
  cause?: IssueRow['cause'] | undefined
}

/** Fields that may change after an issue is closed (R7). */
const lasting = new Set([
  'guestId',
  'reservationId',
  'unitId',
  'housekeepingTaskId',
  'paymentId',
  'conversationId',
  'cause',
])

const refuseClosed = (status: IssueRow['status'], fields: readonly string[]) => {
  const left = fields.filter((field) => !lasting.has(field))
  if (status === 'closed' && left.length > 0)
    throw conflict(
      'invalid_transition',
      'An issue that is closed keeps all but its links and cause',
      left.map((field) => ({ field, message: 'cannot change after the issue is closed' })),
    )
}

/** An issue that was resolved says why it had come. */
const refuseNoCause = ({ status, outcome }: Pick<IssueRow, 'status' | 'outcome'>, { cause }: IssueChange) => {
  if (cause === null && (status === 'resolved' || outcome === 'resolved'))
    throw invalid([{ field: 'cause', message: 'is required of an issue that was resolved' }])
}

/**
 * Holds the units and categories that an issue leaves and comes to, before the issue itself: an issue that comes there holds them, and then marks those that are
 * there already.
 */
const holdPlaces = async (trx: Trx, id: string, { unitId, categoryId }: IssueChange): Promise<void> => {
  if (unitId === undefined && categoryId === undefined) return
  await sql(
    trx,
    `select lock_issue_place(p.tenant_id, p.unit_id, p.category_id) from (
       select tenant_id, unit_id, category_id from issue where id = :id
       union select tenant_id, case when :isTaken then cast(:unitId as uuid) else unit_id end, coalesce(cast(:categoryId as uuid), category_id)
       from issue where id = :id
       order by unit_id, category_id) p where p.unit_id is not null`,
    { id, isTaken: unitId !== undefined, unitId: unitId ?? null, categoryId: categoryId ?? null },
  )
}

/** Changes an issue. Another category brings its team, kind and targets, unless they are sent along; other targets count from the creation (R1). */
export const changeIssue = async (trx: Trx, id: string, change: IssueChange, asked: Asked): Promise<void> => {
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const fields = Object.keys(sent)
  await holdPlaces(trx, id, change)
  const held = await holdFor(trx, id, asked)
  refuseClosed(held.status, fields)
  refuseNoCause(held, change)
  if (fields.length === 0) return
  const { title, description, categoryId, priority, kind, team, assigneeId, cause, ...given } = change
  const links = await checkLinks(trx, held.propertyId, given)
  const isMoved = categoryId !== undefined && categoryId !== held.categoryId
  const category = isMoved ? await usableCategory(trx, categoryId) : await readCategory(trx, held.categoryId)
  if (assigneeId) await checkAssignee(trx, held.propertyId, assigneeId)
  const isRetargeted = isMoved || (priority !== undefined && priority !== held.priority)
  const texts = title === undefined && description === undefined ? null : await openText(trx, 'issue', id, held.sealed)
  const isOpen = held.status !== 'resolved' && held.status !== 'closed'
  const hours = isRetargeted && isOpen ? category.hours : held.hours
  const clock = hours === held.hours ? held.clock : clockOf(hours, await houseOf(trx, held.propertyId))
  const moved = {
    ...(texts || title !== undefined
      ? {
          sealed: await sealText(trx, 'issue', id, {
            title: title ?? texts?.title ?? '',
            description: description ?? texts?.description ?? '',
          }),
        }
      : {}),
    ...(isMoved ? { categoryId, kind: category.kind, team: category.team } : {}),
    ...(kind === undefined ? {} : { kind }),
    ...(team === undefined ? {} : { team }),
    ...(priority === undefined ? {} : { priority }),
    ...(assigneeId === undefined ? {} : { assigneeId }),
    ...(cause === undefined ? {} : { cause }),
    ...Object.fromEntries(Object.entries(links).filter(([, value]) => value !== undefined)),
    ...(isRetargeted && isOpen
      ? { hours, ...retargeted(held, category.targets[priority ?? held.priority], clock) }
      : {}),
  }
  const after = await writeIssue(trx, held, moved, clock)
  await note(trx, id, { command: 'change', from: held.status, to: held.status, changes: fields })
  const { title: _, description: __, ...plain } = sent
  await tell(trx, 'changed', after, {}, sentFields(plain, held))
  if (assigneeId !== undefined && assigneeId !== held.assigneeId) await tell(trx, 'assigned', after)
}
