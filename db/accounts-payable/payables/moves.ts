import { forbidden, unprocessable } from '../../../config/errors.ts'
import { usualPolicy } from '../../../config/payables.ts'
import {
  payableApproved,
  payableRejected,
  payableSubmitted,
  payableVoided,
} from '../../../config/events/accounts-payable.ts'
import { moneyWithCode } from '../../../config/minor-units.ts'
import { bookOf, installmentsIn, settle, todayAfter, todayOf } from '../../documents/index.ts'
import { assertOpen, postingEventOf, raisePosting, refuseProblems } from '../../financial/index.ts'
import { approverOf, authorOf, editorsWith } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression, insertRow } from '../../lib/records.ts'
import { Payable, PayableApproval } from '../models.ts'
import type { MatchException, PayableRecord } from '../models.ts'
import { billOrders, unbillOrders } from '../orders/billing.ts'
import { bandOf, policyOf } from '../policy.ts'
import { postPayable } from '../posting.ts'
import { payableSide } from '../side.ts'
import { lockPayable, note, payableMoves, tell } from '../state.ts'
import { noticeRoles } from '../../ocp/index.ts'
import { inPaymentOf } from './installments.ts'
import { problemsOfLines } from './lines.ts'
import type { GivenLine } from './lines.ts'

/** The caller: the key of their role, and the version that they have seen. */
export type Asked = { role: string | null; expectedVersion: number | null }

/** Prices above those of the order by more than the tolerance (R23), of one measure. An amount that is merely rounded to the minor unit is none. */
const exceptionsOf = (trx: Trx, payableId: string, tolerance: number): Promise<MatchException[]> =>
  sql<MatchException>(
    trx,
    `select l.line_no, 'price_above_order' as code, cast(round(l.quantity * o.unit_price) as bigint) as expected, l.amount as actual
     from payable_line l join purchase_order_line o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_line_id
     where l.tenant_id = ? and l.payable_id = ? and l.amount * 10000 > l.quantity * o.unit_price * (10000 + ?)
       and l.amount > round(l.quantity * o.unit_price) order by l.line_no`,
    [contextOf(trx).tenantId, payableId, tolerance],
  )

/** Lines with the accounts that they are posted on; those of ordered stock have none. */
const linesOf = (trx: Trx, payableId: string): Promise<GivenLine[]> =>
  sql<GivenLine>(
    trx,
    `select l.description, coalesce(l.account_id, o.account_id) as account_id, l.purchase_order_line_id, l.inventory_movement_line_id, l.amount,
       case when l.account_id is not null then l.cost_center_id end as cost_center_id, l.property_id
     from payable_line l left join purchase_order_line o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_line_id
     where l.tenant_id = ? and l.payable_id = ? order by l.line_no`,
    [contextOf(trx).tenantId, payableId],
  )

/** An opening bill stands in the time before the first close of its book (R20). */
const refuseLateOpening = async (trx: Trx, bookId: string): Promise<void> => {
  const closed = await sqlOne<{ id: string }>(
    trx,
    `select id from fiscal_period where tenant_id = ? and book_id = ? and status = 'closed' limit 1`,
    [contextOf(trx).tenantId, bookId],
  )
  if (closed)
    throw unprocessable('period_closed', 'Bills from before the start end with the first close of the book', [
      { field: 'kind', message: 'opening is over' },
    ])
}

/** A reimbursement without a file that is shown: 422 `attachment_required`. */
const refuseUnproven = async (trx: Trx, { id, kind }: PayableRecord): Promise<void> => {
  if (kind !== 'reimbursement') return
  const file = await sqlOne<{ id: string }>(
    trx,
    `select id from attachment where tenant_id = ? and module = 'accounts-payable' and entity_id = ? and position is not null limit 1`,
    [contextOf(trx).tenantId, id],
  )
  if (!file) throw unprocessable('attachment_required', 'A reimbursement needs its receipt')
}

const becomeApproved = async (trx: Trx, payable: PayableRecord, given: number): Promise<void> => {
  await assertOpen(trx, payable.bookId, payable.postingOn)
  await billOrders(trx, payable)
  await changeRow(trx, Payable, payable.id, {
    status: 'approved',
    approvalsGiven: given,
    postedAt: expression('now()'),
  })
  note(trx, payable.id, { command: 'approve', from: payable.status, to: 'approved' })
  await tell(trx, payableApproved, payable.id)
  await postPayable(trx, payable)
}

/**
 * Submits a draft (R6): it waits for the approvals of its band, or is approved where the band needs none. 422 `account_not_usable`, `attachment_required`,
 * `not_received`, `period_closed`.
 */
export const submitPayable = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const payable = await lockPayable(trx, id, expected)
  if (payable.status === 'approved') return
  if (!payableMoves.isDue('submitted', payable.status)) return
  const book = await bookOf(trx, { bookId: payable.bookId })
  refuseProblems(await problemsOfLines(trx, book, payable.kind, await linesOf(trx, id)))
  await refuseUnproven(trx, payable)
  if (payable.kind === 'opening') await refuseLateOpening(trx, payable.bookId)
  const policy = await policyOf(trx, payable.bookId)
  const band = bandOf(policy, payable.gross)
  const exceptions = await exceptionsOf(trx, id, policy.priceTolerance)
  const needed = payable.kind === 'opening' ? 0 : band.approvals + (exceptions.length > 0 ? 1 : 0)
  // A band without approvers names none; what is dearer than its order is then approved as usual.
  const roles = band.roles.length > 0 ? band.roles : usualPolicy.bands.flatMap((usual) => usual.roles)
  const submitter = contextOf(trx).actor.id === null ? null : await authorOf(trx)
  const change = {
    policyNumber: policy.number,
    approvalsNeeded: needed,
    approvalsGiven: 0,
    approvalRoles: roles,
    round: payable.round + 1,
    matchExceptions: exceptions,
    submittedBy: submitter,
    ...(submitter === null ? {} : { editors: editorsWith(payable, submitter) }),
  }
  await changeRow(trx, Payable, id, { ...change, status: 'awaiting_approval' })
  note(trx, id, { command: 'submit', from: 'draft', to: 'awaiting_approval', changes: { needed } })
  await tell(trx, payableSubmitted, id)
  if (needed === 0) await becomeApproved(trx, { ...payable, ...change, status: 'awaiting_approval' }, 0)
  else
    await noticeRoles(trx, roles, {
      kind: 'approval_waiting',
      reference: `payable ${id} ${change.round}`,
      money: moneyWithCode(payable.total, payable.currency),
    })
}

/** Those who wrote, changed or submitted a bill: none of them approves it (R2). */
const authorsOf = ({ createdBy, editedBy, submittedBy, editors }: PayableRecord) => [
  createdBy,
  editedBy,
  submittedBy,
  ...editors,
]

/**
 * Gives one approval (R7); the last one posts the liability. A second one of the same person changes nothing. 403 `self_approval`, `key_not_allowed`, and
 * `forbidden` for roles that are not of the band.
 */
export const approvePayable = async (
  trx: Trx,
  id: string,
  { role, expectedVersion }: Asked,
  comment: string | null,
): Promise<void> => {
  const payable = await lockPayable(trx, id, expectedVersion)
  if (payable.status === 'partly_paid' || payable.status === 'paid') payableMoves.allow('approved', payable.status)
  if (!payableMoves.isDue('approved', payable.status)) return
  const book = await bookOf(trx, { bookId: payable.bookId })
  const authors = authorsOf(payable)
  const { approvedBy, selfApproved } = approverOf(trx, { authors, singleOperator: book.singleOperator })
  if (role === null || !payable.approvalRoles.includes(role))
    throw forbidden('forbidden', 'Your role does not approve amounts of this size', [
      { field: 'role', message: `must be one of ${payable.approvalRoles.join(', ')}` },
    ])
  const before = await sqlOne<{ id: string }>(
    trx,
    `select id from payable_approval where tenant_id = ? and payable_id = ? and round = ? and user_id = ?`,
    [contextOf(trx).tenantId, id, payable.round, approvedBy],
  )
  if (before) return
  await insertRow(trx, PayableApproval, {
    payableId: id,
    round: payable.round,
    userId: approvedBy,
    decision: 'approved',
    note: comment,
    selfApproved,
  })
  const given = payable.approvalsGiven + 1
  if (given >= payable.approvalsNeeded) {
    // An account may have been archived, and a file hidden, since the bill was submitted.
    await refuseUnproven(trx, payable)
    refuseProblems(await problemsOfLines(trx, book, payable.kind, await linesOf(trx, id)))
    return becomeApproved(trx, payable, given)
  }
  await changeRow(trx, Payable, id, { approvalsGiven: given })
  note(trx, id, { command: 'approve', from: payable.status, to: payable.status })
  await tell(trx, payableApproved, id)
}

/** Returns a bill to draft: by an approver, or by its author who takes it back. */
export const rejectPayable = async (
  trx: Trx,
  id: string,
  { role, expectedVersion }: Asked,
  reason: string,
): Promise<void> => {
  const payable = await lockPayable(trx, id, expectedVersion)
  if (!payableMoves.isDue('rejected', payable.status)) return
  const person = await authorOf(trx)
  const isAuthor = authorsOf(payable).includes(person)
  if (!isAuthor && (role === null || !payable.approvalRoles.includes(role)))
    throw forbidden('forbidden', 'A bill is given back by its author, or by a person who may approve it')
  if (!isAuthor)
    await sql(
      trx,
      `insert into payable_approval (payable_id, round, user_id, decision, note) values (?, ?, ?, 'rejected', ?)
       on conflict on constraint payable_approval_once do nothing`,
      [id, payable.round, person, reason],
    )
  await changeRow(trx, Payable, id, { status: 'draft', approvalsGiven: 0 })
  note(trx, id, { command: 'reject', from: payable.status, to: 'draft', reason })
  await tell(trx, payableRejected, id)
}

/** 422 `withholding_collected`, 409 `installment_in_payment`. */
const refuseBound = async (trx: Trx, id: string): Promise<void> => {
  const collected = await sqlOne<{ id: string }>(
    trx,
    `select w.id from payable_withholding w join payable c on c.tenant_id = w.tenant_id and c.id = w.collected_by_id and c.status <> 'void'
     where w.tenant_id = ? and w.payable_id = ? limit 1`,
    [contextOf(trx).tenantId, id],
  )
  if (collected)
    throw unprocessable('withholding_collected', 'A tax withheld from the bill was collected; record a credit note')
  const live = await inPaymentOf(trx, id)
  if (live.length > 0) throw unprocessable('in_use', 'A payment of the bill is under way; void it first')
}

/**
 * Voids a bill without payments; one that was posted is turned today, or on the day of its posting where that is later. The withholdings that a draft had
 * collected are free again.
 */
export const voidPayable = async (trx: Trx, id: string, reason: string, expected: number | null): Promise<void> => {
  const payable = await lockPayable(trx, id, expected)
  if (!payableMoves.isDue('voided', payable.status)) return
  const { tenantId } = contextOf(trx)
  const book = await bookOf(trx, { bookId: payable.bookId })
  const isPosted = payable.status === 'approved'
  const today = isPosted ? todayAfter(book, payable.postingOn) : todayOf(book)
  if (isPosted) {
    await refuseBound(trx, id)
    await assertOpen(trx, book.id, today)
    await unbillOrders(trx, payable)
  }
  await sql(trx, `update payable_withholding set collected_by_id = null where tenant_id = ? and collected_by_id = ?`, [
    tenantId,
    id,
  ])
  await changeRow(trx, Payable, id, {
    status: 'void',
    voidedOn: today,
    voidReason: reason,
    endedAt: expression('now()'),
  })
  note(trx, id, { command: 'void', from: payable.status, to: 'void', reason })
  await tell(trx, payableVoided, id)
  if (!isPosted) return
  const open = await installmentsIn(trx, payableSide, [id])
  await settle(
    trx,
    payableSide,
    open
      .filter((one) => one.open > 0)
      .map((one) => ({
        installmentId: one.id,
        sum: null,
        type: 'reversal',
        sourceId: id,
        on: today,
        amount: one.open,
      })),
  )
  const turned = await postingEventOf(trx, 'accounts-payable.payable_approved', { id })
  if (turned === null) throw new Error('the bill was never posted')
  await raisePosting(trx, {
    event: 'accounts-payable.payable_voided',
    source: { id },
    bookId: book.id,
    ...(payable.propertyId === null ? {} : { propertyId: payable.propertyId }),
    postingDate: today,
    reversesEventId: turned,
  })
}
