import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline as passOn, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'

/** An export on the disk: a file of JSON lines for each table, and this, which is written last. */
export type Manifest = {
  format: 1
  tenantId: string
  ticketId: string
  /** Half of the agreement on the key under which the tenant's keys travel. */
  half: string
  indexKey: string
  /** Migrations of the source; the target must have the same ones. */
  schema: string
  exportedAt: string
  tables: { table: string; file: string; rows: number; sum: string }[]
  /** Partitions that hold rows, with the parents under which the target makes those that it lacks. */
  partitions: { name: string; parent: string; bound: string }[]
  users: MovedUser[]
  catalogue: CatalogueRow[]
}

export type MovedUser = { id: string; email: string; name: string; locale: string }
/** A row of the provider's catalogue to which the tenant refers, and what it is known by at another installation. */
export type CatalogueRow = { table: 'plan_version' | 'add_on' | 'add_on_price'; id: string; known: string }

const manifestName = 'manifest.json'

export const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  await writeFile(join(folder, `${manifestName}.part`), JSON.stringify(manifest, null, 2), { flush: true })
  await rename(join(folder, `${manifestName}.part`), join(folder, manifestName))
}

/** Throws where the export was not finished. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => null)
  if (text === null) throw new Error(`${folder} has no ${manifestName}: the export was not finished`)
  return JSON.parse(text) as Manifest
}

/** Lines go to the disk as they come: what waits in memory is some rows. */
export const writeLines = (file: string, lines: AsyncIterable<string>): Promise<void> =>
  pipeline(
    Readable.from(
      (async function* () {
        for await (const line of lines) yield `${line}\n`
      })(),
    ),
    createGzip({ level: 1 }),
    createWriteStream(file, { flush: true }),
  )

/** Lines as they were written. Only a line feed ends one: a readline would cut at separators of paragraphs within words too. */
export async function* linesOf(file: string): AsyncIterable<string> {
  const unpacked = createGunzip().setEncoding('utf8')
  // Errors of the file are thrown where its lines are read.
  passOn(createReadStream(file), unpacked, () => {})
  let rest = ''
  for await (const text of unpacked) {
    const lines = (rest + String(text)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') throw new Error(`${file} ends within a line`)
}

/** Adds up digests of rows, in whatever order they come. */
export type Sum = { add: (line: string) => void; rows: () => number; text: () => string }

export const sumOf = (): Sum => {
  let rows = 0
  let first = 0n
  let second = 0n
  return {
    add: (line) => {
      const digest = createHash('md5').update(line).digest()
      rows += 1
      first += digest.readBigInt64BE(0)
      second += digest.readBigInt64BE(8)
    },
    rows: () => rows,
    text: () => `${first}:${second}`,
  }
}

/** Sessions write values in one way on both sides. */
export const writeAlike = (trx: Knex): Promise<unknown> =>
  sql(
    trx,
    `select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true), set_config('intervalstyle', 'postgres', true),
       set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`,
  )

/** Rows of a table that belong to the tenant. `:tenantId` binds. */
export const ofTenant = (table: string): string =>
  table === 'tenant' ? 'id = :tenantId' : table === 'audit_chain' ? 'chain = :tenantId::text' : 'tenant_id = :tenantId'

/** The sum of `sumOf` over the rows of a table, as PostgreSQL adds it up. */
export const sumInDatabase = async (trx: Knex, table: string, tenantId: string): Promise<string> => {
  const half = (from: number) => `sum(('x' || substr(t.digest, ${from}, 16))::bit(64)::bigint)`
  const rows = await sql<{ sum: string }>(
    trx,
    `select count(*) || ' ' || coalesce(${half(1)}, 0) || ':' || coalesce(${half(17)}, 0) as sum
     from (select md5(to_jsonb(r)::text) as digest from ${table} r where ${ofTenant(table)}) t`,
    { tenantId },
  )
  return rows[0]?.sum ?? ''
}
