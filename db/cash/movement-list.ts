import { notFound } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onDays } from '../lib/days.ts'
import { allOf, fact, inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging, Part } from '../lib/paging.ts'
import { unseal } from '../lib/sealing/index.ts'
import { byIds, idsLike, inLine, partly } from '../lib/words.ts'
import { findAccountFacts } from './facts.ts'
import type { MovementRecord } from './models.ts'
import { counterpartyPlace } from './movements.ts'
import type { Counterparty } from './movements.ts'
import { pixReturnsOf } from './pix/return-list.ts'
import type { PixReturnShown } from './pix/return-list.ts'
import { maskDocument } from './sight.ts'
import type { Sight } from './sight.ts'

type Row = MovementRecord & { balanceAfter?: number; reversedById: string | null; accountPropertyId: string | null }

export type MovementFilter = Paging & {
  cashAccountId?: string | undefined
  sessionId?: string | undefined
  kind?: string | undefined
  from?: string | undefined
  to?: string | undefined
  unmatched?: boolean | undefined
  /** Minor units, with their sign. */
  amount?: number | undefined
  endToEndId?: string | undefined
  sourceId?: string | undefined
  q?: string | undefined
  scope: Condition
}

const columns = `m.*, a.property_id as account_property_id,
  (select r.id from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id) as reversed_by_id`
const source = `cash_movement m join cash_account a on a.tenant_id = m.tenant_id and a.id = m.cash_account_id`

const shown = async (trx: Trx, row: Row, { reveals }: Sight) => {
  const { counterparty, createdBy, sourceSeq: _, accountPropertyId, balanceAfter, ...rest } = row
  const party = counterparty
    ? await unseal<Counterparty>(trx, 'tenant', counterpartyPlace(row.id), counterparty)
    : { name: null, document: null }
  return {
    ...rest,
    propertyId: row.propertyId ?? accountPropertyId,
    counterpartyName: party.name,
    counterpartyDocument: party.document && !reveals ? maskDocument(party.document) : party.document,
    createdBy: { type: createdBy.type, id: createdBy.id },
    ...(balanceAfter === undefined ? {} : { balanceAfter }),
  }
}
export type MovementShown = Awaited<ReturnType<typeof shown>>

/** Movements with a text in their description, or with a voucher. */
const withWords = async (trx: Trx, q: string): Promise<Part> =>
  byIds(
    { 'm.id': await idsLike(trx, 'cash_movement', `${partly(q)}\n%\n`, inLine('%\n', q, '\n')) },
    { text: '(strpos(lower(m.description), lower(?)) > 0 or lower(m.voucher) = lower(?))', values: [q, q] },
  )

const conditionsOf = async (trx: Trx, { scope, ...asked }: MovementFilter, { ownOf }: Sight): Promise<Part[]> => [
  ...where('m.tenant_id = ?', contextOf(trx).tenantId),
  ...inScope(scope, 'coalesce(a.property_id, m.property_id)'),
  ...where(
    `exists (select from cash_session o where o.tenant_id = m.tenant_id and o.id = m.session_id and o.cashier_id = ?)`,
    ownOf,
  ),
  ...where('m.cash_account_id = ?', asked.cashAccountId),
  ...where('m.session_id = ?', asked.sessionId),
  ...where('m.kind = ?', asked.kind),
  ...where('m.amount = ?', asked.amount),
  ...where('m.end_to_end_id = ?', asked.endToEndId),
  ...where('m.source_id = ?', asked.sourceId),
  ...(asked.q === undefined ? [] : [await withWords(trx, asked.q.trim())]),
]

/** Only dates beside one account: then each movement says what the account held after it. */
const isStatement = ({ cashAccountId, sessionId, kind, unmatched, amount, endToEndId, sourceId, q }: MovementFilter) =>
  cashAccountId !== undefined &&
  [sessionId, kind, unmatched, amount, endToEndId, sourceId, q].every((value) => value === undefined)

/** The balance of the account after the first movement of the page; those below follow by subtraction. */
const withBalances = async (trx: Trx, rows: readonly Row[], account: string): Promise<Row[]> => {
  const [first] = rows
  if (!first) return []
  const [after] = await prepared<{ balance: number }>(
    trx,
    `select a.balance - coalesce((select sum(m.amount) from cash_movement m where m.tenant_id = a.tenant_id and m.cash_account_id = a.id
       and (m.booked_on, m.seq) > (?::date, ?::bigint)), 0)::bigint as balance
     from cash_account a where a.tenant_id = ? and a.id = ?`,
    [first.bookedOn, first.seq, contextOf(trx).tenantId, account],
  )
  let balance = after?.balance ?? 0
  return rows.map((row) => {
    const balanceAfter = balance
    balance -= row.amount
    return { ...row, balanceAfter }
  })
}

/**
 * Movements, latest first. Those of one account, filtered by nothing but dates, carry `balanceAfter`, unless a blind session of it is open and the caller
 * does not approve sessions.
 */
export const listMovements = async (trx: Trx, filter: MovementFilter, sight: Sight): Promise<Page<MovementShown>> => {
  const conditions = await conditionsOf(trx, filter, sight)
  const isMatched = filter.unmatched === undefined ? undefined : !filter.unmatched
  const match = fact(isMatched, 'm.matched = abs(m.amount)', { counted: 'cash_movement_matched' })
  const order = 'm.booked_on desc, m.seq desc, m.id'
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: source,
      counted: { list: 'cash_movement', as: 'm' },
      conditions,
      days: onDays('m.booked_on', filter),
      facts: match,
      order,
    },
    filter,
  )
  const account = isStatement(filter) && sight.ownOf === null ? filter.cashAccountId : undefined
  const facts = account === undefined ? null : await findAccountFacts(trx, account)
  const hidden = facts !== null && facts.sessionBlind === true && !sight.mayApprove
  const full = account === undefined || facts === null || hidden ? rows : await withBalances(trx, rows, account)
  return { total, rows: await Promise.all(full.map((row) => shown(trx, row, sight))) }
}

type MatchOfMovement = { statementLineId: string; bankStatementId: string; amount: number; made: boolean }

/** Lines of the bank that a movement is matched with. */
const matchesOf = (trx: Trx, id: string): Promise<MatchOfMovement[]> =>
  prepared<MatchOfMovement>(
    trx,
    `select x.line_id as statement_line_id, l.bank_statement_id, x.amount, x.made from statement_match x
     join bank_statement_line l on l.tenant_id = x.tenant_id and l.id = x.line_id
     where x.tenant_id = ? and x.cash_movement_id = ? and x.undone_at is null order by x.created_at, x.line_id limit 100`,
    [contextOf(trx).tenantId, id],
  )

/** Money of a received Pix that goes or went back. */
const returnsOf = async (trx: Trx, { id, kind }: Row): Promise<PixReturnShown[]> => {
  if (kind !== 'pix_in') return []
  const [receipt] = await prepared<{ id: string }>(
    trx,
    `select id from pix_receipt where tenant_id = ? and cash_movement_id = ?`,
    [contextOf(trx).tenantId, id],
  )
  return receipt ? ((await pixReturnsOf(trx, [receipt.id])).get(receipt.id) ?? []) : []
}

/** A movement with its matches and, of a received Pix, what goes back of it; 404. */
export const readMovement = async (trx: Trx, id: string, sight: Sight) => {
  const conditions = allOf([
    ...where('m.tenant_id = ?', contextOf(trx).tenantId),
    ...where('m.id = ?', id),
    ...where(
      `exists (select from cash_session o where o.tenant_id = m.tenant_id and o.id = m.session_id and o.cashier_id = ?)`,
      sight.ownOf,
    ),
  ])
  const [row] = await prepared<Row>(trx, `select ${columns} from ${source} where ${conditions.text}`, conditions.values)
  if (!row) throw notFound('No such movement')
  const [movement, matches, pixReturns] = await Promise.all([
    shown(trx, row, sight),
    matchesOf(trx, id),
    returnsOf(trx, row),
  ])
  return { ...movement, matches, pixReturns }
}
