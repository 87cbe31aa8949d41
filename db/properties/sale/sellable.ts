import { textIn } from '../../../config/local-text.ts'
import type {
  CancellationRules,
  DepositRules,
  NoShowRules,
  PolicySnapshot,
  PolicySnapshots,
} from '../../../config/policy-rules.ts'
import type { QuotedRoom } from '../../../config/quote.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { stayMoves } from '../../units/index.ts'
import type { PoolShare, Move } from '../../units/index.ts'
import { readRestrictions } from './calendar.ts'
import type { SalePlan, SaleProperty } from './catalogue.ts'
import { addDays } from '../../../config/time.ts'
import { cancellationText, depositText, noShowText } from '../rules/policy-text.ts'
import { isSelling, notSelling, openSale, refuseRestricted, resolveRooms } from './sale-request.ts'
import type { Audience } from './sale-request.ts'

export type SellableRoom = {
  unitType: { id: string; name: string; pools: PoolShare[] }
  ratePlan: { id: string; name: string; marketSegment: string }
  policies: PolicySnapshots
}

/** Facts of the property and of each room for a hold or reservation, in the order of the request. */
export type Sellable = {
  property: SaleProperty
  arrivalAt: Date
  locale: string
  rooms: SellableRoom[]
  /** Moves of all rooms with their limited extras, such as `moves({ held: 1 })`. */
  moves: (deltas: { sold?: number; held?: number }) => Move[]
}

export type QuotedStay = {
  propertyId: string
  arrival: string
  departure: string
  rooms: Pick<QuotedRoom, 'unitTypeId' | 'ratePlanId' | 'adults' | 'childrenAges' | 'extras' | 'policies'>[]
  audience: Audience
  /** As `propertyFor` has answered it to the audience in this transaction. */
  property?: SaleProperty | undefined
  locale?: string | undefined
  /** Staff with the permission may leave restrictions aside. */
  waiveRestrictions?: boolean
  /** The code that the price was made with. */
  promoCode?: string | null
}

/**
 * The evaluator's part that a price does not freeze: the property sells, plan and type are still sold, the party fits, no
 * restriction speaks against it. Counters are left to `moveInventory`. Policies are those of the named versions.
 */
export const checkSellable = async (trx: Trx, request: QuotedStay): Promise<Sellable> => {
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length, promoCode: request.promoCode })
  if (!isSelling(sale.property, request.audience)) throw notSelling()
  const { arrival, departure } = request
  const rooms = resolveRooms(
    sale,
    request.rooms.map((room) => ({
      ...room,
      extras: room.extras.map(({ extraId, quantity }) => ({ extraId, quantity })),
    })),
  )
  const plans = [...new Set(rooms.map((room) => room.plan))]
  if (!request.waiveRestrictions) {
    const unitTypeIds = [...new Set(rooms.map((room) => room.type.id))]
    const range = { catalogue: sale.catalogue, plans, unitTypeIds, from: arrival, until: departure }
    refuseRestricted(sale, await readRestrictions(trx, request.propertyId, range), rooms)
  }
  const versions = await versionsOf(trx, plans, request.rooms)
  const wording = { locale: sale.locale, currency: sale.property.currency }
  const { locales } = sale.property
  return {
    property: sale.property,
    arrivalAt: sale.arrivalAt,
    locale: sale.locale,
    rooms: rooms.map(({ type, plan }, index) => ({
      unitType: { id: type.id, name: textIn(type.name, sale.locale, ...locales), pools: type.pools },
      ratePlan: { id: plan.id, name: textIn(plan.name, sale.locale, ...locales), marketSegment: plan.marketSegment },
      policies: snapshots(request.rooms[index]!.policies, versions, wording),
    })),
    moves: (deltas) => [
      ...rooms.flatMap(({ type }) => stayMoves(type.pools, request, deltas)),
      ...request.rooms.flatMap((room) =>
        room.extras.flatMap((extra) =>
          extraMoves(extra, sale.catalogue.extras.find((known) => known.id === extra.extraId)?.poolId ?? null, deltas),
        ),
      ),
    ],
  }
}

/** Moves of one extra with a daily limit, on each day of service. */
export const extraMoves = (
  extra: { from: string; until: string; quantity: number },
  poolId: string | null,
  deltas: { sold?: number; held?: number },
): Move[] =>
  poolId === null
    ? []
    : stayMoves(
        [{ poolId, quantity: extra.quantity }],
        { arrival: extra.from, departure: addDays(extra.until, 1) },
        deltas,
      )

type Version = { rules: unknown; hash: string }

/** Current versions come from the catalogue; older ones, quoted before a change, are read. */
export const versionsOf = async (
  trx: Trx,
  plans: SalePlan[],
  rooms: Pick<QuotedRoom, 'policies'>[],
): Promise<Map<string, Version>> => {
  const known = plans.flatMap((plan) => [plan.cancellation, plan.noShow, ...(plan.deposit ? [plan.deposit] : [])])
  const versions = new Map<string, Version>(known.map(({ versionId, rules, hash }) => [versionId, { rules, hash }]))
  const older = rooms
    .flatMap(({ policies }) => [policies.cancellation, policies.noShow, policies.deposit])
    .filter((id) => id !== null && !versions.has(id))
  if (older.length > 0)
    for (const row of await sql<Version & { id: string }>(
      trx,
      `select id, rules, hash from policy_version where id = any(?::uuid[])`,
      [older],
    ))
      versions.set(row.id, { rules: row.rules, hash: row.hash })
  return versions
}

/** Copies of policies as a stay keeps them. */
export const snapshots = (
  ids: QuotedRoom['policies'],
  versions: Map<string, Version>,
  wording: { locale: string; currency: string },
): PolicySnapshots => {
  const snapshot = <Rules>(versionId: string, text: (rules: Rules) => string): PolicySnapshot<Rules> => {
    const version = versions.get(versionId)
    if (!version) throw new Error(`policy version ${versionId} is gone`)
    // The rules were judged by the schema of their kind when the version was written, and do not change.
    const rules = version.rules as Rules
    return { versionId, rules, text: text(rules), hash: version.hash }
  }
  return {
    cancellation: snapshot<CancellationRules>(ids.cancellation, (rules) => cancellationText(rules, wording)),
    noShow: snapshot<NoShowRules>(ids.noShow, (rules) => noShowText(rules, wording)),
    deposit: ids.deposit === null ? null : snapshot<DepositRules>(ids.deposit, (rules) => depositText(rules, wording)),
  }
}
