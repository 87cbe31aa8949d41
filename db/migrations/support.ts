import type { Knex } from 'knex'

const tenantDefault = `nullif(current_setting('app.tenant_id', true), '')::uuid`
const service = 'pousada_service'

type Options = {
  /** Privileges of the service's role; less than all four for what is append-only. */
  grant?: string
  /** `partition by …` */
  suffix?: string
}

const create = async (knex: Knex, name: string, columns: string, head: string, options: Options) => {
  await knex.raw(`create table ${name} (${head}${columns}) ${options.suffix ?? ''}`)
  await knex.raw(`grant ${options.grant ?? 'select, insert, update, delete'} on ${name} to ${service}`)
}

const own = (columns: string) => (/primary key/i.test(columns) ? '' : `,\n primary key (tenant_id, id)`)

const isolate = async (knex: Knex, name: string, condition: string, check = condition) => {
  await knex.raw(`alter table ${name} enable row level security`)
  await knex.raw(`alter table ${name} force row level security`)
  await knex.raw(`create policy tenant on ${name} to ${service} using (${condition}) with check (${check})`)
  // The owner reads ids alone, inside the functions made by sweepFunction. It has no other use for rows.
  await knex.raw(`create policy owner on ${name} to current_user using (true) with check (true)`)
}

/**
 * A table of tenants' rows: `tenant_id` and `id` come first, the primary key is (tenant_id, id) unless `columns` names one, and
 * row-level security shows a transaction its own tenant alone.
 */
export const tenantTable = async (knex: Knex, name: string, columns: string, options: Options = {}) => {
  const id =
    /primary key/i.test(columns) && !/\bid\b/.test(columns.slice(columns.search(/primary key/i)))
      ? ''
      : `id uuid not null default gen_random_uuid(),\n `
  await create(
    knex,
    name,
    `${columns}${own(columns)}`,
    `tenant_id uuid not null default ${tenantDefault},\n ${id}`,
    options,
  )
  await isolate(knex, name, `tenant_id = ${tenantDefault}`)
}

/**
 * A table of the platform: a tenant sees its own rows, and all are seen where app.scope is platform. `columns` is whole. `writtenByAll`: who is in no tenant,
 * such as a sign-in, may add a row for one, which it cannot read.
 */
export const platformTable = async (
  knex: Knex,
  name: string,
  columns: string,
  options: Options & { writtenByAll?: boolean } = {},
) => {
  await create(knex, name, columns, '', options)
  const column = name === 'tenant' ? 'id' : 'tenant_id'
  const condition = `${column} = ${tenantDefault} or current_setting('app.scope', true) = 'platform'
    or (${column} is null and ${tenantDefault} is null)`
  await isolate(knex, name, condition, options.writtenByAll ? `${condition} or ${tenantDefault} is null` : condition)
}

/** A table that belongs to no tenant and has no row-level security; it stands on the list of the schema guard test. */
export const openTable = async (knex: Knex, name: string, columns: string, options: Options = {}) =>
  create(knex, name, columns, '', options)

/** Sets updated_at on each change. */
export const touch = (knex: Knex, table: string) =>
  knex.raw(`create trigger touch before update on ${table} for each row execute function touch_updated_at()`)

/** Refuses what the owner too may not do: rows that are written once. */
export const appendOnly = async (knex: Knex, table: string, columns = '') => {
  await knex.raw(
    `create trigger append_only before update ${columns} or delete on ${table} for each row execute function refuse_change()`,
  )
  await knex.raw(
    `create trigger append_only_truncate before truncate on ${table} for each statement execute function refuse_change()`,
  )
}

/** A function that looks across tenants and answers ids alone; the work is then done tenant by tenant. */
export const sweepFunction = async (knex: Knex, signature: string, returns: string, body: string) => {
  await knex.raw(
    `create function ${signature} returns table (${returns}) language sql stable security definer set search_path = public, pg_temp as $sweep$ ${body} $sweep$`,
  )
  await knex.raw(`revoke all on function ${signature.replace(/\bdefault [^,)]+/gi, '')} from public`)
  await knex.raw(`grant execute on function ${signature.replace(/\bdefault [^,)]+/gi, '')} to ${service}`)
}
