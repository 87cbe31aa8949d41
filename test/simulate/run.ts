import { settings } from '../../config/env.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { randomOf } from '../chaos/random.ts'
import type { Random } from '../chaos/random.ts'
import type { Violation } from '../race/checker.ts'
import { openTenant } from '../stories/inn.ts'
import { startMailPeer } from '../support/mail-peer.ts'
import { openWorld } from '../support/world.ts'
import type { World } from '../support/world.ts'
import {
  billCompany,
  buyFlowers,
  closeDrawer,
  collect,
  keepHouse,
  keepStock,
  openDrawer,
  payBills,
  settleDisputes,
} from './books.ts'
import { judgeGroup } from './checks.ts'
import { handOf, newTally } from './hand.ts'
import type { Tally } from './hand.ts'
import { openGroup, openHouse } from './house.ts'
import type { SimulatedHouse } from './house.ts'
import { openMeasure } from './measure.ts'
import type { Mark } from './measure.ts'
import { beginAudit, endAudit } from './night.ts'
import type { Audit } from './night.ts'
import { bidFarewell, bookSome, changeSome, serve, settleBills, welcome } from './stays.ts'
import { watchedDays } from './windows.ts'

export type Outcome = { tally: Tally; marks: Mark[]; violations: Violation[]; postgres: string }

/** So many houses live at the same time, and so many jobs run. */
const atOnce = 6

/** Does something for each, so many of them at the same time. */
const forEach = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const waiting = all.values()
  const some = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, some))
}

/** The morning of a house: guests pay what they owe. */
const rise = async (day: HouseDay): Promise<void> => {
  day.drawer = await openDrawer(day.house)
  day.cash += await settleBills(day.house, day.random)
}

/** The day of a house, from those who leave to the count of the drawer. */
const liveDay = async (day: HouseDay): Promise<void> => {
  const { house, random } = day
  await bidFarewell(house)
  await keepHouse(house, random)
  await welcome(house, random)
  day.made = await bookSome(house, random)
  await changeSome(house, random)
  day.cash += await serve(house, random)
  await keepStock(house, random)
  await payBills(house, random)
  await billCompany(house, random)
  await collect(house, random)
  day.cash -= await buyFlowers(house, random)
  if (day.drawer) await closeDrawer(house, day.drawer, day.cash, random)
}

type HouseDay = { house: SimulatedHouse; random: Random; drawer: string | null; cash: number; made: number }

/** One day of all houses. The workers of all of them run in between, as they would. Answers how many bookings were made. */
const liveDays = async (world: World, houses: readonly SimulatedHouse[], randomFor: (index: number) => Random) => {
  const days = houses.map((house, index): HouseDay => ({
    house,
    random: randomFor(index),
    drawer: null,
    cash: 0,
    made: 0,
  }))
  const work = async () => {
    await forgetLimits(world)
    await world.drain({ starts: 2_000 * houses.length, atOnce })
  }
  await forgetLimits(world)
  await forEach(days, rise)
  await work()
  await forEach(days, liveDay)
  const [first] = days
  if (first) await settleDisputes(first.house, first.random)
  await work()
  const audits: Audit[] = []
  await forEach(houses, async (house) => void audits.push(await beginAudit(house)))
  await work()
  await forEach(audits, (audit) => endAudit(audit, work))
  return days.reduce((sum, { made }) => sum + made, 0)
}

type Options = { seed: number; properties: number; days: number }

/**
 * Lives so many days in so many properties of one group, and judges what is left.
 * @param tell hears of each day that has ended.
 */
export const simulate = async (
  { seed, properties, days }: Options,
  tell: (mark: Mark, tally: Tally) => void | Promise<void> = () => {},
): Promise<Outcome> => {
  settings.businessDayAhead = true
  // A loop looks for what is due within a quarter of such a second.
  settings.sandboxSecondMs = 200
  const { world, close } = await openWorld()
  const mail = await startMailPeer()
  const smtpBefore = settings.smtpUrl
  settings.smtpUrl = mail.url
  const measure = openMeasure(world)
  try {
    settings.publicBaseUrl = world.baseUrl
    const tally = newTally()
    const tenant = await openTenant(world)
    const group = await openGroup(tenant, handOf(tally))
    const houses: SimulatedHouse[] = []
    await forEach(Array.from({ length: properties }), async () => void houses.push(await openHouse(group)))
    const began = performance.now()
    const watched = watchedDays(days)
    const marks: Mark[] = [{ day: 0, bookings: 0, requests: 0, ms: 0, ...(await measure.mark(false)) }]
    let bookings = 0
    for (let day = 1; day <= days; day += 1) {
      bookings += await liveDays(world, houses, (index) => randomOf(seed, `house ${index} day ${day}`))
      const ms = performance.now() - began
      const requests = Object.values(tally.done).reduce((sum, count) => sum + count, 0)
      const mark = { day, bookings, requests, ms, ...(await measure.mark(watched.has(day))) }
      marks.push(mark)
      await measure.keepUp()
      await tell(mark, tally)
    }
    await world.drain({ starts: 50_000 * properties, aheadMs: 120_000, atOnce })
    await forgetLimits(world)
    const server = await sqlOne<{ version: string }>(
      world.database.admin,
      `select current_setting('server_version') as version`,
    )
    return { tally, marks, violations: await judgeGroup(group, houses), postgres: server?.version ?? '' }
  } finally {
    await measure.close()
    settings.smtpUrl = smtpBefore
    await mail.stop()
    await close()
  }
}
