import { unprocessable } from '../../../config/errors.ts'
import { receivableIssued } from '../../../config/events/accounts-receivable.ts'
import { beginVersions, bookOf, installmentsIn, refuseFuture, requestNumber } from '../../documents/index.ts'
import type { Numbered } from '../../documents/index.ts'
import { assertOpen, raisePosting, refuseProblems } from '../../financial/index.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, later, prepared, preparedOne, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { refuseCustomer, takeCredit } from '../credit.ts'
import type { CreditOverride } from '../credit.ts'
import { requestFiscal } from '../fiscal/commands.ts'
import { Receivable } from '../models.ts'
import type { ReceivableRecord } from '../models.ts'
import { receivableSide } from '../side.ts'
import { locking } from '../locking.ts'
import { lockReceivable, note, receivableMoves, tell } from '../state.ts'
import { lockCustomer } from '../customers/customers.ts'
import { problemsOfLines, renewTaxes } from './lines.ts'
import type { Line } from './lines.ts'

/** Debts from before the start end with the first close of their book. */
const refuseLateOpening = async (trx: Trx, bookId: string): Promise<void> => {
  const closed = await sqlOne<{ id: string }>(
    trx,
    `select id from fiscal_period where tenant_id = ? and book_id = ? and status = 'closed' limit 1`,
    [contextOf(trx).tenantId, bookId],
  )
  if (closed)
    throw unprocessable('period_closed', 'Debts from before the start end with the first close of the book', [
      { field: 'kind', message: 'opening is over' },
    ])
}

const postedLines = (trx: Trx, id: string) =>
  prepared<Line & { taxBase: number }>(
    trx,
    `select description, amount, account_id, tax_code_id, tax_amount, cost_center_id, property_id, amount as tax_base from receivable_line
     where tenant_id = ? and receivable_id = ? order by line_no`,
    [contextOf(trx).tenantId, id],
  )

/** The facts of an invoice that its posting needs. */
const postedFacts = (trx: Trx, { id, customerId }: ReceivableRecord) =>
  Promise.all([
    postedLines(trx, id),
    preparedOne<{ kind: string }>(trx, `select kind from customer where tenant_id = ? and id = ?`, [
      contextOf(trx).tenantId,
      customerId,
    ]),
  ])

/** Raises the posting of an invoice as the last step. What came from folios stands in the ledger already (R3). */
const post = async (
  trx: Trx,
  row: ReceivableRecord,
  [lines, customer]: Awaited<ReturnType<typeof postedFacts>>,
): Promise<void> => {
  const placed = ({ costCenterId, propertyId }: Pick<Line, 'costCenterId' | 'propertyId'>) => ({
    ...(costCenterId === null ? {} : { costCenterId }),
    ...(propertyId === null ? {} : { propertyId }),
  })
  await raisePosting(trx, {
    event: 'accounts-receivable.receivable_issued',
    source: { id: row.id },
    bookId: row.bookId,
    ...(row.propertyId === null ? {} : { propertyId: row.propertyId }),
    postingDate: row.postingOn,
    payload: {
      amounts: {
        total: row.total,
        lines: lines.map((line) => ({ amount: line.amount, accountId: line.accountId, ...placed(line) })),
        taxes: lines
          .filter(({ taxAmount }) => taxAmount > 0)
          .map((line) => ({
            amount: line.taxAmount,
            taxBase: line.taxBase,
            context: { taxCodeId: line.taxCodeId ?? '' },
            ...(line.propertyId === null ? {} : { propertyId: line.propertyId }),
          })),
      },
      documents: { receivable: row.id },
      context: { customerKind: customer?.kind ?? 'company' },
      parties: { receivable: { type: 'customer', id: row.customerId } },
    },
  })
}

/**
 * Issues a draft (R5): it waits for its number. A debt from before the start has none, and is issued at once. 409 `customer_archived`; 422
 * `credit_limit_exceeded`, `customer_on_hold`, `account_not_usable`, `period_closed`, `date_locked`, `date_out_of_range`.
 */
export const issueReceivable = async (
  trx: Trx,
  id: string,
  override: CreditOverride,
  expected: number | null,
): Promise<void> => {
  const row = await lockReceivable(trx, id, expected)
  if (row.status === 'issued') return
  if (!receivableMoves.isDue('issued', row.status)) return
  const customer = await lockCustomer(trx, row.customerId)
  const book = await bookOf(trx, { bookId: row.bookId })
  refuseFuture(book, row.issuedOn, 'issuedOn')
  refuseCustomer(customer, row.currency)
  const installments = await installmentsIn(trx, receivableSide, [id])
  if (installments.length > 60)
    throw unprocessable('installments_not_equal', 'An invoice has at most 60 installments', [
      { field: 'installments', message: `are ${installments.length}` },
    ])
  refuseProblems(await problemsOfLines(trx, book, row.kind, await postedLines(trx, id)))
  if (row.kind === 'opening') await refuseLateOpening(trx, book.id)
  await assertOpen(trx, book.id, row.postingOn)
  const overridden = await takeCredit(trx, customer, row.total, override)
  await renewTaxes(trx, row)
  const isOpening = row.kind === 'opening'
  if (isOpening) await beginVersions(trx, receivableSide, [id], row.postingOn)
  await changeRow(trx, Receivable, id, {
    ...overridden,
    issuedBy: await authorOf(trx),
    status: isOpening ? 'issued' : 'issuing',
    ...(isOpening ? { postedAt: expression('now()') } : {}),
  })
  note(trx, id, { command: 'issue', from: 'draft', to: isOpening ? 'issued' : 'issuing' })
  if (!isOpening) return requestNumber(trx, 'receivable', id)
  await tell(trx, receivableIssued, id)
  await post(trx, row, await postedFacts(trx, row))
}

/** A document that waits for its number, locked without its customer: what it owes stays, so that the documents of one customer do not take turns. */
const lockWaiting = (trx: Trx, id: string): Promise<ReceivableRecord | null> =>
  locking(
    preparedOne<ReceivableRecord>(trx, `select * from receivable where tenant_id = ? and id = ? for no key update`, [
      contextOf(trx).tenantId,
      id,
    ]),
  )

/** The numbering of documents (R7): all other work comes first, the number and its note last. */
export const numberedReceivables: Numbered = {
  prepare: async (trx, id) => {
    const row = await lockWaiting(trx, id)
    if (row?.status !== 'issuing' || row.number !== null) return null
    note(trx, id, { command: 'number', from: 'issuing', to: 'issued' })
    const [installments, facts] = await Promise.all([
      installmentsIn(trx, receivableSide, [id]),
      row.billed ? null : postedFacts(trx, row),
      beginVersions(trx, receivableSide, [id], row.postingOn),
      requestFiscal(trx, 'receivable', [id]),
    ])
    const dueOn = installments.map((one) => one.dueOn).toSorted()[0] ?? null
    const { bookId, issuedOn, propertyId, customerId, total, currency } = row
    return {
      ...(facts ? { raised: post(trx, row, facts) } : {}),
      series: { bookId, kind: 'invoice', year: Number(issuedOn.slice(0, 4)) },
      write: async ({ number, prefix, year }) => {
        // With the commit: others wait for the series.
        later(
          trx,
          `update receivable set status = 'issued', series = ?, number = ?, number_prefix = ?, posted_at = now(), version = version + 1
           where tenant_id = ? and id = ?`,
          [String(year), number, prefix, contextOf(trx).tenantId, id],
        )
        const version = row.version + 1
        const data = { receivableId: id, number, customerId, total, openAmount: total, currency, dueOn }
        await emit(trx, receivableIssued, { propertyId, id, version, data })
      },
    }
  },
  text: `select 'invoice' as kind, cast(null as uuid) as scope_id, cast(series as int) as year, number from receivable
    where tenant_id = :tenantId and book_id = :bookId and number is not null`,
}
