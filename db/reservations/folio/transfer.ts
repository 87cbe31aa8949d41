import { randomUUID } from 'node:crypto'
import { notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { folioTransferred } from '../../../config/events/folios.ts'
import { businessDay, raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { moveBetweenFolios, settleRefusedCaptures } from '../../payment/index.ts'
import type { FolioRow } from '../../rows.ts'
import { movedPart, taxesOf } from '../rules/folio-lines.ts'
import { addLines, announceBalances } from './lines.ts'
import type { NewLine } from './lines.ts'
import { linesLeft } from './lines-left.ts'
import type { LeftOfLine } from './lines-left.ts'
import { lockFoliosById } from './lock.ts'
import { leaveDepositStages } from './stage.ts'
import { refuseClosed } from './status.ts'

export type Transfer = {
  toFolioId: string
  /** Parts in minor units, positive as the line is shown without its sign; all that is left unless said. */
  lines: readonly { lineId: string; amount?: number | undefined }[]
}

const movable = new Set(['charge', 'fee', 'payment', 'transfer_in'])

const refusal = (index: number, message: string) =>
  unprocessable('line_not_transferable', 'A line cannot be moved', [{ field: `lines.${index}.lineId`, message }])

/** Part of each line that moves. 422 `line_not_transferable`. */
const partsOf = (left: readonly LeftOfLine[], wanted: Transfer['lines']): { of: LeftOfLine; amount: number }[] =>
  left.map((of, index) => {
    const { row } = of
    if (!movable.has(row.kind)) throw refusal(index, 'is neither a charge nor a payment')
    if (row.receiptId !== null) throw refusal(index, 'is money of a receipt, which is undone and allocated anew')
    if (row.belongs) throw refusal(index, 'is a tax, which moves with its charge')
    const amount = wanted[index]?.amount ?? of.left
    if (of.left < 1) throw refusal(index, 'was adjusted or moved before')
    if (amount > of.left) throw refusal(index, `has ${of.left} left`)
    return { of, amount }
  })

type Pair = { out: NewLine & { id: string }; in: NewLine & { id: string } }

/** A line out of one folio and one into the other for a charge, and for each of its taxes on top. */
const pairsOf = (transferId: string, { of, amount }: { of: LeftOfLine; amount: number }, context: Context): Pair[] => {
  const { from, to, businessDate } = context
  const part = movedPart(of, amount)
  const pair = (
    line: Pick<LeftOfLine['row'], 'id' | 'category' | 'description' | 'taxRuleId'>,
    moved: number,
    more: Partial<NewLine>,
    originalOfIn: string,
  ): Pair => {
    const common = {
      category: line.category,
      description: line.description,
      businessDate,
      transferId,
      ...(line.taxRuleId === null ? {} : { taxRuleId: line.taxRuleId }),
      ...more,
    }
    const source = (key: string) => ({ type: 'transfer', id: transferId, key: `${line.id}:${key}` })
    return {
      out: {
        ...common,
        id: randomUUID(),
        folioId: from.id,
        kind: 'transfer_out',
        amount: -moved,
        source: source('out'),
        originalLineId: line.id,
      },
      in: {
        ...common,
        id: randomUUID(),
        folioId: to.id,
        kind: 'transfer_in',
        amount: moved,
        source: source('in'),
        originalLineId: originalOfIn,
      },
    }
  }
  const main = pair(of.row, amount, { taxes: taxesOf(part) }, of.row.id)
  const taxes = part.onTop.map((tax) => {
    const line = { ...tax.line, category: 'tax' as const }
    return pair(line, tax.amount, {}, main.in.id)
  })
  return [main, ...taxes]
}

/** A payment line moves with its payment: credits rise by it on one folio, and fall on the other. */
const creditPair = (transferId: string, { row }: LeftOfLine, amount: number, context: Context): Pair => {
  const { from, to, businessDate } = context
  const common = {
    category: null,
    description: row.description,
    businessDate,
    transferId,
    paymentId: row.paymentId,
    originalLineId: row.id,
  }
  const source = (key: string) => ({ type: 'transfer', id: transferId, key: `${row.id}:${key}` })
  return {
    out: { ...common, id: randomUUID(), folioId: from.id, kind: 'transfer_out', amount, source: source('out') },
    in: { ...common, id: randomUUID(), folioId: to.id, kind: 'transfer_in', amount: -amount, source: source('in') },
  }
}

type Context = { from: FolioRow; to: FolioRow; businessDate: string }

/** Credits move within one booking or group alone; the master folio of a group is of all its bookings. */
const refuseStrangers = async (trx: Trx, { from, to }: Context, index: number) => {
  const [first, second] = await sql<{ bookingId: string | null; groupId: string | null }>(
    trx,
    `select r.booking_id, coalesce(f.group_id, b.group_id) as group_id from folio f
     left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
     left join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where f.id in (?, ?)`,
    [from.id, to.id],
  )
  const isOne = (key: 'bookingId' | 'groupId') => Boolean(first?.[key]) && first?.[key] === second?.[key]
  if (!isOne('bookingId') && !isOne('groupId'))
    throw refusal(index, 'is a payment, which moves within its booking or group')
}

const lockBoth = async (trx: Trx, fromId: string, toId: string): Promise<Context> => {
  const place = await sqlOne<{ propertyId: string }>(trx, `select property_id from folio where id = ?`, [fromId])
  if (!place) throw notFound()
  const businessDate = await businessDay(trx, place.propertyId)
  const folios = await lockFoliosById(trx, [fromId, toId])
  const from = folios.find((one) => one.id === fromId)
  const to = folios.find((one) => one.id === toId && one.propertyId === place.propertyId)
  if (!from) throw notFound()
  if (!to || to.id === from.id)
    throw unprocessable('reference_not_found', 'The property does not have the other folio', [
      { field: 'toFolioId', message: 'is no other folio of the property' },
    ])
  return { from, to, businessDate }
}

/**
 * Moves lines, or parts of them, to another folio of the property (R38): one line out and one in for each, summing to zero, with their taxes. Both folios
 * are locked by id, whichever is the source. Answers the new lines of both.
 */
export const transferLines = async (
  trx: Trx,
  folioId: string,
  { toFolioId, lines: wanted }: Transfer,
  expected: number | null = null,
): Promise<{ transferId: string; lineIds: string[] }> => {
  const context = await lockBoth(trx, folioId, toFolioId)
  if (expected !== null && expected !== context.from.version) throw versionConflict(context.from.version)
  refuseClosed(context.from)
  refuseClosed(context.to, 'toFolioId')
  const left = await linesLeft(
    trx,
    folioId,
    wanted.map((one) => one.lineId),
  )
  const twice = wanted.findIndex(({ lineId }, index) => wanted.findIndex((one) => one.lineId === lineId) < index)
  if (twice >= 0) throw refusal(twice, 'stands twice')
  const parts = partsOf(left, wanted)
  const charges = parts.filter(({ of }) => of.row.paymentId === null)
  const credits = parts.filter(({ of }) => of.row.paymentId !== null)
  if (charges.length > 0 && context.to.locked)
    throw unprocessable('folio_locked', 'The other folio takes nights, fees and taxes alone', [
      { field: 'toFolioId', message: 'is locked' },
    ])
  if (credits.length > 0) await refuseStrangers(trx, context, parts.indexOf(credits[0]!))
  const transferId = randomUUID()
  const charged = charges.flatMap((part) => pairsOf(transferId, part, context))
  const paid = credits.map(({ of, amount }) => creditPair(transferId, of, amount, context))
  const [chargedSum, paidSum] = [
    sum(charged.map((pair) => pair.in.amount)),
    -sum(paid.map((pair) => pair.in.amount)),
  ] as const
  const owing = [
    ...(context.from.charges - chargedSum > context.from.credits - paidSum ? [context.from] : []),
    ...(context.to.charges + chargedSum > context.to.credits + paidSum ? [context.to] : []),
  ]
  const staged = await leaveDepositStages(trx, owing)
  const now = (folio: FolioRow) => staged.folios.find((one) => one.id === folio.id) ?? folio
  const [from, to] = [now(context.from), now(context.to)]
  const money = await moveBetweenFolios(
    trx,
    credits.map(({ of, amount }) => ({
      paymentId: of.row.paymentId ?? '',
      amount,
      from: { folioId: from.id, stage: from.stage },
      to: { folioId: to.id, stage: to.stage },
    })),
  )
  const short = credits.findIndex(({ amount }, index) => money.amounts[index] !== amount)
  if (short >= 0) throw refusal(parts.indexOf(credits[short]!), `has ${money.amounts[short]} left after refunds`)
  // Charges leave and credits arrive first, so that no folio of deposits is in debit in between.
  const lines = [
    ...charged.map((pair) => pair.out),
    ...paid.map((pair) => pair.in),
    ...charged.map((pair) => pair.in),
    ...paid.map((pair) => pair.out),
  ]
  await addLines(trx, lines)
  const folios = await announceBalances(trx, [from.id, to.id], lines)
  for (const { id, propertyId, version, number, balance, currency } of folios) {
    const own = lines.filter((line) => line.folioId === id)
    const data = {
      folioId: id,
      number,
      lineIds: own.slice(0, 100).map((line) => line.id),
      category: null,
      amount: sum(own.map((line) => line.amount)),
      balance,
      currency,
    }
    await emit(trx, folioTransferred, { propertyId, id, version, data })
  }
  if (credits.length > 0) await settleRefusedCaptures(trx, from.propertyId, [{ targetType: 'folio', targetId: to.id }])
  const postings = charged.map((pair, seq): DayPosting => ({
    event: 'reservations.folio_lines_transferred',
    source: { id: transferId, seq },
    payload: {
      amounts: { amount: pair.in.amount },
      documents: { to: to.id, from: from.id },
      context: { toStage: to.stage, fromStage: from.stage },
    },
  }))
  await raisePostings(trx, from.propertyId, [...staged.postings, ...postings])
  await money.post()
  return { transferId, lineIds: lines.map((line) => line.id) }
}
