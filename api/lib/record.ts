import { invalid, notFound, versionConflict } from '../../config/errors.ts'
import { isAlways } from '../../db/lib/conditions.ts'
import { preparedOne } from '../../db/lib/connection.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import type { Admission } from './caller.ts'
import type { AnyRoute, RequestFacts } from './route.ts'

type Columns = Record<string, unknown>

const camel = (column: string) => column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** A record as conditions know it. One without a property belongs to none, but a property is its own. */
export const asJudged = (table: string, id: unknown, record: object): Columns => ({
  propertyId: table === 'property' ? id : null,
  ...record,
})

const recordOf = (table: string, row: Columns): Columns =>
  asJudged(table, row.id, Object.fromEntries(Object.entries(row).map(([column, value]) => [camel(column), value])))

/** The version that the caller read, from `If-Match: "<version>"`; null where there is none, or any will do. */
export const expectedVersion = (request: RequestFacts): number | null => {
  const header = request.header('if-match')
  if (header === '' || header === '*') return null
  const version = /^"(\d{1,15})"$/.exec(header)?.[1]
  if (version === undefined) throw invalid([{ field: 'If-Match', message: 'must be a version in quotes, such as "3"' }])
  return Number(version)
}

/**
 * Locks the record that the path names, unless its command does, and answers its version; null where the path names none. Where the caller's
 * role has a condition for the action, the row is judged by it: 404 where he may not know of it, 403 where he may.
 */
export const lockRecord = async (
  trx: AnyTrx,
  { record, access }: AnyRoute,
  params: Record<string, unknown>,
  admission: Admission | undefined,
): Promise<number | null> => {
  if (!record) return null
  const { action, subject } = 'subject' in access ? access : { action: '', subject: '' }
  const hasCondition = (of: string) => admission?.can(of, subject) === true && !isAlways(admission.scope(of, subject))
  const conditional = hasCondition(action) || hasCondition('read')
  // A text for each record of a route, whose names are those of the code.
  const found = await preparedOne<{ version: number; row: Columns | null }>(
    trx,
    `select version, ${conditional ? 'to_jsonb(r)' : 'null::jsonb'} as row from "${record.table}" r where r."${record.column ?? 'id'}" = ?
     ${record.lockedBy === 'command' ? '' : 'for no key update'}`,
    [params[record.param]],
  )
  if (!found) throw notFound()
  if (found.row) admission?.check(action, subject, recordOf(record.table, found.row))
  return found.version
}

/** Compares a version that the caller read with that of the locked record: a stale one changes nothing. */
export const assertVersion = (found: number | null, expected: number | null): void => {
  if (found !== null && expected !== null && found !== expected) throw versionConflict(found)
}
