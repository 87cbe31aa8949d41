import { readFileSync, writeFileSync } from 'node:fs'
import '../test/support/variables.ts'
import { createTestDatabase, startServices, stopServices } from '../test/support/services.ts'
import { describeSchema } from './schema.ts'
import { withClient } from './services/provision.ts'

const target = new URL('../db/rows.ts', import.meta.url)

type Column = {
  table: string
  column: string
  type: string
  isArray: boolean
  nullable: boolean
  /** The database fills it where an insert leaves it out. */
  filled: boolean
  /** Computed of other columns; nobody writes it. */
  computed: boolean
  values: string[] | null
}

const columns = `
  select c.relname as "table", a.attname as "column", t.typname like '\\_%' and t.typcategory = 'A' as "isArray",
    case when t.typcategory = 'A' then e.typname else t.typname end as type, not a.attnotnull as nullable,
    a.attgenerated <> '' as computed, (a.atthasdef and a.attgenerated = '') or a.attidentity <> '' as filled,
    (select array_agg(m[1] order by m[1]) from pg_constraint k, regexp_matches(pg_get_constraintdef(k.oid), '''([^'']*)''::text', 'g') m
     where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
       and pg_get_constraintdef(k.oid) ~ ('^CHECK \\(\\(' || a.attname || ' = ANY \\(ARRAY\\[[^]]*\\]\\)\\)\\)$')) as values
  from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped and c.relname not like 'schema\\_migration%'
  order by c.relname, a.attnum`

const scalars: Record<string, string> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float4: 'number',
  float8: 'number',
  timestamptz: 'Date',
  json: 'unknown',
  jsonb: 'unknown',
  bytea: 'Buffer',
}

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
const pascal = (name: string) => camel(`_${name}`)

const typeOf = ({ type, isArray, nullable, values }: Column) => {
  const single = values && !isArray ? values.map((value) => `'${value}'`).join(' | ') : (scalars[type] ?? 'string')
  return `${single}${isArray ? '[]' : ''}${nullable ? ' | null' : ''}`
}

const fieldsOf = (list: readonly Column[], is: (row: Column) => boolean = () => true) =>
  list.filter(is).map((row) => `'${camel(row.column)}'`)
const isDocument = ({ type, isArray }: Column) => !isArray && (type === 'json' || type === 'jsonb')

/** A table as models read it at run time; `as const`, so that the types of inserts follow from it. */
const described = ([table, list]: [string, Column[]]) => {
  const line = (name: string, is?: (row: Column) => boolean) => `    ${name}: [${fieldsOf(list, is).join(', ')}],\n`
  return [
    `  ${table}: {\n`,
    line('fields'),
    line('documents', isDocument),
    line('filled', (row) => row.filled),
    line('nullable', (row) => row.nullable && !row.filled && !row.computed),
    line('computed', (row) => row.computed),
    `  },\n`,
  ].join('')
}

/** The row types and columns of the migrated database, as they stand in db/rows.ts. */
export const generateRows = async (): Promise<string> => {
  const { adminUrl, drop } = await createTestDatabase()
  const { rows } = await withClient(adminUrl, (client) => client.query<Column>(columns))
  await drop()
  const tables = new Map<string, Column[]>()
  for (const row of rows) tables.set(row.table, [...(tables.get(row.table) ?? []), row])
  const interfaces = [...tables].map(
    ([table, list]) =>
      `export interface ${pascal(table)}Row {\n${list.map((row) => `  ${camel(row.column)}: ${typeOf(row)}\n`).join('')}}\n`,
  )
  const index = [...tables.keys()].map((table) => `  ${table}: ${pascal(table)}Row\n`).join('')
  return [
    `/** Generated from the migrated database by \`npm run rows\`. Not edited by hand. */\n`,
    ...interfaces,
    `/** The row type of each table, by the table's name. */\nexport interface Rows {\n${index}}\n`,
    `/**\n * The columns of each table, by the table's name. \`documents\` are JSON; \`filled\` have a default; \`nullable\` have none and may be null;\n * \`computed\` are generated from others.\n */`,
    `export const tables = {\n${[...tables].map(described).join('')}} as const\n`,
  ].join('\n')
}

/** The shape of the migrated database, as it stands in test/schema/schema.txt. */
export const generateSchema = async (): Promise<string> => {
  const { adminUrl, drop } = await createTestDatabase()
  const text = await withClient(adminUrl, describeSchema)
  await drop()
  return text
}

if (import.meta.filename === process.argv[1]) {
  await startServices()
  try {
    const text = await generateRows()
    writeFileSync(target, text)
    writeFileSync(new URL('../test/schema/schema.txt', import.meta.url), await generateSchema())
    console.log(`db/rows.ts: ${readFileSync(target, 'utf8').split('export interface').length - 1} tables`)
  } finally {
    await stopServices()
  }
}
