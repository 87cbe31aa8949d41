import { forbidden, invalid, unprocessable, versionConflict } from '../../../config/errors.ts'
import { cashSessionApproved, cashSessionClosed, cashSessionReviewNeeded } from '../../../config/events/cash.ts'
import { assertOpen, businessDay } from '../../financial/index.ts'
import { approverOf, authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow, expression, insertRow } from '../../lib/records.ts'
import { accountFacts, busyAsCash, namedAccount } from '../facts.ts'
import { CashCount, CashSession } from '../models.ts'
import type { SessionRecord } from '../models.ts'
import { bookMovement } from '../movements.ts'
import type { Count } from '../rules/counting.ts'
import { insertTransfer } from '../transfers/insert.ts'
import { countedTotal } from './open.ts'
import { sessionById, tellSession } from './tell.ts'

const moves = lifecycle<SessionRecord['status']>('A session')({
  closed: { from: ['open'], to: 'closed' },
  approved: { from: ['in_review'], to: 'closed' },
})

export type Closing = {
  count: Count
  /** Totals stated by the card terminal and other sources, minor units by method: compared, never posted (R10). */
  declared?: Record<string, number> | undefined
  /** Counted money that goes to a safe; to the register's own unless said. */
  drop?: { amount: number; toAccountId?: string | undefined } | undefined
  note?: string | undefined
}

/** Locks a session until the transaction ends: what is booked on its register waits, and is then refused (R4). */
const lockSession = async (trx: Trx, id: string, expected: number | null): Promise<SessionRecord> => {
  await busyAsCash(
    sqlOne(trx, `select id from cash_session where tenant_id = ? and id = ? for no key update`, [
      contextOf(trx).tenantId,
      id,
    ]),
  )
  const session = await sessionById(trx, id)
  if (expected !== null && session.version !== expected) throw versionConflict(session.version)
  return session
}

/** Writes what was counted, with the next Z number of the register: sessions of one register end one after the other. */
const finish = async (trx: Trx, session: SessionRecord, given: Closing, counted: number, person: string) => {
  const limit = await sqlOne<{ differenceLimit: number; next: number }>(
    trx,
    `select a.difference_limit, coalesce((select max(s.z_number) from cash_session s where s.tenant_id = a.tenant_id and s.register_id = a.id), 0) + 1 as next
     from cash_account a where a.tenant_id = ? and a.id = ?`,
    [contextOf(trx).tenantId, session.registerId],
  )
  const difference = counted - session.expected
  const inReview = Math.abs(difference) > (limit?.differenceLimit ?? 0)
  await changeRow(trx, CashSession, session.id, {
    status: inReview ? 'in_review' : 'closed',
    counted,
    declared: given.declared ?? {},
    closedAt: expression('now()'),
    closedBy: person,
    closedXid: expression('pg_current_xact_id()'),
    zNumber: limit?.next ?? 1,
    note: given.note ?? null,
  })
  return { difference, inReview }
}

/**
 * Closes a session with the count of its drawer (R9): the difference is booked, then the drop goes to the safe, and the rest stays as the next float. A
 * difference above the limit of the register waits for another person. Repeated, it changes nothing.
 *
 * 403 `forbidden` for a person who is neither its cashier nor may approve sessions; 409 `cash_busy`; 422 `cash_short` for a drop of more than was counted.
 */
export const closeSession = async (
  trx: Trx,
  id: string,
  given: Closing,
  { mayApprove, expected = null }: { mayApprove: boolean; expected?: number | null },
): Promise<void> => {
  const seen = await sessionById(trx, id)
  const person = await authorOf(trx)
  if (seen.cashierId !== person && !mayApprove)
    throw forbidden('forbidden', 'A session is closed by its cashier, or by a person who may approve sessions')
  const day = await businessDay(trx, seen.propertyId)
  const account = await accountFacts(trx, seen.registerId)
  await assertOpen(trx, account.bookId, day)
  const session = await lockSession(trx, id, expected)
  if (session.status === 'in_review' || !moves.isDue('closed', session.status)) return
  const counted = countedTotal(given.count)
  const { difference, inReview } = await finish(trx, session, given, counted, person)
  await insertRow(trx, CashCount, {
    sessionId: id,
    moment: 'closing',
    denominations: { ...given.count },
    total: counted,
    countedBy: person,
  })
  await tellSession(trx, inReview ? cashSessionReviewNeeded : cashSessionClosed, await sessionById(trx, id))
  const register = { ...account, sessionId: id }
  if (difference !== 0)
    await bookMovement(
      trx,
      register,
      {
        cashAccountId: account.id,
        amount: difference,
        kind: 'difference',
        source: { type: 'cash_session', id, seq: 1 },
        description: 'Difference at closing',
      },
      day,
    )
  if (given.drop && given.drop.amount > 0) await drop(trx, register, given.drop, day)
}

/** Moves counted money to a safe: a transfer of its own, on the business day of the register. */
const drop = async (
  trx: Trx,
  register: Awaited<ReturnType<typeof accountFacts>> & { sessionId: string },
  { amount, toAccountId }: NonNullable<Closing['drop']>,
  day: string,
): Promise<void> => {
  const usual = await sqlOne<{ safeAccountId: string | null }>(
    trx,
    `select safe_account_id from cash_account where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, register.id],
  )
  const safe = toAccountId ?? usual?.safeAccountId
  if (!safe) throw invalid([{ field: 'drop.toAccountId', message: 'is required: the register has no safe of its own' }])
  if ((await namedAccount(trx, safe, 'drop.toAccountId')).kind !== 'safe')
    throw unprocessable('reference_not_found', 'A drop goes to a safe', [
      { field: 'drop.toAccountId', message: 'must be a safe' },
    ])
  await insertTransfer(trx, {
    from: register,
    toAccountId: safe,
    toField: 'drop.toAccountId',
    amount,
    fee: 0,
    purpose: 'Drop at closing',
    sentOn: day,
    receivedOn: day,
    closingSessionId: register.sessionId,
  })
}

/** Accepts the difference of a session in review. 403 `self_approval`, `key_not_allowed`. */
export const approveSession = async (
  trx: Trx,
  id: string,
  { note, expected }: { note: string | undefined; expected: number | null },
): Promise<void> => {
  const session = await lockSession(trx, id, expected)
  if (!moves.isDue('approved', session.status)) return
  const account = await accountFacts(trx, session.registerId)
  const approval = approverOf(trx, {
    authors: [session.cashierId, session.closedBy],
    singleOperator: account.singleOperator,
  })
  await changeRow(trx, CashSession, id, {
    status: 'closed',
    approvedBy: approval.approvedBy,
    selfApproved: approval.selfApproved,
    approvedAt: expression('now()'),
    ...(note === undefined ? {} : { note }),
  })
  await tellSession(trx, cashSessionApproved, await sessionById(trx, id))
}
