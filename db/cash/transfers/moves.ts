import { unprocessable } from '../../../config/errors.ts'
import { cashTransferApproved, cashTransferCancelled, cashTransferCompleted } from '../../../config/events/cash.ts'
import type { TransferStatus } from '../../../config/cash.ts'
import { todayIn } from '../../../config/time.ts'
import { approverOf } from '../../lib/authors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { answerTransfer } from '../answers.ts'
import { busyAsCash, findAccountFacts } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { CashTransfer } from '../models.ts'
import type { TransferRecord } from '../models.ts'
import { dayOfBooking, reverseMovement } from '../movements.ts'
import { pixSender } from '../sending.ts'
import { bookLegs, legs, unpostLeg } from './legs.ts'
import type { LegName } from './legs.ts'
import { lockDays, lockSessions, lockTransfer } from './locks.ts'
import { transferById } from './request.ts'
import type { TransferSource } from './request.ts'
import { tellTransfer } from './tell.ts'

const moves = lifecycle<TransferStatus>('A transfer')({
  approved: { from: ['pending_approval'], to: 'approved' },
  confirmed: { from: ['in_transit'], to: 'completed' },
  cancelled: { from: ['pending_approval', 'approved', 'in_transit', 'completed'], to: 'cancelled' },
})

const sidesOf = async (trx: Trx, { fromAccountId, toAccountId }: TransferRecord) => ({
  from: await findAccountFacts(trx, fromAccountId),
  to: toAccountId === null ? null : await findAccountFacts(trx, toAccountId),
})

/**
 * Lets an outgoing Pix leave on its day. 403 `self_approval`, `key_not_allowed`; `reauthentication_required` above the book's threshold without a recent
 * sign-in.
 */
export const approveTransfer = async (
  trx: Trx,
  id: string,
  { expected, requireRecent }: { expected: number | null; requireRecent: () => void },
): Promise<void> => {
  const transfer = await lockTransfer(trx, id, expected)
  if (!moves.isDue('approved', transfer.status)) return
  const { from } = await sidesOf(trx, transfer)
  if (!from) throw new Error(`transfer ${id} has no account`)
  const approval = approverOf(trx, { authors: [transfer.requestedBy], singleOperator: from.singleOperator })
  if (from.approvalThreshold !== null && transfer.amount > from.approvalThreshold) requireRecent()
  await changeRow(trx, CashTransfer, id, { status: 'approved', approvedAt: expression('now()'), ...approval })
  await tellTransfer(trx, cashTransferApproved, await transferById(trx, id))
  await pixSender().send(trx, { transferId: id, on: transfer.scheduledOn ?? todayIn(from.timeZone) })
}

/** Books the arrival of money in transit. 422 `date_out_of_range` for a day before it left. */
export const confirmTransfer = async (
  trx: Trx,
  id: string,
  { receivedOn, expected }: { receivedOn: string; expected: number | null },
): Promise<void> => {
  const transfer = await lockTransfer(trx, id, expected)
  if (!moves.isDue('confirmed', transfer.status)) return
  const { to } = await sidesOf(trx, transfer)
  if (!to) throw new Error(`transfer ${id} has no account to arrive on`)
  if (transfer.sentOn !== null && receivedOn < transfer.sentOn)
    throw unprocessable('date_out_of_range', 'Money does not arrive before it leaves', [
      { field: 'receivedOn', message: `must be ${transfer.sentOn} or later` },
    ])
  const day = await dayOfBooking(trx, to, { bookedOn: receivedOn })
  await changeRow(trx, CashTransfer, id, { status: 'completed', receivedOn: day })
  await tellTransfer(trx, cashTransferCompleted, await transferById(trx, id))
  await bookLegs(trx, transfer, { in: { account: to, day } })
}

type StandingLeg = { id: string; sourceSeq: number; sessionId: string | null; cashAccountId: string }

/** Turns the sides of a recorded transfer that have happened: today, or on the business day of a register. */
const undo = async (
  trx: Trx,
  transfer: TransferRecord,
  accounts: { from: AccountFacts | null; to: AccountFacts | null },
  reason: string,
): Promise<void> => {
  const standing = await busyAsCash(
    sql<StandingLeg>(
      trx,
      `select id, source_seq, session_id, cash_account_id from cash_movement
       where tenant_id = ? and transfer_id = ? and kind = 'transfer' order by id for no key update`,
      [contextOf(trx).tenantId, transfer.id],
    ),
  )
  await lockSessions(
    trx,
    standing.map((leg) => leg.sessionId),
  )
  // A side without a register goes with the business day of the one beside it, as it was booked.
  const register = [accounts.from, accounts.to].find((one) => one?.kind === 'register')
  const shared = register ? await dayOfBooking(trx, register, {}) : undefined
  const undone: { name: LegName; account: AccountFacts; day: string }[] = []
  for (const leg of standing.toSorted((a, b) => (a.cashAccountId < b.cashAccountId ? -1 : 1))) {
    const name = leg.sourceSeq === legs.out ? 'out' : 'in'
    const account = name === 'out' ? accounts.from : accounts.to
    if (!account) throw new Error(`transfer ${transfer.id} has no account`)
    const day = account.kind === 'register' ? undefined : shared
    const { bookedOn } = await reverseMovement(trx, {
      movementId: leg.id,
      description: reason,
      ...(day === undefined ? {} : { day }),
    })
    undone.push({ name, account, day: bookedOn })
  }
  for (const { name, account, day } of undone) await unpostLeg(trx, transfer, name, { account, day })
}

/**
 * Withdraws a Pix that has not left, or undoes a recorded transfer, today. 409 `invalid_transition` once it is being sent, or for a Pix that was; 422
 * `in_use` where a side is matched with the bank, `session_closed` where the session of a register is counted.
 */
export const cancelTransfer = async (
  trx: Trx,
  id: string,
  { reason, expected }: { reason: string; expected: number | null },
): Promise<void> => {
  const seen = await transferById(trx, id)
  const accounts = await sidesOf(trx, seen)
  await lockDays(trx, [accounts.from, accounts.to])
  const transfer = await lockTransfer(trx, id, expected)
  if (!moves.isDue('cancelled', transfer.status)) return
  if (transfer.method === 'pix')
    moves.allow('approved', transfer.status === 'approved' ? 'pending_approval' : transfer.status)
  await changeRow(trx, CashTransfer, id, { status: 'cancelled', cancelReason: reason })
  await tellTransfer(trx, cashTransferCancelled, await transferById(trx, id))
  if (transfer.method === 'manual') return undo(trx, transfer, accounts, reason)
  if (transfer.sourceType !== null && transfer.sourceId !== null)
    await answerTransfer(trx, transfer.sourceType as TransferSource, {
      transferId: id,
      sourceId: transfer.sourceId,
      status: 'cancelled',
    })
}
