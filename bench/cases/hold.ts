import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { openRedis, closeRedis } from '../../api/lib/redis.ts'
import { signToken } from '../../config/tokens.ts'
import { listen, makeServer } from '../../api/server.ts'
import { clientOf } from '../../test/support/client.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import { quotedClaims } from '../../test/support/stay.ts'
import { roundTrips } from '../../test/support/trips.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import type { Statement } from '../capture.ts'
import { load } from '../load.ts'
import type { Load, Shot } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { replay } from '../replay.ts'
import { judge } from '../report.ts'
import { sized } from '../size.ts'

const types = 50
const nights = 2
const rounds = sized(3, 1)
const holds = sized(400, 60)
const inFlight = 8

/** Statements that any system needs for a hold: the counters under their lock, the booking with its rooms, and news for others. */
const needed =
  /^begin|^commit|for update of n|update pool_night|insert into (booking|reservation|reservation_night|deposit|reservation_event|event|jobs)\b/i

type Place = { unitTypeId: string; poolId: string }

/** The other types of a hotel, each with a pool of its own and sold by the same plans at the same price. */
const addTypes = (house: House) =>
  house.inHouse(async (trx: Trx) => {
    const places: Place[] = [{ unitTypeId: house.unitTypeId, poolId: house.poolId }]
    for (let index = 1; index < types; index += 1) {
      const { id, pools } = await createUnitType(trx, {
        propertyId: house.propertyId,
        code: `T${index}`,
        name: { 'pt-BR': `Tipo ${index}`, en: `Type ${index}` },
        kind: 'private',
        baseOccupancy: 2,
        maxAdults: 3,
        maxChildren: 2,
        maxOccupancy: 4,
      })
      places.push({ unitTypeId: id, poolId: pools[0]?.poolId ?? '' })
    }
    await sql(
      trx,
      `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount, adults, extra_adult_amount, children)
       select e.rate_plan_id, t.id, e.standard_amount, e.adults, e.extra_adult_amount, e.children
       from rate_plan_unit_type e join unit_type t on t.tenant_id = e.tenant_id and t.id <> e.unit_type_id where e.unit_type_id = ?`,
      [house.unitTypeId],
    )
    return places
  })

export const bench: Bench = async ({ admin }) => {
  const house = await makeHouse({ units: 1, taxes: true, settings: { portal: { holdShare: 10_000 } } })
  const places = await addTypes(house)
  // Room for every hold of the bench in the same nights: what is measured is the way there, not a full house.
  await sql(admin, `update pool_night set capacity = 30000`)
  const claims = await quotedClaims(house, { from: 30, nights })
  const claimsFor = ({ unitTypeId }: Place): QuoteClaims => ({
    ...claims,
    jti: randomUUID(),
    rooms: claims.rooms.map((room) => ({ ...room, unitTypeId })),
  })
  let strangers = 0
  const holdOf = async (place: Place): Promise<Shot> => {
    strangers += 1
    const index = strangers
    return {
      path: '/api/public/reservations/hold',
      method: 'POST',
      headers: {
        'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
        'idempotency-key': randomUUID(),
      },
      body: {
        quote: await signToken('quote', claimsFor(place), 3_600),
        booker: { firstName: 'Ana', lastName: 'Souza', email: `g${index}@example.com`, phone: '+5524999990000' },
        acceptedTerms: house.termsVersion,
      },
    }
  }

  settings.trustedProxies = ['127.0.0.1']
  openRedis(settings.redisUrl)
  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const once = async (): Promise<Statement[]> => {
    const { path, headers = {}, body } = await holdOf(places[0]!)
    return capture(async () => {
      const reply = await here('POST', path, { headers, body })
      if (reply.status !== 201) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`)
    })
  }
  for (let warm = 0; warm < 3; warm += 1) await once()
  const [one, other] = [await once(), await once()]
  const trips = await roundTrips(once)
  const bare = (statements: Statement[]) => statements.filter(({ text }) => needed.test(text.trim()))
  server.closeAllConnections()
  server.close()
  closeRedis()
  const before = await sqlOne<{ count: number }>(admin, `select count(*)::int as count from booking`)

  const api = await startApi({ TRUSTED_PROXIES: '127.0.0.1' })
  const held: Record<'hot' | 'spread', { ours: Load[]; theirs: Load[] }> = {
    hot: { ours: [], theirs: [] },
    spread: { ours: [], theirs: [] },
  }
  const placeOf = { hot: () => places[0]!, spread: (index: number) => places[index % types]! }
  const run = async (kind: 'hot' | 'spread', count: number) => {
    const shots: Shot[] = []
    for (let index = 0; index < count; index += 1) shots.push(await holdOf(placeOf[kind](index)))
    return load(api.baseUrl, (index) => shots[index] ?? { path: '/' }, {
      seconds: 600,
      inFlight,
      expected: 201,
      most: count,
    })
  }
  await run('spread', types)
  let made = types
  const reference = { url: settings.databaseUrl, seconds: 600, inFlight, most: holds }
  // The reference writes counters as they were when they were captured; what holds of ours have taken is looked at before it runs.
  for (let round = 0; round < rounds; round += 1)
    for (const kind of ['hot', 'spread'] as const) {
      held[kind].ours.push(await run(kind, holds))
      made += holds
    }
  const counted = await sqlOne<{ bookings: number; held: number }>(
    admin,
    `select (select count(*)::int from booking) as bookings, (select sum(held)::int from pool_night) as held`,
  )
  await api.stop()
  let turn = 0
  const instead = (): [string, string][] => {
    turn += 1
    const place = places[turn % types]!
    return [
      [places[0]!.poolId, place.poolId],
      [places[0]!.unitTypeId, place.unitTypeId],
    ]
  }
  for (let round = 0; round < rounds; round += 1) {
    held.hot.theirs.push(await replay(bare(one), bare(other), reference))
    held.spread.theirs.push(await replay(bare(one), bare(other), { ...reference, instead }))
  }
  const mean = (loads: Load[], of: keyof Load) => loads.reduce((all, load_) => all + load_[of], 0) / loads.length
  const rows = (name: string, { ours, theirs }: { ours: Load[]; theirs: Load[] }) => [
    judge(
      { name, unit: 'holds/s', ours: mean(ours, 'perSecond'), reference: mean(theirs, 'perSecond') },
      { least: 0.5 },
    ),
    judge({ name: `${name}, p95`, unit: 'ms', ours: mean(ours, 'p95Ms'), reference: mean(theirs, 'p95Ms') }, null),
  ]
  const asked = made + (before?.count ?? 0)
  return {
    results: [
      ...rows('hold of one type', held.hot),
      ...rows('hold spread over 50', held.spread),
      judge(
        { name: 'holds refused or lost', unit: 'holds', ours: asked - (counted?.bookings ?? 0), reference: null },
        { most: 0 },
      ),
      judge(
        {
          name: 'nights that the counters miss',
          unit: 'nights',
          ours: Math.abs(asked * nights - (counted?.held ?? 0)),
          reference: null,
        },
        { most: 0 },
      ),
    ],
    notes: [
      `Ours: POST hold over HTTP, compiled, one process, ${inFlight} in flight, each by a stranger with an address and a quote of his own; ${one.length} statements in ${trips} round trips.`,
      `Reference: pg alone repeats the ${bare(one).length} statements of the same transaction that lock and write, one after the other as pg sends them, ${inFlight} transactions at a time: nothing is read, checked or answered.`,
      `A stay of ${nights} nights; ${rounds} rounds of ${holds} holds. A single refusal ends the run.`,
    ],
  }
}
