import { ApiError, conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { statementLineMatched, statementLineUnmatched } from '../../../config/events/cash-statements.ts'
import { judgeLines, refuseProblems } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { accountFacts, busyAsCash } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { BankStatementLine } from '../models.ts'
import type { LineRecord } from '../models.ts'
import { dayOfBooking, reverseMovement } from '../movements.ts'
import { bookLine, joinLine } from './booking.ts'
import type { LineBooking, MatchPart } from './booking.ts'
import { lockLine, refuseProven, tellLine } from './state.ts'
import { settled, statementTarget, targetThatBooked } from './targets.ts'
import type { SettlementAsked, StatementTarget, StatementTargetName } from './targets.ts'

/** One of what a line is about; exactly one field names it. */
export type MatchTarget = {
  cashMovementId?: string | undefined
  /** Of a movement: the part that the line proves, with its sign; what is open of it unless said. */
  amount?: number | undefined
  payoutId?: string | undefined
  payableInstallmentId?: string | undefined
  receivableInstallmentId?: string | undefined
  book?: LineBooking | undefined
} & Omit<SettlementAsked, 'id'>

type Asked = { expected: number | null; scope: Condition; features: readonly string[] }

const names = ['cashMovementId', 'payoutId', 'payableInstallmentId', 'receivableInstallmentId', 'book'] as const
const foreign: Record<StatementTargetName, 'payoutId' | 'payableInstallmentId' | 'receivableInstallmentId'> = {
  payout: 'payoutId',
  payable: 'payableInstallmentId',
  receivable: 'receivableInstallmentId',
}

const checkShape = (targets: readonly MatchTarget[]): void => {
  const wrong = targets.flatMap((target, index) =>
    names.filter((name) => target[name] !== undefined).length === 1
      ? []
      : [{ field: `targets.${index}`, message: `exactly one of ${names.join(', ')} is given` }],
  )
  if (wrong.length > 0) throw invalid(wrong)
  const ids = targets.flatMap((target) =>
    names.flatMap((name) => (typeof target[name] === 'string' ? [target[name]] : [])),
  )
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  if (twice >= 0) throw invalid([{ field: 'targets', message: `${ids[twice] ?? ''} is named twice` }])
}

const unequal = (line: LineRecord, found: number) =>
  unprocessable('match_not_equal', `The targets are ${found}, the line is ${line.amount}`, [
    { field: 'targets', message: `differ from the line by ${line.amount - found}` },
  ])

type Group = { name: StatementTargetName; target: StatementTarget; asked: SettlementAsked[] }

/** Targets of other modules, those of one module together. */
const groupsOf = (targets: readonly MatchTarget[]): Group[] =>
  (Object.keys(foreign) as StatementTargetName[]).flatMap((name) => {
    const asked = targets.flatMap(({ [foreign[name]]: id, principal, interest, fine, discount, fee, withheld }) =>
      id === undefined ? [] : [{ id, principal, interest, fine, discount, fee, withheld }],
    )
    if (asked.length === 0) return []
    const target = statementTarget(name)
    if (!target)
      throw unprocessable('reference_not_found', `Nothing settles a ${name}`, [
        { field: 'targets', message: `has a ${name}, which cannot be settled` },
      ])
    return [{ name, target, asked }]
  })

type OpenMovement = { id: string; amount: number; matched: number; reversed: boolean }

/** Movements of the account that targets name, locked by id, and the parts that are asked of them. */
const movementParts = async (trx: Trx, line: LineRecord, targets: readonly MatchTarget[]): Promise<MatchPart[]> => {
  const wanted = targets.flatMap(({ cashMovementId, amount }, index) =>
    cashMovementId === undefined ? [] : [{ cashMovementId, amount, index }],
  )
  if (wanted.length === 0) return []
  const found = await busyAsCash(
    sql<OpenMovement>(
      trx,
      `select m.id, m.amount, m.matched, exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id) as reversed
       from cash_movement m where m.tenant_id = ? and m.cash_account_id = ? and m.id = any(?::uuid[]) and m.kind not in ('opening', 'reversal')
       order by m.id for no key update of m`,
      [contextOf(trx).tenantId, line.cashAccountId, wanted.map(({ cashMovementId }) => cashMovementId)],
    ),
  )
  return wanted.map(({ cashMovementId, amount, index }) => {
    const movement = found.find(({ id }) => id === cashMovementId)
    const field = `targets.${index}.cashMovementId`
    if (!movement)
      throw unprocessable('reference_not_found', 'There is no such movement of the account', [
        { field, message: 'is no movement of the account of the line' },
      ])
    if (movement.reversed)
      throw unprocessable('in_use', 'The movement was reversed', [{ field, message: 'was reversed' }])
    const open = movement.amount - Math.sign(movement.amount) * movement.matched
    const part = amount ?? open
    if (part === 0 || Math.sign(part) !== Math.sign(movement.amount) || Math.abs(part) > Math.abs(open))
      throw unprocessable('match_not_equal', `${open} of the movement is open`, [
        { field, message: `must be at most ${open}, with its sign` },
      ])
    return { cashMovementId, amount: part, made: false }
  })
}

/** Judges lines booked to the ledger alone by the rules for lines that a person writes. */
const judged = async (
  trx: Trx,
  account: AccountFacts,
  targets: readonly MatchTarget[],
  scope: Condition,
): Promise<LineBooking[]> => {
  const bookings: LineBooking[] = []
  for (const [index, { book }] of targets.entries()) {
    if (!book) continue
    if (book.amount === 0) throw invalid([{ field: `targets.${index}.book.amount`, message: 'must not be 0' }])
    const side = book.amount > 0 ? { credit: book.amount } : { debit: -book.amount }
    const { problems } = await judgeLines(
      trx,
      account.bookId,
      [{ accountId: book.accountId, ...side, costCenterId: book.costCenterId ?? null, propertyId: account.propertyId }],
      scope,
    )
    refuseProblems(
      problems.map((one) => ({ ...one, field: one.field.replace(/^lines\.0\./, `targets.${index}.book.`) })),
    )
    bookings.push(book)
  }
  return bookings
}

/** Tells whether the present matches are those asked for, as in a repeated request. */
const isSame = async (trx: Trx, line: LineRecord, targets: readonly MatchTarget[]): Promise<boolean> => {
  const rows = await sql<{ cashMovementId: string; amount: number }>(
    trx,
    `select cash_movement_id, amount from statement_match where tenant_id = ? and line_id = ? and undone_at is null`,
    [contextOf(trx).tenantId, line.id],
  )
  return (
    rows.length === targets.length &&
    targets.every(({ cashMovementId, amount }) =>
      rows.some((row) => row.cashMovementId === cashMovementId && (amount === undefined || row.amount === amount)),
    )
  )
}

const expectUnmatched = (line: LineRecord) =>
  conflict('invalid_transition', `The line is ${line.status}; undo that first`, [
    { field: 'status', message: 'must be unmatched' },
  ])

/**
 * Says what a line is about (R18): movements that stand, payouts and installments of bills and invoices, which are settled here, or other accounts of the
 * ledger. Together they come to its amount. Repeated with the same movements it changes nothing.
 *
 * 409 `invalid_transition`, `movement_reconciled`, `cash_busy`; 422 `match_not_equal`, `reference_not_found`, `account_not_usable`, `in_use`, the errors of the
 * documents that are settled.
 */
export const matchLine = async (
  trx: Trx,
  id: string,
  targets: readonly MatchTarget[],
  { expected, scope, features }: Asked,
): Promise<void> => {
  checkShape(targets)
  const { line } = await lockLine(trx, id, expected)
  if (line.status === 'matched' && (await isSame(trx, line, targets))) return
  if (line.status !== 'unmatched') throw expectUnmatched(line)
  const account = await accountFacts(trx, line.cashAccountId)
  const groups = groupsOf(targets)
  const bookings = await judged(trx, account, targets, scope)
  for (const { target, asked } of groups)
    await target.lock(
      trx,
      asked.map((one) => one.id),
    )
  const parts = await movementParts(trx, line, targets)
  const known = sum(parts.map(({ amount }) => amount)) + sum(bookings.map(({ amount }) => amount))
  if (groups.length === 0 && known !== line.amount) throw unequal(line, known)
  const on = await dayOfBooking(trx, account, { bookedOn: line.bookedOn, fromOutside: true })
  for (const { target, asked } of groups) {
    const context = { account, on, text: line.text, features }
    const made = await settled(target.settle(trx, asked, context))
    parts.push(...made.map(({ movementId, amount }) => ({ cashMovementId: movementId, amount, made: true })))
  }
  for (const booking of bookings) parts.push(await bookLine(trx, account, line, booking))
  const total = sum(parts.map(({ amount }) => amount))
  if (total !== line.amount) throw unequal(line, total)
  await joinLine(trx, line, parts, account)
}

/** Says that a line is no money of the house (R19): such lines of a statement must come to nothing together. Repeated it changes nothing. */
export const ignoreLine = async (
  trx: Trx,
  id: string,
  reason: string,
  { expected }: { expected: number | null },
): Promise<void> => {
  const { line, statement } = await lockLine(trx, id, expected)
  if (line.status === 'ignored' && line.ignoreReason === reason) return
  if (line.status !== 'unmatched') throw expectUnmatched(line)
  const version = await changeRow(trx, BankStatementLine, id, { status: 'ignored', ignoreReason: reason })
  await tellLine(trx, statementLineMatched, line, {
    propertyId: statement.propertyId,
    currency: statement.currency,
    version,
  })
}

type Standing = { id: string; cashMovementId: string; made: boolean; sourceType: string }

/** Keeps a match whose booking cannot be reversed any more: 422 `in_use` says why. */
const refusing = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 409 && error.status !== 422) || error.code === 'cash_busy')
      throw error
    throw unprocessable('in_use', `What the match made cannot be taken back: ${error.message}`, [
      { field: 'statementLineId', message: error.code },
    ])
  }
}

/**
 * Opens a line again (R20): what its match made is reversed today, or the whole is refused. Repeated it changes nothing. 409 `movement_reconciled`; 422
 * `in_use`.
 */
export const unmatchLine = async (
  trx: Trx,
  id: string,
  { expected, reason }: { expected: number | null; reason: string },
): Promise<void> => {
  const { line, statement } = await lockLine(trx, id, expected)
  if (line.status === 'unmatched') return
  await refuseProven(trx, line)
  const { tenantId } = contextOf(trx)
  const standing = await sql<Standing>(
    trx,
    `select x.id, x.cash_movement_id, x.made, m.source_type from statement_match x join cash_movement m on m.tenant_id = x.tenant_id and m.id = x.cash_movement_id
     where x.tenant_id = ? and x.line_id = ? and x.undone_at is null order by x.cash_movement_id`,
    [tenantId, id],
  )
  const made = standing.filter((one) => one.made)
  const ofOthers = new Map<StatementTarget, string[]>()
  for (const { cashMovementId, sourceType } of made) {
    const owner = targetThatBooked(sourceType)
    if (owner) ofOthers.set(owner, [...(ofOthers.get(owner) ?? []), cashMovementId])
  }
  for (const [owner, ids] of ofOthers) await refusing(owner.lockMade(trx, ids))
  await busyAsCash(
    sql(trx, `select id from cash_movement where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`, [
      tenantId,
      standing.map(({ cashMovementId }) => cashMovementId),
    ]),
  )
  const { actor } = contextOf(trx)
  await busyAsCash(
    sql(
      trx,
      `update statement_match set undone_at = now(), undone_by = ? where tenant_id = ? and line_id = ? and undone_at is null`,
      [actor.id === null ? null : await authorOf(trx), tenantId, id],
    ),
  )
  for (const [owner, ids] of ofOthers) await refusing(owner.undo(trx, ids, reason))
  for (const { cashMovementId, sourceType } of made)
    if (!targetThatBooked(sourceType))
      await refusing(reverseMovement(trx, { movementId: cashMovementId, description: reason }))
  const version = await changeRow(trx, BankStatementLine, id, { status: 'unmatched', ignoreReason: null })
  await tellLine(trx, statementLineUnmatched, line, {
    propertyId: statement.propertyId,
    currency: statement.currency,
    version,
  })
}
