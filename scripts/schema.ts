import type { Client } from 'pg'

/** Partitions follow the calendar and repeat their table; what is left is the same on every day. */
const queries = {
  table: `
    select c.relname as of, format('  %s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
        case when d.oid is null then '' when a.attgenerated = 's' then ' generated ' || pg_get_expr(d.adbin, d.adrelid)
          else ' default ' || pg_get_expr(d.adbin, d.adrelid) end) as line, 1 as part, lpad(a.attnum::text, 4, '0') as place
    from tables c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped`,
  constraint: `
    select c.relname, '  ' || k.conname || ' ' || pg_get_constraintdef(k.oid), 2, k.conname
    from tables c join pg_constraint k on k.conrelid = c.oid where k.conparentid = 0 and k.contype <> 'n'`,
  index: `
    select c.relname, '  ' || pg_get_indexdef(i.indexrelid), 3, x.relname
    from tables c join pg_index i on i.indrelid = c.oid join pg_class x on x.oid = i.indexrelid
    where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))`,
  policy: `
    select c.relname, format('  policy %s for %s to %s using (%s) with check (%s)', p.policyname, p.cmd, array_to_string(p.roles, ', '),
        p.qual, p.with_check), 4, p.policyname
    from tables c join pg_policies p on p.schemaname = 'public' and p.tablename = c.relname`,
  trigger: `
    select c.relname, '  ' || pg_get_triggerdef(t.oid), 5, t.tgname from tables c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal`,
  grant: `
    select c.relname, '  grant ' || string_agg(lower(g.privilege_type), ', ' order by g.privilege_type) || ' to ' || g.grantee, 6, g.grantee
    from tables c join information_schema.role_table_grants g on g.table_schema = 'public' and g.table_name = c.relname
    where g.grantee = 'pousada_service' group by c.relname, g.grantee`,
}

const tables = `
  with tables as (select c.* from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    and not c.relispartition and c.relname !~ '^schema_migration')
  select * from (${Object.values(queries).join(' union all ')}) as lines order by of, part, place, line`

const functions = `
  select format('%s returns %s%s', p.oid::regprocedure, pg_get_function_result(p.oid), case when p.prosecdef then ' security definer' else '' end) as line
  from pg_proc p where p.pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  order by 1`

/** The schema that the migrations make of an empty database, as text. It shows a change of the schema in its review. */
export const describeSchema = async (client: Client): Promise<string> => {
  const { rows } = await client.query<{ of: string; line: string }>(tables)
  const lines: string[] = []
  let table = ''
  for (const { of, line } of rows) {
    if (of !== table) lines.push(...(table === '' ? [] : ['']), of)
    table = of
    lines.push(line.replace(/\s*\n\s*/g, ' '))
  }
  const made = await client.query<{ line: string }>(functions)
  return `${[...lines, '', 'functions', ...made.rows.map(({ line }) => `  ${line}`)].join('\n')}\n`
}
