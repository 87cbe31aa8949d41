import { setTimeout as wait } from 'node:timers/promises'
import type { ChannelRange } from '../../config/channels.ts'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import type { Asked } from '../../test/support/channel-simulator/store.ts'
import { writeRestrictions } from '../../test/support/restrictions.ts'
import { makeHold } from '../../test/support/stay.ts'
import { roomsOfShop, toldSince } from './shops.ts'
import type { Shop } from './shops.ts'

/** The urgency of a change: one that closes sales is told at once, another may wait. */
type Urgency = 'closes' | 'waits'

type Kind = {
  urgency: Urgency
  make: (shop: Shop, day: number, amount: number) => Promise<unknown>
  /** The range that shows the change to the channel: its unit type, its rate plan, and a test of its values. */
  unitType: string
  ratePlan?: string
  says: (range: ChannelRange, amount: number) => boolean
}

const kinds: Record<string, Kind> = {
  price: {
    urgency: 'waits',
    make: ({ house: { inHouse, propertyId, ratePlanId, unitTypeId, day } }, night, amount) =>
      inHouse((trx) => writePrices(trx, propertyId, [{ ratePlanId, unitTypeId, date: day(night), amount }])),
    unitType: 'DBL',
    ratePlan: 'BAR',
    says: ({ amounts }, amount) => amounts?.['2'] === amount,
  },
  sale: {
    urgency: 'waits',
    make: ({ house }, night) => makeHold(house, { from: night, nights: 1 }),
    unitType: 'DBL',
    says: ({ available }) => available === roomsOfShop - 1,
  },
  block: {
    urgency: 'waits',
    make: ({ house: { inHouse, propertyId, unitIds, day } }, night) =>
      inHouse((trx) =>
        createBlock(trx, {
          propertyId,
          unitIds: unitIds.slice(-1),
          kind: 'out_of_order',
          reason: 'maintenance',
          from: day(night),
          to: day(night + 1),
        }),
      ),
    unitType: 'DBL',
    says: ({ available }) => available === roomsOfShop - 1,
  },
  'last room': {
    urgency: 'closes',
    make: ({ house }, night) =>
      makeHold(house, { from: night, nights: 1, unitTypeId: house.suiteTypeId ?? house.unitTypeId }),
    unitType: 'STE',
    says: ({ available }) => available === 0,
  },
  'stop-sell': {
    urgency: 'closes',
    make: ({ house: { inHouse, propertyId, suiteTypeId, day } }, night) =>
      inHouse((trx) =>
        writeRestrictions(trx, propertyId, [{ unitTypeId: suiteTypeId, date: day(night), stopSell: true }]),
      ),
    unitType: 'STE',
    ratePlan: 'BAR',
    says: ({ restrictions }) => restrictions?.stopSell === true,
  },
}

const names = (urgency: Urgency) => Object.keys(kinds).filter((name) => kinds[name]?.urgency === urgency)

export type Change = { shop: Shop; kind: Kind; date: string; amount: number; committedAt: number }

const firstNight = 3
const atOnce = 6

/** Changes by the shops in turn at a steady rate, each of a night of its own. Every other shop makes those that close sales, and no other: they would take the rest along. */
export const changeSteadily = async (
  shops: readonly Shop[],
  { perSecond, seconds, from = 0 }: { perSecond: number; seconds: number; from?: number },
): Promise<Change[]> => {
  const changes: Change[] = []
  const under = new Set<Promise<void>>()
  const started = performance.now()
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await wait(Math.max(0, started + (index * 1_000) / perSecond - performance.now()))
    const number = index % shops.length
    const round = from + Math.floor(index / shops.length)
    const ofTurn = names(number % 2 === 0 ? 'waits' : 'closes')
    const kind = kinds[ofTurn[round % ofTurn.length] ?? '']
    const shop = shops[number]
    if (!shop || !kind) throw new Error('nothing to change')
    const [night, amount] = [firstNight + round, 30_000 + from + index]
    const make = async () => {
      await kind.make(shop, night, amount)
      changes.push({ shop, kind, date: shop.house.day(night), amount, committedAt: Date.now() })
    }
    const made = make().finally(() => under.delete(made))
    under.add(made)
    // On a machine that does not keep pace there are fewer, not more at once.
    if (under.size >= atOnce) await Promise.race(under)
  }
  await Promise.all(under)
  return changes
}

const isOf = ({ kind, date, amount }: Change) => {
  const ratePlan = kind.ratePlan ?? undefined
  return (range: ChannelRange) =>
    range.unitType === kind.unitType &&
    range.ratePlan === ratePlan &&
    range.from <= date &&
    date <= range.to &&
    kind.says(range, amount)
}

export type Heard = {
  /** Milliseconds from the commit of each change to the channel's having it, by its urgency. */
  lags: Record<Urgency, number[]>
  /** For each push that brought something, those of the oldest change in it. */
  oldest: number[]
  pushes: Asked[]
}

/** The moment at which each change had come to each of its channels, by what they were told since an instant. Throws where one never has. */
export const hear = async (shops: readonly Shop[], changes: readonly Change[], since: number): Promise<Heard> => {
  const told = await toldSince(shops, since)
  const heard: Heard = { lags: { closes: [], waits: [] }, oldest: [], pushes: [...told.values()].flat() }
  const oldest = new Map<Asked, number>()
  for (const change of changes)
    for (const { name } of change.shop.accounts) {
      const push = told.get(name)?.find((one) => one.ranges.some(isOf(change)))
      if (!push) throw new Error(`${name} never heard of ${change.kind.unitType} on ${change.date}`)
      const lag = Math.max(0, push.at - change.committedAt)
      heard.lags[change.kind.urgency].push(lag)
      oldest.set(push, Math.max(oldest.get(push) ?? 0, lag))
    }
  heard.oldest = [...oldest.values()]
  return heard
}
