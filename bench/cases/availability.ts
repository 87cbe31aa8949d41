import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { searchOffers } from '../../db/properties/sale/search.ts'
import { openRedis, closeRedis } from '../../api/lib/redis.ts'
import { listen, makeServer } from '../../api/server.ts'
import { clientOf } from '../../test/support/client.ts'
import type { House } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import type { Statement } from '../capture.ts'
import {
  copiesOf,
  makeTemplate,
  multiplyHouse,
  perTenant,
  plansOfHouse,
  prepareCopies,
  typesOfHouse,
} from '../houses.ts'
import { median } from '../jobs/rows.ts'
import { load } from '../load.ts'
import type { Load } from '../load.ts'
import { startApi, startReference } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const few = 10
const many = sized(1_000, 40)
const reservations = sized(2_000, 200)
const rounds = sized(3, 1)
const seconds = sized(5, 3)
const searches = sized(400, 60)
const warming = sized(2, 1)
const inFlight = 8
const nights = 30
const keys = 60

type Stay = { propertyId: string; arrival: string; departure: string }

const read = /\bfrom (rate_cell|restriction_cell|pool_night)\b/

/** Reads that any system would send for the same stay: a row for each price, restriction and counter. Each row has the fields that a price needs. */
const plainReads = async (house: House, { propertyId, arrival, departure }: Stay): Promise<Statement[]> => {
  const ids = (table: string, more = '') =>
    inTenant(house.tenantId, async (trx) =>
      (await sql<{ id: string }>(trx, `select id from ${table} where property_id = ? ${more}`, [propertyId])).map(
        (row) => row.id,
      ),
    )
  const types = await ids('unit_type')
  const statement = (text: string, values: unknown[] = []): Statement => ({
    text,
    values,
    rows: [],
    transaction: 'one',
  })
  return [
    statement(`begin; set local app.tenant_id = '${house.tenantId}'`),
    statement(
      `select rate_plan_id, unit_type_id, date, amount from rate_cell
       where rate_plan_id = any($1) and unit_type_id = any($2) and date >= $3 and date < $4`,
      [await ids('rate_plan', 'and parent_id is null'), types, arrival, departure],
    ),
    statement(
      `select rate_plan_id, unit_type_id, date, stop_sell, closed_to_arrival, closed_to_departure, min_stay_arrival, max_stay_arrival,
         min_stay_through, max_stay_through, min_advance_days, max_advance_days
       from restriction_cell where property_id = $1 and date between $2 and $3`,
      [propertyId, arrival, departure],
    ),
    statement(
      `select pool_id, night, capacity + oversell - sold - held - allotted - blocked as free from pool_night
       where pool_id = any($1) and night >= $2 and night < $3`,
      [await ids('unit_pool'), arrival, departure],
    ),
    statement('commit'),
  ]
}

export const bench: Bench = async ({ admin }) => {
  const house = await makeTemplate()
  await prepareCopies(admin, house)
  await multiplyHouse(admin, house, { from: 1, until: few, reservations })

  const request = (propertyId: string, index: number) => ({
    propertyId,
    arrival: house.day(5 + (index % 60)),
    departure: house.day(5 + (index % 60) + nights),
    rooms: [{ adults: 2, childrenAges: [] }],
  })
  /** Milliseconds of one search in this process, over so many properties in turn. */
  const evaluatorMs = async (count: number) => {
    const places = await copiesOf(admin, house, count)
    const times: number[] = []
    for (let index = 0; index < searches + places.length; index += 1) {
      const { tenantId, propertyId } = places[(index * 7) % places.length]!
      const startedAt = performance.now()
      const { offers } = await inTenant(tenantId, (trx) =>
        searchOffers(trx, { ...request(propertyId, index), audience: 'staff' }),
      )
      if (offers.length !== typesOfHouse * plansOfHouse) throw new Error(`${offers.length} offers`)
      // Each was asked once before it counts: what it sells is kept by then, for as many as are kept.
      if (index >= places.length) times.push(performance.now() - startedAt)
    }
    return percentile(times, 0.5)
  }
  // The first rounds after a change of what is there find cold code and cold pages, and count for nothing.
  const small: number[] = []
  for (let round = 0; round < warming + rounds; round += 1) small.push(await evaluatorMs(few))
  await multiplyHouse(admin, house, { from: few, until: many, reservations })
  const same: number[] = []
  const large: number[] = []
  for (let round = 0; round < warming + rounds; round += 1) {
    same.push(await evaluatorMs(few))
    large.push(await evaluatorMs(many))
  }
  const warm = (times: number[]) => median(times.slice(warming))
  const [smallMs, sameMs, largeMs] = [warm(small), warm(same), warm(large)]

  const asked = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < keys; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const path = `/api/tenants/${house.tenantId}/availability/search`
  const places = await copiesOf(admin, house, perTenant)
  const shot = (index: number) => ({
    path,
    method: 'POST',
    headers: { 'x-api-key': asked[index % keys] ?? '' },
    body: request(places[index % perTenant]!.propertyId, index),
  })
  openRedis(settings.redisUrl)
  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const ask = () => here('POST', path, { key: asked[0] ?? '', body: shot(0).body })
  for (let warm = 0; warm < 3; warm += 1) await ask()
  const own = (await capture(ask)).filter(({ text }) => read.test(text))
  if (own.length !== 1) throw new Error('the calendar is not read by one statement')
  server.closeAllConnections()
  server.close()
  closeRedis()

  const api = await startApi()
  const [begin, ...reads] = await plainReads(house, request(house.propertyId, 0))
  const referenceOf = (statements: Statement[]) =>
    startReference('./statements.ts', { url: settings.databaseUrl, statements: [begin!, ...statements] })
  const reference = await referenceOf(reads)
  const compact = await referenceOf([...own, reads.at(-1)!])
  const ours: Load[] = []
  const theirs: Load[] = []
  const bare: Load[] = []
  const options = { inFlight, expected: 200 }
  await load(api.baseUrl, shot, { ...options, seconds: 2 })
  for (const { baseUrl } of [reference, compact]) await load(baseUrl, () => ({ path: '/' }), { ...options, seconds: 2 })
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await load(api.baseUrl, shot, { ...options, seconds }))
    theirs.push(await load(reference.baseUrl, () => ({ path: '/' }), { ...options, seconds }))
    bare.push(await load(compact.baseUrl, () => ({ path: '/' }), { ...options, seconds }))
  }
  await Promise.all([api.stop(), reference.stop(), compact.stop()])
  const mean = (loads: Load[], of: keyof Load) => loads.reduce((all, one) => all + one[of], 0) / loads.length
  const growth = (name: string, ms: number) =>
    judge({ name, unit: 'times', ours: ms / smallMs, reference: null }, { most: 1.2 })
  return {
    results: [
      judge(
        {
          name: `search of ${nights} nights, ${typesOfHouse} types, ${plansOfHouse} plans`,
          unit: 'searches/s',
          ours: mean(ours, 'perSecond'),
          reference: mean(theirs, 'perSecond'),
        },
        { least: 0.5 },
      ),
      judge(
        {
          name: 'the same beside our own reading of the calendar alone',
          unit: 'searches/s',
          ours: mean(ours, 'perSecond'),
          reference: mean(bare, 'perSecond'),
        },
        null,
      ),
      judge({ name: 'the same, p95', unit: 'ms', ours: mean(ours, 'p95Ms'), reference: mean(theirs, 'p95Ms') }, null),
      judge({ name: `one at a time, ${few} properties, p50`, unit: 'ms', ours: smallMs, reference: null }, null),
      growth(`growth to ${many} properties, the same ones asked`, sameMs),
      growth(`growth to ${many} properties, all asked in turn`, largeMs),
    ],
    notes: [
      `Ours: POST availability/search with an API key (${keys} in turn), compiled, one process, no reply kept; ${perTenant} properties and 60 days of arrival in turn. ${typesOfHouse * plansOfHouse} offers, each with ${nights} nights, their taxes and policies.`,
      `Reference: node:http and pg in one process, in a transaction of one tenant, three plain selects: a row for each price of a standard plan, each restriction and each counter of the stay, no column more than a price needs; nothing is computed of them. The second reference sends what the search itself sends in their place: one statement that answers each plan, type and pool as one list.`,
      `${many} properties of ${many / perTenant} tenants, ${(many - 1) * reservations + 1} reservations. Growth: the evaluator in one process, one search at a time, medians of rounds, warm on both sides; over the median with ${few} properties; what a property sells is kept for some 1,500 houses of this size.`,
    ],
  }
}
