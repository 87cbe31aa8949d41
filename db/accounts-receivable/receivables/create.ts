import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { receivableCreated } from '../../../config/events/accounts-receivable.ts'
import { addInstallments, bookOf, installmentsOf, refuseFuture, todayOf } from '../../documents/index.ts'
import type { BookFacts, Share } from '../../documents/index.ts'
import { refuseProblems } from '../../financial/index.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import { Receivable } from '../models.ts'
import type { CustomerRecord } from '../models.ts'
import { receivableSide } from '../side.ts'
import { lockCustomers, note, tell } from '../state.ts'
import { centerOf, linesOf, problemsOfLines, writeLines } from './lines.ts'
import type { GivenLine } from './lines.ts'

export type NewReceivable = {
  bookId?: string | undefined
  propertyId?: string | null | undefined
  customerId: string
  kind?: 'invoice' | 'opening' | undefined
  issuedOn?: string | undefined
  lines: readonly GivenLine[]
  installments?: readonly Share[] | undefined
  customerReference?: string | undefined
  notes?: string | undefined
}

/**
 * The customer of a draft, held so that it is not archived meanwhile. The lock is that of an issue, which may follow in the same transaction: shared locks that
 * two requests would then raise end in a deadlock. 422 `reference_not_found`, `currency_mismatch`; 409 `customer_archived`, `receivable_busy`.
 */
export const nameCustomer = async (trx: Trx, id: string, { currency }: BookFacts): Promise<CustomerRecord> => {
  const [found] = await lockCustomers(trx, [id])
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such customer', [
      { field: 'customerId', message: 'does not exist' },
    ])
  if (found.status === 'archived')
    throw conflict('customer_archived', 'The customer is archived', [{ field: 'customerId', message: 'is archived' }])
  if (found.currency !== currency)
    throw unprocessable('currency_mismatch', 'The customer is billed in another currency', [
      { field: 'customerId', message: `is billed in ${found.currency}, the book is in ${currency}` },
    ])
  return found
}

/**
 * Writes an invoice, or a debt from before the start, as a draft. 409 `customer_archived`; 422 `reference_not_found`, `account_not_usable`, `lines_not_equal`,
 * `installments_not_equal`, `date_out_of_range`, `currency_mismatch`, `total_too_large`.
 */
export const createReceivable = async (trx: Trx, given: NewReceivable): Promise<string> => {
  const book = await bookOf(trx, given)
  const kind = given.kind ?? 'invoice'
  const issuedOn = given.issuedOn ?? todayOf(book)
  refuseFuture(book, issuedOn, 'issuedOn')
  const customer = await nameCustomer(trx, given.customerId, book)
  const { lines, total } = await linesOf(trx, book.id, issuedOn, given.lines)
  refuseProblems(await problemsOfLines(trx, book, kind, lines))
  const installments = installmentsOf({ total, issuedOn, termDays: customer.termDays }, given.installments)
  const id = randomUUID()
  await insertRow(trx, Receivable, {
    id,
    bookId: book.id,
    propertyId: given.propertyId ?? null,
    customerId: customer.id,
    kind,
    issuedOn,
    postingOn: issuedOn,
    currency: book.currency,
    total,
    customerReference: given.customerReference ?? '',
    notes: given.notes ?? '',
    costCenterId: centerOf(lines),
    createdBy: await authorOf(trx),
  })
  await writeLines(trx, id, lines)
  await addInstallments(trx, receivableSide, id, installments)
  note(trx, id, { command: 'create', from: null, to: 'draft' })
  await tell(trx, receivableCreated, id)
  return id
}
