import { join } from 'node:path'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import { placeOf } from '../../lib/idempotency.ts'
import { receiveIndexKey, receiveKey, receiveSealed } from '../../lib/sealing/index.ts'
import type { Transport } from '../../lib/sealing/index.ts'
import { catalogued, catalogueHere, usersHere } from './catalogue.ts'
import { assertWhole, raiseSequences } from './checks.ts'
import { linesOf, ofTenant, readManifest, sumInDatabase, sumOf, writeAlike } from './format.ts'
import type { Manifest } from './format.ts'
import { hexOf } from './source.ts'
import { movedTables, schemaOf } from './tables.ts'
import { openTicket } from './ticket.ts'
import { noteInTrail } from './trail.ts'

/** Rows that one statement inserts, and their text, whichever comes first. */
const rowsAtOnce = 500
const textAtOnce = 4 * 1_048_576

/** Rows arrive as they are, as at a replica: no trigger counts, numbers or refuses them a second time. */
const arriveAsTheyAre = async (trx: Knex): Promise<void> => {
  await sql(trx, `set local session_replication_role = replica`).catch((cause: unknown) => {
    throw new Error(
      'the role of DATABASE_OWNER_URL may not take rows as they are: grant set on parameter session_replication_role to it, as a superuser',
      { cause },
    )
  })
}

/** Makes the months and weeks that this installation has no partition for. Not in the transaction of the import: each holds its whole table for a moment. */
const makePartitions = async (owner: Knex, { partitions }: Manifest): Promise<void> => {
  for (const { name, parent, bound } of partitions) {
    if (!/^[a-z0-9_]+$/.test(name + parent) || !/^FOR VALUES FROM \('[^']+'\) TO \('[^']+'\)$/.test(bound))
      throw new Error(`${name} is no partition that a tenant's rows lie in`)
    const rows = await sql<{ found: string | null }>(owner, `select to_regclass(?) as found`, [name])
    if (rows[0]?.found === null) await sql(owner, `create table ${name} partition of ${parent} ${bound.toLowerCase()}`)
  }
}

type KeyLine = {
  wrapped_key: string | null
  master_key_id: string
  guest_id?: string
  purpose?: 'profile' | 'retention'
}
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')

const receivedKey = (line: string, transport: Transport, tenantId: string): string => {
  const row = JSON.parse(line) as KeyLine
  if (row.wrapped_key === null) return line
  const guest = row.guest_id && row.purpose ? { guest: { id: row.guest_id, purpose: row.purpose } } : {}
  const wrapped = { wrappedKey: bytesOf(row.wrapped_key), masterKeyId: row.master_key_id }
  const { wrappedKey, masterKeyId } = receiveKey(transport, { tenantId, ...guest }, wrapped)
  return line
    .replace(JSON.stringify(row.wrapped_key), () => `"${hexOf(wrappedKey)}"`)
    .replace(
      `"master_key_id": ${JSON.stringify(row.master_key_id)}`,
      () => `"master_key_id": ${JSON.stringify(masterKeyId)}`,
    )
}

type Reply = { caller: string; key: string; body: string }

const receivedReply = (line: string, mapped: string, transport: Transport): string => {
  const from = JSON.parse(line) as Reply
  const { caller, key } = JSON.parse(mapped) as Reply
  const made = receiveSealed(transport, placeOf(from.caller, from.key), placeOf(caller, key), bytesOf(from.body))
  return mapped.replace(`"body": ${JSON.stringify(from.body)}`, () => `"body": "${hexOf(made)}"`)
}

type Renaming = (table: string, line: string) => string

/** Puts ids of this installation in the place of those of the source. The trail keeps its own: its hashes cover them. */
const renaming = (users: ReadonlyMap<string, string>, catalogue: ReadonlyMap<string, string>): Renaming => {
  const over = (ids: ReadonlyMap<string, string>) => {
    const pattern = new RegExp([...ids.keys()].join('|'), 'g')
    return (line: string) => (ids.size === 0 ? line : line.replace(pattern, (id) => ids.get(id) ?? id))
  }
  const [asUsers, asCatalogue] = [over(users), over(catalogue)]
  return (table, line) => {
    if (table === 'audit_entry') return line
    return asUsers(catalogued.has(table) ? asCatalogue(line) : line)
  }
}

/** The columns that are written, and how each is read out of JSON, where a jsonb `null` and no value are one: a column that needs a value had the former. */
const columnsOf = async (trx: Knex, table: string): Promise<{ columns: string; values: string }> => {
  const rows = await sql<{ columns: string; values: string }>(
    trx,
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns,
       string_agg(case when attnotnull and atttypid = 'jsonb'::regtype then format('coalesce(%I, ''null'')', attname) else quote_ident(attname) end, ', ' order by attnum) as "values"
     from pg_attribute where attrelid = :table::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    { table },
  )
  return rows[0] ?? { columns: '', values: '' }
}

const isEmpty = async (trx: Knex, table: string, tenantId: string): Promise<boolean> =>
  (await sql(trx, `select 1 from ${table} where ${ofTenant(table)} limit 1`, { tenantId })).length === 0

type Arriving = { manifest: Manifest; folder: string; transport: Transport; rename: Renaming }

/** Takes the rows of one table, and throws where they are not the ones that were sent, or PostgreSQL has others afterwards. */
const take = async (trx: Knex, one: Manifest['tables'][number], arriving: Arriving): Promise<void> => {
  const { table, file, rows, sum, sha256 } = one
  const { manifest, folder, transport, rename } = arriving
  const { tenantId } = manifest
  if (!(await isEmpty(trx, table, tenantId))) throw new Error(`${table} has rows of the tenant already`)
  const { columns, values } = await columnsOf(trx, table)
  const insert = `insert into ${table} (${columns}) overriding system value select ${values} from json_populate_recordset(null::${table}, :lines::json)`
  const [sent, kept] = [sumOf(), sumOf()]
  let waiting: string[] = []
  let size = 0
  const flush = async () => {
    if (waiting.length > 0) await sql(trx, insert, { lines: `[${waiting.join(',')}]` })
    waiting = []
    size = 0
  }
  for await (const line of linesOf(join(folder, file), sha256)) {
    sent.add(line)
    const mapped = rename(table, line)
    const isKey = table === 'tenant_key' || table === 'guest_key'
    const made = isKey
      ? receivedKey(mapped, transport, tenantId)
      : table === 'kept_reply'
        ? receivedReply(line, mapped, transport)
        : mapped
    kept.add(made)
    waiting.push(made)
    size += made.length
    if (waiting.length >= rowsAtOnce || size >= textAtOnce) await flush()
  }
  await flush()
  if (sent.rows() !== rows || sent.text() !== sum) throw new Error(`${file} is not what was exported`)
  if (`${kept.rows()} ${kept.text()}` !== (await sumInDatabase(trx, table, tenantId)))
    throw new Error(`${table} is not as it was sent`)
}

/** Changes what is true of one installation alone. */
const settle = async (trx: Knex, tenantId: string): Promise<void> => {
  for (const text of [
    // Handed over or begun at the source, as if its processes had died: they are due here, and what they called outside is read again.
    `update jobs set status = 'pending', leased_until = null, worker = null where tenant_id = :tenantId and status in ('dispatched', 'running')`,
    `update jobs set ready = run_at <= now() where tenant_id = :tenantId and status = 'pending'`,
    // A secret that is known at one installation opens no other.
    `update api_key set revoked_at = now(), version = version + 1 where tenant_id = :tenantId and revoked_at is null`,
    // The provider's account at its gateway is that of the source.
    `update subscription set payment_method = null, method_ref = null, customer_ref = null, card_token = null, return_url = null, action = null, past_due_since = null
     where tenant_id = :tenantId`,
    `update audit_chain set verified_at = null, verified_through = 0 where chain = :tenantId::text`,
    // The tenant's own counts came along, also of its invoices, which stay with their provider; those of operators are of the installation.
    `delete from list_count where tenant_id = :tenantId and list = 'subscription_invoice'`,
    `insert into platform_count (list, status, plan, n) select 'tenant', status, plan, 1 from tenant where id = :tenantId`,
    `insert into platform_count (list, status, plan, feature, n) select 'tenant_feature', status, plan, f, 1 from tenant cross join unnest(features) f where id = :tenantId`,
    `insert into platform_count (list, day, n) select 'audit_entry', day, sum(n) from audit_day where tenant_id = :tenantId group by day`,
  ])
    await sql(trx, text, { tenantId })
}

/**
 * Takes a tenant from a folder that was exported for a ticket of this installation, in one transaction: all of it, proven table by table, or nothing. The tenant
 * stays suspended. Interrupted, it is begun again. Answers what came.
 */
export const importTenantFrom = async (owner: Knex, folder: string): Promise<Manifest> => {
  const manifest = await readManifest(folder)
  const schema = await schemaOf(owner)
  if (manifest.schema !== schema)
    throw new Error(
      `the export is of schema ${manifest.schema}, and this installation has ${schema}; both must run one release`,
    )
  const { tenantId, ticketId } = manifest
  await owner.transaction((trx) => openTicket(trx, manifest))
  await makePartitions(owner, manifest)
  await owner.transaction(async (trx) => {
    await writeAlike(trx)
    const transport = await openTicket(trx, manifest)
    const tables = await movedTables(trx)
    if (
      tables.toSorted().join() !==
      manifest.tables
        .map(({ table }) => table)
        .toSorted()
        .join()
    )
      throw new Error('the export has other tables than this installation')
    // Accounts that are new here are counted as any others.
    const rename = renaming(await usersHere(trx, manifest.users), await catalogueHere(trx, manifest.catalogue))
    await arriveAsTheyAre(trx)
    for (const one of manifest.tables) await take(trx, one, { manifest, folder, transport, rename })
    await settle(trx, tenantId)
    const key = receiveIndexKey(transport, tenantId, Buffer.from(manifest.indexKey, 'base64url'))
    await sql(
      trx,
      `insert into tenant_move (tenant_id, direction, ticket_id, index_key, master_key_id) values (:tenantId, 'in', :ticketId, :wrappedKey, :masterKeyId)`,
      { tenantId, ticketId, ...key },
    )
    await noteInTrail(trx, tenantId, 'tenant.move_here', { ticketId })
    await assertWhole(trx, tables, tenantId)
    await raiseSequences(trx, tables, tenantId)
    await sql(
      trx,
      `update tenant_ticket set state = 'used', private_key = null, moved_tenant = :tenantId, ended_at = now() where id = :ticketId`,
      { tenantId, ticketId },
    )
  })
  // Statistics of the tables before the import would lead plans astray until PostgreSQL gathers them by itself.
  await sql(owner, `analyze ${manifest.tables.map(({ table }) => table).join(', ')}`)
  return manifest
}
