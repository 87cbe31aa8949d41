import { randomUUID } from 'node:crypto'
import { sum } from '../lib/amounts.ts'
import { folioChargePosted, folioReopened } from '../../config/events/folios.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll } from '../lib/events.ts'
import { raisePostings } from '../financial/index.ts'
import type { DayPosting, PostingContext } from '../financial/index.ts'
import { onTop } from '../properties/index.ts'
import type { FolioRow, ReservationRow } from '../rows.ts'
import { addLines, announceBalances, factOf, leaveDepositStages } from './folios.ts'
import type { LineTax, NewLine } from './folios.ts'
import { lockPrimaryFolios } from './lock.ts'

export type ChargedStay = Pick<ReservationRow, 'id' | 'propertyId' | 'primaryGuestId' | 'marketSegment'>

/** Something that a stay owes: one line of its folio, one more for each tax on top, and what they mean to the ledger. */
export type Charge = {
  stay: ChargedStay
  kind: 'charge' | 'fee'
  category: NonNullable<NewLine['category']>
  /** No names of persons. */
  description: string
  /** Minor units; 0 writes no line, though its taxes on top do. */
  amount: number
  taxes: readonly LineTax[]
  /** Identity of a charge: no two lines can have the same source. */
  source: { type: string; id: string; key: string }
  event: string
  context?: PostingContext
  /** Part of the price of the stay, not beside it. */
  isPrice: boolean
}

export type Charged = {
  /** Lines without their taxes. */
  count: number
  /** Minor units, with taxes on top. */
  amount: number
  /** For the end of the transaction. */
  postings: DayPosting[]
}

const nothing: Charged = { count: 0, amount: 0, postings: [] }

type TaxFact = { id: string; kind: 'tax' | 'fee'; accountId: string | null }

const taxFacts = async (trx: Trx, charges: readonly Charge[]): Promise<Map<string, TaxFact>> => {
  const ids = [...new Set(charges.flatMap((one) => one.taxes.map((tax) => tax.taxRuleId)))]
  if (ids.length === 0) return new Map()
  const rows = await sql<TaxFact>(trx, `select id, kind, account_id from tax_rule where id = any(?::uuid[])`, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Closed by hand while the guest is in the house: what is charged to the stay comes nowhere else. */
const reopen = async (trx: Trx, folios: readonly FolioRow[]): Promise<FolioRow[]> => {
  const closed = folios.filter((one) => one.status === 'closed')
  if (closed.length === 0) return [...folios]
  const opened = await sql<FolioRow>(
    trx,
    `update folio set status = 'open', version = version + 1 where id = any(?::uuid[]) returning *`,
    [closed.map((one) => one.id)],
  )
  await emitAll(
    trx,
    folioReopened,
    opened.map((one) => factOf(one)),
  )
  return folios.map((one) => opened.find((each) => each.id === one.id) ?? one)
}

const owedOf = (charge: Charge) => charge.amount + onTop(charge.taxes)

/** Sums of the charges of each stay. */
const perStay = (charges: readonly Charge[]) => {
  const sums = new Map<string, { owed: number; price: number }>()
  for (const charge of charges) {
    const before = sums.get(charge.stay.id) ?? { owed: 0, price: 0 }
    const owed = owedOf(charge)
    sums.set(charge.stay.id, { owed: before.owed + owed, price: before.price + (charge.isPrice ? owed : 0) })
  }
  return sums
}

/**
 * Puts charges on the primary folios of their stays, all in a few statements. Stays are locked, the business day is held, and what says
 * that something is charged (the night's status, the extra's day) is written beside it. Each folio is locked once, in the order of ids.
 */
export const writeCharges = async (
  trx: Trx,
  { businessDate, charges }: { businessDate: string; charges: readonly Charge[] },
): Promise<Charged> => {
  const due = charges.filter((one) => owedOf(one) > 0)
  if (due.length === 0) return nothing
  const sums = perStay(due)
  const stays = [...sums.keys()]
  const locked = await reopen(trx, await lockPrimaryFolios(trx, stays))
  const folioOf = new Map(locked.map((one) => [one.reservationId, one]))
  const missing = stays.find((id) => !folioOf.has(id))
  if (missing !== undefined) throw new Error(`reservation ${missing} has no primary folio`)
  const wouldOwe = locked.filter((one) => one.charges + (sums.get(one.reservationId ?? '')?.owed ?? 0) > one.credits)
  const left = await leaveDepositStages(trx, wouldOwe)
  for (const folio of left.folios) folioOf.set(folio.reservationId, folio)
  const taxes = await taxFacts(trx, due)
  const written = due.map((charge) => linesOf(charge, folioOf.get(charge.stay.id)!, businessDate, taxes))
  const lines = written.flatMap((one) => one.lines)
  await addLines(trx, lines)
  await sql(
    trx,
    `update reservation r set posted_total = r.posted_total + v.price, version = r.version + 1
     from unnest(?::uuid[], ?::bigint[]) as v(id, price) where r.id = v.id and v.price > 0`,
    [stays, stays.map((id) => sums.get(id)?.price ?? 0)],
  )
  const now = await announceBalances(
    trx,
    locked.map((one) => one.id),
  )
  for (const charge of written) await tellCharge(trx, charge, now)
  return {
    count: due.length,
    amount: sum(lines.map((line) => line.amount)),
    postings: [...left.postings, ...written.flatMap((one) => one.postings)],
  }
}

type Written = { folio: FolioRow; lines: (NewLine & { id: string })[] }

/** One event for each charge, with its taxes: those of one folio have an order. */
const tellCharge = async (trx: Trx, { folio: { id }, lines }: Written, folios: readonly FolioRow[]) => {
  const [main] = lines
  const folio = folios.find((one) => one.id === id)
  if (!main || !folio) return
  const { propertyId, version, number, balance, currency } = folio
  const amount = sum(lines.map((line) => line.amount))
  const lineIds = lines.map((line) => line.id)
  const data = { folioId: id, number, lineIds, category: main.category ?? null, amount, balance, currency }
  await emit(trx, folioChargePosted, { propertyId, id, version, data })
}

const linesOf = (
  { stay, kind, category, description, amount, taxes, source, event, context = {} }: Charge,
  folio: FolioRow,
  businessDate: string,
  facts: ReadonlyMap<string, TaxFact>,
): { folio: FolioRow; lines: (NewLine & { id: string })[]; postings: DayPosting[] } => {
  const common = { folioId: folio.id, businessDate }
  const id = randomUUID()
  const main = amount > 0 ? [{ ...common, id, kind, category, description, amount, source, taxes: [...taxes] }] : []
  const added = taxes
    .filter((tax) => !tax.included && tax.amount > 0)
    .map((tax) => ({
      line: {
        ...common,
        id: randomUUID(),
        kind: 'charge' as const,
        category: 'tax' as const,
        description: tax.code,
        amount: tax.amount,
        source: { ...source, key: `${source.key}:tax:${tax.taxRuleId}` },
        ...(main.length > 0 ? { originalLineId: id } : {}),
      },
      tax,
    }))
  const posting = (
    name: string,
    sourceOf: DayPosting['source'],
    value: number,
    tax: LineTax | null,
    more: PostingContext,
  ): DayPosting => {
    const fact = tax ? facts.get(tax.taxRuleId) : undefined
    return {
      event: name,
      source: sourceOf,
      payload: {
        amounts: { amount: value },
        documents: { folio: folio.id },
        context: {
          ...context,
          ...more,
          folioStage: folio.stage,
          marketSegment: stay.marketSegment,
          ...(tax ? { taxKind: fact?.kind ?? 'tax', taxRuleId: tax.taxRuleId } : {}),
        },
        ...(fact?.accountId ? { accounts: { tax: fact.accountId } } : {}),
        ...(stay.primaryGuestId ? { parties: { folio: { type: 'guest' as const, id: stay.primaryGuestId } } } : {}),
      },
    }
  }
  return {
    folio,
    lines: [...main, ...added.map((one) => one.line)],
    postings: [
      ...main.map((line) => posting(event, { id: line.id }, amount, null, { category })),
      ...added.map(({ line, tax }) =>
        posting('reservations.tax_on_top_charged', { id: line.id }, tax.amount, tax, { category: 'tax' }),
      ),
      ...(main.length > 0 ? taxes.filter((tax) => tax.included && tax.amount > 0) : []).map((tax, seq) =>
        posting('reservations.tax_included_recognised', { id, seq }, tax.amount, tax, { category }),
      ),
    ],
  }
}

/** The last step of a command that has charged something. */
export const postCharged = (trx: Trx, propertyId: string, ...charged: readonly Charged[]) =>
  raisePostings(
    trx,
    propertyId,
    charged.flatMap((one) => one.postings),
  )
