import { searchOwnTrail } from '../../db/admin/trail/search.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import type { Condition } from '../../db/lib/conditions.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { makeRows, uncheck } from '../../test/lib/made-rows.ts'
import { changed } from '../../test/lib/made-tables.ts'
import { countAnew } from '../../test/support/counts.ts'
import type { Database } from '../../test/support/database.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { startPayment } from '../../test/support/pay.ts'
import { makeHold } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { startApi } from '../processes/start.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'

const small = 1_000
const large = sized(1_000_000, 20_000)
const requests = sized(200, 40)

const lists = [
  { name: 'reservations', table: 'reservation', path: 'reservations' },
  { name: 'guests', table: 'guest', path: 'guests' },
  { name: 'messages', table: 'message', path: 'ocp/messages' },
  { name: 'payments', table: 'payment', path: 'payments' },
  { name: 'ledger entries', table: 'journal_entry', path: 'financial/ledger-entries' },
  { name: 'audit log', table: 'audit_entry', path: null },
] as const
const growing = new Set<string>(lists.map(({ table }) => table))

/** SQL of columns beside that of the suite: entries of the trail within the days that a search has, entries of a ledger of one kind. */
const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...changed,
  audit_entry: { ...changed['audit_entry'], at: `now() - make_interval(secs => 7 * n)` },
  journal_entry: {
    kind: `'standard'`,
    sequence: 'n',
    currency: `'BRL'`,
    posting_date: 'current_date - n % 300',
    created_xid: 'pg_current_xact_id()',
  },
  payment: { status: `case when n % 2 = 0 then 'captured' else 'created' end` },
}

/** The scope of a caller that sees all. */
const everything = { operator: 'and', value: [] } as unknown as Condition

type Grown = { tenantId: string; keys: string[] }

/** A tenant whose tables have so many rows: copies of one where the tenant has one. */
const prepare = async ({ admin }: Database, count: number): Promise<Grown> => {
  const house = await makeHouse({ units: 4, deposit: null })
  const bookingId = await makeHold(house, {})
  await house.inHouse((trx) => confirmBooking(trx, bookingId))
  await startPayment(house, bookingId, 'all')
  const { tenantId, propertyId } = house
  const keys = await inTenant(tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const [book] = await sql<{ id: string }>(admin, `select id from book where tenant_id = ? limit 1`, [tenantId])
  const until = count + 1
  for (const { table } of lists)
    await admin.transaction(async (trx) => {
      await sql(trx, `set local session_replication_role = replica`)
      await sql(trx, `set local synchronous_commit = off`)
      await makeRows(trx, table, {
        tenantId,
        from: 1,
        until,
        growing,
        of: { property_id: propertyId, book_id: book?.id ?? '' },
        ...(changes[table] ? { changed: changes[table] } : {}),
      })
    })
  return { tenantId, keys }
}

const median = (all: readonly number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0

const pageOf = async (url: string, key: string) => {
  const reply = await fetch(`${url}?page=1&limit=20`, { headers: { 'x-api-key': key } })
  if (reply.status !== 200) throw new Error(`${url}: ${reply.status} ${await reply.text()}`)
  const { data, meta } = (await reply.json()) as { data: unknown[]; meta: { total: number } }
  return { total: meta.total, count: data.length }
}

/** The trail is for people: no key reads it, so its search is measured in this process. */
const trailOf = async (tenantId: string) => {
  const { total, rows } = await inTenant(tenantId, (trx) =>
    searchOwnTrail(trx, { page: 1, limit: 20, scope: everything, propertyIds: null }),
  )
  return { total, count: rows.length }
}

/** The time of page 1 with its total in both tenants, in turn, and one more than the other. */
const measure = async (
  baseUrl: string,
  { name, path }: (typeof lists)[number],
  sizes: readonly [Grown, Grown],
): Promise<Result[]> => {
  const times: [number[], number[]] = [[], []]
  for (let index = -20; index < requests; index += 1)
    for (const [at, { tenantId, keys }] of sizes.entries()) {
      const key = keys[(index + 20) % keys.length] ?? ''
      const from = performance.now()
      const { total, count } = await (path === null
        ? trailOf(tenantId)
        : pageOf(`${baseUrl}/api/tenants/${tenantId}/${path}`, key))
      const took = performance.now() - from
      if (count !== 20 || total < (at === 0 ? small : large)) throw new Error(`${name}: ${count} rows of ${total}`)
      if (index >= 0) times[at]?.push(took)
    }
  const [few, many] = [median(times[0]), median(times[1])]
  const of = large.toLocaleString('en')
  return [
    judge({ name: `${name}, page 1 of ${of}, p50`, unit: 'ms', ours: many, reference: few }, null),
    judge({ name: `${name}, times that of 1,000`, unit: 'times', ours: many / few, reference: null }, { most: 1.5 }),
  ]
}

export const bench: Bench = async (database) => {
  await uncheck(database.admin)
  const sizes = [await prepare(database, small), await prepare(database, large)] as const
  await countAnew(database.admin)
  await sql(database.admin, `vacuum analyze`)
  const api = await startApi()
  const results: Result[] = []
  for (const list of lists) results.push(...(await measure(api.baseUrl, list, sizes)))
  await api.stop()
  return {
    results,
    notes: [
      `Page 1 of 20 rows with its exact total, without a filter: a tenant with ${large.toLocaleString('en')} rows in each table, and as the reference one with 1,000, in one database. One request at a time, in turn, ${requests} each with API keys; medians. The audit log, which no key reads, by its search in this process.`,
      `Rows are made past the triggers, and counted anew: their making is not measured.`,
    ],
  }
}
