import { migrate } from '../db/migrate.ts'

/** Brings the database to this release, as the role of DATABASE_OWNER_URL. Runs before the new processes start. */
const applied = await migrate()
console.log(applied.length === 0 ? 'the database is at this release' : `applied ${applied.join(', ')}`)
