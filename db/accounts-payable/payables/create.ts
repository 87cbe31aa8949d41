import type { BookFacts } from '../../documents/index.ts'
import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { payableCreated } from '../../../config/events/accounts-payable.ts'
import type { PayableKind, PayableSource } from '../../../config/payables.ts'
import { bookOf, installmentsOf, refuseFuture, todayOf } from '../../documents/index.ts'
import { assertOpen, refuseProblems } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow, insertRows } from '../../lib/records.ts'
import { Payable, PayableLine, PayableWithholding } from '../models.ts'
import type { PayableRecord } from '../models.ts'
import { checkOrderLines } from '../orders/billing.ts'
import { namePayee } from '../payee.ts'
import type { GivenPayee, Payee } from '../payee.ts'
import { isFiscalKey } from '../rules/codes.ts'
import { note, tell } from '../state.ts'
import { takeTurn, twinOf } from '../twins.ts'
import { checkCodes, refuseSameCodes, writeInstallments } from './installments.ts'
import type { GivenInstallment } from './installments.ts'
import { problemsOfLines, refuseShapes, withholdingsOf } from './lines.ts'
import type { GivenLine, GivenWithholding, Withholding } from './lines.ts'

export type NewPayable = GivenPayee & {
  bookId?: string | undefined
  propertyId?: string | null | undefined
  kind: PayableKind
  number?: string | null | undefined
  series?: string | undefined
  fiscalKey?: string | null | undefined
  issuedOn: string
  postingOn?: string | undefined
  lines: readonly GivenLine[]
  withholdings?: readonly GivenWithholding[] | undefined
  installments?: readonly GivenInstallment[] | undefined
  notes?: string | undefined
}
export type Making = {
  features: readonly string[]
  source?: { source: PayableSource; key: string } | undefined
  /** Keeps lines that could not be posted: they are warnings of the draft. Taxes that cannot be withheld are left out, and the draft is held for them. */
  lenient?: boolean | undefined
  /** The day on which all that is left after withholding is due, where the installments are not given. */
  dueOn?: string | undefined
  /** The authors of a bill that the service makes: none of them approves it. */
  authors?: readonly string[] | undefined
}

/** The day of a bill in the books: the one asked for, else the day of issue where its period is open, else today. */
export const postingDay = async (trx: Trx, book: BookFacts, issuedOn: string, asked?: string): Promise<string> => {
  if (asked !== undefined) {
    refuseFuture(book, asked, 'postingOn')
    await assertOpen(trx, book.id, asked)
    return asked
  }
  const open = await sqlOne<{ isOpen: boolean }>(
    trx,
    `select p.status = 'open' and coalesce(cast(:on as date) > b.locked_until, true) as is_open from fiscal_period p
     join book b on b.tenant_id = p.tenant_id and b.id = p.book_id where p.tenant_id = :tenantId and p.book_id = :bookId and p.kind = 'regular'
       and cast(:on as date) between p.starts_on and p.ends_on`,
    { tenantId: contextOf(trx).tenantId, bookId: book.id, on: issuedOn },
  )
  return open?.isOpen ? issuedOn : todayOf(book)
}

const recorded = (field: 'number' | 'fiscalKey', id: string) =>
  conflict('duplicate_payable', 'This bill is recorded already', [{ field, message: `is that of payable ${id}` }])

/** Refuses a bill of one payee, number and series, or of one fiscal key, that is recorded already (R5): 409 `duplicate_payable`. */
export const refuseTwin = async (
  trx: Trx,
  payee: Payee,
  { number, series, fiscalKey }: Pick<PayableRecord, 'number' | 'series' | 'fiscalKey'>,
  self: string | null,
): Promise<void> => {
  if (number === null && fiscalKey === null) return
  await takeTurn(trx, 'payable', number ?? fiscalKey ?? '')
  const byKey = await sqlOne<{ id: string }>(
    trx,
    `select id from payable where tenant_id = ? and status <> 'void' and id is distinct from cast(? as uuid) and fiscal_key = cast(? as text)`,
    [contextOf(trx).tenantId, self, fiscalKey],
  )
  if (byKey) throw recorded('fiscalKey', byKey.id)
  const twin = number === null ? null : await twinOf(trx, payee, { number, series, self })
  if (twin !== null) throw recorded('number', twin)
}

export const normalNumber = (number: string | null | undefined): string | null => number?.trim() || null

export const refuseKey = (fiscalKey: string | null | undefined) => {
  if (fiscalKey && !isFiscalKey(fiscalKey)) throw invalid([{ field: 'fiscalKey', message: 'has a wrong check digit' }])
}

/** Sums of a bill: 422 `lines_not_equal` where lines or what is left of them are not above 0. */
export const sumsOf = (lines: readonly GivenLine[], withholdings: readonly Withholding[]) => {
  const gross = sum(lines.map(({ amount }) => amount))
  const withheld = sum(withholdings.map(({ amount }) => amount))
  if (gross <= 0 || gross - withheld <= 0)
    throw unprocessable('lines_not_equal', 'A bill adds up to more than zero, also after what is withheld', [
      { field: 'lines', message: `add up to ${gross}, of which ${withheld} is withheld` },
    ])
  if (gross > 10_000_000_000_000)
    throw unprocessable('total_too_large', 'The bill is too large', [{ field: 'lines', message: `add up to ${gross}` }])
  return { gross, withheld, total: gross - withheld }
}

/** The cost centre of the largest line, by which ageing groups a bill. */
export const centerOf = (lines: readonly GivenLine[]): string | null =>
  lines.toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount))[0]?.costCenterId ?? null

export const writeLines = async (
  trx: Trx,
  payableId: string,
  lines: readonly GivenLine[],
  bases: readonly (string | null)[],
) => {
  await insertRows(
    trx,
    PayableLine,
    lines.map((line, index) => ({
      payableId,
      lineNo: index + 1,
      description: line.description,
      accountId: line.accountId ?? null,
      purchaseOrderLineId: line.purchaseOrderLineId ?? null,
      inventoryMovementLineId: line.inventoryMovementLineId ?? null,
      quantity: line.quantity ?? null,
      baseQuantity: bases[index] ?? null,
      amount: line.amount,
      costCenterId: line.costCenterId ?? null,
      propertyId: line.propertyId ?? null,
    })),
  )
}

/**
 * Records a bill as a draft (R5). 409 `duplicate_payable` with the id of the first, `supplier_archived`; 422 `reference_not_found`, `account_not_usable`,
 * `lines_not_equal`, `installments_not_equal`, `date_out_of_range`, `period_closed`, `date_locked`, `order_closed`, `over_billed`.
 */
export const createPayable = async (trx: Trx, given: NewPayable, making: Making): Promise<string> => {
  const book = await bookOf(trx, given)
  refuseShapes(given.lines)
  refuseKey(given.fiscalKey)
  if (!making.source || making.source.source === 'manual') refuseFuture(book, given.issuedOn, 'issuedOn')
  const { payee, terms } = await namePayee(trx, given, { features: making.features, countryCode: book.countryCode })
  const postingOn = await postingDay(trx, book, given.issuedOn, given.postingOn)
  if (!making.lenient) refuseProblems(await problemsOfLines(trx, book, given.kind, given.lines))
  const bases = await checkOrderLines(trx, given.lines, payee.supplierId)
  const gross = sum(given.lines.map(({ amount }) => amount))
  const proposed = given.kind === 'bill' ? terms.withholdingTaxCodeIds : []
  const left: string[] = []
  const withholdings = await withholdingsOf(
    trx,
    book,
    { gross, issuedOn: given.issuedOn },
    given.withholdings,
    proposed,
    making.lenient ? left : undefined,
  )
  const sums = sumsOf(given.lines, withholdings)
  const installments = installmentsOf(
    { total: sums.total, issuedOn: given.issuedOn, termDays: terms.termDays },
    given.installments?.map(({ dueOn, amount }) => ({ dueOn, amount })) ??
      (making.dueOn === undefined ? undefined : [{ dueOn: making.dueOn, amount: sums.total }]),
  )
  checkCodes(given.installments ?? [], given.issuedOn)
  const kept = { number: normalNumber(given.number), series: given.series ?? '', fiscalKey: given.fiscalKey ?? null }
  await refuseTwin(trx, payee, kept, null)
  await refuseSameCodes(trx, given.installments ?? [], null)
  const id = randomUUID()
  const author = contextOf(trx).actor.id === null ? null : await authorOf(trx)
  await insertRow(trx, Payable, {
    ...payee,
    ...kept,
    ...sums,
    id,
    bookId: book.id,
    propertyId: given.propertyId ?? null,
    kind: given.kind,
    issuedOn: given.issuedOn,
    postingOn,
    currency: book.currency,
    source: making.source?.source ?? 'manual',
    sourceKey: making.source?.key ?? null,
    costCenterId: centerOf(given.lines),
    notes: given.notes ?? '',
    onHold: left.length > 0,
    holdReason: left.length > 0 ? `Not withheld: ${left.join(', ')}`.slice(0, 500) : null,
    createdBy: author,
    editedBy: author,
    editors: [...new Set(making.authors ?? [])],
  })
  await writeLines(trx, id, given.lines, bases)
  await insertRows(
    trx,
    PayableWithholding,
    withholdings.map((one) => ({ ...one, payableId: id })),
  )
  await writeInstallments(trx, id, installments, given.installments ?? [])
  note(trx, id, { command: 'create', from: null, to: 'draft' })
  await tell(trx, payableCreated, id)
  return id
}
