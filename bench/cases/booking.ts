import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { signToken } from '../../config/tokens.ts'
import { listen, makeServer } from '../../api/server.ts'
import { clientOf } from '../../test/support/client.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { quotedClaims } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import { load } from '../load.ts'
import type { Load, Shot } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { replay } from '../replay.ts'
import { judge } from '../report.ts'

const rounds = 3
const seconds = 4
const inFlight = 8
const holds = 200

/** A stranger of each request: limits per address and per e-mail are real here too. */
const from = (index: number) => ({
  'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
})

export const bench: Bench = async ({ admin }) => {
  const house = await makeHouse({
    units: 50,
    suite: true,
    taxes: true,
    pricedNights: 120,
    settings: { portal: { holdShare: 10_000 } },
  })
  // Room for every hold of the bench in the same nights: what is measured is the way there, not a full house.
  await sql(admin, `update pool_night set capacity = 30000`)
  const claims = await quotedClaims(house, { from: 30, nights: 2 })
  const quote = () => signToken('quote', { ...claims, jti: randomUUID() }, 3_600)

  const search = (index: number): Shot => ({
    path: `/api/public/property/${house.propertyId}/availability?arrival=${house.day(30 + (index % 30))}&departure=${house.day(33 + (index % 30))}&adults=2`,
    headers: from(index),
  })
  const holdOf = async (index: number): Promise<Shot> => ({
    path: '/api/public/reservations/hold',
    method: 'POST',
    headers: { ...from(index), 'idempotency-key': randomUUID() },
    body: {
      quote: await quote(),
      booker: { firstName: 'Ana', lastName: 'Souza', email: `g${index}@example.com`, phone: '+5524999990000' },
      acceptedTerms: house.termsVersion,
    },
  })

  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const send = async ({ path, method = 'GET', headers = {}, body }: Shot, expected: number) => {
    const reply = await here(method, path, { headers, ...(body === undefined ? {} : { body }) })
    if (reply.status !== expected) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  }
  const captured = async (shot: () => Promise<Shot>, expected: number) => {
    await send(await shot(), expected)
    await send(await shot(), expected)
    const [one, other] = [await shot(), await shot()]
    return [await capture(() => send(one, expected)), await capture(() => send(other, expected))] as const
  }
  let stranger = 1_000_000
  const [searchOnce, searchAgain] = await captured(() => Promise.resolve(search(0)), 200)
  const [holdOnce, holdAgain] = await captured(() => holdOf((stranger += 1)), 201)
  server.closeAllConnections()
  server.close()

  const api = await startApi({ TRUSTED_PROXIES: '127.0.0.1' })
  const shots: Shot[] = []
  for (let index = 0; index < holds * rounds; index += 1) shots.push(await holdOf(index))
  const measured = {
    search: { ours: [] as Load[], theirs: [] as Load[] },
    hold: { ours: [] as Load[], theirs: [] as Load[] },
  }
  let sent = 0
  const replayed = { url: settings.databaseUrl, seconds, inFlight }
  await load(api.baseUrl, search, { seconds: 2, inFlight, expected: 200 })
  for (let round = 0; round < rounds; round += 1) {
    measured.search.ours.push(
      await load(api.baseUrl, (index) => search(100_000 * (round + 1) + index), { seconds, inFlight, expected: 200 }),
    )
    measured.search.theirs.push(await replay(searchOnce, searchAgain, replayed))
    const base = sent
    const ours = await load(api.baseUrl, (index) => shots[base + index] ?? { path: '/' }, {
      seconds: 60,
      inFlight,
      expected: 201,
      most: holds,
    })
    sent += holds
    measured.hold.ours.push(ours)
    measured.hold.theirs.push(await replay(holdOnce, holdAgain, { ...replayed, seconds: 60, most: holds }))
  }
  await api.stop()
  const mean = (loads: Load[]) => loads.reduce((sum, one) => sum + one.perSecond, 0) / loads.length
  const row = (name: string, { ours, theirs }: { ours: Load[]; theirs: Load[] }) =>
    judge({ name, unit: 'per second', ours: mean(ours), reference: mean(theirs) }, { least: 0.5 })
  return {
    results: [row('availability search', measured.search), row('hold', measured.hold)],
    notes: [
      `Ours: over HTTP, compiled, one process, ${inFlight} requests in flight; each from an address of its own, the holds with quotes signed before.`,
      `Reference: pg alone repeats the statements of the same request (${searchOnce.length} of a search, ${holdOnce.length} of a hold), ${inFlight} at a time, with fresh ids.`,
      'All holds take the same two nights of one pool: the lock on its counters is part of both.',
    ],
  }
}
