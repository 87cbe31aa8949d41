import { invalid, renamedFields, unprocessable } from '../../../config/errors.ts'
import { textIn } from '../../../config/local-text.ts'
import type { QuotedRoom } from '../../../config/quote.ts'
import { daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { stayMoves } from '../../units/index.ts'
import type { Move } from '../../units/index.ts'
import { localTaxRules, nightPrices, priceRoom } from '../rules/stay-price.ts'
import type { Stay } from '../rules/stay-price.ts'
import type { TaxRule } from '../rules/taxes.ts'
import { readPrices, readRestrictions } from './calendar.ts'
import type { SaleProperty } from './catalogue.ts'
import { isSelling, notSelling, openSale, promoFor, refuseRestricted, resolveRooms } from './sale-request.ts'
import type { RoomRequest, Sale, SaleRoom } from './sale-request.ts'
import { extraMoves, snapshots, versionsOf } from './sellable.ts'
import type { SellableRoom } from './sellable.ts'

/** A room as the desk asks for it, with days of its own. */
export type DeskRoom = Stay &
  RoomRequest & {
    /** Prices of nights that the desk sets. */
    manualNights?: readonly { date: string; amount: number }[] | undefined
    /** Its price, where it was quoted before: then it stands. */
    quoted?: QuotedRoom | undefined
  }

export type PricedDeskRoom = {
  quoted: QuotedRoom
  sold: SellableRoom
  /** The plan's price of each night without a promo code; null where it has none. */
  listed: (number | null)[]
}

export type DeskSale = {
  property: SaleProperty
  locale: string
  promoCodeId: string | null
  /** Rules by which the taxes of its prices were taken. */
  taxRules: TaxRule[]
  rooms: PricedDeskRoom[]
  /** Moves of all rooms with their limited extras, such as `moves({ held: 1 })`. */
  moves: (deltas: Pick<Move, 'sold' | 'held'>) => Move[]
}

type DeskRequest = {
  propertyId: string
  property?: SaleProperty | undefined
  rooms: readonly DeskRoom[]
  promoCode?: string | null | undefined
  locale?: string | undefined
  /** Restrictions are set aside, by a permission that the caller has. */
  waiveRestrictions?: boolean
}

/** Errors of one room name it by its place in the request. */
const placedError = (error: unknown, index: number): unknown =>
  renamedFields(error, (field) =>
    field.replace(/^rooms\.0/, `rooms.${index}`).replace(/^(arrival|departure)$/, `rooms.${index}.$1`),
  )

const placed = <T>(index: number, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw placedError(error, index)
  }
}

/** The first of some nights that is none of a stay, or stands there before; null where all are right. */
export const wrongNight = (
  nights: readonly { date: string }[],
  { arrival, departure }: Stay,
): { index: number; message: string } | null => {
  const index = nights.findIndex(
    ({ date }, place) => date < arrival || date >= departure || nights.findIndex((one) => one.date === date) !== place,
  )
  const date = nights[index]?.date
  if (date === undefined) return null
  return { index, message: date < arrival || date >= departure ? 'is not a night of the stay' : 'stands twice' }
}

const manualOf = ({ manualNights, arrival, departure }: DeskRoom, index: number) => {
  if (!manualNights || manualNights.length === 0) return undefined
  const wrong = wrongNight(manualNights, { arrival, departure })
  if (wrong) throw invalid([{ field: `rooms.${index}.manualNights.${wrong.index}.date`, message: wrong.message }])
  return new Map(manualNights.map(({ date, amount }) => [date, amount]))
}

const priceMissing = (index: number) =>
  unprocessable('restriction_violated', 'The stay is not possible at this rate', [
    { field: `rooms.${index}`, message: 'price_missing: a night has no price' },
  ])

/**
 * Prices rooms for the desk, each on its own days, and checks all that a sale checks but the counters, which `moveInventory` judges. A quoted room keeps its
 * price. Takes nothing and stores nothing.
 */
export const priceForDesk = async (trx: Trx, request: DeskRequest): Promise<DeskSale> => {
  const sales: Sale[] = []
  for (const [index, room] of request.rooms.entries()) {
    const known = sales.find(({ stay }) => stay.arrival === room.arrival && stay.departure === room.departure)
    sales.push(
      known ??
        (await openSale(trx, {
          propertyId: request.propertyId,
          property: request.property ?? sales[0]?.property,
          arrival: room.arrival,
          departure: room.departure,
          rooms: request.rooms.length,
          audience: 'staff',
          locale: request.locale,
          promoCode: request.promoCode,
        }).catch((error: unknown) => {
          throw placedError(error, index)
        })),
    )
  }
  const [first] = sales
  if (!first) throw invalid([{ field: 'rooms', message: 'must not be empty' }])
  const { property, catalogue, locale } = first
  if (!isSelling(property, 'staff')) throw notSelling()
  const rooms = request.rooms.map((room, index) => placed(index, () => resolveRooms(sales[index]!, [room])[0]!))
  const plans = [...new Set(rooms.map((room) => room.plan))]
  const range = {
    catalogue,
    plans,
    unitTypeIds: [...new Set(rooms.map((room) => room.type.id))],
    from: request.rooms.map((room) => room.arrival).sort()[0]!,
    until: request.rooms
      .map((room) => room.departure)
      .sort()
      .at(-1)!,
  }
  const [restrictionOf, priceOf] = await Promise.all([
    request.waiveRestrictions ? null : readRestrictions(trx, property.id, range),
    readPrices(trx, range),
  ])
  if (restrictionOf)
    for (const [index, room] of rooms.entries())
      placed(index, () => refuseRestricted(sales[index]!, restrictionOf, [room]))
  const pricing = {
    property,
    catalogue,
    priceOf,
    taxRules: localTaxRules(catalogue, property, locale),
    locale,
    now: property.now,
  }
  const quoted = rooms.map((room, index) => {
    const asked = request.rooms[index]!
    if (asked.quoted) return asked.quoted
    const sale = sales[index]!
    const manual = manualOf(asked, index)
    const priced = priceRoom(
      { ...pricing, promo: promoFor(sale, room.plan.id, room.type.id) },
      { ...room, manual },
      sale.stay,
    )
    if (!priced) throw priceMissing(index)
    return priced
  })
  const versions = await versionsOf(trx, plans, quoted)
  const wording = { locale, currency: property.currency }
  const listedOf = ({ plan, type, counted }: SaleRoom, { stay }: Sale) =>
    nightPrices({ ...pricing, promo: null }, plan, type, counted, stay)
  return {
    property,
    locale,
    promoCodeId: first.promo?.id ?? null,
    taxRules: pricing.taxRules,
    rooms: rooms.map((room, index) => ({
      quoted: quoted[index]!,
      sold: {
        unitType: {
          id: room.type.id,
          name: textIn(room.type.name, locale, ...property.locales),
          pools: room.type.pools,
        },
        ratePlan: {
          id: room.plan.id,
          name: textIn(room.plan.name, locale, ...property.locales),
          marketSegment: room.plan.marketSegment,
        },
        policies: snapshots(quoted[index]!.policies, versions, wording),
      },
      listed: listedOf(room, sales[index]!),
    })),
    moves: (deltas) =>
      rooms.flatMap(({ type }, index) => [
        ...stayMoves(type.pools, sales[index]!.stay, deltas),
        ...quoted[index]!.extras.flatMap((extra) =>
          extraMoves(extra, catalogue.extras.find((known) => known.id === extra.extraId)?.poolId ?? null, deltas),
        ),
      ]),
  }
}

/** Nights of a room whose manual price is further below its plan's than a limit in basis points allows; the limit itself is allowed. */
export const nightsBelow = (
  { quoted, listed }: Pick<PricedDeskRoom, 'quoted' | 'listed'>,
  manual: readonly { date: string; amount: number }[],
  cutBps: number,
): string[] => {
  const dates = daysIn(quoted.arrival, quoted.departure)
  return manual.flatMap(({ date, amount }) => {
    const asked = listed[dates.indexOf(date)] ?? null
    return asked !== null && amount * 10_000 < asked * (10_000 - cutBps) ? [date] : []
  })
}
