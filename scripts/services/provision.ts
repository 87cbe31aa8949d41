import pg from 'pg'

export const owner = 'pousada_owner'
export const service = 'pousada_service'
export const extensions = ['btree_gist', 'pg_trgm', 'btree_gin']

export type Passwords = { owner: string; service: string }

export const withClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const harmless = 'nosuperuser nobypassrls nocreatedb nocreaterole noreplication'

/** Two roles: one owns the tables and migrates them, the other is the service's and neither owns nor bypasses. */
export const provisionRoles = async (client: pg.Client, passwords: Passwords) => {
  for (const [role, password] of [
    [owner, passwords.owner],
    [service, passwords.service],
  ] as const) {
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role])
    const { rows } = await client.query<{ super: boolean }>(
      'select rolsuper as super from pg_roles where rolname = current_user',
    )
    // Only a superuser may name the attributes that a new role lacks anyway.
    const attributes = rows[0]?.super ? harmless : ''
    await client.query(
      `${rowCount ? 'alter' : 'create'} role ${role} login ${attributes} password ${client.escapeLiteral(password)}`,
    )
    // Rows of a tenant that comes from another installation arrive as they are.
    if (role === owner && rows[0]?.super)
      await client.query(`grant set on parameter session_replication_role to ${owner}`)
  }
}

/** Only the owner makes temporary tables: they would come before the others in the sight of whatever names no schema. */
export const refuseTemporary = (client: pg.Client, database: string) =>
  client.query(`revoke temporary on database ${client.escapeIdentifier(database)} from public`)

/** The owner may make its tables here, the extensions are there, and the service's role may enter. */
export const prepareDatabase = async (client: pg.Client, database: string) => {
  for (const extension of extensions) await client.query(`create extension if not exists ${extension}`)
  const name = client.escapeIdentifier(database)
  await client.query(`grant connect, create, temporary on database ${name} to ${owner}`)
  await client.query(`grant connect on database ${name} to ${service}`)
  await refuseTemporary(client, database)
  await client.query(`grant usage, create on schema public to ${owner}`)
  await client.query(`grant usage on schema public to ${service}`)
}

export const createDatabase = async (client: pg.Client, database: string) => {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database])
  if (!rowCount) await client.query(`create database ${client.escapeIdentifier(database)} owner ${owner}`)
}
