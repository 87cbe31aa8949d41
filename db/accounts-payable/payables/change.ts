import { conflict } from '../../../config/errors.ts'
import { bookOf, installmentsOf, refuseFuture } from '../../documents/index.ts'
import type { BookFacts } from '../../documents/index.ts'
import { refuseProblems } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf, editorsWith } from '../../lib/authors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, insertRows, readRow } from '../../lib/records.ts'
import { Payable, PayableWithholding, Supplier } from '../models.ts'
import type { PayableRecord } from '../models.ts'
import { checkOrderLines } from '../orders/billing.ts'
import { namePayee } from '../payee.ts'
import { lockPayable, note, payableMoves } from '../state.ts'
import { centerOf, normalNumber, postingDay, refuseKey, refuseTwin, sumsOf, writeLines } from './create.ts'
import type { NewPayable } from './create.ts'
import { checkCodes, refuseSameCodes, reschedule, writeInstallments } from './installments.ts'
import { problemsOfLines, refuseShapes, withholdingsOf } from './lines.ts'
import type { Withholding } from './lines.ts'
import { draftOf } from './read.ts'

type Draft = Awaited<ReturnType<typeof draftOf>>

export type PayableChange = { [Field in keyof Omit<NewPayable, 'bookId'>]?: NewPayable[Field] | undefined } & {
  onHold?: boolean | undefined
  holdReason?: string | null | undefined
}

const afterApproval = ['notes', 'onHold', 'holdReason', 'installments']

const holdOf = (row: PayableRecord, { onHold, holdReason }: PayableChange) => {
  const isHeld = onHold ?? row.onHold
  return { onHold: isHeld, holdReason: isHeld ? (holdReason ?? row.holdReason ?? 'Held') : null }
}

const changeApproved = async (trx: Trx, row: PayableRecord, change: PayableChange): Promise<void> => {
  const wrong = Object.keys(change).filter((field) => !afterApproval.includes(field))
  if (wrong.length > 0)
    throw conflict(
      'invalid_transition',
      'After approval only notes, holds and what is not paid can be changed',
      wrong.map((field) => ({ field, message: 'does not change any more' })),
    )
  const { before, codeAuthors } = change.installments
    ? await reschedule(trx, row, change.installments)
    : { before: [], codeAuthors: undefined }
  await changeRow(trx, Payable, row.id, { ...holdOf(row, change), notes: change.notes, codeAuthors })
  const changes = {
    fields: Object.keys(change),
    ...(change.installments ? { installments: before.map(({ seq, dueOn, amount }) => ({ seq, dueOn, amount })) } : {}),
  }
  note(trx, row.id, { command: 'change', from: row.status, to: row.status, changes })
}

const termDaysOf = async (trx: Trx, supplierId: string | null): Promise<number> =>
  supplierId === null ? 30 : (await readRow(trx, Supplier, supplierId, ['termDays'])).termDays

/**
 * Taxes withheld of a draft that changes, unless they are sent. A base that is the gross follows it, and a rate that of the day of issue; another base, and a rate
 * that a person gave, stay.
 */
const changedWithholdings = async (
  trx: Trx,
  book: BookFacts,
  facts: { gross: number; issuedOn: string },
  { row, before, change }: { row: PayableRecord; before: Draft; change: PayableChange },
): Promise<Withholding[]> => {
  if (change.withholdings) return withholdingsOf(trx, book, facts, change.withholdings, [])
  const moves = facts.issuedOn !== row.issuedOn
  const made = await withholdingsOf(
    trx,
    book,
    facts,
    before.withholdings.map(({ taxCodeId, base, rate, rateGiven }) => ({
      taxCodeId,
      rateGiven,
      ...(rateGiven || !moves ? { rate } : {}),
      ...(base === row.gross || base > facts.gross ? {} : { base }),
    })),
    [],
  )
  // An amount may differ from its share by 1, and stays where the share does.
  return made.map((one) => {
    const old = before.withholdings.find(({ taxCodeId }) => taxCodeId === one.taxCodeId)
    return old?.base === one.base && old.rate === one.rate ? { ...one, amount: old.amount } : one
  })
}

const changeDraft = async (
  trx: Trx,
  row: PayableRecord,
  change: PayableChange,
  features: readonly string[],
): Promise<void> => {
  const before = await draftOf(trx, row)
  const given = {
    ...before,
    ...(Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<
      typeof before
    >),
  }
  const book = await bookOf(trx, { bookId: row.bookId, propertyId: given.propertyId })
  refuseShapes(given.lines)
  refuseKey(given.fiscalKey)
  if (row.source === 'manual') refuseFuture(book, given.issuedOn, 'issuedOn')
  const renamed =
    change.supplierId !== undefined || change.payeeName !== undefined || change.payeeDocument !== undefined
  const named = renamed
    ? {
        supplierId: change.supplierId ?? null,
        payeeName: change.payeeName ?? (change.supplierId ? null : row.payeeName),
        payeeDocument: change.payeeDocument ?? (change.supplierId ? null : row.payeeDocument),
      }
    : null
  const found = named
    ? await namePayee(trx, named, { features, countryCode: book.countryCode })
    : { payee: null, terms: { termDays: await termDaysOf(trx, row.supplierId) } }
  const payee = found.payee ?? row
  // The day of a bill in the books goes along with that of its issue, unless it was another one.
  const follows = given.issuedOn !== row.issuedOn && row.postingOn === row.issuedOn
  const postingOn =
    change.postingOn !== undefined || follows
      ? await postingDay(trx, book, given.issuedOn, change.postingOn)
      : row.postingOn
  if (change.lines) refuseProblems(await problemsOfLines(trx, book, given.kind, given.lines))
  const bases = await checkOrderLines(trx, given.lines, payee.supplierId, row.id)
  const gross = sum(given.lines.map(({ amount }) => amount))
  const withholdings = await changedWithholdings(
    trx,
    book,
    { gross, issuedOn: given.issuedOn },
    { row, before, change },
  )
  const sums = sumsOf(given.lines, withholdings)
  const stands =
    sum(given.installments.map(({ amount }) => amount)) === sums.total &&
    given.installments.every(({ dueOn, boletoLine, pixCode }) => dueOn >= given.issuedOn || boletoLine || pixCode)
  const wanted = change.installments ?? (stands ? given.installments : undefined)
  const installments = installmentsOf(
    { total: sums.total, issuedOn: given.issuedOn, termDays: found.terms.termDays },
    wanted?.map(({ dueOn, amount }) => ({ dueOn, amount })),
  )
  checkCodes(wanted ?? [], given.issuedOn)
  const kept = {
    number: normalNumber(given.number),
    series: given.series ?? '',
    fiscalKey: given.fiscalKey ?? null,
  }
  await refuseTwin(trx, payee, kept, row.id)
  await refuseSameCodes(trx, wanted ?? [], row.id)
  const { supplierId, payeeName, payeeDocument, payeeKey } = payee
  const where = [contextOf(trx).tenantId, row.id]
  await sql(trx, `delete from payable_line where tenant_id = ? and payable_id = ?`, where)
  await sql(trx, `delete from payable_withholding where tenant_id = ? and payable_id = ?`, where)
  await writeLines(trx, row.id, given.lines, bases)
  await insertRows(
    trx,
    PayableWithholding,
    withholdings.map((one) => ({ ...one, payableId: row.id })),
  )
  await writeInstallments(trx, row.id, installments, wanted ?? [])
  const author = await authorOf(trx)
  await changeRow(trx, Payable, row.id, {
    ...kept,
    ...sums,
    ...holdOf(row, change),
    supplierId,
    payeeName,
    payeeDocument,
    payeeKey,
    propertyId: given.propertyId ?? null,
    kind: given.kind,
    issuedOn: given.issuedOn,
    postingOn,
    costCenterId: centerOf(given.lines),
    notes: given.notes ?? '',
    editedBy: author,
    editors: editorsWith(row, author),
  })
  note(trx, row.id, { command: 'change', from: 'draft', to: 'draft', changes: { fields: Object.keys(change) } })
}

/**
 * Changes a draft: lines, withholdings and installments are replaced whole. Of an approved bill only notes, holds, and the installments of what is not paid
 * (R9). 409 `invalid_transition` while it waits for approval; else the errors of `createPayable`.
 */
export const changePayable = async (
  trx: Trx,
  id: string,
  change: PayableChange,
  { features, expectedVersion }: { features: readonly string[]; expectedVersion: number | null },
): Promise<void> => {
  const row = await lockPayable(trx, id, expectedVersion)
  payableMoves.allow('changed', row.status)
  if (Object.keys(change).length === 0) return
  if (row.status === 'draft') await changeDraft(trx, row, change, features)
  else await changeApproved(trx, row, change)
}
