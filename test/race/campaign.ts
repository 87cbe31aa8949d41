import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { stopGuarded } from '../../scripts/services/guard.ts'
import { built } from '../support/built.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { guardProgram } from '../support/processes.ts'
import { makePair } from '../units/support.ts'
import { look } from './checker.ts'
import type { Violation } from './checker.ts'
import type { Ground } from './acts.ts'
import { furnishStock } from './stock-ground.ts'

/** Messages of a player, one a line. */
export type Said =
  | { kind: 'begun' }
  | { kind: 'order' | 'unexpected'; what: string; detail: string }
  | {
      kind: 'ended'
      done: Record<string, number>
      refused: Record<string, number>
      /** Those that have locked something. */
      transactions: number
      /** Times that only the check of the table has refused a move. */
      walls: number
    }

export type Options = { seed: number; seconds: number; processes: number; hands?: number }
export type Report = {
  done: Record<string, number>
  refused: Record<string, number>
  transactions: number
  looks: number
  violations: Violation[]
}

/**
 * A house with three pools of units, one of which two types share, one by two units at once, an extra with a daily limit, a channel that sells it all, and a
 * bar with its store.
 */
export const furnish = async (): Promise<Ground> => {
  const house = await makeHouse({ units: 6, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  const { propertyId, ratePlanId } = house
  const pair = await makePair(house)
  const stock = await furnishStock(house)
  return house.inHouse(async (trx) => {
    await createUnits(trx, { propertyId, unitTypeId: house.suiteTypeId ?? '', names: ['202', '203'] })
    const cabin = await createUnitType(trx, {
      propertyId,
      code: 'CABIN',
      name: { 'pt-BR': 'Cabana', en: 'Cabin' },
      kind: 'entire',
      baseOccupancy: 2,
      maxAdults: 4,
      maxChildren: 0,
      maxOccupancy: 4,
    })
    await createUnits(trx, { propertyId, unitTypeId: cabin.id, names: ['C1', 'C2'] })
    const plan = await sqlOne<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [ratePlanId],
    )
    if (!plan) throw new Error('the house has a plan')
    const cabinPlanId = await createRatePlan(trx, {
      propertyId,
      code: 'CABIN',
      name: { 'pt-BR': 'Cabana', en: 'Cabin' },
      ...plan,
      unitTypes: [{ unitTypeId: cabin.id, standardAmount: 40_000 }],
    })
    await createExtra(trx, {
      propertyId,
      code: 'BOAT',
      name: { 'pt-BR': 'Barco', en: 'Boat' },
      category: 'activity',
      revenueGroup: 'tours',
      amount: 1_000,
      basis: 'per_stay',
      mandatory: true,
      dailyLimit: 9,
    })
    const connectionId = randomUUID()
    await sql(
      trx,
      `insert into channel_connection (id, property_id, name, driver, status, endpoint_url, external_property_id)
       values (?, ?, 'Race', 'simulator', 'active', 'https://simulator.channels.test/', 'race')`,
      [connectionId, propertyId],
    )
    return {
      house,
      stock,
      connectionId,
      sold: [
        { unitTypeId: house.unitTypeId, ratePlanId },
        { unitTypeId: house.suiteTypeId ?? '', ratePlanId },
        { unitTypeId: cabin.id, ratePlanId: cabinPlanId },
        pair,
      ],
      homes: [house.unitTypeId, house.suiteTypeId ?? '', cabin.id],
      poolIds: [house.poolId, house.suitePoolId ?? '', cabin.pools[0]?.poolId ?? ''],
    }
  })
}

const add = (to: Record<string, number>, more: Record<string, number>) => {
  for (const [name, count] of Object.entries(more)) to[name] = (to[name] ?? 0) + count
}

/** Says each rule once, with how often it was broken. */
const summed = (violations: readonly Violation[]): Violation[] =>
  [...new Set(violations.map((one) => one.rule))].map((rule) => {
    const of = violations.filter((one) => one.rule === rule)
    return {
      rule,
      count: of.reduce((sum, one) => sum + one.count, 0),
      examples: of.flatMap((one) => one.examples).slice(0, 5),
    }
  })

type Played = { begun: Promise<void>; ended: Promise<void> }

/** Starts a process, and takes down what it says. */
const start = (report: Report, player: string, orders: object): Played => {
  const guarded = guardProgram(player, {
    LOG_LEVEL: 'error',
    DATABASE_POOL: '12',
    RACE_ORDERS: JSON.stringify(orders),
  })
  const wrong = (rule: string, example: unknown) => report.violations.push({ rule, count: 1, examples: [example] })
  let isReady = () => {}
  const begun = new Promise<void>((resolve) => (isReady = resolve))
  let hasEnded = false
  const hear = (line: string) => {
    const said = line.startsWith('{') ? (JSON.parse(line) as Said | { kind?: undefined; msg?: string }) : { msg: line }
    switch (said.kind) {
      case 'begun':
        return isReady()
      case 'order':
        return wrong(`locks are taken in the one order: ${said.what}`, said.detail)
      case 'unexpected':
        return wrong(`nothing unexpected happens: ${said.what}`, said.detail)
      case 'ended':
        hasEnded = true
        add(report.done, said.done)
        add(report.refused, said.refused)
        report.transactions += said.transactions
        if (said.walls > 0) wrong('the last wall is never reached', said.walls)
        return
      default:
        return wrong('no process complains', line.slice(0, 2_000))
    }
  }
  const { stdout, stderr } = guarded.process
  const heard = [stdout, stderr].flatMap((stream) => {
    if (!stream) return []
    const reader = createInterface({ input: stream }).on('line', hear)
    return [once(reader, 'close')]
  })
  const ended = guarded.exited.then(async (code) => {
    await stopGuarded(guarded)
    // Its last words may come after it.
    await Promise.all(heard)
    if (!hasEnded) wrong('every process comes to its end', code)
    isReady()
  })
  return { begun, ended }
}

/** Lets processes fight for a furnished house, and looks at it each second; at the end no process may have locked another out. */
export const campaign = async (ground: Ground, { seed, seconds, processes, hands = 8 }: Options): Promise<Report> => {
  const report: Report = { done: {}, refused: {}, transactions: 0, looks: 0, violations: [] }
  const house: Omit<House, 'day' | 'inHouse'> = ground.house
  const folder = mkdtempSync(join(tmpdir(), 'pousada-race-'))
  const begin = join(folder, 'begin')
  const player = join(await built(), 'test/race/player.js')
  const players = Array.from({ length: processes }, (_, index) =>
    start(report, player, { seed, name: `player-${index}`, seconds, hands, begin, ground: { ...ground, house } }),
  )
  await Promise.all(players.map((one) => one.begun))
  writeFileSync(begin, '')
  const until = Date.now() + seconds * 1_000
  // Where the machine is slow a look takes as long as all of it: one is made while they fight, and one as they end.
  while (Date.now() < until || report.looks < 2) {
    await wait(1_000)
    report.violations.push(...(await look(ground.house)))
    report.looks += 1
  }
  await Promise.all(players.map((one) => one.ended))
  rmSync(folder, { recursive: true })
  report.violations.push(...(await look(ground.house)))
  const broken = await deadlocks()
  if (broken > 0) report.violations.push({ rule: 'no deadlock', count: broken, examples: [] })
  return { ...report, violations: summed(report.violations) }
}
