import { randomUUID } from 'node:crypto'
import { forbidden, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import type { Event } from '../../config/events/event.ts'
import { compensationApproved, compensationProposed, compensationRejected } from '../../config/events/issues.ts'
import { businessDay } from '../financial/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { withinDays } from '../lib/days.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow, expression, insertRow, readRow } from '../lib/records.ts'
import { freeMoneyOn, requestRefund } from '../payment/index.ts'
import { adjustFolio, adjustableParts, folioCredit } from '../reservations/index.ts'
import type { CompensationRow } from '../rows.ts'
import { readCategory } from './categories.ts'
import { Compensation, Issue } from './models.ts'
import { holdFor } from './moves.ts'
import type { Asked } from './moves.ts'
import { issueLifecycle, lockIssue, note } from './state.ts'
import type { Held } from './state.ts'
import { openText, sealText } from './texts.ts'

export type NewCompensation = {
  kind: 'adjustment' | 'gesture'
  amount: number
  folioId?: string | null | undefined
  lineId?: string | null | undefined
  /** Stands on the folio: no names. */
  description: string
  reason: string
  refundExcess?: boolean | undefined
}

const compensationLifecycle = lifecycle<CompensationRow['status']>('A compensation')({
  approved: { from: ['proposed'], to: 'approved' },
  rejected: { from: ['proposed'], to: 'rejected' },
})

const shown = async (trx: Trx, row: CompensationRow) => {
  const { sealed, decisionSealed, proposedByActor: _, ...rest } = row
  return {
    ...rest,
    reason: (await openText(trx, 'compensation', row.id, sealed))?.text ?? null,
    decisionReason: (await openText(trx, 'decision', row.id, decisionSealed))?.text ?? null,
  }
}
type CompensationShown = Awaited<ReturnType<typeof shown>>

export const readCompensations = async (trx: Trx, issueId: string): Promise<CompensationShown[]> => {
  const rows = await sql<CompensationRow>(
    trx,
    `select * from compensation where issue_id = ? order by created_at, id limit 200`,
    [issueId],
  )
  return Promise.all(rows.map((row) => shown(trx, row)))
}
export const readCompensation = async (trx: Trx, id: string): Promise<CompensationShown> =>
  shown(trx, (await readRow(trx, Compensation, id)) as CompensationRow)

export type CompensationFilter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  issueId?: string | undefined
  reservationId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  scope: Condition
}

/** Compensations, those that wait first, then the newest. */
export const listCompensations = async (trx: Trx, filter: CompensationFilter) => {
  const { total, rows } = await readPage<CompensationRow>(
    trx,
    {
      columns: 'k.*',
      from: 'compensation k',
      conditions: [
        ...inScope(filter.scope, 'k.property_id'),
        ...where('k.property_id = ?', filter.propertyId),
        ...where('k.status = ?', filter.status),
        ...where('k.issue_id = ?', filter.issueId),
        ...where('k.reservation_id = ?', filter.reservationId),
      ],
      days: withinDays('k.created_at', filter),
      order: `k.status <> 'proposed', k.created_at desc, k.id`,
    },
    filter,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row))) }
}

const tell = async (trx: Trx, event: Event<typeof compensationProposed.data>, row: CompensationRow): Promise<void> => {
  const { id, propertyId, version, issueId, reservationId, kind, amount, currency, automatic } = row
  await emit(trx, event, {
    propertyId,
    id,
    version,
    data: { compensationId: id, issueId, reservationId, kind, amount, currency, automatic },
  })
}

type Target = { folioId: string; currency: string }

/** The folio that an adjustment goes to: the one named, else the primary one of the stay. */
const folioOf = async (trx: Trx, reservationId: string, folioId: string | null): Promise<Target> => {
  const folio = await sqlOne<Target & { status: string; reservationId: string | null }>(
    trx,
    `select f.id as folio_id, f.currency, f.status, f.reservation_id from folio f
     where ${folioId === null ? 'f.reservation_id = ? and f.is_primary' : 'f.id = ?'}`,
    [folioId ?? reservationId],
  )
  if (folio?.reservationId !== reservationId)
    throw unprocessable('link_mismatch', 'The folio is not of the reservation', [
      { field: 'folioId', message: 'is no folio of the reservation of the issue' },
    ])
  if (folio.status !== 'open') throw unprocessable('folio_closed', 'The folio is closed')
  return folio
}

/** All adjustments of an issue that were approved, which limits count together (R15). The issue is locked, so none is approved meanwhile. */
const adjusted = async (trx: Trx, issueId: string, but: string | null = null): Promise<number> => {
  const row = await sqlOne<{ amount: number }>(
    trx,
    `select coalesce(sum(amount), 0)::bigint as amount from compensation
     where issue_id = ? and kind = 'adjustment' and status = 'approved' and id is distinct from ?::uuid`,
    [issueId, but],
  )
  return row?.amount ?? 0
}

/**
 * The credit of a folio that its lines have made: what was there before belongs to somebody already. The folio is locked by the adjustment that wrote
 * them.
 */
const creditOf = async (trx: Trx, folioId: string, lineIds: readonly string[]): Promise<number> => {
  const credit = await folioCredit(trx, folioId)
  if (credit === 0) return 0
  const taken = await sqlOne<{ amount: number }>(
    trx,
    `select coalesce(-sum(amount), 0)::bigint as amount from folio_line where id = any(?::uuid[])`,
    [lineIds],
  )
  return Math.min(credit, Math.max(0, taken?.amount ?? 0))
}

/**
 * Writes an adjustment onto its folio. Where that was asked for, it sends back the credit that results, as far as payments of gateways on the folio can; what
 * was paid at the desk stays a credit, until a person hands it back.
 */
const post = async (trx: Trx, row: CompensationRow): Promise<Pick<CompensationRow, 'folioLineIds' | 'refundIds'>> => {
  if (row.kind !== 'adjustment' || row.folioId === null) return { folioLineIds: [], refundIds: [] }
  const { id, folioId, lineId, amount, description } = row
  const source = { type: 'issue_compensation', id }
  const folioLineIds = await adjustFolio(trx, { folioId, lineId, amount, description, source })
  const credit = row.refundExcess ? await creditOf(trx, folioId, folioLineIds) : 0
  const back = credit === 0 ? 0 : Math.min(credit, await freeMoneyOn(trx, 'folio', folioId))
  if (back === 0) return { folioLineIds, refundIds: [] }
  const refunds = await requestRefund(trx, {
    targetType: 'folio',
    targetId: folioId,
    amount: back,
    reason: 'compensation',
  })
  return { folioLineIds, refundIds: refunds.map((refund) => refund.refundId) }
}

/** Holds the business day that postings are dated by, which comes before the lock of the issue. */
const holdDay = async (trx: Trx, issueId: string): Promise<void> => {
  const { propertyId } = await readRow(trx, Issue, issueId, ['propertyId'])
  await businessDay(trx, propertyId)
}

const userOf = (trx: Trx): string | null => {
  const { actor } = contextOf(trx)
  return actor.type === 'user' ? actor.id : null
}

/**
 * Proposes a compensation (R13–R15). A gesture, which posts nothing, and an adjustment within `autoApproveLimit` are approved at once.
 * 422 `reservation_required`, `folio_closed`, `adjustment_exceeds_charge`, `currency_mismatch`, `link_mismatch`.
 */
export const proposeCompensation = async (
  trx: Trx,
  issueId: string,
  { kind, amount, folioId, lineId, description, reason, refundExcess = false }: NewCompensation,
  asked: Asked,
): Promise<string> => {
  await holdDay(trx, issueId)
  const held = await holdFor(trx, issueId, asked)
  issueLifecycle.allow('compensated', held.status)
  const { reservationId } = held
  if (reservationId === null)
    throw unprocessable('reservation_required', 'A compensation needs the reservation of the issue', [
      { field: 'reservationId', message: 'link the issue to a reservation first' },
    ])
  const isAdjustment = kind === 'adjustment'
  const folio = isAdjustment ? await folioOf(trx, reservationId, folioId ?? null) : null
  const property = await sqlOne<{ currency: string }>(trx, `select currency from property where id = ?`, [
    held.propertyId,
  ])
  const currency = property?.currency ?? ''
  if (folio && folio.currency !== currency)
    throw unprocessable('currency_mismatch', `The folio is not in ${currency}, the currency of the property`)
  if (folio) await adjustableParts(trx, { folioId: folio.folioId, lineId: lineId ?? null, amount })
  const category = await readCategory(trx, held.categoryId)
  const automatic = !isAdjustment || (await adjusted(trx, issueId)) + amount <= category.autoApproveLimit
  const id = randomUUID()
  const made = (await insertRow(trx, Compensation, {
    id,
    issueId,
    propertyId: held.propertyId,
    reservationId,
    kind,
    amount,
    currency,
    folioId: folio?.folioId ?? null,
    lineId: isAdjustment ? (lineId ?? null) : null,
    description,
    sealed: await sealText(trx, 'compensation', id, { text: reason }),
    refundExcess: isAdjustment && refundExcess,
    proposedBy: userOf(trx),
    proposedByActor: contextOf(trx).actor as never,
  })) as CompensationRow
  await tell(trx, compensationProposed, made)
  await note(trx, issueId, { command: 'compensate', from: held.status, to: held.status, changes: [kind] })
  if (automatic) await settle(trx, made, true)
  return id
}

const settle = async (trx: Trx, row: CompensationRow, automatic: boolean): Promise<void> => {
  const posted = await post(trx, row)
  const version = await changeRow(trx, Compensation, row.id, {
    status: 'approved',
    automatic,
    decidedAt: expression('now()'),
    decidedBy: automatic ? null : userOf(trx),
    ...posted,
  })
  await tell(trx, compensationApproved, { ...row, automatic, version })
}

/** Tells whether the caller, a person or an API key, has proposed a compensation. */
const isProposer = (trx: Trx, { proposedByActor }: CompensationRow): boolean => {
  const { actor } = contextOf(trx)
  const { type, id } = proposedByActor as typeof actor
  return actor.id !== null && actor.type === type && actor.id === id
}

type Deciding = Asked & { limited: boolean }

const lockCompensation = async (trx: Trx, id: string, asked: Asked): Promise<{ held: Held; row: CompensationRow }> => {
  const known = await readRow(trx, Compensation, id, ['issueId'])
  await holdDay(trx, known.issueId)
  const held = await lockIssue(trx, known.issueId)
  const row = await preparedOne<CompensationRow>(trx, `select * from compensation where id = ? for no key update`, [id])
  if (!row) throw notFound()
  const { expectedVersion = null } = asked
  if (expectedVersion !== null && row.version !== expectedVersion) throw versionConflict(row.version)
  return { held, row }
}

/**
 * Approves a compensation and posts it. 403 `self_approval` for the proposer, `approval_limit_exceeded` for a manager above `managerLimit`: all adjustments
 * of the issue count together.
 */
export const approveCompensation = async (trx: Trx, id: string, deciding: Deciding): Promise<void> => {
  const { held, row } = await lockCompensation(trx, id, deciding)
  if (!compensationLifecycle.isDue('approved', row.status)) return
  const me = userOf(trx)
  if (me === null || me === row.proposedBy)
    throw forbidden('self_approval', 'Another person than the proposer approves a compensation')
  const { managerLimit } = await readCategory(trx, held.categoryId)
  if (deciding.limited && row.kind === 'adjustment' && (await adjusted(trx, held.id, id)) + row.amount > managerLimit)
    throw forbidden(
      'approval_limit_exceeded',
      `Adjustments of an issue above ${managerLimit} need an admin or the owner`,
    )
  if (row.folioId !== null) await folioOf(trx, row.reservationId, row.folioId)
  await settle(trx, row, false)
  await note(trx, held.id, { command: 'approve_compensation', from: held.status, to: held.status })
}

/** Rejects a compensation, or withdraws one's own. 403 for a caller who neither approves compensations nor has proposed it. */
export const rejectCompensation = async (
  trx: Trx,
  id: string,
  reason: string,
  { mayApprove, ...asked }: Asked & { mayApprove: boolean },
): Promise<void> => {
  const { held, row } = await lockCompensation(trx, id, asked)
  if (!mayApprove && !isProposer(trx, row)) throw forbidden()
  if (!compensationLifecycle.isDue('rejected', row.status)) return
  const version = await changeRow(trx, Compensation, id, {
    status: 'rejected',
    decidedAt: expression('now()'),
    decidedBy: userOf(trx),
    decisionSealed: await sealText(trx, 'decision', id, { text: reason }),
  })
  await tell(trx, compensationRejected, { ...row, version })
  await note(trx, held.id, { command: 'reject_compensation', from: held.status, to: held.status })
}
