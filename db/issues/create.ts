import { randomUUID } from 'node:crypto'
import type { IssueKind, IssuePriority } from '../../config/issues.ts'
import { notFound } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { refuseArchived } from '../lib/locked-property.ts'
import { insertRow } from '../lib/records.ts'
import { queueMessage } from '../ocp/index.ts'
import { usableCategory } from './categories.ts'
import type { Category } from './categories.ts'
import { checkAssignee, checkLinks } from './links.ts'
import type { Links } from './links.ts'
import { Issue } from './models.ts'
import { nextNumber } from './numbers.ts'
import { instantsOf, startedAt } from './rules/clocks.ts'
import { clockOf, houseColumns, note, tell } from './state.ts'
import type { IssueRecord } from './state.ts'
import { sealText } from './texts.ts'

export type NewIssue = Links & {
  propertyId: string
  title: string
  description?: string | undefined
  kind?: IssueKind | undefined
  priority: IssuePriority
  assigneeId?: string | null | undefined
}
type Source =
  | { source: 'staff' | 'guest' | 'channel' }
  | { source: 'system'; sourceEvent: string; sourceKey: string; dueAt?: Date | null }

/** Writes an issue, whose clocks run from now. The number's row is locked from here to the commit. */
export const insertIssue = async (
  trx: Trx,
  category: Category,
  { propertyId, title, description = '', kind, priority, assigneeId, ...links }: NewIssue,
  source: Source,
): Promise<IssueRecord> => {
  const place = await sqlOne<{ now: Date; house: Parameters<typeof clockOf>[1] }>(
    trx,
    `select now() as now, ${houseColumns} from property p where p.id = ?`,
    [propertyId],
  )
  if (!place) throw notFound('No such property')
  const { now } = place
  const { hours } = category
  const clock = clockOf(hours, place.house)
  const id = randomUUID()
  const target = category.targets[priority]
  const clocks = startedAt(now, target, clock)
  if (source.source === 'system' && source.dueAt && source.dueAt > now) clocks.resolutionDueAt = source.dueAt
  const running = {
    ...clocks,
    status: 'open' as const,
    createdAt: now,
    firstRespondedAt: null,
    firstResponseBreachedAt: null,
    resolutionBreachedAt: null,
    overdueSteps: 0,
    waitingSince: null,
    waitedSeconds: 0,
  }
  const row = await insertRow(trx, Issue, {
    id,
    number: await nextNumber(trx, 'issue'),
    propertyId,
    kind: kind ?? category.kind,
    categoryId: category.id,
    priority,
    team: category.team,
    sealed: await sealText(trx, 'issue', id, { title, description }),
    source: source.source,
    sourceEvent: source.source === 'system' ? source.sourceEvent : null,
    sourceKey: source.source === 'system' ? source.sourceKey : null,
    assigneeId,
    createdBy: contextOf(trx).actor as never,
    createdAt: now,
    ...links,
    ...clocks,
    ...instantsOf(running, clock),
    hours,
  })
  const issue = { ...row, createdBy: contextOf(trx).actor }
  await note(trx, id, { command: 'create', from: null, to: 'open' })
  await tell(trx, 'opened', issue)
  if (assigneeId) await tell(trx, 'assigned', issue)
  return issue
}

/** Tells the guest that the issue is known, once (guestFacing). */
const acknowledge = (trx: Trx, { id, propertyId, guestId, reservationId }: IssueRecord) =>
  queueMessage(trx, {
    propertyId,
    templateKey: 'issue-opened',
    dedupeKey: `issue-${id}`,
    guestId,
    reservationId,
    issueId: id,
  })

/** The guest and the stay of a conversation, which an issue takes over where it names none. */
const partiesOf = (trx: Trx, conversationId: string) =>
  sqlOne<{ guestId: string | null; reservationId: string | null }>(
    trx,
    `select guest_id, reservation_id from conversation where id = ?`,
    [conversationId],
  )

/** Opens an issue for a person. 404 `property`; 422 `category_inactive`, `link_mismatch`, `assignee_not_allowed`. */
export const createIssue = async (
  trx: Trx,
  { categoryId, ...given }: NewIssue & { categoryId: string },
  source: 'staff' | 'guest' | 'channel' = 'staff',
): Promise<string> => {
  await refuseArchived(trx, given.propertyId)
  const category = await usableCategory(trx, categoryId)
  const { guestId, reservationId, unitId, housekeepingTaskId, paymentId, conversationId, ...rest } = given
  const known = conversationId ? await partiesOf(trx, conversationId) : null
  const links = await checkLinks(trx, given.propertyId, {
    guestId: guestId === undefined ? (known?.guestId ?? undefined) : guestId,
    reservationId: reservationId === undefined ? (known?.reservationId ?? undefined) : reservationId,
    unitId,
    housekeepingTaskId,
    paymentId,
    conversationId,
  })
  if (given.assigneeId) await checkAssignee(trx, given.propertyId, given.assigneeId)
  const issue = await insertIssue(trx, category, { ...rest, ...links }, { source })
  if (category.guestFacing && issue.guestId !== null) await acknowledge(trx, issue)
  return issue.id
}
