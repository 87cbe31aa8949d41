import { readdir } from 'node:fs/promises'
import type { Knex } from 'knex'
import { required, settings } from '../config/env.ts'
import { syncCatalogue } from './admin/catalogue.ts'
import { makeKnex } from './lib/connection.ts'

const folder = new URL('./migrations/', import.meta.url)

type Migration = { up: (knex: Knex) => Promise<unknown> }

const source = {
  getMigrations: async () =>
    (await readdir(folder))
      .filter((file) => /^\d{4}[a-z]?_[a-z_]+\.(ts|js)$/.test(file))
      .sort()
      .map((file) => file.replace(/\.(ts|js)$/, '')),
  getMigrationName: (name: string) => name,
  getMigration: async (name: string) => {
    const file = new URL(`${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, folder)
    const { up } = (await import(file.href)) as Migration
    return {
      up: async (knex: Knex) => void (await up(knex)),
      down: () => Promise.reject(new Error('migrations go forward only')),
    }
  },
}

/** Brings the database to this release, as the role that owns the tables. Answers the names of what it applied. */
export const migrate = async (ownerUrl = settings.databaseOwnerUrl): Promise<string[]> => {
  const owner = makeKnex(required(ownerUrl, 'DATABASE_OWNER_URL'), 2)
  try {
    const [, applied] = (await owner.migrate.latest({ migrationSource: source, tableName: 'schema_migration' })) as [
      number,
      string[],
    ]
    if (!applied.includes('0001_platform')) await owner.raw('select ensure_month_partitions(14)')
    await owner.raw('grant select on schema_migration to pousada_service')
    await syncCatalogue(owner)
    return applied
  } finally {
    await owner.destroy()
  }
}

/** Whether every migration of this build has been applied; readiness asks it. */
export const isMigrated = async (knex: Knex): Promise<boolean> => {
  const known = await source.getMigrations()
  const rows = await knex<{ name: string }>('schema_migration').select('name')
  const applied = new Set(rows.map((row) => row.name))
  return known.every((name) => applied.has(name))
}
