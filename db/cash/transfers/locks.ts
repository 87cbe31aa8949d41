import { notFound, versionConflict } from '../../../config/errors.ts'
import { businessDay } from '../../financial/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { busyAsCash } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import type { TransferRecord } from '../models.ts'
import { transferById } from './request.ts'

/** The business days of the registers of a transfer, locked first of all, by property. */
export const lockDays = async (trx: Trx, accounts: readonly (AccountFacts | null)[]): Promise<void> => {
  const properties = accounts.flatMap((one) => (one?.kind === 'register' && one.propertyId ? [one.propertyId] : []))
  for (const propertyId of [...new Set(properties)].toSorted()) await businessDay(trx, propertyId)
}

/** The open sessions of the registers of a transfer, before any account (R4). */
export const lockSessions = async (trx: Trx, sessionIds: readonly (string | null)[]): Promise<void> => {
  const ids = [...new Set(sessionIds.filter((id) => id !== null))].toSorted()
  if (ids.length === 0) return
  await busyAsCash(
    sql(trx, `select id from cash_session where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`, [
      contextOf(trx).tenantId,
      ids,
    ]),
  )
}

/** A transfer that is to change, locked; 404, 409 `version_conflict`. */
export const lockTransfer = async (trx: Trx, id: string, expected: number | null): Promise<TransferRecord> => {
  const found = await busyAsCash(
    sqlOne<{ version: number }>(
      trx,
      `select version from cash_transfer where tenant_id = ? and id = ? for no key update`,
      [contextOf(trx).tenantId, id],
    ),
  )
  if (!found) throw notFound()
  if (expected !== null && found.version !== expected) throw versionConflict(found.version)
  return transferById(trx, id)
}
