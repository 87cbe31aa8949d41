import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import {
  payablePaymentReversed,
  payablePaymentVoided,
  payableReopened,
} from '../../../config/events/accounts-payable.ts'
import { accountFacts, findAccountFacts, recordMovement, reverseMovement } from '../../cash/index.ts'
import { bookOf, refuseFuture, settle, todayAfter } from '../../documents/index.ts'
import type { Fact } from '../../documents/index.ts'
import { assertOpen, businessDay, postingEventOf, raisePosting } from '../../financial/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { claimMovement } from '../claim.ts'
import type { ClaimedMovement } from '../claim.ts'
import { applyCredit, endCredit, lockCredit } from '../credits/state.ts'
import type { CreditRecord, ItemRecord, PaymentRecord } from '../models.ts'
import { payableSide } from '../side.ts'
import { tellAll } from '../state.ts'
import { refreshPayables } from './settle.ts'
import { itemsOf, lockPayment, paymentMoves, refreshPayment, tellPayment } from './state.ts'

/** Money that a payee gave back: a reversal books it, or claims a movement that stands. */
export type GivenBack = {
  cashAccountId?: string | undefined
  receivedOn?: string | undefined
  cashMovementId?: string | undefined
}
type Back = { cashAccountId: string; receivedOn: string } | ClaimedMovement
export type Voiding = {
  reason: string
  on?: string | undefined
  itemIds?: readonly string[] | undefined
  refund?: GivenBack | undefined
}

const chosen = (items: readonly ItemRecord[], itemIds: readonly string[] | undefined): ItemRecord[] => {
  if (itemIds === undefined) return items.filter(({ status }) => status !== 'void' && status !== 'failed')
  const unknown = itemIds.findIndex((id) => !items.some((item) => item.id === id))
  if (unknown >= 0)
    throw unprocessable('reference_not_found', 'The payment has no such item', [
      { field: `itemIds.${unknown}`, message: 'is no item of the payment' },
    ])
  return items.filter(({ id, status }) => itemIds.includes(id) && status !== 'void')
}

/** A movement that is matched is not turned (422 `in_use`), and none of a reconciled statement: 409 `movement_reconciled`. */
const turnMovement = async (trx: Trx, item: ItemRecord, reason: string, on: string): Promise<void> => {
  if (item.cashMovementId === null) return
  await reverseMovement(trx, { movementId: item.cashMovementId, description: reason, bookedOn: on })
}

/** 400 unless the money is a movement, or an account with a day. */
const checkRefund = ({ cashAccountId, receivedOn, cashMovementId }: GivenBack): void => {
  const isBooked = cashAccountId !== undefined && receivedOn !== undefined && cashMovementId === undefined
  const isClaimed = cashMovementId !== undefined && cashAccountId === undefined && receivedOn === undefined
  if (!isBooked && !isClaimed)
    throw invalid([{ field: 'refund', message: 'is cashAccountId with receivedOn, or cashMovementId' }])
}

/** Books or claims what came back of an item. Answers the ledger account of the money. */
const giveBack = async (trx: Trx, payment: PaymentRecord, item: ItemRecord, refund: Back): Promise<string> => {
  const booked =
    'movementId' in refund
      ? refund
      : await recordMovement(trx, {
          cashAccountId: refund.cashAccountId,
          amount: item.cash,
          kind: 'supplier_refund',
          source: { type: 'payable_payment_item', id: item.id, seq: 1 },
          description: 'Given back by the payee',
          bookedOn: refund.receivedOn,
          currency: payment.currency,
          propertyId: item.propertyId,
        })
  await sql(trx, `update payable_payment_item set refund_movement_id = ? where tenant_id = ? and id = ?`, [
    booked.movementId,
    contextOf(trx).tenantId,
    item.id,
  ])
  return booked.ledgerAccountId
}

/** The turned posting names the account that the money had left; where it came back to another one, it goes on there in the ledger. */
const postElsewhere = async (
  trx: Trx,
  payment: PaymentRecord,
  item: ItemRecord,
  { from, to, on }: { from: string; to: string; on: string },
): Promise<void> => {
  if (from === to) return
  const shared = {
    source: { id: item.id },
    bookId: payment.bookId,
    ...(item.propertyId === null ? {} : { propertyId: item.propertyId }),
    postingDate: on,
  }
  const documents = { transfer: item.id }
  const amounts = { amount: item.cash }
  await raisePosting(trx, {
    ...shared,
    event: 'cash.transfer_sent',
    payload: { amounts, accounts: { from }, documents },
  })
  await raisePosting(trx, {
    ...shared,
    event: 'cash.transfer_received',
    payload: { amounts, accounts: { to }, documents },
  })
}

const endAdvance = async (trx: Trx, item: ItemRecord, on: string): Promise<void> => {
  const credit = await lockCredit(trx, item.creditId ?? '')
  if (credit.available !== credit.amount)
    throw unprocessable('in_use', 'The advance was used; take that back first', [
      { field: 'itemIds', message: `${credit.amount - credit.available} of it is used` },
    ])
  await endCredit(trx, credit, on)
}

const mirrored = (item: ItemRecord, credit: CreditRecord | null): string | null => {
  if (item.payableId === null) return 'accounts-payable.advance_paid'
  if (credit === null) return 'accounts-payable.payment_paid'
  return credit.kind === 'advance' ? 'accounts-payable.advance_applied' : null
}

const typeOf = (credit: CreditRecord | null) => (credit?.kind === 'credit_note' ? 'credit_restored' : 'reversal')

/** Reverses paid items (R16): money, installments, credits; and turns their postings last. The caller holds bills and payment. */
const reverseItems = async (
  trx: Trx,
  payment: PaymentRecord,
  items: readonly ItemRecord[],
  { reason, on, refund }: { reason: string; on: string; refund: Back | undefined },
): Promise<void> => {
  const credit = payment.creditId === null ? null : await lockCredit(trx, payment.creditId)
  for (const item of items) if (item.payableId === null) await endAdvance(trx, item, on)
  const facts = items.flatMap(({ id, installmentId, principal }): Fact[] =>
    installmentId === null
      ? []
      : [{ installmentId, sum: 'settled', type: typeOf(credit), sourceId: id, on, amount: -principal }],
  )
  const payables = await settle(trx, payableSide, facts)
  await refreshPayables(trx, payables)
  if (credit)
    await applyCredit(
      trx,
      credit,
      items.map(({ id, principal }) => ({ sourceId: id, on, amount: -principal })),
    )
  await sql(
    trx,
    `update payable_payment_item set status = 'void', reversed_on = ?, version = version + 1 where tenant_id = ? and id = any(?::uuid[])`,
    [on, contextOf(trx).tenantId, items.map(({ id }) => id)],
  )
  await tellAll(trx, payableReopened, payables)
  const after = await refreshPayment(trx, payment.id)
  await tellPayment(trx, payablePaymentReversed, after, items)
  const cameTo = new Map<string, string>()
  for (const item of items)
    if (refund) cameTo.set(item.id, await giveBack(trx, payment, item, refund))
    else if (!credit) await turnMovement(trx, item, reason, on)
  const left = refund && payment.cashAccountId !== null ? await findAccountFacts(trx, payment.cashAccountId) : null
  for (const item of items) {
    const event = mirrored(item, credit)
    if (event === null) continue
    const turned = await postingEventOf(trx, event, { id: item.id })
    if (turned === null) throw new Error('the item was never posted')
    await raisePosting(trx, {
      event: 'accounts-payable.payment_reversed',
      source: { id: item.id },
      bookId: payment.bookId,
      ...(item.propertyId === null ? {} : { propertyId: item.propertyId }),
      postingDate: on,
      reversesEventId: turned,
    })
    const to = cameTo.get(item.id)
    if (left && to !== undefined) await postElsewhere(trx, payment, item, { from: left.ledgerAccountId, to, on })
  }
}

/**
 * Cancels items that were not sent, or reverses paid ones (R16), of which a Pix needs the money that came back. 422 `date_out_of_range`, `in_use`, `not_payable`
 * for a Pix without refund; 409 `movement_reconciled`, `invalid_transition` while items are being sent.
 */
export const voidPayment = async (
  trx: Trx,
  id: string,
  { reason, on, itemIds, refund }: Voiding,
  expected: number | null,
): Promise<void> => {
  if (refund) checkRefund(refund)
  const [known] = await sql<{ cashAccountId: string | null }>(
    trx,
    `select cash_account_id from payable_payment where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  const accountId = (refund ? refund.cashAccountId : known?.cashAccountId) ?? null
  const account = accountId === null ? null : await accountFacts(trx, accountId)
  const businessDate =
    account?.kind === 'register' && account.propertyId !== null ? await businessDay(trx, account.propertyId) : null
  const { payment, items } = await lockPayment(trx, id, expected)
  if (!paymentMoves.isDue('voided', payment.status)) return
  const wanted = chosen(items, itemIds)
  const sending = wanted.filter(({ status }) => status === 'sending')
  if (sending.length > 0)
    throw conflict('invalid_transition', 'An item is being sent: its outcome is awaited', [
      { field: 'itemIds', message: `${sending.length} are being sent` },
    ])
  const queued = wanted.filter(({ status }) => status === 'queued')
  const paid = wanted.filter(({ status }) => status === 'paid')
  if (queued.length > 0) {
    await sql(
      trx,
      `update payable_payment_item set status = 'void', version = version + 1 where tenant_id = ? and id = any(?::uuid[])`,
      [contextOf(trx).tenantId, queued.map((item) => item.id)],
    )
    await tellPayment(trx, payablePaymentVoided, await refreshPayment(trx, id), queued)
  }
  if (paid.length === 0) return
  if ((payment.method === 'pix') !== (refund !== undefined))
    throw invalid([
      {
        field: 'refund',
        message:
          payment.method === 'pix' ? 'is required: a Pix that was paid is given back by its payee' : 'is for Pix alone',
      },
    ])
  const book = await bookOf(trx, { bookId: payment.bookId })
  if (account && account.bookId !== book.id)
    throw unprocessable('reference_not_found', 'The cash account is of another book', [
      { field: 'refund.cashAccountId', message: 'is of another book' },
    ])
  const first = paid.reduce((latest, { paidOn }) => (paidOn !== null && paidOn > latest ? paidOn : latest), '')
  const claimed =
    refund?.cashMovementId === undefined
      ? null
      : await claimMovement(trx, {
          movementId: refund.cashMovementId,
          bookId: book.id,
          currency: payment.currency,
          amount: paid.reduce((sum, { cash }) => sum + cash, 0),
          field: 'refund.cashMovementId',
        })
  const given = claimed?.bookedOn ?? refund?.receivedOn ?? on
  if (businessDate !== null && given !== undefined && given !== businessDate)
    throw unprocessable('date_out_of_range', 'A register is booked on the open business day', [
      { field: refund ? 'refund.receivedOn' : 'on', message: `must be ${businessDate}` },
    ])
  const day = businessDate ?? given ?? todayAfter(book, first)
  if (businessDate === null) refuseFuture(book, day, 'on', first)
  if (day < first)
    throw unprocessable('date_out_of_range', 'A payment is not reversed before its day', [
      { field: 'on', message: `must be ${first} or later` },
    ])
  await assertOpen(trx, book.id, day)
  await reverseItems(
    trx,
    payment,
    (await itemsOf(trx, id)).filter((item) => paid.some((one) => one.id === item.id)),
    {
      reason,
      on: day,
      refund: claimed ?? (refund ? { cashAccountId: accountId ?? '', receivedOn: day } : undefined),
    },
  )
}
