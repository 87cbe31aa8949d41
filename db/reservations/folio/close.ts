import { folioClosed, folioReopened } from '../../../config/events/folios.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import type { FolioRow } from '../../rows.ts'
import { tellClosed } from './closed.ts'
import { factOf } from './open.ts'

/** Closes those of some locked folios that owe nothing (F2); one with a balance stays open and keeps it visible. */
export const closeSettled = async (trx: Trx, folioIds: readonly string[]): Promise<void> => {
  const closed = await sql<FolioRow>(
    trx,
    `update folio set status = 'closed', version = version + 1 where id = any(?::uuid[]) and status = 'open' and balance = 0 returning *`,
    [folioIds],
  )
  await emitAll(
    trx,
    folioClosed,
    closed.map((one) => factOf(one)),
  )
  await tellClosed(
    trx,
    closed.map(({ id }) => id),
  )
}

/** Opens the closed ones of some locked folios again (F3), but those that are billed. Answers all of them as they are now. */
export const reopenClosed = async (trx: Trx, folios: readonly FolioRow[]): Promise<FolioRow[]> => {
  const closed = folios.filter((one) => one.status === 'closed' && one.receivableId === null)
  if (closed.length === 0) return [...folios]
  const opened = await sql<FolioRow>(
    trx,
    `update folio set status = 'open', version = version + 1 where id = any(?::uuid[]) returning *`,
    [closed.map((one) => one.id)],
  )
  await emitAll(
    trx,
    folioReopened,
    opened.map((one) => factOf(one)),
  )
  return folios.map((one) => opened.find((each) => each.id === one.id) ?? one)
}
