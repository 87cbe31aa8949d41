import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { listen, makeServer } from '../../api/server.ts'
import type { Database } from '../../test/support/database.ts'
import { clientOf } from '../../test/support/client.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { makeHold } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { capture, transactionOf } from '../capture.ts'
import { load } from '../load.ts'
import type { Load } from '../load.ts'
import { startApi, startReference } from '../processes/start.ts'
import { judge } from '../report.ts'

const count = 100_000
const rounds = 3
const seconds = 5
const inFlight = 16

/** Copies of one booking, a stay each, spread over two years: what a list reads is there, whole. */
const multiply = async ({ admin }: Database, bookingId: string) => {
  const id = (kind: string) => `('${kind}0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  const copy = (table: string, where: string, changes: string) =>
    `insert into ${table} select copied.* from ${table} one, generate_series(1, ${count - 1}) n,
       lateral jsonb_populate_record(one, jsonb_build_object(${changes})) copied where ${where}`
  await admin.transaction(async (trx) => {
    // The rows are as they should be; counters, folios and triggers of a hundred thousand bookings are not what is measured.
    await sql(trx, `set local session_replication_role = replica`)
    const number = `translate(lpad(to_hex(n), 8, '0'), 'abcdef', 'ABCDEF')`
    await sql(
      trx,
      copy('booking', 'one.id = ?', `'id', ${id('b')}, 'number', ${number}, 'quote_id', gen_random_uuid()`),
      [bookingId],
    )
    await sql(
      trx,
      copy(
        'reservation',
        'one.booking_id = ?',
        `'id', ${id('a')}, 'booking_id', ${id('b')}, 'arrival', one.arrival + n % 700, 'departure', one.departure + n % 700,
         'created_at', one.created_at - make_interval(secs => n)`,
      ),
      [bookingId],
    )
  })
  await sql(admin, `vacuum analyze`)
}

export const bench: Bench = async (database) => {
  const house = await makeHouse({ units: 4, deposit: null })
  const bookingId = await makeHold(house, {})
  await house.inHouse((trx) => confirmBooking(trx, bookingId))
  await multiply(database, bookingId)
  const keys = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 60; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const path = `/api/tenants/${house.tenantId}/reservations?limit=20`

  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const ask = () => here('GET', path, { key: keys[0] ?? '' })
  for (let warm = 0; warm < 3; warm += 1) await ask()
  const statements = transactionOf(await capture(ask), /from reservation r/)
  const reply = await ask()
  if (reply.body.meta.total !== count || reply.body.data.length !== 20)
    throw new Error('the list does not answer what is measured')
  server.closeAllConnections()
  server.close()

  const api = await startApi()
  const reference = await startReference('./list.ts', { url: settings.databaseUrl, statements })
  const same = (await (await fetch(reference.baseUrl)).json()) as { data: unknown[] }
  if (same.data.length !== 20) throw new Error('the reference does not answer what is measured')
  const ours: Load[] = []
  const theirs: Load[] = []
  const options = { inFlight, expected: 200 }
  const shot = (index: number) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } })
  await load(api.baseUrl, shot, { ...options, seconds: 2 })
  await load(reference.baseUrl, () => ({ path: '/' }), { ...options, seconds: 2 })
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await load(api.baseUrl, shot, { ...options, seconds }))
    theirs.push(await load(reference.baseUrl, () => ({ path: '/' }), { ...options, seconds }))
  }
  await Promise.all([api.stop(), reference.stop()])
  const mean = (loads: Load[], of: keyof Load) => loads.reduce((sum, one) => sum + one[of], 0) / loads.length
  return {
    results: [
      judge(
        {
          name: 'list of 20 out of 100,000',
          unit: 'requests/s',
          ours: mean(ours, 'perSecond'),
          reference: mean(theirs, 'perSecond'),
        },
        { least: 0.5 },
      ),
      judge({ name: 'the same, p50', unit: 'ms', ours: mean(ours, 'p50Ms'), reference: mean(theirs, 'p50Ms') }, null),
      judge({ name: 'the same, p99', unit: 'ms', ours: mean(ours, 'p99Ms'), reference: mean(theirs, 'p99Ms') }, null),
    ],
    notes: [
      `Ours: GET …/reservations?limit=20 with an API key (${keys.length} keys in turn, since each has 1000 requests a minute), compiled, one process.`,
      `Reference: node:http and pg in one process, the ${statements.length} statements of the list's transaction and no other; no key is checked.`,
      `${inFlight} requests in flight over kept connections, ${rounds} rounds of ${seconds} s each in turn.`,
    ],
  }
}
