import { readdir } from 'node:fs/promises'
import type { Knex } from 'knex'

const folder = new URL('../migrations/', import.meta.url)

type Migration = { up: (knex: Knex) => Promise<unknown> }

/** Migrations of this build, in their order; each goes forward only. */
export const source = {
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

/** Tells whether every migration of this build has been applied; readiness asks it. */
export const isMigrated = async (knex: Knex): Promise<boolean> => {
  const known = await source.getMigrations()
  const rows = await knex<{ name: string }>('schema_migration').select('name')
  const applied = new Set(rows.map((row) => row.name))
  return known.every((name) => applied.has(name))
}
