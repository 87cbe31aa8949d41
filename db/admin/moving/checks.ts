import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import { ofTenant } from './format.ts'

type Link = { name: string; child: string; parent: string; joined: string; whole: string }

/** Throws where a row of the tenant refers to a row that is not here: rows that arrive as they are pass no foreign key. */
export const assertWhole = async (trx: Knex, tables: readonly string[], tenantId: string): Promise<void> => {
  const links = await sql<Link>(
    trx,
    `select c.conname as name, c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent,
       (select string_agg(format('p.%I = c.%I', p.attname, o.attname), ' and ') from unnest(c.conkey, c.confkey) as k (child, parent)
          join pg_attribute o on o.attrelid = c.conrelid and o.attnum = k.child join pg_attribute p on p.attrelid = c.confrelid and p.attnum = k.parent) as joined,
       (select string_agg(format('c.%I is not null', o.attname), ' and ') from unnest(c.conkey) as k (child)
          join pg_attribute o on o.attrelid = c.conrelid and o.attnum = k.child) as whole
     from pg_constraint c where c.contype = 'f' and c.conparentid = 0 and c.conrelid::regclass::text = any(:tables) order by 2, 1`,
    { tables },
  )
  for (const { name, child, parent, joined, whole } of links) {
    const rows = await sql<unknown>(
      trx,
      `select 1 from ${child} c where c.${ofTenant(child)} and ${whole} and not exists (select from ${parent} p where ${joined}) limit 1`,
      { tenantId },
    )
    if (rows.length > 0) throw new Error(`rows of ${child} refer to rows of ${parent} that did not come (${name})`)
  }
}

/** Sequences that statements ask by name, and the columns that they fill. */
const askedByName: Readonly<Record<string, { table: string; column: string }>> = {
  journal_entry_sequence: { table: 'journal_entry', column: 'sequence' },
  posting_event_seq: { table: 'posting_event', column: 'seq' },
}

type Counted = { sequence: string; table: string; column: string }

/** Sequences of the database with the columns that they fill; `table` is null for one that nothing here knows. */
export const sequencesOf = async (trx: Knex): Promise<(Counted | { sequence: string; table: null })[]> => {
  const rows = await sql<{ sequence: string; table: string | null; column: string | null }>(
    trx,
    `select s.relname as sequence, coalesce(t.relname, u.relname) as "table", coalesce(a.attname, b.attname) as "column" from pg_class s
     left join pg_depend d on d.objid = s.oid and d.deptype in ('a', 'i') and d.classid = 'pg_class'::regclass and d.refobjsubid > 0
     left join pg_class t on t.oid = d.refobjid left join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
     left join pg_depend f on f.refobjid = s.oid and f.classid = 'pg_attrdef'::regclass left join pg_attrdef e on e.oid = f.objid
     left join pg_class u on u.oid = e.adrelid left join pg_attribute b on b.attrelid = u.oid and b.attnum = e.adnum
     where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace order by 1`,
  )
  return rows.map(({ sequence, table, column }) => {
    if (table !== null && column !== null) return { sequence, table, column }
    const asked = askedByName[sequence]
    return asked ? { sequence, ...asked } : { sequence, table: null }
  })
}

/** Leads sequences past the numbers that came, so that later rows of the tenant still come later. */
export const raiseSequences = async (trx: Knex, tables: readonly string[], tenantId: string): Promise<void> => {
  const moved = new Set(tables)
  for (const one of await sequencesOf(trx)) {
    if (one.table === null || !moved.has(one.table)) continue
    await sql(
      trx,
      `select setval('${one.sequence}', m.most) from (select max(${one.column}) as most from ${one.table} where ${ofTenant(one.table)}) m
       where m.most > (select last_value from ${one.sequence})`,
      { tenantId },
    )
  }
}
