import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline as passOn, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import { isMac, macOf } from './mac.ts'

/** An export on the disk: a file of JSON lines for each table, and this, which is written last beside its code (`mac.ts`). */
export type Manifest = {
  format: 2
  tenantId: string
  ticketId: string
  /** Half of the agreement on the key under which the tenant's keys travel. */
  half: string
  indexKey: string
  /** Migrations of the source; the target must have the same ones. */
  schema: string
  exportedAt: string
  /** `sum` compares rows with PostgreSQL; `sha256` is of the file, byte by byte. */
  tables: { table: string; file: string; rows: number; sum: string; sha256: string }[]
  /** Partitions that hold rows, with the parents under which the target makes those that it lacks. */
  partitions: { name: string; parent: string; bound: string }[]
  users: MovedUser[]
  catalogue: CatalogueRow[]
}

export type MovedUser = { id: string; email: string; name: string; locale: string }
/** A row of the provider's catalogue to which the tenant refers, and what it is known by at another installation. */
export type CatalogueRow = { table: 'plan_version' | 'add_on' | 'add_on_price'; id: string; known: string }

const manifestName = 'manifest.json'
const macName = 'manifest.mac'

export const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  const bytes = Buffer.from(JSON.stringify(manifest, null, 2))
  await writeFile(join(folder, macName), `${macOf('manifest', bytes).toString('hex')}\n`, { flush: true })
  await writeFile(join(folder, `${manifestName}.part`), bytes, { flush: true })
  await rename(join(folder, `${manifestName}.part`), join(folder, manifestName))
}

/** Throws where the export was not finished, was altered, or comes from an installation with another MOVE_KEY. Nothing of the folder is believed before. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const bytes = await readFile(join(folder, manifestName)).catch(() => null)
  if (bytes === null) throw new Error(`${folder} has no ${manifestName}: the export was not finished`)
  const mac = await readFile(join(folder, macName), 'utf8').catch(() => null)
  if (mac === null) throw new Error(`${folder} has no ${macName}: nothing proves where the export comes from`)
  if (!isMac('manifest', bytes, Buffer.from(mac.trim(), 'hex')))
    throw new Error(`${manifestName} is not what was exported, or was exported with another MOVE_KEY`)
  return JSON.parse(bytes.toString('utf8')) as Manifest
}

/** Digests bytes as they pass. */
const tap = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })

/** Lines go to the disk as they come: what waits in memory is some rows. Answers the SHA-256 of the file. */
export const writeLines = async (file: string, lines: AsyncIterable<string>): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(
    Readable.from(
      (async function* () {
        for await (const line of lines) yield `${line}\n`
      })(),
    ),
    createGzip({ level: 1 }),
    tap(hash),
    createWriteStream(file, { flush: true }),
  )
  return hash.digest('hex')
}

/**
 * Lines as they were written. Only a line feed ends one: a readline would cut at separators of paragraphs within words too. Throws after the last one where
 * the file has another SHA-256.
 */
export async function* linesOf(file: string, sha256: string): AsyncIterable<string> {
  const hash = createHash('sha256')
  const unpacked = createGunzip().setEncoding('utf8')
  // Errors of the file are thrown where its lines are read.
  passOn(createReadStream(file), tap(hash), unpacked, () => {})
  let rest = ''
  for await (const text of unpacked) {
    const lines = (rest + String(text)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') throw new Error(`${file} ends within a line`)
  if (hash.digest('hex') !== sha256) throw new Error(`${file} is not what was exported`)
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
