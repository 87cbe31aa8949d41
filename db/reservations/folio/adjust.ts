import { randomUUID } from 'node:crypto'
import { forbidden, invalid, unprocessable } from '../../../config/errors.ts'
import { folioAdjusted } from '../../../config/events/folios.ts'
import { raisePostings } from '../../financial/index.ts'
import type { DayPosting, PostingItem } from '../../financial/index.ts'
import { shareOf, sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { readProperty } from '../../properties/index.ts'
import type { FolioRow } from '../../rows.ts'
import { adjustedPart, taxesOf } from '../rules/folio-lines.ts'
import type { Part } from '../rules/folio-lines.ts'
import { addLines, announceBalances } from './lines.ts'
import type { NewLine } from './lines.ts'
import { linesLeft } from './lines-left.ts'
import type { LeftOfLine } from './lines-left.ts'
import { lockFolio } from './lock.ts'
import { refuseClosed } from './status.ts'
import { partyOf } from './write.ts'

export type Adjustment = {
  lineId: string
  /** Minor units to take off, without taxes on top; positive. */
  amount?: number | undefined
  /** Basis points of the whole charge. */
  rate?: number | undefined
  /** Stands on the folio: no names of persons. */
  reason: string
  /** The document of another module that it stands for. */
  source?: { type: string; id: string } | undefined
}

const chargeKinds = new Set(['charge', 'fee', 'transfer_in'])

/** Taxes that shrink with their charge; one of a fixed amount is adjusted by naming its own line. */
const isPercent = (basis: string | null) => basis === 'percent'

const notAdjustable = (message: string) => unprocessable('line_not_adjustable', message, [{ field: 'lineId', message }])

const refuseLine = ({ row }: LeftOfLine) => {
  if (row.paymentId !== null || !chargeKinds.has(row.kind)) throw notAdjustable('is neither a charge nor a fee')
  if (row.belongs && isPercent(row.basis)) throw notAdjustable('is a tax by percentage, which shrinks with its charge')
}

const exceeds = (left: number) =>
  unprocessable('adjustment_exceeds_charge', `Only ${left} is left of the charge`, [
    { field: 'amount', message: `must be at most ${left}` },
  ])

/** Items of the posting by the rule of each tax. */
const itemsOf = async (
  trx: Trx,
  taxes: readonly { taxRuleId: string | null; amount: number }[],
): Promise<PostingItem[]> => {
  const ids = [...new Set(taxes.flatMap((tax) => (tax.taxRuleId === null ? [] : [tax.taxRuleId])))]
  const facts =
    ids.length === 0
      ? []
      : await sql<{ id: string; kind: 'tax' | 'fee'; accountId: string | null }>(
          trx,
          `select id, kind, account_id from tax_rule where id = any(?::uuid[])`,
          [ids],
        )
  return taxes.map(({ taxRuleId, amount }) => {
    const fact = facts.find((one) => one.id === taxRuleId)
    return {
      amount,
      ...(fact?.accountId ? { accountId: fact.accountId } : {}),
      context: { taxKind: fact?.kind ?? 'tax', ...(taxRuleId === null ? {} : { taxRuleId }) },
    }
  })
}

type Lowering = Pick<Adjustment, 'reason' | 'source'> & { row: LeftOfLine['row']; part: Part; businessDate: string }

/**
 * Writes an adjustment of a part of a charge on a locked, open folio: a line that lowers it, and one for each tax on top that shrinks with it. Answers the
 * lines and the posting, which is for the end of the transaction.
 */
const writeAdjustment = async (
  trx: Trx,
  folio: FolioRow,
  { row, part, reason, source, businessDate }: Lowering,
): Promise<{ lines: (NewLine & { id: string })[]; posting: DayPosting }> => {
  const id = randomUUID()
  const common = { folioId: folio.id, kind: 'adjustment' as const, businessDate }
  const sourceOf = (key: string) => (source ? { ...source, key: `${row.id}:${key}` } : { type: 'adjustment', id, key })
  const lines = [
    {
      ...common,
      id,
      category: row.category,
      description: row.category === 'tax' ? row.description : reason,
      amount: -part.amount,
      taxes: taxesOf(part),
      source: sourceOf(''),
      originalLineId: row.id,
      ...(row.taxRuleId === null ? {} : { taxRuleId: row.taxRuleId }),
    },
    ...part.onTop.map(({ line, amount }) => ({
      ...common,
      id: randomUUID(),
      category: 'tax' as const,
      description: line.description,
      amount: -amount,
      source: sourceOf(line.id),
      originalLineId: line.id,
      ...(line.taxRuleId === null ? {} : { taxRuleId: line.taxRuleId }),
    })),
  ]
  await addLines(trx, lines)
  const isTax = row.category === 'tax'
  const onTop = [
    ...(isTax ? [{ taxRuleId: row.taxRuleId, amount: part.amount }] : []),
    ...part.onTop.map(({ line, amount }) => ({ taxRuleId: line.taxRuleId, amount })),
  ]
  const taxOnTop = await itemsOf(trx, onTop)
  const taxIncluded = await itemsOf(trx, part.included)
  const amount = isTax ? 0 : part.amount
  return {
    lines,
    posting: {
      event: 'reservations.charge_adjusted',
      source: { id },
      payload: {
        amounts: { amount, taxOnTop, taxIncluded, total: amount + sum(onTop.map((tax) => tax.amount)) },
        documents: { folio: folio.id },
        context: { folioStage: folio.stage, ...(row.category ? { category: row.category } : {}) },
        ...partyOf(folio),
      },
    },
  }
}

type Limit = {
  /** The caller adjusts within `folios.adjustmentLimit` of the property, per line in all. */
  limited: boolean
}

/**
 * Lowers a charge or a fee (R37); percentages of tax shrink with it. All adjustments of a line together never exceed it: 422 `adjustment_exceeds_charge`.
 * 403 `override_not_permitted` above the limit of the caller.
 */
export const adjustCharge = async (
  trx: Trx,
  folioId: string,
  { lineId, amount: sent, rate, reason, source }: Adjustment,
  { limited }: Limit,
  expected: number | null = null,
): Promise<{ lineIds: string[] }> => {
  if ((sent === undefined) === (rate === undefined))
    throw invalid([{ field: 'amount', message: 'send either amount or rate' }])
  const { folio, businessDate } = await lockFolio(trx, folioId, expected)
  refuseClosed(folio)
  const [found] = await linesLeft(trx, folioId, [lineId])
  if (!found) throw new Error('one line was asked for')
  refuseLine(found)
  const amount = sent ?? shareOf(found.row.amount, rate ?? 0)
  if (amount < 1) throw invalid([{ field: 'rate', message: 'comes to nothing' }])
  if (amount > found.left) throw exceeds(found.left)
  if (limited) {
    const property = await readProperty(trx, folio.propertyId)
    const limit = property?.settings.folios.adjustmentLimit ?? 0
    if (found.adjusted + amount > limit)
      throw forbidden('override_not_permitted', `Adjustments of a line above ${limit} need a manager`, [
        { field: 'amount', message: `must be at most ${Math.max(0, limit - found.adjusted)}` },
      ])
  }
  const bases = await basesOf(trx, found)
  const part = adjustedPart(found, amount, (tax) => isPercent(bases.get(tax.id) ?? null))
  const { lines, posting } = await writeAdjustment(trx, folio, { row: found.row, part, reason, source, businessDate })
  const [now] = await announceBalances(trx, [folioId], lines)
  if (now)
    await emit(trx, folioAdjusted, {
      propertyId: now.propertyId,
      id: folioId,
      version: now.version,
      data: {
        folioId,
        number: now.number,
        lineIds: lines.map((line) => line.id),
        category: found.row.category,
        amount: sum(lines.map((line) => line.amount)),
        balance: now.balance,
        currency: now.currency,
      },
    })
  await raisePostings(trx, folio.propertyId, [posting])
  return { lineIds: lines.map((line) => line.id) }
}

const basesOf = async (trx: Trx, { onTop }: LeftOfLine): Promise<Map<string, string>> => {
  const ids = onTop.map(({ line }) => line.id)
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; basis: string }>(
    trx,
    `select l.id, x.basis from folio_line l join tax_rule x on x.tenant_id = l.tenant_id and x.id = l.tax_rule_id where l.id = any(?::uuid[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.basis]))
}
