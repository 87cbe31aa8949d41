import { invalid, unprocessable } from '../../../config/errors.ts'
import type { PayableKind } from '../../../config/payables.ts'
import { judgeLines } from '../../financial/index.ts'
import type { LineProblem } from '../../financial/index.ts'
import { halfUp } from '../../lib/amounts.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { BookFacts } from '../../documents/index.ts'

/** A line of a bill as it is sent: exactly one of account, order line and stock movement. Amounts in minor units; below 0 it is a discount on the bill. */
export type GivenLine = {
  description: string
  accountId?: string | undefined
  purchaseOrderLineId?: string | undefined
  inventoryMovementLineId?: string | undefined
  quantity?: string | undefined
  amount: number
  costCenterId?: string | null | undefined
  propertyId?: string | null | undefined
}
export type GivenWithholding = {
  taxCodeId: string
  base?: number | undefined
  rate?: number | undefined
  amount?: number | undefined
  /** That a person gave the rate, of one that stands; else a rate that is sent is given. */
  rateGiven?: boolean | undefined
}
export type Withholding = {
  taxCodeId: string
  code: string
  base: number
  rate: number
  amount: number
  rateGiven: boolean
}

/** 400 for lines that name none, or several, of what a line is for. */
export const refuseShapes = (lines: readonly GivenLine[]): void => {
  const errors = lines.flatMap((line, index) => {
    const named = [line.accountId, line.purchaseOrderLineId, line.inventoryMovementLineId].filter((id) => id)
    const field = `lines.${index}`
    return [
      ...(named.length === 1
        ? []
        : [
            {
              field: `${field}.accountId`,
              message: 'exactly one of accountId, purchaseOrderLineId and inventoryMovementLineId is given',
            },
          ]),
      ...(line.amount === 0 ? [{ field: `${field}.amount`, message: 'must not be 0' }] : []),
      ...(line.amount < 0 && !line.accountId
        ? [{ field: `${field}.amount`, message: 'below 0 it is a discount, with an account alone' }]
        : []),
      ...(line.purchaseOrderLineId && !line.quantity
        ? [{ field: `${field}.quantity`, message: 'is required where an order is billed' }]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors)
}

/** Problems of the accounts, cost centres and properties of lines: those that would keep a bill from being posted. */
export const problemsOfLines = async (
  trx: Trx,
  book: BookFacts,
  kind: PayableKind,
  lines: readonly GivenLine[],
): Promise<LineProblem[]> => {
  const named = lines.flatMap((line, index) =>
    line.accountId === undefined || line.accountId === null ? [] : [{ ...line, index, accountId: line.accountId }],
  )
  const judged = await judgeLines(
    trx,
    book.id,
    named.map(({ accountId, amount, propertyId, costCenterId }) => ({
      accountId,
      ...(amount > 0 ? { debit: amount } : { credit: -amount }),
      propertyId: propertyId ?? null,
      costCenterId: costCenterId ?? null,
    })),
    always,
  )
  const placed = judged.problems.map((problem) => ({
    ...problem,
    field: problem.field.replace(/^lines\.(\d+)/, (_, at: string) => `lines.${named[Number(at)]?.index ?? at}`),
  }))
  if (kind !== 'opening') return placed
  const opening = await sqlOne<{ id: string }>(
    trx,
    `select id from account where tenant_id = ? and book_id = ? and role = 'opening_difference'`,
    [contextOf(trx).tenantId, book.id],
  )
  return [
    ...placed,
    ...lines.flatMap((line, index): LineProblem[] =>
      line.accountId === opening?.id
        ? []
        : [
            {
              code: 'account_not_usable',
              field: `lines.${index}.accountId`,
              message: 'an opening bill stands on the account of the opening difference alone',
            },
          ],
    ),
  ]
}

type Code = { id: string; code: string; active: boolean; rate: number | null }

/**
 * Taxes withheld of a bill: those given, else those of the supplier. A base is the gross, a rate that of the issue day, and an amount the share, unless said.
 * 422 `reference_not_found` for a code that is none of the book; 400 for one that stands twice, has no rate, or an amount that differs by more than 1.
 * @param left where given, those that cannot be withheld are left out, and named here instead.
 */
export const withholdingsOf = async (
  trx: Trx,
  book: BookFacts,
  { gross, issuedOn }: { gross: number; issuedOn: string },
  given: readonly GivenWithholding[] | undefined,
  proposed: readonly string[],
  left?: string[],
): Promise<Withholding[]> => {
  const wanted: readonly GivenWithholding[] = given ?? proposed.map((taxCodeId) => ({ taxCodeId }))
  if (wanted.length === 0) return []
  const codes = await sql<Code>(
    trx,
    `select c.id, c.code, c.active, r.rate from tax_code c left join tax_rate r on r.tenant_id = c.tenant_id and r.tax_code_id = c.id
       and daterange(r.valid_from, r.valid_to, '[]') @> cast(? as date)
     where c.tenant_id = ? and c.book_id = ? and c.kind = 'withheld_from_suppliers' and c.id = any(?::uuid[])`,
    [issuedOn, contextOf(trx).tenantId, book.id, wanted.map((one) => one.taxCodeId)],
  )
  return wanted.flatMap((one, index): Withholding[] => {
    const at = `withholdings.${index}`
    const code = codes.find(({ id }) => id === one.taxCodeId)
    // What a supplier proposes may be a code of another book.
    if (!code?.active && given === undefined) return []
    const refuse = (error: Error): [] => {
      if (!left) throw error
      left.push(code?.code ?? one.taxCodeId)
      return []
    }
    if (!code?.active)
      return refuse(
        unprocessable('reference_not_found', 'The book has no such tax code', [
          { field: `${at}.taxCodeId`, message: code ? 'is switched off' : 'is no code withheld from suppliers' },
        ]),
      )
    if (wanted.findIndex(({ taxCodeId }) => taxCodeId === one.taxCodeId) !== index)
      throw invalid([{ field: `${at}.taxCodeId`, message: 'stands twice' }])
    const rate = one.rate ?? code.rate
    if (rate === null)
      return refuse(invalid([{ field: `${at}.rate`, message: `is required: ${code.code} has no rate on ${issuedOn}` }]))
    const base = one.base ?? gross
    const share = Number(halfUp(BigInt(base) * BigInt(rate), 1_000_000n))
    const amount = one.amount ?? share
    if (Math.abs(amount - share) > 1)
      return refuse(invalid([{ field: `${at}.amount`, message: `must be ${share}, or differ by 1` }]))
    const rateGiven = one.rateGiven ?? one.rate !== undefined
    return amount === 0 ? [] : [{ taxCodeId: code.id, code: code.code, base, rate, amount, rateGiven }]
  })
}
