import { notFound, unprocessable } from '../../../config/errors.ts'
import { folioAdjusted } from '../../../config/events/folios.ts'
import { businessDay, raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { FolioRow } from '../../rows.ts'
import { folioFor } from '../rules/routing.ts'
import type { Source } from './adjust-folio.ts'
import type { ChargeCategory } from './charge.ts'
import { refuseBeyondLimit } from './charge.ts'
import { reopenClosed } from './close.ts'
import { renewPrimaries } from './renew.ts'
import { addLines, announceBalances } from './lines.ts'
import { lockFoliosById, lockRoutedFolios } from './lock.ts'
import { chargesLeft } from './rests.ts'
import { refuseClosed } from './status.ts'
import { chargeFolios, partyOf, postCharged } from './write.ts'
import type { ChargedStay, FolioCharge } from './write.ts'

/** The posting event of each kind of source, and the name that the posting has for the document. */
const meanings = {
  pos_order: { event: 'reservations.pos_charged_to_folio', document: 'order' },
} as const
export type ChargeSource = Source & { type: keyof typeof meanings }

type Posting = {
  /** The folio that takes all lines, or the stay whose routes say where each goes. */
  to: { folioId: string } | { reservationId: string }
  source: ChargeSource
  /** Amounts in minor units, above 0. One line each; a category stands once. Descriptions name no persons. */
  lines: readonly { category: ChargeCategory; description: string; amount: number }[]
  /** Tells the postings of one document apart that has several, such as an order on the folios of two stays. */
  part?: string
  /** The credit limits of the folios are waived. */
  beyondLimit?: boolean
}

type Place = {
  propertyId: string
  folios: FolioRow[]
  folioOf: (category: string) => FolioRow
  stay: ChargedStay | null
}

const stayColumns = `select id, property_id, primary_guest_id, market_segment from reservation where id = ?`

const placeOfFolio = async (trx: Trx, folioId: string): Promise<Place & { businessDate: string }> => {
  const found = await sqlOne<{ propertyId: string }>(trx, `select property_id from folio where id = ?`, [folioId])
  if (!found) throw notFound()
  const businessDate = await businessDay(trx, found.propertyId)
  const [folio] = await lockFoliosById(trx, [folioId])
  if (!folio) throw notFound()
  refuseClosed(folio)
  const stay = folio.reservationId ? await sqlOne<ChargedStay>(trx, stayColumns, [folio.reservationId]) : null
  return { propertyId: folio.propertyId, folios: [folio], folioOf: () => folio, stay, businessDate }
}

/** The folios of a stay by its routes; the primary one is opened again where it has to take a charge (R36). */
const placeOfStay = async (
  trx: Trx,
  reservationId: string,
  categories: readonly string[],
): Promise<Place & { businessDate: string }> => {
  const found = await sqlOne<{ propertyId: string }>(trx, `select property_id from reservation where id = ?`, [
    reservationId,
  ])
  if (!found) throw notFound()
  const businessDate = await businessDay(trx, found.propertyId)
  // Routes are changed and guests leave under the lock of the stay.
  const stay = await sqlOne<ChargedStay & { status: string }>(
    trx,
    `select id, property_id, primary_guest_id, market_segment, status from reservation where id = ? for share`,
    [reservationId],
  )
  if (stay?.status !== 'checked_in')
    throw unprocessable('rule_violated', 'The guest of the stay is not in the house', [
      { field: 'reservationId', message: 'is no stay in the house' },
    ])
  const { folios: locked, routes } = await lockRoutedFolios(trx, [reservationId])
  const before = locked.find((one) => one.isPrimary && one.reservationId === reservationId)
  const renewed = await renewPrimaries(trx, before && before.receivableId !== null ? [before] : [])
  const folios = [
    ...locked.map((one) => (renewed.has(one.id) ? { ...one, isPrimary: false } : one)),
    ...renewed.values(),
  ]
  const primary = folios.find((one) => one.isPrimary && one.reservationId === reservationId)
  if (!primary) throw new Error(`reservation ${reservationId} has no primary folio`)
  const isOpen = (id: string) => folios.some((one) => one.id === id && one.status === 'open')
  const idOf = (category: string) => folioFor(routes, { category, date: businessDate }, isOpen, primary.id)
  const used = new Set(categories.map(idOf))
  const open = await reopenClosed(
    trx,
    folios.filter((one) => used.has(one.id)),
  )
  const folioOf = (category: string) => open.find((one) => one.id === idOf(category))!
  return { propertyId: stay.propertyId, folios: open, folioOf, stay, businessDate }
}

/**
 * Puts the charges of a document of another module on a folio, or on those of a stay in the house by its routes, in the order of locks after whatever the
 * caller holds but payments. Answers the lines and their folios. Such charges have no taxes: the other module posts those. 404; 409 `folio_busy`; 422
 * `folio_closed`, `folio_locked`, `credit_limit_exceeded`, `rule_violated` for a stay that is not in the house.
 */
export const postCharges = async (
  trx: Trx,
  { to, source, lines, part = '', beyondLimit = false }: Posting,
): Promise<{ lineIds: string[]; folioIds: string[] }> => {
  const categories = lines.map((line) => line.category)
  const place =
    'folioId' in to ? await placeOfFolio(trx, to.folioId) : await placeOfStay(trx, to.reservationId, categories)
  const { event, document } = meanings[source.type]
  const given = lines.map(({ category, description, amount }) => ({
    folio: place.folioOf(category),
    charge: {
      stay: place.stay,
      kind: 'charge',
      category,
      description,
      amount,
      taxes: [],
      source: { ...source, key: part === '' ? category : `${part}:${category}` },
      event,
      documents: { [document]: source.id },
    } satisfies FolioCharge,
  }))
  for (const folio of place.folios)
    refuseBeyondLimit(
      folio,
      sum(given.filter((one) => one.folio === folio).map((one) => one.charge.amount)),
      beyondLimit,
    )
  const charged = await chargeFolios(trx, place.businessDate, given)
  await postCharged(trx, place.propertyId, charged)
  return { lineIds: charged.lineIds, folioIds: [...new Set(given.map((one) => one.folio.id))] }
}

/**
 * Takes the charges of a document back: a line that lowers each by what adjustments have left of it, on the folio that has it now, which is opened where it is
 * closed. Answers the amount that was taken back, in minor units. A repeated call takes back nothing. 409 `folio_busy`.
 */
export const reverseCharges = async (
  trx: Trx,
  source: ChargeSource,
): Promise<{ amount: number; lineIds: string[] }> => {
  const places = await sql<{ propertyId: string }>(
    trx,
    `select distinct f.property_id from folio_line l join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id
     where l.source_type = ? and l.source_id = ?`,
    [source.type, source.id],
  )
  const [place] = places
  if (!place) return { amount: 0, lineIds: [] }
  const businessDate = await businessDay(trx, place.propertyId)
  const locked = await lockFoliosById(
    trx,
    (await chargesLeft(trx, source)).map((rest) => rest.folioId),
  )
  const rests = (await chargesLeft(trx, source)).filter((rest) => locked.some((one) => one.id === rest.folioId))
  const folios = await reopenClosed(trx, locked)
  const added = await addLines(
    trx,
    rests.map((rest) => ({
      folioId: rest.folioId,
      kind: 'adjustment' as const,
      category: rest.category,
      description: `${rest.description}, taken back`,
      amount: -rest.amount,
      businessDate,
      source: { type: `${source.type}_reversal`, id: source.id, key: rest.id },
      originalLineId: rest.id,
    })),
  )
  const told = await announceBalances(
    trx,
    locked.map((one) => one.id),
    added,
  )
  for (const { id, propertyId, version, number, balance, currency } of told) {
    const own = added.filter((line) => line.folioId === id)
    if (own.length === 0) continue
    const lineIds = own.map((line) => line.id)
    const data = {
      folioId: id,
      number,
      lineIds,
      category: null,
      amount: sum(own.map((line) => line.amount)),
      balance,
      currency,
    }
    await emit(trx, folioAdjusted, { propertyId, id, version, data })
  }
  const { event, document } = meanings[source.type]
  await raisePostings(
    trx,
    place.propertyId,
    added.map((line): DayPosting => {
      const folio = folios.find((one) => one.id === line.folioId)!
      return {
        event,
        source: { id: line.id },
        payload: {
          amounts: { amount: line.amount },
          documents: { folio: folio.id, [document]: source.id },
          context: { folioStage: folio.stage, ...(line.category ? { category: line.category } : {}) },
          ...partyOf(folio),
        },
      }
    }),
  )
  return { amount: -sum(added.map((line) => line.amount)), lineIds: added.map((line) => line.id) }
}
