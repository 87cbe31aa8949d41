import { documentOf } from '../api/lib/document.ts'
import { routes } from '../api/routes.ts'
import { migrate } from '../db/migrate.ts'

/** Brings the database to this release, as the role of DATABASE_OWNER_URL. Runs before the new processes start. */
// A build whose parts do not belong together is refused before anything changes.
await documentOf(routes)()

const applied = await migrate()
console.log(applied.length === 0 ? 'the database is at this release' : `applied ${applied.join(', ')}`)
