import { invalid, unprocessable } from '../../../config/errors.ts'
import type { ReceivableKind } from '../../../config/receivables.ts'
import type { BookFacts } from '../../documents/index.ts'
import { judgeLines } from '../../financial/index.ts'
import type { LineProblem } from '../../financial/index.ts'
import { halfUp, sum } from '../../lib/amounts.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRows } from '../../lib/records.ts'
import { ReceivableLine } from '../models.ts'

/** A line of an invoice as it is sent. Amounts in minor units; the quantity is a decimal with up to 4 places. */
export type GivenLine = {
  description: string
  quantity?: string | undefined
  unitAmount: number
  accountId: string
  taxCodeId?: string | null | undefined
  costCenterId?: string | null | undefined
  propertyId?: string | null | undefined
}
export type Line = {
  description: string
  quantity: string
  unitAmount: number
  amount: number
  accountId: string
  taxCodeId: string | null
  taxAmount: number
  costCenterId: string | null
  propertyId: string | null
}

const most = 10_000_000_000_000

/** Quantity times price, half-up once. */
const amountOf = ({ quantity = '1', unitAmount }: GivenLine): number => {
  const [whole = '0', part = ''] = quantity.split('.')
  return Number(halfUp(BigInt(whole + part.padEnd(4, '0')) * BigInt(unitAmount), 10_000n))
}

type Code = { id: string; kind: string; active: boolean; rate: number | null }

/** Rates of tax codes of documents on a day. 422 `reference_not_found`; 400 for a code that has no rate on it. */
const ratesOf = async (
  trx: Trx,
  bookId: string,
  issuedOn: string,
  lines: readonly GivenLine[],
): Promise<Map<string, number>> => {
  const ids = lines.flatMap(({ taxCodeId }) => (taxCodeId ? [taxCodeId] : []))
  if (ids.length === 0) return new Map()
  const codes = await sql<Code>(
    trx,
    `select c.id, c.kind, c.active, r.rate from tax_code c left join tax_rate r on r.tenant_id = c.tenant_id and r.tax_code_id = c.id
       and daterange(r.valid_from, r.valid_to, '[]') @> cast(? as date)
     where c.tenant_id = ? and c.book_id = ? and c.id = any(?::uuid[])`,
    [issuedOn, contextOf(trx).tenantId, bookId, ids],
  )
  lines.forEach(({ taxCodeId }, index) => {
    if (!taxCodeId) return
    const field = `lines.${index}.taxCodeId`
    const code = codes.find(({ id }) => id === taxCodeId)
    if (!code?.active || code.kind !== 'document')
      throw unprocessable('reference_not_found', 'The book has no such tax code', [
        { field, message: 'is no tax code of kind document in use' },
      ])
    if (code.rate === null) throw invalid([{ field, message: `has no rate on ${issuedOn}` }])
  })
  return new Map(codes.map(({ id, rate }) => [id, rate ?? 0]))
}

/** The lines of an invoice with their amounts, and the tax inside each by the rate of the day. 422 `lines_not_equal`, `reference_not_found`, `total_too_large`. */
export const linesOf = async (
  trx: Trx,
  bookId: string,
  issuedOn: string,
  given: readonly GivenLine[],
): Promise<{ lines: Line[]; total: number }> => {
  const rates = await ratesOf(trx, bookId, issuedOn, given)
  const lines = given.map((line): Line => {
    const amount = amountOf(line)
    const rate = line.taxCodeId ? (rates.get(line.taxCodeId) ?? 0) : 0
    return {
      description: line.description,
      quantity: line.quantity ?? '1',
      unitAmount: line.unitAmount,
      amount,
      accountId: line.accountId,
      taxCodeId: line.taxCodeId ?? null,
      taxAmount: Number(halfUp(BigInt(amount) * BigInt(rate), 1_000_000n)),
      costCenterId: line.costCenterId ?? null,
      propertyId: line.propertyId ?? null,
    }
  })
  const empty = lines.findIndex(({ amount }) => amount <= 0)
  if (empty >= 0)
    throw unprocessable('lines_not_equal', 'A line comes to nothing', [
      { field: `lines.${empty}.quantity`, message: 'the amount must be more than 0' },
    ])
  const total = sum(lines.map(({ amount }) => amount))
  if (total > most)
    throw unprocessable('total_too_large', 'The invoice is too large', [
      { field: 'lines', message: `add up to ${total}` },
    ])
  return { lines, total }
}

/** Problems of the accounts, cost centres and properties of lines: those that would keep an invoice from being posted. */
export const problemsOfLines = async (
  trx: Trx,
  book: Pick<BookFacts, 'id'>,
  kind: ReceivableKind,
  lines: readonly Pick<Line, 'accountId' | 'amount' | 'propertyId' | 'costCenterId'>[],
): Promise<LineProblem[]> => {
  const { problems } = await judgeLines(
    trx,
    book.id,
    lines.map(({ accountId, amount, propertyId, costCenterId }) => ({
      accountId,
      credit: amount,
      propertyId,
      costCenterId,
    })),
    always,
  )
  if (kind !== 'opening') return problems
  const opening = await sql<{ id: string }>(
    trx,
    `select id from account where tenant_id = ? and book_id = ? and role = 'opening_difference'`,
    [contextOf(trx).tenantId, book.id],
  )
  return [
    ...problems,
    ...lines.flatMap((line, index): LineProblem[] =>
      opening.some(({ id }) => id === line.accountId)
        ? []
        : [
            {
              code: 'account_not_usable',
              field: `lines.${index}.accountId`,
              message: 'an opening debt stands on the account of the opening difference alone',
            },
          ],
    ),
  ]
}

/** Replaces the lines of a draft. */
export const writeLines = async (trx: Trx, receivableId: string, lines: readonly Line[]): Promise<void> => {
  await sql(trx, `delete from receivable_line where tenant_id = ? and receivable_id = ?`, [
    contextOf(trx).tenantId,
    receivableId,
  ])
  await insertRows(
    trx,
    ReceivableLine,
    lines.map((line, index) => ({ ...line, receivableId, lineNo: index + 1 })),
  )
}

/** Takes the taxes of a draft anew that is issued now: a rate of its day may have been set since it was written. The total includes them, and stays. */
export const renewTaxes = async (trx: Trx, { id, issuedOn }: { id: string; issuedOn: string }): Promise<void> => {
  await sql(
    trx,
    `update receivable_line l set tax_amount = round(l.amount * cast(r.rate as numeric) / 1000000)
     from tax_rate r where l.tenant_id = ? and l.receivable_id = ? and r.tenant_id = l.tenant_id and r.tax_code_id = l.tax_code_id
       and daterange(r.valid_from, r.valid_to, '[]') @> cast(? as date) and l.tax_amount <> round(l.amount * cast(r.rate as numeric) / 1000000)`,
    [contextOf(trx).tenantId, id, issuedOn],
  )
}

/** The cost centre of the largest line, by which an invoice is grouped. */
export const centerOf = (lines: readonly Line[]): string | null =>
  lines.toSorted((a, b) => b.amount - a.amount)[0]?.costCenterId ?? null
