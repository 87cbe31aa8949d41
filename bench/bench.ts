import type { Database } from '../test/support/database.ts'
import type { Result } from './report.ts'

/** One comparison, in a world of its own. */
export type Bench = (database: Database) => Promise<{ results: Result[]; notes: string[] }>
