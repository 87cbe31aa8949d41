import { join } from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import { placeOf } from '../../lib/idempotency.ts'
import { readMovedIn } from '../../lib/moved-in.ts'
import { isReceipt, receiptHash, sendIndexKey, sendKey, sendSealed, transportTo } from '../../lib/sealing/index.ts'
import type { Transport } from '../../lib/sealing/index.ts'
import { catalogueOf, usersOf } from './catalogue.ts'
import { ofTenant, sumInDatabase, sumOf, writeAlike, writeLines, writeManifest } from './format.ts'
import type { Manifest } from './format.ts'
import { movedTables, schemaOf } from './tables.ts'
import { readTicket } from './ticket.ts'
import { noteInTrail } from './trail.ts'

const rowsAtOnce = 500

type Bounds = { runningMs: number; openMs: number }
const usual: Bounds = { runningMs: 60_000, openMs: 300_000 }

const until = async (isSo: () => Promise<boolean>, ms: number, failure: string): Promise<void> => {
  const end = Date.now() + ms
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(failure)
    await wait(100)
  }
}

const isThere = async (owner: Knex, text: string, values: Record<string, unknown>): Promise<boolean> =>
  (await sql(owner, text, values)).length > 0

/** Throws where something of the tenant would be cut in two. */
const assertMovable = async (owner: Knex, tenantId: string, ticketId: string): Promise<void> => {
  const rows = await sql<{ status: string; ticketId: string | null; open: number }>(
    owner,
    `select t.status, m.ticket_id, (select count(*)::int from billing_adjustment b where b.tenant_id = t.id and b.invoice_id is null) as open
     from tenant t left join tenant_move m on m.tenant_id = t.id and m.direction = 'out' where t.id = :tenantId`,
    { tenantId },
  )
  const [tenant] = rows
  if (!tenant) throw new Error('there is no such tenant')
  if (tenant.status !== 'suspended') throw new Error(`the tenant is ${tenant.status}; suspend it first`)
  if (tenant.ticketId !== null && tenant.ticketId !== ticketId)
    throw new Error(`the tenant was exported for ticket ${tenant.ticketId}; take it back first`)
  if (tenant.open > 0)
    throw new Error('adjustments wait for the next bill of the tenant; they are billed before it moves')
}

/**
 * Shuts the tenant: from here on no transaction enters it. Answers once those that were open have ended. Jobs under way end as if their process had died,
 * so what they called outside is read again by the target.
 */
const shut = async (
  owner: Knex,
  tenantId: string,
  ticketId: string,
  receipt: Buffer,
  bounds: Bounds,
): Promise<void> => {
  await until(
    async () =>
      !(await isThere(owner, `select 1 from jobs where tenant_id = :tenantId and status = 'running' limit 1`, {
        tenantId,
      })),
    bounds.runningMs,
    'jobs of the tenant are running; export it again once they have ended',
  )
  await noteInTrail(owner, tenantId, 'tenant.move_away', { ticketId })
  await sql(
    owner,
    `insert into tenant_move (tenant_id, direction, ticket_id, receipt_hash) values (:tenantId, 'out', :ticketId, :receipt)
     on conflict (tenant_id) do update set direction = 'out', ticket_id = excluded.ticket_id, receipt_hash = excluded.receipt_hash`,
    { tenantId, ticketId, receipt },
  )
  const open = `select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'virtualxid' and l.granted and a.datname = current_database() and l.pid <> pg_backend_pid()`
  const before = await sql<{ id: string }>(owner, open)
  await until(
    async () =>
      !(await isThere(owner, `${open} and l.virtualtransaction = any(:before)`, {
        before: before.map(({ id }) => id),
      })),
    bounds.openMs,
    'a transaction that was open before the tenant was shut has not ended',
  )
}

type Sent = { transport: Transport; tenantId: string }
type KeyLine = {
  wrapped_key: string | null
  master_key_id: string
  guest_id?: string
  purpose?: 'profile' | 'retention'
}

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
export const hexOf = (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`

/** A row as it goes: keys wrapped for the way, and what this installation sealed for itself. */
const sent = (table: string, line: string, { transport, tenantId }: Sent): string => {
  if (table === 'kept_reply') {
    const { caller, key, body } = JSON.parse(line) as { caller: string; key: string; body: string }
    const made = sendSealed(transport, placeOf(caller, key), bytesOf(body))
    return line.replace(`"body": ${JSON.stringify(body)}`, () => `"body": "${hexOf(made)}"`)
  }
  if (table !== 'tenant_key' && table !== 'guest_key') return line
  const row = JSON.parse(line) as KeyLine
  if (row.wrapped_key === null) return line
  const guest = row.guest_id && row.purpose ? { guest: { id: row.guest_id, purpose: row.purpose } } : {}
  const wrapped = { wrappedKey: bytesOf(row.wrapped_key), masterKeyId: row.master_key_id }
  const { wrappedKey, masterKeyId } = sendKey(transport, { tenantId, ...guest }, wrapped)
  return line
    .replace(JSON.stringify(row.wrapped_key), () => `"${hexOf(wrappedKey)}"`)
    .replace(`"master_key_id": ${JSON.stringify(row.master_key_id)}`, () => `"master_key_id": "${masterKeyId}"`)
}

/** Rows of a table in one order of their own, some at a time. */
async function* rowsOf(trx: Knex, table: string, tenantId: string): AsyncIterable<string> {
  await sql(
    trx,
    `declare moved_rows no scroll cursor for select to_jsonb(r)::text as line from ${table} r where ${ofTenant(table)}`,
    { tenantId },
  )
  for (;;) {
    const rows = await sql<{ line: string }>(trx, `fetch ${rowsAtOnce} from moved_rows`)
    for (const { line } of rows) yield line
    if (rows.length < rowsAtOnce) break
  }
  await sql(trx, `close moved_rows`)
}

const partitionsOf = async (trx: Knex): Promise<Manifest['partitions']> => {
  const rows = await sql<Manifest['partitions'][number]>(
    trx,
    `select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relispartition and pg_get_expr(c.relpartbound, c.oid) like 'FOR VALUES FROM%' and c.relnamespace = 'public'::regnamespace order by 1`,
  )
  return rows
}

/**
 * Writes all rows of a suspended tenant into a folder, for the one installation that made the ticket, and shuts the tenant here for good: only a
 * receipt of that installation opens it again. Begun again after it was interrupted, it writes all anew.
 */
export const exportTenantTo = async (
  owner: Knex,
  { tenantId, ticket, folder, bounds = usual }: { tenantId: string; ticket: string; folder: string; bounds?: Bounds },
): Promise<Manifest> => {
  const { id: ticketId, publicKey } = readTicket(ticket)
  await readMovedIn(owner)
  await assertMovable(owner, tenantId, ticketId)
  const { publicKey: half, ...transport } = transportTo(publicKey)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await shut(owner, tenantId, ticketId, receiptHash(transport.receipt), bounds)
  const manifest = await owner.transaction(
    async (trx) => {
      await writeAlike(trx)
      const tables: Manifest['tables'] = []
      for (const [place, table] of (await movedTables(trx)).entries()) {
        const file = `${String(place).padStart(3, '0')}-${table}.jsonl.gz`
        const [as, gone] = [sumOf(), sumOf()]
        const lines = async function* () {
          for await (const line of rowsOf(trx, table, tenantId)) {
            as.add(line)
            const made = sent(table, line, { transport, tenantId })
            gone.add(made)
            yield made
          }
        }
        const sha256 = await writeLines(join(folder, file), lines())
        if (`${as.rows()} ${as.text()}` !== (await sumInDatabase(trx, table, tenantId)))
          throw new Error(`${table} was not read as PostgreSQL has it`)
        tables.push({ table, file, rows: gone.rows(), sum: gone.text(), sha256 })
      }
      return {
        format: 2 as const,
        tenantId,
        ticketId,
        half: half.toString('base64url'),
        indexKey: sendIndexKey(transport, tenantId, owner).toString('base64url'),
        schema: await schemaOf(trx),
        exportedAt: new Date().toISOString(),
        tables,
        partitions: await partitionsOf(trx),
        users: await usersOf(trx, tenantId),
        catalogue: await catalogueOf(trx, tenantId),
      }
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  )
  await writeManifest(folder, manifest)
  return manifest
}

/** Opens a tenant again that was exported, by the receipt of the installation that has given its ticket up. It stays suspended. */
export const takeTenantBack = async (owner: Knex, tenantId: string, receipt: string): Promise<void> => {
  const rows = await sql<{ receiptHash: Buffer }>(
    owner,
    `select receipt_hash from tenant_move where tenant_id = :tenantId and direction = 'out'`,
    { tenantId },
  )
  const [move] = rows
  if (!move) throw new Error('the tenant was not exported')
  if (!isReceipt(receipt, move.receiptHash))
    throw new Error('this is not the receipt of the installation for which the tenant was exported last')
  await owner.transaction(async (trx) => {
    await sql(trx, `delete from tenant_move where tenant_id = :tenantId and index_key is null`, { tenantId })
    // One that had come from elsewhere before keeps the key with which it came.
    await sql(trx, `update tenant_move set direction = 'in', receipt_hash = null where tenant_id = :tenantId`, {
      tenantId,
    })
    await noteInTrail(trx, tenantId, 'tenant.take_back', {})
  })
}
