import type { BookFacts } from '../../documents/index.ts'
import { bookOf, refuseFuture, todayAfter } from '../../documents/index.ts'
import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { supplierCreditVoided } from '../../../config/events/accounts-payable.ts'
import { assertOpen, judgeLines, postingEventOf, raisePosting, refuseProblems } from '../../financial/index.ts'
import { split } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, preparedOne, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { equal, fact, pageOf } from '../../lib/lists.ts'
import { insertRow, readRow } from '../../lib/records.ts'
import { Payable, SupplierCredit } from '../models.ts'
import type { CreditLine, CreditRecord, PayableRecord } from '../models.ts'
import { namePayee, partyOf } from '../payee.ts'
import type { GivenPayee } from '../payee.ts'
import { creditTwinOf, takeTurn } from '../twins.ts'
import { creditMoves, endCredit, lockCredit, tellCredit } from './state.ts'

export type NewCredit = GivenPayee & {
  bookId?: string | undefined
  payableId?: string | undefined
  number?: string | null | undefined
  issuedOn: string
  amount: number
  accountId?: string | undefined
  note?: string | undefined
}

/** The lines that are credited: the account named, else those of the bill's lines, shared out by amount. */
const linesOf = async (
  trx: Trx,
  book: BookFacts,
  { accountId, amount }: NewCredit,
  payable: PayableRecord | null,
): Promise<CreditLine[]> => {
  if (accountId !== undefined) {
    const judged = await judgeLines(trx, book.id, [{ accountId, credit: amount }], always)
    refuseProblems(judged.problems.map((problem) => ({ ...problem, field: 'accountId' })))
    return [{ accountId, amount, costCenterId: null, propertyId: null }]
  }
  if (!payable)
    throw unprocessable('account_not_usable', 'A credit without a bill needs the account that is credited', [
      { field: 'accountId', message: 'is required without payableId' },
    ])
  const lines = await sql<CreditLine>(
    trx,
    `select coalesce(l.account_id, o.account_id, (select a.id from account a where a.tenant_id = l.tenant_id and a.book_id = :bookId and a.role = 'price_variance')) as account_id,
       l.amount, l.cost_center_id, l.property_id
     from payable_line l left join purchase_order_line o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_line_id
     where l.tenant_id = :tenantId and l.payable_id = :payableId and l.amount > 0 order by l.line_no`,
    { tenantId: contextOf(trx).tenantId, payableId: payable.id, bookId: book.id },
  )
  const parts = split(
    amount,
    lines.map((line) => line.amount),
  )
  const credited = lines
    .map((line, index) => ({ ...line, amount: parts[index] ?? 0 }))
    .filter((line) => line.amount > 0)
  // An account of the bill may have been archived since: the credit names another one then.
  const { problems } = await judgeLines(
    trx,
    book.id,
    credited.map((line) => ({ accountId: line.accountId, credit: line.amount })),
    always,
  )
  refuseProblems(problems.map((problem) => ({ ...problem, field: 'accountId' })))
  return credited
}

/**
 * Records a credit note of a supplier, which lowers what is owed at once (R17). 409 `duplicate_credit` with the id of the first; 422 `payee_mismatch`,
 * `account_not_usable`, `date_out_of_range`, `period_closed`.
 */
export const createCredit = async (
  trx: Trx,
  given: NewCredit,
  { features }: { features: readonly string[] },
): Promise<string> => {
  const payable = given.payableId === undefined ? null : await readRow(trx, Payable, given.payableId)
  const book = await bookOf(trx, { bookId: payable?.bookId ?? given.bookId })
  const { payee } = await namePayee(trx, given, { features, countryCode: book.countryCode })
  if (payable && payable.payeeKey !== payee.payeeKey)
    throw unprocessable('payee_mismatch', 'The bill is of another payee', [
      { field: 'payableId', message: 'is owed to another payee' },
    ])
  refuseFuture(book, given.issuedOn, 'issuedOn')
  await assertOpen(trx, book.id, given.issuedOn)
  const number = given.number?.trim() || null
  if (number !== null) {
    await takeTurn(trx, 'supplier_credit', number)
    const twin = await creditTwinOf(trx, payee, number)
    if (twin !== null)
      throw conflict('duplicate_credit', 'This credit note is recorded already', [
        { field: 'number', message: `is that of supplier credit ${twin}` },
      ])
  }
  const lines = await linesOf(trx, book, given, payable)
  const propertyId = payable?.propertyId ?? null
  const credit = await insertRow(trx, SupplierCredit, {
    ...payee,
    id: randomUUID(),
    bookId: book.id,
    propertyId,
    kind: 'credit_note',
    payableId: payable?.id ?? null,
    number,
    issuedOn: given.issuedOn,
    currency: book.currency,
    amount: given.amount,
    lines,
    note: given.note ?? '',
    createdBy: await authorOf(trx),
  })
  await tellCredit(trx, credit)
  await raisePosting(trx, {
    event: 'accounts-payable.credit_recorded',
    source: { id: credit.id },
    bookId: book.id,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: given.issuedOn,
    payload: {
      amounts: {
        amount: given.amount,
        lines: lines.map(({ accountId, amount, costCenterId, propertyId: own }) => ({
          accountId,
          amount,
          ...(costCenterId === null ? {} : { costCenterId }),
          ...(own === null ? {} : { propertyId: own }),
        })),
      },
      documents: { credit: credit.id },
      ...partyOf(payee),
    },
  })
  return credit.id
}

/** Voids a credit note that was never used; its posting is turned today, or on its own day where that is later. 422 `in_use`. */
export const voidCredit = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const credit = await lockCredit(trx, id, expected)
  if (!creditMoves.isDue('voided', credit.status)) return
  if (credit.kind === 'advance')
    throw unprocessable('in_use', 'An advance ends with the payment that made it; void that')
  if (credit.available !== credit.amount)
    throw unprocessable('in_use', 'A part of the credit is used', [
      { field: 'status', message: `${credit.amount - credit.available} is used` },
    ])
  const book = await bookOf(trx, { bookId: credit.bookId })
  const today = todayAfter(book, credit.issuedOn)
  await assertOpen(trx, book.id, today)
  await endCredit(trx, credit, today)
  await tellCredit(trx, { ...credit, version: credit.version + 1 }, supplierCreditVoided)
  const turned = await postingEventOf(trx, 'accounts-payable.credit_recorded', { id })
  if (turned === null) throw new Error('the credit was never posted')
  await raisePosting(trx, {
    event: 'accounts-payable.credit_voided',
    source: { id },
    bookId: book.id,
    ...(credit.propertyId === null ? {} : { propertyId: credit.propertyId }),
    postingDate: today,
    reversesEventId: turned,
  })
}

export type CreditUse = {
  type: 'applied' | 'restored' | 'refunded' | 'voided'
  on: string
  amount: number
  sourceId: string
  cashMovementId: string | null
  payablePaymentId: string | null
  payableId: string | null
}

const nameOf = async (trx: Trx, credit: CreditRecord): Promise<string> => {
  const found = await preparedOne<{ name: string }>(
    trx,
    `select legal_name as name from supplier where tenant_id = ? and id = cast(? as uuid)`,
    [contextOf(trx).tenantId, credit.supplierId],
  )
  return found?.name ?? credit.payeeName ?? ''
}

/** A credit with what was done with it. 404. */
export const readCredit = async (trx: Trx, id: string) => {
  const credit = await readRow(trx, SupplierCredit, id)
  const uses = await sql<CreditUse>(
    trx,
    `select f.type, f.dated_on as "on", f.amount, f.source_id, f.cash_movement_id, x.payable_payment_id, x.payable_id from supplier_credit_fact f
     left join payable_payment_item x on x.tenant_id = f.tenant_id and x.id = f.source_id
     where f.tenant_id = ? and f.supplier_credit_id = ? order by f.position`,
    [contextOf(trx).tenantId, id],
  )
  return {
    ...credit,
    payee: { supplierId: credit.supplierId, name: await nameOf(trx, credit), document: credit.payeeDocument },
    uses,
  }
}

/** A page of credits, the latest first. */
export const listCredits = pageOf(SupplierCredit, {
  order: ['issuedOn desc', 'createdAt desc', 'id'],
  filters: {
    kind: equal('kind'),
    supplierId: equal('supplierId'),
    bookId: equal('bookId'),
    status: equal('status'),
    available: fact(`status = 'open' and available > 0`, 'supplier_credit_available'),
  },
  scope: { propertyId: 'propertyId' },
})
