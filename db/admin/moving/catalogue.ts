import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'
import type { CatalogueRow, MovedUser } from './format.ts'

type Entry = { table: CatalogueRow['table']; known: string; refers: string }

/** The provider's catalogue: what a row is known by at another installation, where its id is another, and the ids to which a tenant refers. */
const catalogue: readonly Entry[] = [
  {
    table: 'plan_version',
    known: `jsonb_build_array(c.plan, c.number, c.features, c.prices, c.platform_fee_rate)`,
    refers: `select plan_version_id from subscription where tenant_id = :tenantId union select former_plan_version_id from subscription
      where tenant_id = :tenantId and former_plan_version_id is not null union select plan_version_id from entitlement_grant where tenant_id = :tenantId`,
  },
  {
    table: 'add_on',
    known: `jsonb_build_array(c.key, c.feature, c.billing_type, c.meter)`,
    refers: `select add_on_id from subscription_item where tenant_id = :tenantId`,
  },
  {
    table: 'add_on_price',
    known: `jsonb_build_array((select key from add_on where id = c.add_on_id), c.number, c.prices)`,
    refers: `select price_id from subscription_item where tenant_id = :tenantId`,
  },
]

/** Tables whose rows name rows of the catalogue. */
export const catalogued: ReadonlySet<string> = new Set(['subscription', 'entitlement_grant', 'subscription_item'])

/** Rows of the catalogue to which a tenant refers. */
export const catalogueOf = async (trx: Knex, tenantId: string): Promise<CatalogueRow[]> => {
  const found: CatalogueRow[] = []
  for (const { table, known, refers } of catalogue) {
    const rows = await sql<{ id: string; known: string }>(
      trx,
      `select c.id, ${known}::text as known from ${table} c where c.id in (${refers}) order by c.id`,
      { tenantId },
    )
    found.push(...rows.map((row) => ({ table, ...row })))
  }
  return found
}

/** Ids of the catalogue here, by those of the source. Throws where the catalogues differ in what the tenant has. */
export const catalogueHere = async (trx: Knex, wanted: readonly CatalogueRow[]): Promise<Map<string, string>> => {
  const found = new Map<string, string>()
  for (const { table, known } of catalogue)
    for (const one of wanted.filter((row) => row.table === table)) {
      const rows = await sql<{ id: string }>(trx, `select c.id from ${table} c where ${known} = :known::jsonb`, {
        known: one.known,
      })
      const [here] = rows
      if (!here) throw new Error(`${table} of this installation has no ${one.known}, which the tenant has`)
      found.set(one.id, here.id)
    }
  return found
}

/** Users to whom foreign keys of the tenant's rows lead. */
export const usersOf = async (trx: Knex, tenantId: string): Promise<MovedUser[]> => {
  const rows = await sql<MovedUser>(
    trx,
    `select u.id, u.email, u.name, u.locale from app_user u where u.id in (
       select unnest(array[user_id, invited_by, deactivated_by]) from membership where tenant_id = :tenantId
       union select unnest(array[created_by, revoked_by]) from api_key where tenant_id = :tenantId) order by u.id`,
    { tenantId },
  )
  return rows
}

/**
 * Makes the users who are not here yet: they have no password until they ask for a link to set one. Answers the ids of those who are here under another id.
 * The trail keeps their old id for what they did, so that id stays behind with their name, locked.
 */
export const usersHere = async (trx: Knex, users: readonly MovedUser[]): Promise<Map<string, string>> => {
  const renamed = new Map<string, string>()
  for (const { id, email, name, locale } of users) {
    const rows = await sql<{ id: string }>(
      trx,
      `select id from app_user where id = :id or email_key = lower(:email) order by id = :id desc`,
      { id, email },
    )
    const [here] = rows
    if (here?.id === id) continue
    if (!here) {
      await sql(
        trx,
        `insert into app_user (id, email, email_key, name, locale, status) values (:id, :email, lower(:email), :name, :locale, 'active')`,
        { id, email, name, locale },
      )
      continue
    }
    renamed.set(id, here.id)
    const left = `${id}@moved.invalid`
    await sql(
      trx,
      `insert into app_user (id, email, email_key, name, locale, status, locked_at, lock_reason)
       values (:id, :left, :left, :name, :locale, 'locked', now(), :why)`,
      { id, left, name, locale, why: `is ${here.id} since a tenant moved here` },
    )
  }
  return renamed
}
