import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { closeDatabase, makeKnex, openDatabase } from '../../db/lib/connection.ts'
import { checkEvents } from './events.ts'
import { createTestDatabase } from './services.ts'
import type { TestDatabase } from './services.ts'
import { checkTenantsNamed, hearTenants } from './tenants-named.ts'

export type Database = TestDatabase & {
  /** The service's own pool, as `database()` of db/lib/connection.ts answers it. */
  service: Knex
  /** Beyond row-level security: to look at the truth, and to break it. */
  admin: Knex
}

let current: (Database & { check: () => Promise<void>; close: () => Promise<void> }) | null = null

/** A migrated database of its own, opened by db/lib/connection.ts, with a Redis prefix of its own. The one before it is dropped. */
export const freshDatabase = async (): Promise<Database> => {
  await leaveDatabase()
  const made = await createTestDatabase()
  settings.databaseUrl = made.url
  settings.databaseOwnerUrl = made.ownerUrl
  settings.redisPrefix = `{t${randomUUID().slice(0, 8)}}`
  const service = await openDatabase()
  const admin = makeKnex(made.adminUrl, 4)
  const heard = hearTenants(service)
  const check = async () => {
    await checkEvents(admin)
    await checkTenantsNamed(admin, heard)
  }
  const close = async () => {
    await closeDatabase()
    await admin.destroy()
    await made.drop()
  }
  current = { ...made, service, admin, check, close }
  return current
}

export const leaveDatabase = async () => {
  const leaving = current
  current = null
  if (!leaving) return
  try {
    await leaving.check()
  } finally {
    await leaving.close()
  }
}

/** A fresh database for the tests of the surrounding `describe`, or of the file. */
export const useDatabase = (): { database: Database } => {
  const held: { database: Database | null } = { database: null }
  before(async () => {
    held.database = await freshDatabase()
  })
  after(leaveDatabase)
  return {
    get database() {
      if (!held.database) throw new Error('the database is there from the first before hook on')
      return held.database
    },
  }
}
