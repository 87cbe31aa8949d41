import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'

/** Tables of no tenant, and without row-level security: what must be read before the tenant is known, and the platform's own. */
const open = new Set([
  'add_on',
  'add_on_price',
  'announcement',
  'app_user',
  'audit_chain',
  'billing_run',
  'billing_series',
  'dispatch_epoch',
  'feature',
  'known_network',
  'one_time_token',
  'password_request',
  'plan_version',
  'platform_count',
  'property_directory',
  'relay_turn',
  'queue_minute',
  'queue_total',
  'recovery_code',
  'sandbox_object',
  'schedule',
  'schema_migration',
  'schema_migration_lock',
  'session',
  'sign_in_failure',
  'superuser_account',
  'tenant_move',
  'tenant_ticket',
  'user_mail',
  'worker_heartbeat',
])

/** Row-level security by tenant or by the scope of the platform; a row may belong to no tenant. */
const platform = new Set([
  'audit_day',
  'audit_entry',
  'billing_adjustment',
  'entitlement_grant',
  'external_call',
  'gateway_callback',
  'invoice_payment',
  'job_archive',
  'jobs',
  'kept_reply',
  'notice',
  'provider_gate',
  'queue_control',
  'subscription_invoice',
  'subscription_invoice_line',
  'subscription_item',
  'support_session',
  'tenant',
  'tenant_export',
  'usage_day',
  'usage_event',
])

/** Prices in parts of a minor unit: decimals that are multiplied exactly. */
const fractions = new Set(['subscription_invoice_line.unit_price'])
const money = /(^|_)(amount|balance|debit|credit|price|total|due|paid|captured|authorised|refunded)(_amount)?$/

describe('every table', () => {
  const world = useDatabase()
  const rows = <Row = { found: string }>(text: string) => sql<Row>(world.database.admin, text)
  const found = async (text: string) => (await rows(text)).map((row) => row.found)

  const tables = `select c.oid, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relispartition from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
  const hasTenant = `exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'tenant_id' and not a.attisdropped)`

  it('of tenants is behind row-level security, enabled and forced', async () => {
    const bare = await found(
      `select relname as found from (${tables}) t where not relispartition and not (relrowsecurity and relforcerowsecurity
         and exists (select from pg_policy p where p.polrelid = t.oid)) order by 1`,
    )
    expect(bare.filter((name) => !open.has(name))).to.deep.equal([])
  })

  it('of tenants has the tenant first in its primary key', async () => {
    const other = await found(
      `select relname as found from (${tables}) t where not relispartition and (not ${hasTenant} or not exists (
         select from pg_constraint k join pg_attribute a on a.attrelid = t.oid and a.attnum = k.conkey[1]
         where k.conrelid = t.oid and k.contype = 'p' and a.attname = 'tenant_id')) order by 1`,
    )
    expect(other.filter((name) => !open.has(name) && !platform.has(name))).to.deep.equal([])
  })

  it('refers to another table of tenants with the tenant in the key', async () => {
    const loose = await found(
      `select k.conrelid::regclass || '.' || k.conname as found from pg_constraint k
       join (${tables}) t on t.oid = k.conrelid join (${tables}) f on f.oid = k.confrelid
       where k.contype = 'f' and k.conparentid = 0 and ${hasTenant}
         and exists (select from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid and a.attnum = p.conkey[1]
                     where p.conrelid = k.confrelid and p.contype = 'p' and a.attname = 'tenant_id')
         and not exists (select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'tenant_id' and a.attnum = any(k.conkey)) order by 1`,
    )
    expect(loose).to.deep.equal([])
  })

  it('has no index that another begins with', async () => {
    const repeated = await found(
      `with listed as (
         select relname, indrelid, indexrelid, indisunique, indkey::text || ' ' as keys, indclass::text || ' ' as classes, indoption::text || ' ' as options,
           coalesce(pg_get_expr(indpred, indrelid), '') as condition
         from pg_index join pg_class on oid = indexrelid
         where relnamespace = 'public'::regnamespace and not relispartition and relam = (select oid from pg_am where amname = 'btree') and indexprs is null)
       select a.relname as found from listed a join listed b on a.indrelid = b.indrelid and a.indexrelid <> b.indexrelid
       where not a.indisunique and starts_with(b.keys, a.keys) and starts_with(b.classes, a.classes) and starts_with(b.options, a.options)
         -- Few rows of a table are found sooner in an index of those alone, unless it only leaves out where its column is empty.
         and (b.condition = a.condition or b.condition = '' and a.condition = format('(%s IS NOT NULL)', split_part(pg_get_indexdef(a.indexrelid, cardinality(string_to_array(trim(a.keys), ' ')), true), ' ', 1)))
       order by 1`,
    )
    expect(repeated).to.deep.equal([])
  })

  it('has an index behind each foreign key', async () => {
    const bare = await found(
      `select k.conrelid::regclass || ' (' || (select string_agg(a.attname, ', ' order by n) from unnest(k.conkey) with ordinality as c (attnum, n)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.attnum) || ')' as found
       from pg_constraint k join (${tables}) t on t.oid = k.conrelid
       where k.contype = 'f' and k.conparentid = 0 and not relispartition and not exists (
         select from pg_index i where i.indrelid = k.conrelid and i.indisvalid
           and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ 'IS NOT NULL')
           and (i.indkey::int2[])[0:least(2, cardinality(k.conkey)) - 1] <@ k.conkey) order by 1`,
    )
    expect(bare).to.deep.equal([])
  })

  it('has its statistics gathered after a few changes, unless it is a partition', async () => {
    const found = await sql<{ name: string }>(
      world.database.admin,
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not relispartition
         and not coalesce(reloptions @> array['autovacuum_analyze_threshold=5'], false)`,
    )
    expect(found).to.deep.equal([])
  })

  it('keeps money in bigint, instants in timestamptz and days in date', async () => {
    const columns = await rows<{ tableName: string; columnName: string; type: string }>(
      `select relname as table_name, a.attname as column_name, format_type(a.atttypid, null) as type
       from (${tables}) t join pg_attribute a on a.attrelid = t.oid where not relispartition and a.attnum > 0 and not a.attisdropped`,
    )
    const name = ({ tableName, columnName, type }: (typeof columns)[number]) => `${tableName}.${columnName} ${type}`
    expect(
      columns
        .filter(
          ({ type }) => /without time zone|^money$|^real$|^double/.test(type) && type !== 'time without time zone',
        )
        .map(name),
    ).to.deep.equal([])
    expect(
      columns
        .filter(({ columnName, type }) => columnName.endsWith('_at') && type !== 'timestamp with time zone')
        .map(name),
    ).to.deep.equal([])
    expect(
      columns.filter(({ columnName, type }) => columnName.endsWith('_on') && type !== 'date').map(name),
    ).to.deep.equal([])
    expect(
      columns
        .filter(({ columnName, type }) => money.test(columnName) && !['bigint', 'jsonb', 'boolean'].includes(type))
        .filter(({ tableName, columnName }) => !fractions.has(`${tableName}.${columnName}`))
        .map(name),
    ).to.deep.equal([])
  })

  it('is named in lower case, and a reference names what it refers to by …_id', async () => {
    const odd = await found(`select relname as found from (${tables}) t where relname !~ '^[a-z][a-z0-9_]*$'`)
    expect(odd).to.deep.equal([])
  })
})

describe('the functions that run with the rights of the owner', () => {
  const world = useDatabase()

  it('fix their search path, and are closed to the public', async () => {
    const loose = await sql<{ found: string }>(
      world.database.admin,
      `select p.oid::regprocedure::text as found from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef
         and (not exists (select from unnest(p.proconfig) c where c like 'search_path=%') or has_function_privilege('public', p.oid, 'execute'))
         and p.prorettype <> 'trigger'::regtype`,
    )
    expect(loose.map((row) => row.found)).to.deep.equal([])
  })
})

describe('the role of the service', () => {
  const world = useDatabase()

  it('is no superuser, bypasses nothing and owns nothing', async () => {
    const [row] = await sql(
      world.database.service,
      `select current_user as name, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
         (select count(*) from pg_class where relowner = r.oid) as owned, has_schema_privilege('public', 'create') as "mayCreate"
       from pg_roles r where rolname = current_user`,
    )
    expect(row).to.deep.equal({
      name: 'pousada_service',
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      owned: 0,
      mayCreate: false,
    })
  })

  it('may not truncate, nor change the shape of a table', async () => {
    const granted = await sql<{ found: string }>(
      world.database.admin,
      `select c.relname as found from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
         and (has_table_privilege('pousada_service', c.oid, 'truncate') or has_table_privilege('pousada_service', c.oid, 'trigger')
           or has_table_privilege('pousada_service', c.oid, 'references'))`,
    )
    expect(granted).to.deep.equal([])
  })
})
