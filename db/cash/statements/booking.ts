import { randomUUID } from 'node:crypto'
import { cut } from '../../../config/cut.ts'
import { statementLineMatched } from '../../../config/events/cash-statements.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { authorOf } from '../../lib/authors.ts'
import { changeRow } from '../../lib/records.ts'
import { BankStatementLine } from '../models.ts'
import type { LineRecord } from '../models.ts'
import type { AccountFacts } from '../facts.ts'
import { busyAsCash } from '../facts.ts'
import { bookBankLines, bookMovement, dayOfBooking } from '../movements.ts'
import { tellLine, tellLines } from './state.ts'

/** Money of a line that no document speaks of: the other side in the ledger. Minor units, with the sign of the line's money. */
export type LineBooking = {
  accountId: string
  amount: number
  description: string
  costCenterId?: string | null | undefined
}

/** A part of a line and the movement that it proves; `made`: the match made the movement. */
export type MatchPart = { cashMovementId: string; amount: number; made: boolean }

type OfLine = Pick<LineRecord, 'id' | 'bankStatementId' | 'cashAccountId' | 'amount' | 'bookedOn' | 'endToEndId'>

/** A movement of a line, apart from its day. */
const movementOf = (
  account: AccountFacts,
  line: OfLine,
  { accountId, amount, description, costCenterId = null }: LineBooking,
) => ({
  cashAccountId: account.id,
  amount,
  kind: 'bank_line' as const,
  // A line may be booked in parts, and again after its match was undone.
  source: { type: 'bank_statement_line', id: randomUUID() },
  description: cut(description, 300),
  occurredAt: new Date(`${line.bookedOn}T12:00:00Z`),
  accountId,
  costCenterId,
  propertyId: account.propertyId,
  endToEndId: line.endToEndId,
})

/** Books money of a line on its day, or the first open day after it. */
export const bookLine = async (
  trx: Trx,
  account: AccountFacts,
  line: OfLine,
  booking: LineBooking,
): Promise<MatchPart> => {
  const day = await dayOfBooking(trx, account, { bookedOn: line.bookedOn, fromOutside: true })
  const booked = await bookMovement(trx, account, movementOf(account, line, booking), day)
  return { cashMovementId: booked.movementId, amount: booking.amount, made: true }
}

const atOnce = 1_000

/** Books whole lines of one account and joins each with its movement: thousands in the statements of one. The caller holds the lines. */
export const bookWholeLines = async (
  trx: Trx,
  account: AccountFacts,
  given: readonly { line: OfLine; booking: LineBooking }[],
): Promise<void> => {
  const days = new Map<string, string>()
  for (const { line } of given)
    if (!days.has(line.bookedOn))
      days.set(line.bookedOn, await dayOfBooking(trx, account, { bookedOn: line.bookedOn, fromOutside: true }))
  for (let at = 0; at < given.length; at += atOnce) {
    const part = given.slice(at, at + atOnce)
    const ids = await bookBankLines(
      trx,
      account,
      part.map(({ line, booking }) => ({
        ...movementOf(account, line, booking),
        bookedOn: days.get(line.bookedOn) ?? line.bookedOn,
      })),
    )
    const pairs = part.map(({ line }, index) => ({ line, movementId: ids[index] ?? '' }))
    await joinWholeLines(trx, pairs, account, { made: true })
  }
}

/** Joins a line with what it proves, and raises the matched parts of the movements. The caller holds line and movements. */
export const joinLine = async (
  trx: Trx,
  line: OfLine,
  parts: readonly MatchPart[],
  account: Pick<AccountFacts, 'propertyId' | 'currency'>,
): Promise<void> => {
  const isOfPerson = contextOf(trx).actor.id !== null
  await busyAsCash(
    sql(
      trx,
      `insert into statement_match (line_id, cash_movement_id, amount, made, created_by)
       select ?, d.movement, d.amount, d.made, ? from jsonb_to_recordset(cast(? as jsonb)) as d (movement uuid, amount bigint, made boolean) order by d.movement`,
      [
        line.id,
        isOfPerson ? await authorOf(trx) : null,
        JSON.stringify(parts.map(({ cashMovementId, amount, made }) => ({ movement: cashMovementId, amount, made }))),
      ],
    ),
  )
  const version = await changeRow(trx, BankStatementLine, line.id, { status: 'matched' })
  const movementId = parts.length === 1 ? (parts[0]?.cashMovementId ?? null) : null
  await tellLine(trx, statementLineMatched, line, { ...account, version, movementId })
}

/** Joins each line with the one movement that is all of it: many lines in the time of one. The caller holds lines and movements. */
export const joinWholeLines = async (
  trx: Trx,
  pairs: readonly { line: OfLine; movementId: string }[],
  { propertyId, currency }: Pick<AccountFacts, 'propertyId' | 'currency'>,
  { made }: { made: boolean },
): Promise<void> => {
  if (pairs.length === 0) return
  const { tenantId, actor } = contextOf(trx)
  const given = JSON.stringify(
    pairs.map(({ line, movementId }) => ({ line: line.id, movement: movementId, amount: line.amount })),
  )
  await busyAsCash(
    sql(
      trx,
      `insert into statement_match (line_id, cash_movement_id, amount, made, created_by)
       select d.line, d.movement, d.amount, ?, ? from jsonb_to_recordset(cast(? as jsonb)) as d (line uuid, movement uuid, amount bigint) order by d.movement`,
      [made, actor.id === null ? null : await authorOf(trx), given],
    ),
  )
  const rows = await sql<{ id: string; version: number }>(
    trx,
    `update bank_statement_line l set status = 'matched', version = l.version + 1
     from jsonb_to_recordset(cast(? as jsonb)) as d (line uuid) where l.tenant_id = ? and l.id = d.line returning l.id, l.version`,
    [given, tenantId],
  )
  const versions = new Map(rows.map(({ id, version }) => [id, version]))
  await tellLines(
    trx,
    statementLineMatched,
    pairs.map(({ line, movementId }) => ({ line, movementId, version: versions.get(line.id) ?? 1 })),
    { propertyId, currency },
  )
}
