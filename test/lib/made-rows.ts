import { sql } from '../../db/lib/connection.ts'

type Connection = Parameters<typeof sql>[0]

type Column = { name: string; type: string; nullable: boolean; value: string | null; choices: string | null }
type Parent = { column: string; parent: string; self: boolean }
type Shape = { columns: Column[]; parents: Parent[]; unique: Set<string> }

/** The id of the n-th made row of a table, so that rows of other tables find it. */
export const idOf = (table: string, n: string | number): string =>
  `overlay(overlay(md5('${table}' || ${n}) placing '4' from 13) placing '8' from 17)::uuid`

/** A table as the catalogue tells of it: its columns, where they point, and those that no two rows share. */
const shapeOf = async (trx: Connection, table: string): Promise<Shape> => {
  const columns = await sql<Column>(
    trx,
    `select a.attname as name, format_type(a.atttypid, null) as type, not a.attnotnull as nullable, pg_get_expr(d.adbin, d.adrelid) as value,
       (select (regexp_match(pg_get_constraintdef(c.oid), a.attname || '\\M[^'']*''([^'']*)''::'))[1] from pg_constraint c
        where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum] limit 1) as choices
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = ?::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '' order by a.attnum`,
    [table],
  )
  const parents = await sql<Parent>(
    trx,
    `select a.attname as column, c.confrelid::regclass::text as parent, c.confrelid = c.conrelid as self from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[array_upper(c.conkey, 1)]
     join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[array_upper(c.confkey, 1)]
     where c.conrelid = ?::regclass and c.contype = 'f' and a.attname <> 'tenant_id' and b.attname = 'id'`,
    [table],
  )
  const unique = await sql<{ name: string }>(
    trx,
    `select distinct a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = ?::regclass and i.indisunique`,
    [table],
  )
  return { columns, parents, unique: new Set(unique.map(({ name }) => name)) }
}

/** A value of the n-th row, by the type of its column. Days that no two rows share lie before the day that it still is in any time zone. */
const valueOf = ({ type, choices }: Column, isUnique: boolean): string => {
  if (type === 'uuid') return 'gen_random_uuid()'
  if (type === 'timestamp with time zone') return `now() - make_interval(secs => n)`
  if (type === 'date') return isUnique ? `current_date - 2 - n` : `current_date - n % 300`
  if (/^(bigint|integer|smallint|numeric)/.test(type)) return isUnique ? 'n + 100000' : '1'
  if (type === 'boolean') return 'false'
  if (type === 'jsonb' || type === 'json') return `'{}'`
  if (type === 'bytea') return `decode(md5(n::text), 'hex')`
  if (type.endsWith('[]')) return `'{}'`
  if (type === 'daterange') return `daterange(current_date - n % 300, current_date - n % 300 + 1)`
  if (type === 'inet') return `'127.0.0.1'`
  if (choices !== null) return `'${choices}'`
  return isUnique ? `'N' || n` : `'x'`
}

export type Making = {
  tenantId: string
  from: number
  until: number
  /** SQL of columns where their types do not say enough, over the number `n` of the row and the row `one`. */
  changed?: Readonly<Record<string, string>>
  /** The row that is copied where there is one, as a condition. */
  original?: string
  /** The house and the book of rows that are made from nothing, by their columns. */
  of: Readonly<Record<string, string>>
  /** Tables that grow together: the n-th row of one belongs to the n-th of another. */
  growing: ReadonlySet<string>
}

/**
 * Adds rows to a table, without its triggers: copies of a row where the tenant has one, else rows made from the types of the columns. The n-th rows of tables
 * that grow belong together. A table that does not grow is pointed to as it stands; one that is empty gets a row first.
 */
export const makeRows = async (trx: Connection, table: string, making: Making): Promise<void> => {
  const { tenantId, from, until, changed = {}, original = 'true', growing } = making
  const { columns, parents, unique } = await shapeOf(trx, table)
  const own = columns.some(({ name }) => name === 'tenant_id')
    ? `tenant_id = '${tenantId}' and (${original})`
    : original
  const [found] = await sql(trx, `select from ${table} where ${own} limit 1`)
  const pointed = new Map(parents.map((parent) => [parent.column, parent]))
  const places = new Map<string, string>()
  for (const { column, parent } of parents)
    if (!growing.has(parent) && !found && columns.some(({ name, nullable }) => name === column && !nullable)) {
      const { columns: theirs } = await shapeOf(trx, parent)
      const place = `(select p.id from ${parent} p where ${theirs.some(({ name }) => name === 'tenant_id') ? `p.tenant_id = '${tenantId}'` : 'true'} order by p.id limit 1)`
      const [one] = await sql<{ id: string | null }>(trx, `select ${place} as id`)
      if (one?.id === null) await makeRows(trx, parent, { tenantId, from: 1, until: 2, growing, of: making.of })
      places.set(column, place)
    }
  const value = (column: Column): string => {
    const { name, nullable, type } = column
    const parent = pointed.get(name)
    if (changed[name] !== undefined) return changed[name]
    if (name === 'tenant_id') return `'${tenantId}'::uuid`
    // All are of one house and its book, as the counts of lists are by them.
    if (name in making.of && !found) return `'${making.of[name]}'::uuid`
    if (name === 'id' && type === 'uuid') return idOf(table, 'n')
    const made = parent && growing.has(parent.parent) && !parent.self ? idOf(parent.parent, 'n') : null
    if (found) {
      const one = `one."${name}"`
      if (made) return `case when ${one} is not null then ${made} end`
      if (name === 'sealed') return nullable ? 'null' : one
      if (!parent && unique.has(name) && type !== 'boolean' && column.choices === null)
        return `case when ${one} is not null then ${valueOf(column, true)} end`
      if (type === 'timestamp with time zone') return `${one} - make_interval(secs => n)`
      return type === 'date' ? `${one} - n % 300` : one
    }
    if (nullable) return 'null'
    const typed = valueOf(column, unique.has(name))
    // Rows of one moment would be in no order.
    return made ?? places.get(name) ?? (type === 'timestamp with time zone' ? typed : (column.value ?? typed))
  }
  const one = found ? `(select * from ${table} where ${own} limit 1) one, ` : ''
  await sql(
    trx,
    `insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')}) select ${columns.map(value).join(', ')} from ${one}generate_series(${from}, ${until - 1}) n`,
  )
}

/** Takes away what tables check of one row, which made rows do not meet. What tables promise of several rows stays, with its indexes. */
export const uncheck = async (trx: Connection): Promise<void> => {
  const found = await sql<{ of: string; name: string }>(
    trx,
    `select conrelid::regclass::text as of, quote_ident(conname) as name from pg_constraint
     where contype in ('c', 'x') and conislocal and conrelid <> 0 and connamespace = 'public'::regnamespace`,
  )
  for (const { of, name } of found) await sql(trx, `alter table ${of} drop constraint ${name}`)
}
