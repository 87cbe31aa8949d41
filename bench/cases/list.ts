import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import type { Database } from '../../test/support/database.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { makeHold } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { load } from '../load.ts'
import type { Load } from '../load.ts'
import { startApi, startReference } from '../processes/start.ts'
import type { Started } from '../processes/start.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'

const sizes = [1_000, 100_000]
const rounds = 3
const seconds = 5
const inFlight = 16

/** Copies of one booking, a stay each, spread over two years: what a list reads is there, whole. */
const multiply = async ({ admin }: Database, bookingId: string, count: number) => {
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
    // Nor is the trigger that counts the rows of lists.
    await sql(
      trx,
      `insert into list_count (tenant_id, list, property_id, status, n, folded)
       select tenant_id, 'reservation', property_id, status, ${count - 1}, true from reservation where booking_id = ?`,
      [bookingId],
    )
  })
  await sql(admin, `vacuum analyze`)
}

type Listed = { count: number; path: string; tenantId: string; keys: string[] }

/** A tenant with so many stays, and keys to list them. */
const prepare = async (database: Database, count: number): Promise<Listed> => {
  const house = await makeHouse({ units: 4, deposit: null })
  const bookingId = await makeHold(house, {})
  await house.inHouse((trx) => confirmBooking(trx, bookingId))
  await multiply(database, bookingId, count)
  const keys = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 60; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const { tenantId } = house
  return { count, tenantId, keys, path: `/api/tenants/${tenantId}/reservations?limit=20` }
}

const measure = async (
  api: Started,
  reference: Started,
  { count, path, tenantId, keys }: Listed,
): Promise<Result[]> => {
  const ours: Load[] = []
  const theirs: Load[] = []
  const options = { inFlight, expected: 200 }
  const shot = (index: number) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } })
  const bare = () => ({ path: `/${tenantId}` })
  for (const [base, { path: at, headers }] of [
    [api.baseUrl, shot(0)],
    [reference.baseUrl, { ...bare(), headers: {} }],
  ] as const) {
    const reply = (await (await fetch(base + at, { headers })).json()) as { data: unknown[]; meta: { total: number } }
    if (reply.meta.total !== count || reply.data.length !== 20)
      throw new Error('the list does not answer what is measured')
  }
  await load(api.baseUrl, shot, { ...options, seconds: 2 })
  await load(reference.baseUrl, bare, { ...options, seconds: 2 })
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await load(api.baseUrl, shot, { ...options, seconds }))
    theirs.push(await load(reference.baseUrl, bare, { ...options, seconds }))
  }
  const mean = (of: keyof Load) => {
    const [a, b] = [ours, theirs].map((loads) => loads.reduce((sum, one) => sum + one[of], 0) / loads.length)
    return { ours: a ?? 0, reference: b ?? 0 }
  }
  const name = `list of 20 out of ${count.toLocaleString('en')}`
  return [
    judge({ name, unit: 'requests/s', ...mean('perSecond') }, { least: 0.5 }),
    judge({ name: `${name}, p50`, unit: 'ms', ...mean('p50Ms') }, null),
    judge({ name: `${name}, p99`, unit: 'ms', ...mean('p99Ms') }, null),
  ]
}

export const bench: Bench = async (database) => {
  const listed: Listed[] = []
  for (const count of sizes) listed.push(await prepare(database, count))
  const api = await startApi()
  const reference = await startReference('./list.ts', { url: settings.databaseUrl })
  const results: Result[] = []
  for (const one of listed) results.push(...(await measure(api, reference, one)))
  await Promise.all([api.stop(), reference.stop()])
  return {
    results,
    notes: [
      `Ours: GET …/reservations?limit=20 with an API key (60 keys in turn, since each has 1000 requests a minute), compiled, one process.`,
      `Reference: node:http and pg in one process, the least SQL by hand, prepared: the number of all, the ids of the page, their rows by key; no key is checked.`,
      `${inFlight} requests in flight over kept connections, ${rounds} rounds of ${seconds} s each in turn. The reference counts its rows, which is most of its work; ours adds up what is kept (decision 25).`,
    ],
  }
}
