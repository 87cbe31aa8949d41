import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { claimedRoom } from '../../../config/quote.ts'
import type { QuoteClaims, QuotedRoom } from '../../../config/quote.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { readNights, usage } from '../../units/index.ts'
import { readPrices, readRestrictions } from './calendar.ts'
import { localTaxRules, priceRoom } from '../rules/stay-price.ts'
import { sum } from '../../lib/amounts.ts'
import { dueNow } from '../rules/deposits.ts'
import { feeAmount, feeTiers } from '../rules/policies.ts'
import { cancellationText, depositText, noShowText } from '../rules/policy-text.ts'
import { isSelling, notSelling, openSale, promoFor, refuseRestricted, resolveRooms } from './sale-request.ts'
import type { Audience, RoomRequest, Sale, SaleRoom } from './sale-request.ts'

export type QuoteRequest = {
  propertyId: string
  arrival: string
  departure: string
  rooms: RoomRequest[]
  promoCode?: string | null | undefined
  audience: Audience
  locale?: string | undefined
}

export type PricedStay = { sale: Sale; rooms: SaleRoom[]; priced: QuotedRoom[] }

/** Nights that lack units for all rooms together; counters are read, not taken. */
const refuseSoldOut = async (trx: Trx, sale: Sale, rooms: SaleRoom[], priced: QuotedRoom[]) => {
  const { arrival, departure } = sale.stay
  const wanted = new Map<string, Map<string, number>>()
  const want = (poolId: string, nights: readonly string[], quantity: number) => {
    const ofPool = wanted.get(poolId) ?? new Map<string, number>()
    for (const night of nights) ofPool.set(night, (ofPool.get(night) ?? 0) + quantity)
    wanted.set(poolId, ofPool)
  }
  for (const { type } of rooms)
    for (const { poolId, quantity } of type.pools) want(poolId, daysIn(arrival, departure), quantity)
  for (const extra of priced.flatMap((room) => room.extras)) {
    const poolId = sale.catalogue.extras.find((known) => known.id === extra.extraId)?.poolId
    if (poolId) want(poolId, daysIn(extra.from, addDays(extra.until, 1)), extra.quantity)
  }
  const counters = await readNights(trx, [...wanted.keys()], arrival, departure)
  const short = new Set<string>()
  const beyond = new Set<string>()
  for (const [poolId, nights] of wanted)
    for (const [night, quantity] of nights) {
      const row = counters.get(poolId)?.get(night)
      if (!row) beyond.add(night)
      else if (row.capacity + row.oversell - usage(row) < quantity) short.add(night)
    }
  const named = (nights: Set<string>, message: string) =>
    [...nights].sort().map((night) => ({ field: `nights.${night}`, message }))
  if (beyond.size > 0)
    throw unprocessable('beyond_horizon', 'These nights cannot be booked yet', named(beyond, 'has no counters'))
  if (short.size > 0) throw conflict('sold_out', 'Not enough is left on every night', named(short, 'is sold out'))
}

/** Prices a stay and checks all that a sale checks; takes nothing and stores nothing. */
export const priceStay = async (trx: Trx, request: QuoteRequest): Promise<PricedStay> => {
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length })
  if (!isSelling(sale.property, request.audience)) throw notSelling()
  const rooms = resolveRooms(sale, request.rooms)
  const range = {
    catalogue: sale.catalogue,
    plans: [...new Set(rooms.map((room) => room.plan))],
    unitTypeIds: [...new Set(rooms.map((room) => room.type.id))],
    from: request.arrival,
    until: request.departure,
  }
  refuseRestricted(sale, await readRestrictions(trx, request.propertyId, range), rooms)
  const pricing = {
    property: sale.property,
    catalogue: sale.catalogue,
    priceOf: await readPrices(trx, range),
    taxRules: localTaxRules(sale.catalogue, sale.property, sale.locale),
    locale: sale.locale,
    now: sale.now,
  }
  const priced = rooms.map((room, index) => {
    const result = priceRoom({ ...pricing, promo: promoFor(sale, room.plan.id, room.type.id) }, room, sale.stay)
    if (!result)
      throw unprocessable('restriction_violated', 'The stay is not possible at this rate', [
        { field: `rooms.${index}`, message: 'price_missing: a night has no price' },
      ])
    return result
  })
  await refuseSoldOut(trx, sale, rooms, priced)
  return { sale, rooms, priced }
}

/** Claims of a quote's token. */
export const claimsOf = (trx: Trx, { sale, priced }: PricedStay): QuoteClaims => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a quote belongs to a tenant')
  const total = sum(priced.map((room) => room.total))
  // A quoted total must be one that a hold takes.
  if (!Number.isSafeInteger(total))
    throw unprocessable('total_too_large', 'The total is more than can be booked at once')
  return {
    jti: randomUUID(),
    tenantId,
    propertyId: sale.property.id,
    ...sale.stay,
    currency: sale.property.currency,
    locale: sale.locale,
    promoCode: sale.promo?.code ?? null,
    promoCodeId: sale.promo?.id ?? null,
    rooms: priced.map(claimedRoom),
    total,
    dueNow: sum(priced.map((room) => dueNow(room.deposits))),
  }
}

export type PoliciesShown = {
  cancellation: { text: string; tiers: { until: Date | null; fee: number }[] }
  deposit: { text: string }
  noShow: { text: string; fee: number }
}

const baseOf = (room: QuotedRoom) => ({
  nights: room.nights.map((night) => night.amount),
  roomTotal: room.roomTotal,
  total: room.total,
})

/** Policies of all rooms as a guest reads them: fees added up, a text for each plan. */
export const policiesShown = ({
  sale,
  rooms,
  priced,
}: Pick<PricedStay, 'sale' | 'priced'> & { rooms: readonly Pick<SaleRoom, 'plan'>[] }): PoliciesShown => {
  const wording = { locale: sale.locale, currency: sale.property.currency }
  const texts = (textOf: (room: Pick<SaleRoom, 'plan'>) => string) => [...new Set(rooms.map(textOf))].join('\n')
  const bases = priced.map(baseOf)
  const perRoom = rooms.map(({ plan }, index) => feeTiers(plan.cancellation.rules, bases[index]!, sale))
  return {
    cancellation: {
      text: texts(({ plan }) => cancellationText(plan.cancellation.rules, wording)),
      tiers: perRoom.length === 1 ? perRoom[0]! : addTiers(perRoom),
    },
    deposit: { text: texts(({ plan }) => depositText(plan.deposit?.rules ?? null, wording)) },
    noShow: {
      text: texts(({ plan }) => noShowText(plan.noShow.rules, wording)),
      fee: sum(rooms.map(({ plan }, index) => feeAmount(plan.noShow.rules.fee, bases[index]!))),
    },
  }
}

/** Fees of several rooms, each until the first of their instants. */
const addTiers = (perRoom: readonly ReturnType<typeof feeTiers>[]) => {
  const ends = [...new Set(perRoom.flat().map((tier) => tier.until?.getTime() ?? Infinity))].sort((a, b) => a - b)
  return ends.map((end) => ({
    until: end === Infinity ? null : new Date(end),
    fee: sum(
      perRoom.map((tiers) => tiers.find((tier) => tier.until === null || tier.until.getTime() >= end)?.fee ?? 0),
    ),
  }))
}

/** The schedule of payments: at booking (until `expiresAt`), then the installments, and the rest on arrival. */
export const scheduleOf = ({ sale, priced }: PricedStay, expiresAt: Date): { dueAt: Date; amount: number }[] => {
  const amounts = new Map<number, number>()
  const add = (at: Date, amount: number) => amounts.set(at.getTime(), (amounts.get(at.getTime()) ?? 0) + amount)
  for (const room of priced) {
    for (const line of room.deposits) add(line.dueAt === null ? expiresAt : new Date(line.dueAt), line.amount)
    add(sale.arrivalAt, room.total - sum(room.deposits.map((line) => line.amount)))
  }
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .sort(([a], [b]) => a - b)
    .map(([at, amount]) => ({ dueAt: new Date(at), amount }))
}
