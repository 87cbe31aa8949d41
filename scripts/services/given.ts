import { createHmac } from 'node:crypto'
import { owner, prepareDatabase, provisionRoles, service, withClient } from './provision.ts'

type Role = { name: string; canMakeRoles: boolean; isSuper: boolean; version: number; database: string }

const roleOf = (url: string): Promise<Role> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<Role>(
      `select rolname as name, rolsuper or rolcreaterole as "canMakeRoles", rolsuper or rolbypassrls as "isSuper",
         current_setting('server_version_num')::int / 10000 as version, current_database() as database
       from pg_roles where rolname = current_user`,
    )
    if (!rows[0]) throw new Error('DATABASE_URL: the role of the connection is not visible')
    return rows[0]
  })

const as = (url: string, user: string, password: string) => {
  const changed = new URL(url)
  changed.username = user
  changed.password = password
  return changed.href
}

/**
 * The connections of a PostgreSQL that was given. Where its role may make roles, the two of the service are made through it, with
 * passwords that follow from that role's: every start against the same server comes to the same ones.
 */
export const givenPostgres = async (url: string, ownerUrl: string | undefined): Promise<Record<string, string>> => {
  const role = await roleOf(url)
  if (role.version < 15) throw new Error(`DATABASE_URL: PostgreSQL ${role.version} is too old; 15 or newer is needed`)
  if (!role.canMakeRoles) {
    if (!ownerUrl)
      throw new Error(
        `DATABASE_URL: ${role.name} may not make roles. Set DATABASE_OWNER_URL to a role that owns the tables, and DATABASE_URL to ${service}`,
      )
    return { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl }
  }
  const secret = decodeURIComponent(new URL(url).password) || role.name
  const password = (name: string) => createHmac('sha256', secret).update(name).digest('base64url')
  await withClient(url, async (client) => {
    await provisionRoles(client, { owner: password(owner), service: password(service) })
    await prepareDatabase(client, role.database)
  })
  return { DATABASE_URL: as(url, service, password(service)), DATABASE_OWNER_URL: as(url, owner, password(owner)) }
}
