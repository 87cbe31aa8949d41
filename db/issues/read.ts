import { attachmentsOf } from '../lib/attachments.ts'
import { prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Actor, Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import type { IssueCommentRow, IssueEventRow, IssueRow, ReservationRow } from '../rows.ts'
import { guestName } from '../units/index.ts'
import { readCompensations } from './compensations.ts'
import { Issue } from './models.ts'
import { readingOf } from './rules/clocks.ts'
import type { IssueRecord } from './state.ts'
import { openText } from './texts.ts'

const mostSimilar = 5

type Listed = IssueRecord & {
  now: Date
  categoryCode: string
  guestName: string | null
  unitName: string | null
  unitBlockId: string | null
}

export const columns = `i.*, now() as now, c.code as category_code, ${guestName} as guest_name, u.name as unit_name,
  (select b.id from unit_block b where b.tenant_id = i.tenant_id and b.property_id = i.property_id and b.issue_id = i.id and b.status <> 'cancelled'
   order by b.created_at desc, b.id limit 1) as unit_block_id`
export const joins = `join issue_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
  left join guest g on g.tenant_id = i.tenant_id and g.id = i.guest_id
  left join unit u on u.tenant_id = i.tenant_id and u.id = i.unit_id`

/** An issue as lists show it: its texts are opened, its clocks read by the time of the database. */
export const shown = async (trx: Trx, row: Listed) => {
  const texts = await openText(trx, 'issue', row.id, row.sealed)
  const { now, guestName: name, unitName, sealed: _, ...issue } = row
  return {
    ...issue,
    title: texts?.title ?? null,
    description: texts?.description ?? null,
    guest: issue.guestId === null ? null : { guestId: issue.guestId, name: name ?? '' },
    unit: issue.unitId === null ? null : { unitId: issue.unitId, name: unitName ?? '' },
    ...readingOf(issue, now),
  }
}
export type IssueShown = Awaited<ReturnType<typeof shown>>

/** Up to 5 issues of the same unit and category within 90 days (R12), newest first. */
const similarOf = (trx: Trx, issue: Pick<IssueRow, 'id' | 'unitId' | 'categoryId' | 'createdAt'>) =>
  issue.unitId === null
    ? Promise.resolve([])
    : sql<Pick<IssueRow, 'id' | 'number' | 'status' | 'createdAt' | 'resolvedAt' | 'team' | 'kind'>>(
        trx,
        `select i.id, i.number, i.status, i.created_at, i.resolved_at, i.team, i.kind from issue i
         where i.unit_id = ? and i.category_id = ? and i.id <> ? and i.created_at > ?::timestamptz - interval '90 days'
           and i.created_at < ?::timestamptz + interval '90 days' order by i.created_at desc, i.id limit ${mostSimilar}`,
        [issue.unitId, issue.categoryId, issue.id, issue.createdAt.toISOString(), issue.createdAt.toISOString()],
      )

/** Stays whose unit and dates the block of the issue touches (R11). */
const affectedBy = (trx: Trx, unitBlockId: string | null) =>
  unitBlockId === null
    ? Promise.resolve([])
    : sql<{
        reservationId: string
        number: string
        unitId: string
        from: string
        to: string
        status: ReservationRow['status']
      }>(
        trx,
        `select r.id as reservation_id, b.number || '-' || r.position as number, a.unit_id, a.starts_on as "from", a.ends_on as "to", r.status
         from unit_block k
         join unit_assignment a on a.tenant_id = k.tenant_id and a.unit_id = any(k.unit_ids) and a.reservation_id is not null
           and a.status in ('proposed', 'locked', 'occupied') and a.starts_on < k."to" and a.ends_on > k."from"
         join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
         join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
         where k.id = ? and k.status = 'open' order by a.starts_on, r.id limit 100`,
        [unitBlockId],
      )

const readComments = async (trx: Trx, issueId: string) => {
  const rows = await prepared<IssueCommentRow>(
    trx,
    `select * from issue_comment where issue_id = ? order by created_at, id limit 500`,
    [issueId],
  )
  return Promise.all(
    rows.map(async ({ id, visibility, authorId, messageId, createdAt, sealed }) => ({
      id,
      visibility,
      authorId,
      messageId,
      createdAt,
      text: (await openText(trx, 'comment', id, sealed))?.text ?? null,
    })),
  )
}

const readHistory = async (trx: Trx, issueId: string) => {
  const rows = await prepared<Omit<IssueEventRow, 'changes' | 'actor'> & { changes: string[]; actor: Actor }>(
    trx,
    `select * from issue_event where issue_id = ? order by position limit 500`,
    [issueId],
  )
  return Promise.all(
    rows.map(async ({ id, command, fromStatus, toStatus, changes, actor, requestId, createdAt, sealed }) => ({
      id,
      command,
      from: fromStatus,
      to: toStatus,
      changes,
      actor,
      requestId,
      at: createdAt,
      reason: (await openText(trx, 'reason', id, sealed))?.text ?? null,
    })),
  )
}

// A block that has begun and not ended, by the day of the house.
const blockRuns = `exists (select from unit_block b join property p on p.tenant_id = b.tenant_id and p.id = b.property_id
  where b.tenant_id = i.tenant_id and b.property_id = i.property_id and b.issue_id = i.id and b.status = 'open'
    and coalesce(p.business_date, (now() at time zone p.timezone)::date) >= b."from"
    and coalesce(p.business_date, (now() at time zone p.timezone)::date) < b."to") as block_runs`

/** A unit that stays blocked after its issue has ended is a warning (R11). */
const warningsOf = ({ status, blockRuns: runs }: Pick<Listed, 'status'> & { blockRuns: boolean }) =>
  runs && (status === 'resolved' || status === 'closed')
    ? [{ code: 'block_running' as const, message: 'The block of the issue still runs; end it to give the unit back' }]
    : []

/** An issue with its comments, clocks, history, compensations, and what it touches, in at most seven queries. 404. */
export const readIssue = async (trx: Trx, id: string) => {
  const row = await preparedOne<Listed & { blockRuns: boolean }>(
    trx,
    `select ${columns}, ${blockRuns} from issue i ${joins} where i.id = ?`,
    [id],
  )
  if (!row) {
    await readRow(trx, Issue, id)
    throw new Error('an issue has a category')
  }
  const [issue, comments, history, compensations, affected, similar, resolution, score, files] = await Promise.all([
    shown(trx, row),
    readComments(trx, id),
    readHistory(trx, id),
    readCompensations(trx, id),
    affectedBy(trx, row.unitBlockId),
    similarOf(trx, row),
    openText(trx, 'resolution', id, row.resolutionSealed),
    openText(trx, 'score', id, row.scoreSealed),
    attachmentsOf(trx, 'issues', 'issue', [id]),
  ])
  return {
    ...issue,
    resolution: resolution?.text ?? null,
    scoreComment: score?.text ?? null,
    comments,
    history,
    compensations,
    attachments: files.get(id) ?? [],
    affected,
    similar,
    warnings: warningsOf(row),
    clocks: {
      firstResponse: {
        dueAt: row.firstResponseDueAt,
        metAt: row.firstRespondedAt,
        breachedAt: row.firstResponseBreachedAt,
      },
      resolution: {
        dueAt: row.resolutionDueAt,
        metAt: row.resolvedAt,
        breachedAt: row.resolutionBreachedAt,
        paused: row.status === 'waiting',
      },
    },
  }
}
export type IssueDetail = Awaited<ReturnType<typeof readIssue>>
