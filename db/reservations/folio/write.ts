import { randomUUID } from 'node:crypto'
import { folioChargePosted } from '../../../config/events/folios.ts'
import { raisePostings } from '../../financial/index.ts'
import type { DayPosting, PostingContext } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { onTop } from '../../properties/index.ts'
import type { FolioRow, ReservationRow } from '../../rows.ts'
import { folioFor } from '../rules/routing.ts'
import type { Routed } from '../rules/routing.ts'
import { addLines, announceBalances } from './lines.ts'
import type { LineTax, NewLine } from './lines.ts'
import { reopenClosed } from './close.ts'
import { lockRoutedFolios } from './lock.ts'
import { renewPrimaries } from './renew.ts'
import { leaveDepositStages } from './stage.ts'

export type ChargedStay = Pick<ReservationRow, 'id' | 'propertyId' | 'primaryGuestId' | 'marketSegment'>

/** Something that is owed: one line of a folio, one more for each tax on top, and what they mean to the ledger. */
export type FolioCharge = {
  stay: ChargedStay | null
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
  /** Documents of the posting beside the folio. */
  documents?: Record<string, string>
  /** A decimal with up to 4 places, and the price of one; 1 and the amount unless said. */
  quantity?: string
  unitAmount?: number
}

/** Something that a stay owes. */
export type Charge = FolioCharge & {
  stay: ChargedStay
  /** Part of the price of the stay, not beside it. */
  isPrice: boolean
  /** The category and date that its routes look at; null for a charge that belongs on the primary folio. */
  routed: Routed | null
}

export type Charged = {
  /** Lines without their taxes. */
  count: number
  /** Minor units, with taxes on top. */
  amount: number
  /** All lines, taxes with their charges. */
  lineIds: string[]
  /** For the end of the transaction. */
  postings: DayPosting[]
}

const nothing: Charged = { count: 0, amount: 0, lineIds: [], postings: [] }

type TaxFact = { id: string; kind: 'tax' | 'fee'; accountId: string | null }

const taxFacts = async (trx: Trx, charges: readonly FolioCharge[]): Promise<Map<string, TaxFact>> => {
  const ids = [...new Set(charges.flatMap((one) => one.taxes.map((tax) => tax.taxRuleId)))]
  if (ids.length === 0) return new Map()
  const rows = await sql<TaxFact>(trx, `select id, kind, account_id from tax_rule where id = any(?::uuid[])`, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Minor units that a charge adds to the balance, with its taxes on top. */
export const owedOf = (charge: Pick<FolioCharge, 'amount' | 'taxes'>) => charge.amount + onTop(charge.taxes)

/** Sums of the charges by a key of each. */
const sumsBy = (charges: readonly Charge[], keyOf: (charge: Charge) => string, of = owedOf) => {
  const sums = new Map<string, number>()
  for (const charge of charges) sums.set(keyOf(charge), (sums.get(keyOf(charge)) ?? 0) + of(charge))
  return sums
}

/**
 * Puts charges on the folios of their stays, all in a few statements: each on the first open folio of its routes, else on the primary one, which it reopens.
 * Stays are locked, the business day is held, and what says that something is charged (the night's status, the extra's day) is written beside it. Each
 * folio is locked once, in the order of ids.
 */
export const writeCharges = async (
  trx: Trx,
  { businessDate, charges }: { businessDate: string; charges: readonly Charge[] },
): Promise<Charged> => {
  const due = charges.filter((one) => owedOf(one) > 0)
  if (due.length === 0) return nothing
  const stays = [...new Set(due.map((one) => one.stay.id))]
  const { folios, routes } = await lockRoutedFolios(trx, stays)
  const byId = new Map(folios.map((one) => [one.id, one]))
  const primaryOf = new Map(folios.flatMap((one) => (one.isPrimary ? [[one.reservationId, one.id]] : [])))
  const targets = new Map(
    due.map((charge) => {
      const { stay, routed } = charge
      const primaryId = primaryOf.get(stay.id)
      if (primaryId === undefined) throw new Error(`reservation ${stay.id} has no primary folio`)
      const own = routes.filter((route) => route.reservationId === stay.id)
      const isOpen = (id: string) => byId.get(id)?.status === 'open'
      return [charge, routed ? folioFor(own, routed, isOpen, primaryId) : primaryId]
    }),
  )
  // A billed folio takes nothing any more: a new one takes its place.
  const renewed = await renewPrimaries(
    trx,
    folios.filter((one) => one.receivableId !== null && [...targets.values()].includes(one.id)),
  )
  for (const [charge, id] of targets) targets.set(charge, renewed.get(id)?.id ?? id)
  const used = new Set(targets.values())
  // Closed by hand while the guest is in the house: a charge of the stay comes nowhere else.
  const open = await reopenClosed(
    trx,
    [...folios, ...renewed.values()].filter((one) => used.has(one.id)),
  )
  const charged = await chargeFolios(
    trx,
    businessDate,
    due.map((charge) => ({ charge, folio: open.find((one) => one.id === targets.get(charge))! })),
  )
  const prices = sumsBy(
    due.filter((one) => one.isPrice),
    (one) => one.stay.id,
  )
  if (prices.size > 0)
    await sql(
      trx,
      `update reservation r set posted_total = r.posted_total + v.price, version = r.version + 1
       from unnest(?::uuid[], ?::bigint[]) as v(id, price) where r.id = v.id`,
      [[...prices.keys()], [...prices.values()]],
    )
  return charged
}

/**
 * Writes charges on folios that are locked and open: a line for each, one more for each tax on top, their events and postings. A folio in stage deposit whose
 * credits do not cover them leaves it first.
 */
export const chargeFolios = async (
  trx: Trx,
  businessDate: string,
  given: readonly { charge: FolioCharge; folio: FolioRow }[],
): Promise<Charged> => {
  const owed = new Map<string, number>()
  for (const { charge, folio } of given) owed.set(folio.id, (owed.get(folio.id) ?? 0) + owedOf(charge))
  const folios = [...new Map(given.map(({ folio }) => [folio.id, folio])).values()]
  const left = await leaveDepositStages(
    trx,
    folios.filter((one) => one.charges + (owed.get(one.id) ?? 0) > one.credits),
  )
  const now = new Map([...folios, ...left.folios].map((one) => [one.id, one]))
  const charges = given.map(({ charge }) => charge)
  const taxes = await taxFacts(trx, charges)
  const written = given.map(({ charge, folio }) => linesOf(charge, now.get(folio.id)!, businessDate, taxes))
  const lines = written.flatMap((one) => one.lines)
  await addLines(trx, lines)
  const told = await announceBalances(
    trx,
    folios.map((one) => one.id),
    lines,
  )
  for (const charge of written) await tellCharge(trx, charge, told)
  return {
    count: given.length,
    amount: sum(lines.map((line) => line.amount)),
    lineIds: lines.map((line) => line.id),
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

/** Party that owes what stands on a folio: its payer, else the guest of the stay. */
export const partyOf = (folio: Pick<FolioRow, 'payerGuestId' | 'isPrimary'>, guestId: string | null = null) => {
  const id = folio.payerGuestId ?? (folio.isPrimary ? guestId : null)
  return id === null ? {} : { parties: { folio: { type: 'guest' as const, id } } }
}

const linesOf = (
  {
    stay,
    kind,
    category,
    description,
    amount,
    taxes,
    source,
    event,
    context = {},
    documents = {},
    quantity,
    unitAmount,
  }: FolioCharge,
  folio: FolioRow,
  businessDate: string,
  facts: ReadonlyMap<string, TaxFact>,
): { folio: FolioRow; lines: (NewLine & { id: string })[]; postings: DayPosting[] } => {
  const common = { folioId: folio.id, businessDate }
  const id = randomUUID()
  const priced = {
    ...(quantity === undefined ? {} : { quantity }),
    ...(unitAmount === undefined ? {} : { unitAmount }),
  }
  const main =
    amount > 0 ? [{ ...common, ...priced, id, kind, category, description, amount, source, taxes: [...taxes] }] : []
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
        taxRuleId: tax.taxRuleId,
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
        documents: { folio: folio.id, ...documents },
        context: {
          ...context,
          ...more,
          folioStage: folio.stage,
          ...(stay ? { marketSegment: stay.marketSegment } : {}),
          ...(tax ? { taxKind: fact?.kind ?? 'tax', taxRuleId: tax.taxRuleId } : {}),
        },
        ...(fact?.accountId ? { accounts: { tax: fact.accountId } } : {}),
        ...partyOf(folio, stay?.primaryGuestId),
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
