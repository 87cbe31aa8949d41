import { conflict, invalid, unprocessable, versionConflict } from '../../config/errors.ts'
import { settingsOf } from '../../config/property-settings.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { queueMessage } from '../ocp/index.ts'
import type { IssueRow } from '../rows.ts'
import { cancelBlock, endBlock } from '../units/index.ts'
import { readCategory } from './categories.ts'
import { escalateBy } from './escalate.ts'
import { noteMissed } from './missed.ts'
import { Issue } from './models.ts'
import { afterWaiting } from './rules/clocks.ts'
import { requireSight } from './sight.ts'
import type { Role } from './sight.ts'
import { houseOf, issueLifecycle, lockIssue, note, tell, writeIssue } from './state.ts'
import type { Held } from './state.ts'
import { sealText } from './texts.ts'

export type Asked = { role: Role; expectedVersion?: number | null }

/** Locks an issue for a person, once what it has missed is noted: 404 where the role does not see it, 409 where it has changed since it was read. */
export const holdFor = async (trx: Trx, id: string, { role, expectedVersion = null }: Asked): Promise<Held> => {
  const held = await lockIssue(trx, id)
  requireSight(trx, role, held)
  if (expectedVersion !== null && held.version !== expectedVersion) throw versionConflict(held.version)
  return noteMissed(trx, held)
}

/** Fields of an issue that leaves the wait, where it waits. */
export const leaveWait = (held: Held): Partial<IssueRow> =>
  held.status === 'waiting' ? { ...afterWaiting(held, held.now, held.clock), waitingSince: null, waitingFor: null } : {}

/** The first answer to the person who waits (R2). */
export const answered = (held: Held): Partial<IssueRow> =>
  held.firstRespondedAt === null ? { firstRespondedAt: held.now } : {}

const userOf = (trx: Trx): string | null => {
  const { actor } = contextOf(trx)
  return actor.type === 'user' ? actor.id : null
}

/** Begins or resumes work. An issue without an assignee goes to the caller. */
export const startIssue = async (trx: Trx, id: string, asked: Asked): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  if (!issueLifecycle.isDue('started', held.status)) return
  const assigneeId = held.assigneeId ?? userOf(trx)
  const after = await writeIssue(trx, held, {
    status: 'in_progress',
    assigneeId,
    ...answered(held),
    ...leaveWait(held),
  })
  await note(trx, id, { command: 'start', from: held.status, to: 'in_progress' })
  await tell(trx, 'started', after)
}

/** Stops the resolution clock while somebody else is waited for. */
export const pauseIssue = async (
  trx: Trx,
  id: string,
  { waitingFor, note: reason }: { waitingFor: 'guest' | 'third_party'; note?: string | undefined },
  asked: Asked,
): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  if (!issueLifecycle.isDue('paused', held.status)) return
  const after = await writeIssue(trx, held, { status: 'waiting', waitingFor, waitingSince: held.now })
  await note(trx, id, { command: 'wait', from: held.status, to: 'waiting', reason })
  await tell(trx, 'paused', after)
}

const refusePending = async (trx: Trx, issueId: string): Promise<void> => {
  const pending = await sqlOne(trx, `select 1 from compensation where issue_id = ? and status = 'proposed'`, [issueId])
  if (pending) throw unprocessable('compensation_pending', 'A proposed compensation waits; approve or reject it first')
}

export type Resolution = {
  resolution: string
  cause: NonNullable<IssueRow['cause']>
  endBlock?: boolean | undefined
}

/** Ends the block of an issue, or takes it back where it has not begun. It is locked before the issue. */
const endBlockOf = async (trx: Trx, issueId: string): Promise<void> => {
  const block = await sqlOne<{ id: string; hasBegun: boolean }>(
    trx,
    `select b.id, b."from" <= p.business_date as has_begun from unit_block b
     join property p on p.tenant_id = b.tenant_id and p.id = b.property_id
     where b.issue_id = ? and b.status = 'open' order by 2 desc, b.created_at desc, b.id limit 1`,
    [issueId],
  )
  if (block?.hasBegun) await endBlock(trx, block.id, 'dirty', null)
  else if (block) await cancelBlock(trx, block.id, null, null)
}

/** Resolves an issue with its cause, and asks the guest how it went where the category faces guests. 422 `compensation_pending`. */
export const resolveIssue = async (
  trx: Trx,
  id: string,
  { resolution, cause, endBlock: endsBlock = false }: Resolution,
  asked: Asked,
): Promise<void> => {
  const before = await readRow(trx, Issue, id, ['status'])
  if (endsBlock && before.status !== 'resolved' && before.status !== 'closed') await endBlockOf(trx, id)
  const held = await holdFor(trx, id, asked)
  if (!issueLifecycle.isDue('resolved', held.status)) return
  await refusePending(trx, id)
  const after = await writeIssue(trx, held, {
    status: 'resolved',
    resolutionSealed: await sealText(trx, 'resolution', id, { text: resolution }),
    cause,
    resolvedAt: held.now,
    ...answered(held),
    ...leaveWait(held),
  })
  await note(trx, id, { command: 'resolve', from: held.status, to: 'resolved' })
  await tell(trx, 'resolved', after)
  const category = await readCategory(trx, held.categoryId)
  if (category.guestFacing && held.guestId !== null)
    await queueMessage(trx, {
      propertyId: held.propertyId,
      templateKey: 'issue-satisfaction',
      dedupeKey: `issue-score-${id}-${held.reopenCount}`,
      guestId: held.guestId,
      reservationId: held.reservationId,
      issueId: id,
      data: { satisfactionIssueId: id },
    })
}

export type Closing = {
  outcome: NonNullable<IssueRow['outcome']>
  duplicateOfId?: string | null | undefined
  reason?: string | null | undefined
}

const checkDuplicate = async (trx: Trx, held: Held, { outcome, duplicateOfId }: Closing): Promise<void> => {
  if (outcome !== 'duplicate') {
    if (duplicateOfId) throw invalid([{ field: 'duplicateOfId', message: 'belongs to the outcome duplicate' }])
    return
  }
  if (!duplicateOfId) throw invalid([{ field: 'duplicateOfId', message: 'is required for the outcome duplicate' }])
  const other = await sqlOne<{ propertyId: string; outcome: string | null }>(
    trx,
    `select property_id, outcome from issue where id = ?`,
    [duplicateOfId],
  )
  if (duplicateOfId === held.id || other?.propertyId !== held.propertyId || other.outcome === 'duplicate')
    throw unprocessable('link_mismatch', 'The other issue must be of this property, and no duplicate itself', [
      { field: 'duplicateOfId', message: 'must be another issue of the property that is no duplicate' },
    ])
}

/** Closes an issue for good: a resolved one as resolved, any other with the reason why nothing was done. */
export const closeIssue = async (trx: Trx, id: string, closing: Closing, asked: Asked): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  if (!issueLifecycle.isDue('closed', held.status)) return
  if (held.status === 'resolved' && closing.outcome !== 'resolved')
    throw invalid([{ field: 'outcome', message: 'of a resolved issue is resolved' }])
  if (held.status !== 'resolved') {
    if (closing.outcome === 'resolved')
      throw invalid([{ field: 'outcome', message: 'resolve the issue first, or say why nothing was done' }])
    if (!closing.reason) throw invalid([{ field: 'reason', message: 'is required for an issue that is not resolved' }])
    await refusePending(trx, id)
  }
  await checkDuplicate(trx, held, closing)
  await close(trx, held, closing)
}

/** Writes the end of a locked issue. */
export const close = async (trx: Trx, held: Held, { outcome, duplicateOfId, reason }: Closing): Promise<void> => {
  const after = await writeIssue(trx, held, {
    status: 'closed',
    outcome,
    duplicateOfId: duplicateOfId ?? null,
    closedAt: held.now,
    ...leaveWait(held),
  })
  await note(trx, held.id, { command: 'close', from: held.status, to: 'closed', reason })
  await tell(trx, 'closed', after)
}

/** Opens a locked issue again, with a new resolution clock. */
export const reopen = async (trx: Trx, held: Held, reason: string | null): Promise<Held> => {
  const after = await writeIssue(trx, held, {
    status: 'open',
    outcome: null,
    closedAt: null,
    resolvedAt: null,
    reopenCount: held.reopenCount + 1,
    resolutionFrom: held.now,
    resolutionDueAt: held.clock.after(held.now, held.resolutionMinutes * 60_000),
    resolutionBreachedAt: null,
    overdueSteps: 0,
    waitedSeconds: 0,
  })
  await note(trx, held.id, { command: 'reopen', from: held.status, to: 'open', reason })
  await tell(trx, 'reopened', after)
  return after
}

const day = 86_400_000

/** The days after its end within which an issue is opened again (`issues.reopenDays`), and whether they still run. */
export const reopensWithin = async (trx: Trx, held: Held): Promise<{ days: number; isDue: boolean }> => {
  const { reopenDays: days } = settingsOf((await houseOf(trx, held.propertyId)).settings).issues
  const ended = held.resolvedAt ?? held.closedAt ?? held.now
  return { days, isDue: held.now.getTime() - ended.getTime() <= days * day }
}

/** A cause has one issue at a time: 409 where it has come back after this one was closed. */
const refuseSecond = async (trx: Trx, sourceKey: string): Promise<void> => {
  const other = await sqlOne<{ number: number }>(
    trx,
    `select number from issue where source_key = ? and status <> 'closed'`,
    [sourceKey],
  )
  if (other)
    throw conflict('invalid_transition', `The cause has come back since; issue ${other.number} is about it`, [
      { field: 'number', message: String(other.number) },
    ])
}

/** Opens a resolved or closed issue again, within `issues.reopenDays` of its resolution. 422 `reopen_too_late`; 409 for a duplicate. */
export const reopenIssue = async (trx: Trx, id: string, reason: string, asked: Asked): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  if (!issueLifecycle.isDue('reopened', held.status)) return
  if (held.outcome === 'duplicate')
    throw conflict('invalid_transition', 'A duplicate stays closed; open the issue that it names')
  if (held.status === 'closed' && held.sourceKey !== null) await refuseSecond(trx, held.sourceKey)
  const { days, isDue } = await reopensWithin(trx, held)
  if (!isDue) throw unprocessable('reopen_too_late', `An issue is opened again within ${days} days; open a new one`)
  await reopen(trx, held, reason)
}

/** Raises an issue to the next level by hand. Above the owner there is none. */
export const escalateIssue = async (trx: Trx, id: string, reason: string, asked: Asked): Promise<void> => {
  const held = await holdFor(trx, id, asked)
  issueLifecycle.allow('escalated', held.status)
  if (held.escalation >= 3) throw conflict('invalid_transition', 'The issue is with the owner already')
  await escalateBy(trx, held, 1, reason)
}
