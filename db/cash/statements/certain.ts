import { judgeLines } from '../../financial/index.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import type { AccountFacts } from '../facts.ts'
import { CashAccount } from '../models.ts'
import { ruleFor } from '../rules/match-rules.ts'
import type { MatchRule } from '../rules/match-rules.ts'
import type { ParsedLine } from '../rules/statement-text.ts'
import { bookWholeLines, joinWholeLines } from './booking.ts'

type Added = ParsedLine & { id: string }
type Found = { lineId: string; movementId: string }

/** Movements of the account whose end-to-end id and amount are those of a line, each for one line; locked. */
const byEndToEnd = (trx: Trx, accountId: string, lines: readonly Added[]): Promise<Found[]> =>
  sql<Found>(
    trx,
    `select distinct on (m.id) d.id as line_id, m.id as movement_id from jsonb_to_recordset(cast(? as jsonb)) as d (id uuid, amount bigint, e2e text)
     join lateral (select m.id from cash_movement m where m.tenant_id = ? and m.cash_account_id = ? and m.end_to_end_id = d.e2e and m.amount = d.amount
       and m.matched = 0 and m.kind not in ('opening', 'reversal')
       and not exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id) order by m.id for no key update) m on true
     order by m.id`,
    [
      JSON.stringify(
        lines.flatMap(({ id, amount, endToEndId }) => (endToEndId === null ? [] : [{ id, amount, e2e: endToEndId }])),
      ),
      contextOf(trx).tenantId,
      accountId,
    ],
  )

/** Tells whether a rule can book: its account may have been archived since. */
const isUsable = async (trx: Trx, { bookId, propertyId }: AccountFacts, { then }: MatchRule): Promise<boolean> => {
  const line = { accountId: then.accountId, debit: 1, costCenterId: then.costCenterId ?? null, propertyId }
  return (await judgeLines(trx, bookId, [line], always)).problems.length === 0
}

/** Matches what admits no doubt (R17): equal end-to-end ids and amounts, and lines of automatic rules. The rest is suggested when it is read. */
export const matchCertain = async (
  trx: Trx,
  accountId: string,
  account: AccountFacts,
  lines: readonly Added[],
): Promise<void> => {
  const statementOf = new Map(
    (
      await sql<{ id: string; bankStatementId: string }>(
        trx,
        `select id, bank_statement_id from bank_statement_line where tenant_id = ? and id = any(?::uuid[])`,
        [contextOf(trx).tenantId, lines.map(({ id }) => id)],
      )
    ).map(({ id, bankStatementId }) => [id, bankStatementId]),
  )
  const of = (line: Added) => ({
    ...line,
    cashAccountId: accountId,
    bankStatementId: statementOf.get(line.id) ?? '',
  })
  const done = new Set<string>()
  const byId = new Map(lines.map((line) => [line.id, line]))
  const pairs = (await byEndToEnd(trx, accountId, lines)).flatMap(({ lineId, movementId }) => {
    const line = byId.get(lineId)
    if (!line || done.has(lineId)) return []
    done.add(lineId)
    return [{ line: of(line), movementId }]
  })
  await joinWholeLines(trx, pairs, account, { made: false })
  const { matchRules } = await readRow(trx, CashAccount, accountId, ['matchRules'])
  if (!matchRules.some(({ automatic }) => automatic)) return
  const usable = new Map<MatchRule, boolean>()
  const booked: Parameters<typeof bookWholeLines>[2][number][] = []
  for (const line of lines) {
    if (done.has(line.id)) continue
    const rule = ruleFor(matchRules, line)
    if (!rule?.automatic) continue
    if (!usable.has(rule)) usable.set(rule, await isUsable(trx, account, rule))
    if (usable.get(rule) !== true) continue
    const { accountId: other, costCenterId = null, description = rule.name } = rule.then
    booked.push({ line: of(line), booking: { accountId: other, costCenterId, amount: line.amount, description } })
  }
  await bookWholeLines(trx, account, booked)
}
