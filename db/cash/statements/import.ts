import { randomUUID } from 'node:crypto'
import { bankStatementImported, bankStatementRejected } from '../../../config/events/cash-statements.ts'
import { todayIn } from '../../../config/time.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression, findRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { findAccountFacts } from '../facts.ts'
import { BankStatement, CashAccount } from '../models.ts'
import type { StatementRecord } from '../models.ts'
import { isOfAccount } from '../rules/account-numbers.ts'
import type { OwnAccount } from '../rules/account-numbers.ts'
import { fingerprintOf } from '../rules/statement-text.ts'
import type { ParsedLine, ParsedStatement, StatementError } from '../rules/statement-text.ts'
import { matchCertain } from './certain.ts'
import { lockStatement, tellStatement } from './state.ts'

/** The bank's other party of a line, sealed. */
export const lineParty = (rowId: string) => ({ table: 'bank_statement_line', rowId, purpose: 'counterparty' })

const atOnce = 1_000

const reject = async (trx: Trx, id: string, error: StatementError): Promise<void> => {
  await changeRow(trx, BankStatement, id, { status: 'rejected', error })
  await tellStatement(trx, bankStatementRejected, id)
}

type Window = { opened: string | null; today: string; covered: { from: string; to: string }[] }

/** From which day lines are taken, to which, and days that a statement of another format covers. */
const windowOf = async (trx: Trx, { cashAccountId, format }: StatementRecord, timeZone: string): Promise<Window> => {
  const { tenantId } = contextOf(trx)
  const [opening, covered] = await Promise.all([
    sqlOne<{ bookedOn: string }>(
      trx,
      `select booked_on from cash_movement where tenant_id = ? and cash_account_id = ? and kind = 'opening'`,
      [tenantId, cashAccountId],
    ),
    sql<{ from: string; to: string }>(
      trx,
      `select first_on as "from", last_on as "to" from bank_statement
       where tenant_id = ? and cash_account_id = ? and format <> ? and status in ('imported', 'reconciled')`,
      [tenantId, cashAccountId, format],
    ),
  ])
  return { opened: opening?.bookedOn ?? null, today: todayIn(timeZone), covered }
}

const isTaken = ({ amount, bookedOn }: ParsedLine, { opened, today, covered }: Window): boolean =>
  amount !== 0 &&
  bookedOn <= today &&
  (opened === null || bookedOn >= opened) &&
  !covered.some(({ from, to }) => bookedOn >= from && bookedOn <= to)

/** The lines of a statement with their fingerprints; equal ones are counted, in the order of the file. */
const numbered = (lines: readonly ParsedLine[]) => {
  const seen = new Map<string, number>()
  return lines.map((line, index) => {
    const fingerprint = fingerprintOf(line)
    const key = fingerprint.toString('hex')
    const occurrence = (seen.get(key) ?? 0) + 1
    seen.set(key, occurrence)
    return { ...line, id: randomUUID(), fingerprint: key, occurrence, position: index + 1 }
  })
}
type Numbered = ReturnType<typeof numbered>[number]

const insertPart = async (trx: Trx, statement: StatementRecord, part: readonly Numbered[]): Promise<string[]> => {
  const given = await Promise.all(
    part.map(async ({ counterpartyDocument, ...line }) => ({
      id: line.id,
      fingerprint_hash: `\\x${line.fingerprint}`,
      occurrence: line.occurrence,
      position: line.position,
      booked_on: line.bookedOn,
      amount: line.amount,
      external_id: line.externalId,
      document_number: line.documentNumber,
      text: line.text,
      end_to_end_id: line.endToEndId,
      counterparty:
        counterpartyDocument === null
          ? null
          : `\\x${(await seal(trx, 'tenant', lineParty(line.id), { document: counterpartyDocument })).toString('hex')}`,
    })),
  )
  const rows = await sql<{ id: string }>(
    trx,
    `insert into bank_statement_line (id, bank_statement_id, cash_account_id, property_id, fingerprint_hash, occurrence, position, booked_on, amount, external_id,
       document_number, text, end_to_end_id, counterparty, same_external_id)
     select d.id, :statementId, :accountId, cast(:propertyId as uuid), d.fingerprint_hash, d.occurrence, d.position, d.booked_on, d.amount, d.external_id, d.document_number, d.text,
       d.end_to_end_id, d.counterparty, exists (select from bank_statement_line k where k.tenant_id = :tenantId and k.cash_account_id = :accountId
         and k.external_id = d.external_id and k.fingerprint_hash <> d.fingerprint_hash)
     from jsonb_to_recordset(cast(:lines as jsonb)) as d (id uuid, fingerprint_hash bytea, occurrence int, position int, booked_on date, amount bigint,
       external_id text, document_number text, text text, end_to_end_id text, counterparty bytea)
     on conflict (tenant_id, cash_account_id, fingerprint_hash, occurrence) do nothing returning id`,
    {
      statementId: statement.id,
      propertyId: statement.propertyId,
      accountId: statement.cashAccountId,
      tenantId: contextOf(trx).tenantId,
      lines: JSON.stringify(given),
    },
  )
  return rows.map(({ id }) => id)
}

/** Ids that one file gives to lines of different content. */
const repeated = (lines: readonly Numbered[]): Set<string> => {
  const first = new Map<string, string>()
  const twice = new Set<string>()
  for (const { id, externalId, fingerprint } of lines) {
    if (externalId === null) continue
    const known = first.get(externalId)
    if (known === undefined) first.set(externalId, fingerprint)
    else if (known !== fingerprint) twice.add(id)
  }
  return twice
}

/**
 * The balances of a file on its last day; a file that states one implies the other: that one less or plus its lines. A balance of a later day counts money that
 * the file lacks, one of an earlier day lacks that of lines after it: neither is the closing one.
 */
const balancesOf = (
  { opening, closing: said, closingOn = null, lines }: ParsedStatement,
  lastOn: string,
  today: string,
) => {
  const within = lines.filter(({ bookedOn }) => bookedOn <= lastOn)
  const on = closingOn === null || closingOn > today ? lastOn : closingOn
  const closing = on <= lastOn && within.every(({ bookedOn }) => bookedOn <= on) ? said : null
  const total = within.reduce((sum, { amount }) => sum + amount, 0)
  return {
    openingBalance: opening ?? (closing === null ? null : closing - total),
    closingBalance: closing ?? (opening === null ? null : opening + total),
  }
}

const earliest = (days: readonly string[]) => days.toSorted().at(0)
const latest = (days: readonly string[]) => days.toSorted().at(-1)

/** The days that a file speaks of, none of them ahead. */
const daysOf = ({ from, to, lines }: ParsedStatement, taken: readonly ParsedLine[], today: string) => {
  const days = (taken.length > 0 ? taken : lines).map(({ bookedOn }) => bookedOn)
  const said = to !== null && to < today ? to : today
  const last = latest([...(to === null ? [] : [said]), ...days.filter((day) => day <= today)]) ?? said
  const first = earliest([...(from === null ? [] : [from]), ...days]) ?? last
  return { firstOn: first > last ? last : first, lastOn: last }
}

const wrongAccount = (
  { bank, branch = null, account, accountLine }: ParsedStatement,
  own: OwnAccount,
): StatementError => {
  const said = (code: string | null, office: string | null, number: string | null) =>
    `bank ${code ?? '-'}, ${office === null ? '' : `branch ${office}, `}account ${number ?? '-'}`
  const place = accountLine === undefined ? '' : `Line ${accountLine}: `
  return {
    code: 'wrong_account',
    message: `${place}the file is of ${said(bank, branch, account)}, not of ${said(own.bankCode ?? own.ispb, own.branch, own.number)}`,
  }
}

/**
 * Takes in what a worker has read of a file, all or nothing: a file that cannot be read, of another account or currency is rejected. Lines without amount, dated
 * ahead, before the account's opening, or of a day that another format covers are left out and counted; known ones are skipped (R15, R16). Then certain matches
 * are made (R17). A statement that is imported already stays as it is.
 */
export const importStatement = async (
  trx: Trx,
  id: string,
  parsed: ParsedStatement | StatementError,
): Promise<void> => {
  const statement = await lockStatement(trx, id, null)
  if (statement.status !== 'received') return
  if ('code' in parsed) return reject(trx, id, parsed)
  const account = await findRow(trx, CashAccount, statement.cashAccountId)
  const facts = await findAccountFacts(trx, statement.cashAccountId)
  if (!account || !facts) throw new Error('the account of a statement is gone')
  if (!isOfAccount(parsed, account)) return reject(trx, id, wrongAccount(parsed, account))
  if (parsed.currency !== null && parsed.currency !== account.currency)
    return reject(trx, id, { code: 'currency_mismatch', message: `The file is in ${parsed.currency}` })
  const window = await windowOf(trx, statement, facts.timeZone)
  const taken = parsed.lines.filter((line) => isTaken(line, window))
  const lines = numbered(taken)
  const added = new Set<string>()
  for (let at = 0; at < lines.length; at += atOnce)
    for (const one of await insertPart(trx, statement, lines.slice(at, at + atOnce))) added.add(one)
  const twice = [...repeated(lines)].filter((one) => added.has(one))
  if (twice.length > 0)
    await sql(
      trx,
      `update bank_statement_line set same_external_id = true where tenant_id = ? and id = any(?::uuid[])`,
      [contextOf(trx).tenantId, twice],
    )
  const same = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from bank_statement_line where tenant_id = ? and bank_statement_id = ? and cash_account_id = ? and same_external_id`,
    [contextOf(trx).tenantId, id, statement.cashAccountId],
  )
  const days = daysOf(parsed, taken, window.today)
  await changeRow(trx, BankStatement, id, {
    status: 'imported',
    importedAt: expression('now()'),
    ...days,
    ...balancesOf(parsed, days.lastOn, window.today),
    linesRead: parsed.lines.length,
    linesAdded: added.size,
    linesKnown: taken.length - added.size,
    linesSameId: same?.count ?? 0,
    linesLeftOut: parsed.lines.length - taken.length,
  })
  await tellStatement(trx, bankStatementImported, id)
  if (facts.status === 'active')
    await matchCertain(
      trx,
      statement.cashAccountId,
      facts,
      lines.filter((line) => added.has(line.id)),
    )
  if (statement.mapping !== null)
    await sql(trx, `update cash_account set csv_mapping = ?::jsonb where tenant_id = ? and id = ?`, [
      JSON.stringify({ ...statement.mapping, closingBalance: undefined }),
      contextOf(trx).tenantId,
      statement.cashAccountId,
    ])
}
