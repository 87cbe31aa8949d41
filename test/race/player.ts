import { existsSync } from 'node:fs'
import { registry } from '../../config/metrics.ts'
import { ApiError } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { closeDatabase, database, inTenant, openDatabase } from '../../db/lib/connection.ts'
import { randomOf } from '../chaos/random.ts'
import type { House } from '../support/factories.ts'
import { until as waitUntil } from '../support/until.ts'
import { actsOn, weights } from './acts.ts'
import type { Act, Ground } from './acts.ts'
import { recordLocks } from './locks.ts'
import type { Said } from './campaign.ts'
import { registerModules } from '../../db/register.ts'

/** A process of the campaign: several hands do what comes to them, until its time is over. */
type Orders = {
  seed: number
  name: string
  seconds: number
  hands: number
  /** A file that appears when all are ready. */
  begin: string
  ground: Ground
}

/** Statuses of answers to an act that comes too late, or that a rule of the house refuses. Errors of the database have none of these. */
const refusals = new Set([409, 422, 429])
const say = (said: Said) => process.stdout.write(`${JSON.stringify(said)}\n`)
const { seed, name, seconds, hands, begin, ground: given } = JSON.parse(process.env.RACE_ORDERS ?? '') as Orders
const house: House = {
  ...given.house,
  day: (days) => addDays(given.house.today, days),
  inHouse: (work) => inTenant(given.house.tenantId, work),
}
const done = new Map<string, number>()
const refused = new Map<string, number>()
const count = (of: Map<string, number>, what: string) => of.set(what, (of.get(what) ?? 0) + 1)

registerModules()
await openDatabase()
const seen = recordLocks(database(), ({ late, after }) =>
  say({ kind: 'order', what: `${late.of} after ${after.of}`, detail: `${after.statement} THEN ${late.statement}` }),
)
const play = async (hand: number) => {
  const random = randomOf(seed, `${name}-${hand}`)
  const acts = actsOn({ ...given, house }, random)
  while (Date.now() < end) {
    const act: Act = random.weighted(weights)
    try {
      if (await acts[act]()) count(done, act)
    } catch (error) {
      if (error instanceof ApiError && refusals.has(error.status)) count(refused, `${act} ${error.code}`)
      else {
        const what = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
        say({ kind: 'unexpected', what: act, detail: what.slice(0, 2_000) })
      }
    }
  }
}
say({ kind: 'begun' })
await waitUntil(() => existsSync(begin), { withinMs: 120_000, what: 'the beginning' })
const end = Date.now() + seconds * 1_000
await Promise.all(Array.from({ length: hands }, (_, hand) => play(hand)))
const walls = (await registry.getSingleMetric('inventory_last_wall_total')?.get())?.values[0]?.value ?? 0
const [did, was] = [Object.fromEntries(done), Object.fromEntries(refused)]
say({ kind: 'ended', done: did, refused: was, transactions: seen.transactions, walls })
await closeDatabase()
