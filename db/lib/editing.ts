import { notFound } from '../../config/errors.ts'
import { sqlOne } from './connection.ts'
import type { Trx } from './connection.ts'

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Writes the fields of a change that were sent, and the version. `documents` are those stored as JSON. Answers the new version; where
 * nothing was sent, the row stays as it is.
 */
export const changeRow = async (
  trx: Trx,
  table: string,
  id: string,
  change: Record<string, unknown>,
  documents: readonly string[] = [],
): Promise<number> => {
  const sent = Object.entries(change).filter(([, value]) => value !== undefined)
  const row =
    sent.length === 0
      ? await sqlOne<{ version: number }>(trx, `select version from ?? where id = ?`, [table, id])
      : await sqlOne<{ version: number }>(
          trx,
          `update ?? set ${sent.map(() => '?? = ?').join(', ')}, version = version + 1 where id = ? returning version`,
          [
            table,
            ...sent.flatMap(([field, value]) => [
              columnOf(field),
              documents.includes(field) && value !== null ? JSON.stringify(value) : value,
            ]),
            id,
          ],
        )
  if (!row) throw notFound()
  return row.version
}

/** Names of what was sent, for an event. */
export const fieldsOf = (change: Record<string, unknown>) =>
  Object.keys(change).filter((field) => change[field] !== undefined)
