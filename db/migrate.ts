import { required, settings } from '../config/env.ts'
import { syncCatalogue } from './admin/index.ts'
import { makeKnex } from './lib/connection.ts'
import { source } from './lib/migrations.ts'

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
    // Walls against deletion that this release brings let the purge of a tenant pass, as the others do.
    await owner.raw('select let_purge_pass()')
    await syncCatalogue(owner)
    return applied
  } finally {
    await owner.destroy()
  }
}
