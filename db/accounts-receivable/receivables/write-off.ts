import { randomUUID } from 'node:crypto'
import { receivableReinstated, receivableWrittenOff } from '../../../config/events/accounts-receivable.ts'
import { bookOf, installmentsIn, settle, todayAfter } from '../../documents/index.ts'
import { accountFor, assertOpen, raisePosting } from '../../financial/index.ts'
import { approverOf, authorOf } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { WriteOff } from '../models.ts'
import type { ReceivableRecord } from '../models.ts'
import { accountsOf } from '../settings/settings.ts'
import { receivableSide } from '../side.ts'
import { lockReceivable, note, receivableMoves, tell } from '../state.ts'

const kindOf = async (trx: Trx, customerId: string): Promise<string> =>
  (
    await sqlOne<{ kind: string }>(trx, `select kind from customer where tenant_id = ? and id = ?`, [
      contextOf(trx).tenantId,
      customerId,
    ])
  )?.kind ?? 'company'

const headOf = async (trx: Trx, row: ReceivableRecord, today: string) => ({
  bookId: row.bookId,
  ...(row.propertyId === null ? {} : { propertyId: row.propertyId }),
  postingDate: today,
  payload: {
    documents: { receivable: row.id },
    context: { customerKind: await kindOf(trx, row.customerId) },
    parties: { receivable: { type: 'customer' as const, id: row.customerId } },
    ...(row.costCenterId === null ? {} : { costCenterId: row.costCenterId }),
  },
})

type Live = { id: string; amount: number }

/** The write-off of a document that stands; null where there is none. */
const liveOf = (trx: Trx, receivableId: string): Promise<Live | null> =>
  sqlOne<Live>(
    trx,
    `select id, amount from write_off where tenant_id = ? and receivable_id = ? and reinstated_on is null`,
    [contextOf(trx).tenantId, receivableId],
  )

/** Ends a write-off: its facts and its posting are turned. */
const takeBack = async (
  trx: Trx,
  row: ReceivableRecord,
  live: Live,
  { today, reason }: { today: string; reason: string },
): Promise<void> => {
  const written = await sql<{ installmentId: string; amount: number }>(
    trx,
    `select installment_id, amount from receivable_fact where tenant_id = ? and receivable_id = ? and type = 'write_off' and source_id = ? order by position`,
    [contextOf(trx).tenantId, row.id, live.id],
  )
  await changeRow(trx, WriteOff, live.id, {
    reinstatedOn: today,
    reinstatedBy: await authorOf(trx),
    reinstateReason: reason,
  })
  await settle(
    trx,
    receivableSide,
    written.map(({ installmentId, amount }) => ({
      installmentId,
      sum: 'writtenOff' as const,
      type: 'reinstated',
      sourceId: live.id,
      on: today,
      amount: -amount,
    })),
  )
}

const postTakenBack = async (trx: Trx, row: ReceivableRecord, live: Live, today: string): Promise<void> => {
  const { payload, ...head } = await headOf(trx, row, today)
  await raisePosting(trx, {
    ...head,
    event: 'accounts-receivable.write_off_reversed',
    source: { id: live.id },
    payload: { ...payload, amounts: { amount: live.amount } },
  })
}

/**
 * Gives up what is open of a document, today (R13). What was given up before, and stands because a receipt bounced since, is taken back and given up with the
 * rest: one write-off stands at most. Above the threshold of the book not by who issued it: 403 `self_approval`. 409 `invalid_transition`;
 * 422 `period_closed`, `date_locked`.
 */
export const writeOffReceivable = async (
  trx: Trx,
  id: string,
  reason: string,
  expected: number | null,
): Promise<void> => {
  const before = await lockReceivable(trx, id, expected)
  if (!receivableMoves.isDue('written off', before.status)) return
  const live = await liveOf(trx, id)
  const row = live ? { ...before, open: before.open + live.amount } : before
  const book = await bookOf(trx, { bookId: row.bookId })
  const today = todayAfter(book, row.postingOn)
  await assertOpen(trx, book.id, today)
  const isLarge = book.approvalThreshold !== null && row.open > book.approvalThreshold
  const { selfApproved } = isLarge
    ? approverOf(trx, { authors: [row.issuedBy, row.createdBy, ...row.editors], singleOperator: book.singleOperator })
    : { selfApproved: false }
  if (live) await takeBack(trx, row, live, { today, reason })
  const writeOffId = randomUUID()
  const accountId = (await accountsOf(trx, book.id)).badDebtAccountId ?? (await accountFor(trx, book.id, 'bad_debt'))
  await insertRow(trx, WriteOff, {
    id: writeOffId,
    receivableId: id,
    amount: row.open,
    accountId,
    reason,
    writtenOffBy: await authorOf(trx),
    selfApproved,
    datedOn: today,
  })
  const installments = await installmentsIn(trx, receivableSide, [id])
  await settle(
    trx,
    receivableSide,
    installments
      .filter((one) => one.open > 0)
      .map((one) => ({
        installmentId: one.id,
        sum: 'writtenOff' as const,
        type: 'write_off',
        sourceId: writeOffId,
        on: today,
        amount: one.open,
      })),
  )
  note(trx, id, { command: 'write_off', from: row.status, to: 'written_off', reason })
  await tell(trx, receivableWrittenOff, id)
  if (live) await postTakenBack(trx, row, live, today)
  const { payload, ...head } = await headOf(trx, row, today)
  await raisePosting(trx, {
    ...head,
    event: 'accounts-receivable.written_off',
    source: { id: writeOffId },
    payload: { ...payload, amounts: { amount: row.open }, accounts: { account: accountId } },
  })
}

/** Takes a write-off back, wholly, today. 409 `invalid_transition`; 422 `period_closed`, `date_locked`. A document that is not written off stays. */
export const reinstateReceivable = async (
  trx: Trx,
  id: string,
  reason: string,
  expected: number | null,
): Promise<void> => {
  const row = await lockReceivable(trx, id, expected)
  receivableMoves.allow('reinstated', row.status)
  const live = await liveOf(trx, id)
  if (!live) throw new Error('a document is written off by nothing')
  const book = await bookOf(trx, { bookId: row.bookId })
  const today = todayAfter(book, row.postingOn)
  await assertOpen(trx, book.id, today)
  await takeBack(trx, row, live, { today, reason })
  const now = await sqlOne<Pick<ReceivableRecord, 'status'>>(
    trx,
    `select status from receivable where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  note(trx, id, { command: 'reinstate', from: row.status, to: now?.status ?? 'issued', reason })
  await tell(trx, receivableReinstated, id)
  await postTakenBack(trx, row, live, today)
}
