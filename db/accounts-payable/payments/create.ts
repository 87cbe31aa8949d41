import type { BookFacts } from '../../documents/index.ts'
import { bookOf, refuseFuture, todayOf } from '../../documents/index.ts'
import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { payablePaymentCreated } from '../../../config/events/accounts-payable.ts'
import { addDays } from '../../../config/time.ts'
import { accountFacts, expectSender, recordMovement } from '../../cash/index.ts'
import type { AccountFacts } from '../../cash/index.ts'
import { assertOpen, businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow, insertRows } from '../../lib/records.ts'
import { lockCredit } from '../credits/state.ts'
import { PayablePayment, PayablePaymentItem } from '../models.ts'
import type { CreditRecord, ItemRecord, PaymentRecord } from '../models.ts'
import { moneyWithCode } from '../../../config/minor-units.ts'
import { noticeRoles } from '../../ocp/index.ts'
import { readRow } from '../../lib/records.ts'
import { SupplierCredit } from '../models.ts'
import { chooseItems } from './choose.ts'
import type { Choosing, ChosenItem, GivenItem, Selection } from './choose.ts'
import { refuseItems } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import { payItems } from './settle.ts'
import type { PaidItem } from './settle.ts'
import { itemsOf, tellPayment } from './state.ts'

export type NewPayment = {
  method: 'manual' | 'pix' | 'credit'
  cashAccountId?: string | undefined
  creditId?: string | undefined
  payOn?: string | undefined
  items?: readonly GivenItem[] | undefined
  select?: Selection | undefined
  reference?: string | undefined
  note?: string | undefined
}
/** A payment before it is made. */
export type PaymentTried = {
  items: (ChosenItem & { cash: number })[]
  total: number
  currency: string
  refusals: Refusal[]
}

type Source = { book: BookFacts; account: AccountFacts | null; credit: CreditRecord | null; payOn: string }

const cashOf = ({ principal, interest, fine, discount }: ChosenItem) => principal + interest + fine - discount

/** The source of the money, and its day; that of a register, which is locked, is its business day. 400 for what does not fit the method. */
const sourceOf = async (trx: Trx, given: NewPayment): Promise<Source> => {
  const { method, cashAccountId, creditId } = given
  const wanted = method === 'credit' ? 'creditId' : 'cashAccountId'
  const other = method === 'credit' ? 'cashAccountId' : 'creditId'
  if (!given[wanted] || given[other])
    throw invalid([{ field: wanted, message: `is required for the method ${method}, and ${other} is not taken` }])
  if ((given.items === undefined) === (given.select === undefined))
    throw invalid([{ field: 'items', message: 'exactly one of items and select is given' }])
  if (method === 'credit') {
    if (given.items?.some(({ advance, interest, fine, discount }) => advance || interest || fine || discount))
      throw invalid([{ field: 'items', message: 'a credit pays principal of installments alone' }])
    const credit = await readRow(trx, SupplierCredit, creditId ?? '')
    const book = await bookOf(trx, { bookId: credit.bookId })
    const payOn = given.payOn ?? todayOf(book)
    if (payOn !== todayOf(book))
      throw unprocessable('date_out_of_range', 'A credit is set off today', [
        { field: 'payOn', message: `must be ${todayOf(book)}` },
      ])
    return { book, account: null, credit, payOn }
  }
  const account = await accountFacts(trx, cashAccountId ?? '')
  const book = await bookOf(trx, { bookId: account.bookId })
  const day =
    account.kind === 'register' && account.propertyId !== null ? await businessDay(trx, account.propertyId) : null
  const payOn = given.payOn ?? day ?? todayOf(book)
  if (day !== null && payOn !== day)
    throw unprocessable('date_out_of_range', 'A register is booked on the open business day', [
      { field: 'payOn', message: `must be ${day}` },
    ])
  if (method === 'manual') refuseFuture(book, payOn, 'payOn', day ?? '')
  else {
    const [first, last] = [todayOf(book), addDays(todayOf(book), 365)]
    if (payOn < first || payOn > last)
      throw unprocessable('date_out_of_range', 'A Pix leaves within a year', [
        { field: 'payOn', message: `must lie between ${first} and ${last}` },
      ])
    await expectSender(trx, account)
  }
  return { book, account, credit: null, payOn }
}

export type Paying = Pick<Choosing, 'features' | 'propertyIds'>

/** Tries a payment: its amounts, and the obstacles. Stores nothing. */
export const tryPayment = async (
  trx: Trx,
  given: NewPayment,
  { features, propertyIds }: Paying,
): Promise<PaymentTried> => {
  const { book } = await sourceOf(trx, given)
  const { items, refusals } = await chooseItems(trx, given, {
    book,
    features,
    propertyIds,
    isPix: given.method === 'pix',
    lock: false,
  })
  const shown = items.map((item) => ({ ...item, cash: cashOf(item) }))
  return { items: shown, total: sum(shown.map(({ cash }) => cash)), currency: book.currency, refusals }
}

const refuseStrangers = (items: readonly ChosenItem[], credit: CreditRecord) => {
  const strange = items.flatMap(({ payeeKey }, index) =>
    payeeKey === credit.payeeKey ? [] : [{ field: `items.${index}`, message: 'is owed to another payee' }],
  )
  if (strange.length > 0) throw unprocessable('payee_mismatch', 'The credit is of another payee', strange)
  const wanted = sum(items.map(({ principal }) => principal))
  if (credit.status !== 'open' || wanted > credit.available)
    throw unprocessable('credit_exceeded', `${credit.available} of the credit is available`, [
      { field: 'items', message: `are ${wanted} together` },
    ])
}

const bookMoney = async (trx: Trx, payment: PaymentRecord, item: ItemRecord): Promise<PaidItem> => {
  if (item.cash === 0) return { item, on: payment.payOn, money: null }
  const booked = await recordMovement(trx, {
    cashAccountId: payment.cashAccountId ?? '',
    amount: -item.cash,
    kind: 'payable_payment',
    source: { type: 'payable_payment_item', id: item.id },
    description: 'Payment to a supplier',
    bookedOn: payment.payOn,
    currency: payment.currency,
    propertyId: item.propertyId,
    voucher: payment.reference,
  })
  return {
    item,
    on: booked.bookedOn,
    money: { movementId: booked.movementId, ledgerAccountId: booked.ledgerAccountId },
  }
}

/**
 * Pays installments and advances (R10 to R14). Manual payments and credits are settled at once; a Pix waits for the approval of another person. 409
 * `installment_in_payment`; 422 `amount_exceeds_open`, `payable_not_approved`, `not_payable`, `payee_mismatch`, `credit_exceeded`, `date_out_of_range`, and the
 * errors of cash.
 */
export const createPayment = async (
  trx: Trx,
  given: NewPayment,
  { features, propertyIds }: Paying,
): Promise<string> => {
  const { book, account, credit: known, payOn } = await sourceOf(trx, given)
  const isPix = given.method === 'pix'
  const { items, refusals } = await chooseItems(trx, given, { book, isPix, features, propertyIds, lock: true })
  refuseItems(refusals, isPix)
  if (items.length === 0)
    throw unprocessable('not_payable', 'Nothing is chosen that can be paid', [
      { field: 'select', message: 'finds nothing' },
    ])
  const credit = known ? await lockCredit(trx, known.id) : null
  if (credit) {
    refuseStrangers(items, credit)
    await assertOpen(trx, book.id, payOn)
  }
  const id = randomUUID()
  const payment = await insertRow(trx, PayablePayment, {
    id,
    bookId: book.id,
    method: given.method,
    cashAccountId: account?.id ?? null,
    creditId: credit?.id ?? null,
    payOn,
    currency: book.currency,
    total: sum(items.map(cashOf)),
    status: isPix ? 'awaiting_approval' : 'approved',
    reference: given.reference ?? '',
    note: given.note ?? '',
    createdBy: await authorOf(trx),
  })
  await insertRows(
    trx,
    PayablePaymentItem,
    items.map((item, position) => ({ ...item, payablePaymentId: id, position, status: 'queued' as const })),
  )
  const rows = await itemsOf(trx, id)
  if (isPix) {
    await tellPayment(trx, payablePaymentCreated, payment, rows)
    await noticeRoles(trx, ['owner', 'finance'], {
      kind: 'approval_waiting',
      reference: `payable_payment ${id}`,
      money: moneyWithCode(payment.total, payment.currency),
    })
    return id
  }
  const paid: PaidItem[] = []
  for (const item of rows) paid.push(credit ? { item, on: payOn, money: null } : await bookMoney(trx, payment, item))
  await payItems(trx, payment, paid, credit)
  return id
}
