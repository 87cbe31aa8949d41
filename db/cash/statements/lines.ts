import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Part } from '../../lib/paging.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { byIds, idsLike, partly } from '../../lib/words.ts'
import type { LineRecord } from '../models.ts'
import { maskDocument } from '../sight.ts'
import { lineParty } from './import.ts'
import { suggestionsFor } from './suggest.ts'
import type { Suggestion } from './suggest.ts'

type Row = LineRecord & { currency: string }

export type LineFilter = Paging & {
  bankStatementId?: string | undefined
  cashAccountId?: string | undefined
  status?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Minor units, with their sign. */
  amount?: number | undefined
  q?: string | undefined
  scope: Condition
}

const columns = 'l.*, a.currency'
const source = 'bank_statement_line l join cash_account a on a.tenant_id = l.tenant_id and a.id = l.cash_account_id'

type Match = { lineId: string; cashMovementId: string; amount: number; made: boolean }

const matchesOf = (trx: Trx, ids: readonly string[]): Promise<Match[]> =>
  sql<Match>(
    trx,
    `select line_id, cash_movement_id, amount, made from statement_match where tenant_id = ? and line_id = any(?::uuid[]) and undone_at is null
     order by created_at, cash_movement_id`,
    [contextOf(trx).tenantId, ids],
  )

const documentOf = async (trx: Trx, { id, counterparty }: Row): Promise<string | null> =>
  counterparty === null
    ? null
    : (await unseal<{ document: string | null }>(trx, 'tenant', lineParty(id), counterparty)).document

const shown = async (trx: Trx, rows: readonly Row[], reveals: boolean) => {
  const withParty = await Promise.all(rows.map(async (row) => ({ row, document: await documentOf(trx, row) })))
  const open = withParty.filter(({ row }) => row.status === 'unmatched')
  const [matches, suggested] = await Promise.all([
    matchesOf(
      trx,
      rows.map(({ id }) => id),
    ),
    open.length === 0
      ? new Map<string, Suggestion[]>()
      : suggestionsFor(
          trx,
          open.map(({ row, document }) => ({ ...row, counterpartyDocument: document })),
        ),
  ])
  return withParty.map(({ row, document }) => {
    const { fingerprintHash: _, occurrence: __, counterparty: ___, ...rest } = row
    return {
      ...rest,
      counterpartyDocument: document !== null && !reveals ? maskDocument(document) : document,
      matches: matches
        .filter(({ lineId }) => lineId === row.id)
        .map(({ cashMovementId, amount, made }) => ({ cashMovementId, amount, made })),
      suggestions: suggested.get(row.id) ?? [],
    }
  })
}
export type LineShown = Awaited<ReturnType<typeof shown>>[number]

const conditionsOf = async (trx: Trx, { scope, ...asked }: Omit<LineFilter, keyof Paging>): Promise<Part[]> => [
  ...where('l.tenant_id = ?', contextOf(trx).tenantId),
  ...inScope(scope, 'l.property_id'),
  ...where('l.bank_statement_id = ?', asked.bankStatementId),
  ...where('l.cash_account_id = ?', asked.cashAccountId),
  ...where('l.status = ?', asked.status),
  ...where('l.amount = ?', asked.amount),
  ...(asked.q === undefined
    ? []
    : [
        byIds(
          { 'l.id': await idsLike(trx, 'bank_statement_line', partly(asked.q.trim())) },
          { text: 'strpos(lower(l.text), lower(?)) > 0', values: [asked.q.trim()] },
        ),
      ]),
]

/** Lines by day and their place in the file, each with its matches; open ones with what they may be about. */
export const listStatementLines = async (
  trx: Trx,
  { page, limit, ...asked }: LineFilter,
  { reveals }: { reveals: boolean },
): Promise<Page<LineShown>> => {
  const conditions = await conditionsOf(trx, asked)
  const order = 'l.booked_on, l.position, l.id'
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: source,
      counted: { list: 'bank_statement_line', as: 'l' },
      conditions,
      days: onDays('l.booked_on', asked),
      order,
    },
    { page, limit },
  )
  return { total, rows: await shown(trx, rows, reveals) }
}

/** A line; 404. */
export const readStatementLine = async (trx: Trx, id: string, reveals: boolean): Promise<LineShown> => {
  const conditions = [...(await conditionsOf(trx, { scope: always })), ...where('l.id = ?', id)]
  const { rows } = await readPage<Row>(trx, { columns, from: source, conditions, order: 'l.id' }, { page: 1, limit: 1 })
  const [line] = await shown(trx, rows, reveals)
  if (!line) throw notFound('No such line')
  return line
}
