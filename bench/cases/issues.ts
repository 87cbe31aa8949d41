import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { createIssue } from '../../db/issues/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { makeUser } from '../../test/auth/support.ts'
import type { Database } from '../../test/support/database.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { load } from '../load.ts'
import { startApi, startReference } from '../processes/start.ts'
import { judge } from '../report.ts'
import { sized } from '../size.ts'

const issues = sized(1_000_000, 50_000)
/** One issue in this number is open: a house has a few hundred open issues. */
const closedOf = sized(500, 100)
const seconds = sized(10, 3)
const rounds = 3

/** Columns in which a copy differs from the issue that it is made of. */
const copied: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  number: 'one.number + 100 + n',
  sealed: 'null',
  status: `case when is_closed then 'closed' else 'open' end`,
  outcome: `case when is_closed then 'resolved' end`,
  cause: `case when is_closed then 'property' end`,
  resolved_at: `case when is_closed then one.created_at end`,
  closed_at: `case when is_closed then one.created_at end`,
  check_at: `case when not is_closed then one.check_at + make_interval(days => 1, secs => n) end`,
  next_due_at: `case when not is_closed then one.next_due_at + make_interval(days => 1, secs => n) end`,
  created_at: 'one.created_at - make_interval(mins => n * 5)',
}

/** A page of issues with texts, and copies of one of them over ten years: most are closed, the others are due after a day. */
const fill = async ({ admin }: Database, house: House): Promise<void> => {
  const { userId } = await makeUser({ [house.tenantId]: 'receptionist' })
  const actor = { type: 'user' as const, id: userId }
  const made: string[] = []
  for (let one = 0; one < 20; one += 1)
    made.push(
      await inTenant(
        house.tenantId,
        async (trx) => {
          const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = 'noise'`)
          const title = 'Loud music next door'
          const priority = 'high'
          return createIssue(trx, { propertyId: house.propertyId, categoryId: category?.id ?? '', title, priority })
        },
        { actor },
      ),
    )
  await admin.transaction(async (trx) => {
    // The rows are as they should be; triggers of a million issues are not what is measured. A text belongs to its row, so that copies have none.
    await sql(trx, `set local session_replication_role = replica`)
    await sql(trx, `set local maintenance_work_mem = '256MB'`)
    const columns = await sql<{ name: string }>(
      trx,
      `select attname as name from pg_attribute where attrelid = 'issue'::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    )
    // Indexes that are made of all rows at once cost a fraction of those that each row is put into.
    const indexes = await sql<{ name: string; definition: string }>(
      trx,
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid = 'issue'::regclass and not exists (select from pg_constraint c where c.conindid = indexrelid)`,
    )
    for (const { name } of indexes) await sql(trx, `drop index ??`, [name])
    const list = columns.map(({ name }) => `"${name}"`).join(', ')
    const values = columns.map(({ name }) => copied[name] ?? `one."${name}"`).join(', ')
    await sql(
      trx,
      `insert into issue (${list}) select ${values} from issue one, generate_series(1, ?::int) n, lateral (select n % ?::int > 0 as is_closed offset 0) s
       where one.id = ?`,
      [issues - made.length, closedOf, made[0]],
    )
    for (const { definition } of indexes) await sql(trx, definition)
    await sql(trx, `update issue set next_due_at = now() - interval '1 hour' where id = any(?::uuid[])`, [made])
  })
  await sql(admin, `vacuum analyze issue`)
}

/** Lists by the due time among a million issues of one house. */
export const bench: Bench = async (database) => {
  const house = await makeHouse({ units: 1, deposit: null })
  await fill(database, house)
  const keys = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 60; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const api = await startApi()
  const reference = await startReference('./issue-list.ts', { url: settings.databaseUrl })
  const path = `/api/tenants/${house.tenantId}/issues?propertyId=${house.propertyId}`
  const shot = (query: string) => (index: number) => ({
    path: `${path}${query}`,
    headers: { 'x-api-key': keys[index % keys.length] ?? '', 'x-request-id': randomUUID() },
  })
  const bare = () => ({ path: `/${house.tenantId}/${house.propertyId}` })
  const options = { inFlight: 1, expected: 200 }
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [ours, theirs]: number[][] = [[], []]
  await load(api.baseUrl, shot('&status=open'), { ...options, seconds: 1 })
  await load(reference.baseUrl, bare, { ...options, seconds: 1 })
  for (let round = 0; round < rounds; round += 1) {
    ours?.push((await load(api.baseUrl, shot('&status=open'), { ...options, seconds })).p95Ms)
    theirs?.push((await load(reference.baseUrl, bare, { ...options, seconds })).p95Ms)
  }
  const late = await load(api.baseUrl, shot('&late=true'), { ...options, seconds })
  const all = await load(api.baseUrl, shot(''), { ...options, seconds })
  await Promise.all([api.stop(), reference.stop()])
  const of = `of ${issues.toLocaleString('en')} issues`
  return {
    results: [
      judge(
        { name: `open ones by due time ${of}, p95`, unit: 'ms', ours: mean(ours ?? []), reference: mean(theirs ?? []) },
        { most: 50 },
      ),
      judge({ name: `late ones by due time ${of}, p95`, unit: 'ms', ours: late.p95Ms, reference: null }, { most: 50 }),
      judge({ name: `all by due time ${of}, p95`, unit: 'ms', ours: all.p95Ms, reference: null }, null),
    ],
    notes: [
      `Ours: GET …/issues, 20 rows of one house, by API keys, compiled, one process, one request after the other; one issue in ${closedOf} is open. Late ones are asked for in any state.`,
      'Reference: node:http and pg, the least SQL by hand, prepared: the number of all and the rows of the page. Titles stay sealed and no key is checked.',
    ],
  }
}
