import { notFound } from '../../../config/errors.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { equal, fact, matching, pageOf } from '../../lib/lists.ts'
import { tenantDay } from '../day.ts'
import { groupOf, isOfGuest } from '../resolve.ts'
import { planOf } from './plan.ts'
import { PrivacyRequest, wordsOf } from './requests.ts'
import type { Row } from './requests.ts'

const overdue = `due_on < ${tenantDay} and status in ('received', 'running')`

/** Requests with what follows from the day and the row. */
const shown = async (trx: Trx, rows: readonly Row[]) => {
  const late = await sql<{ id: string }>(
    trx,
    `select id from privacy_request where id = any(?::uuid[]) and ${overdue}`,
    [rows.map(({ id }) => id)],
  )
  const lateIds = new Set(late.map(({ id }) => id))
  return rows.map((row) => ({ ...row, overdue: lateIds.has(row.id), hasExport: row.exportBlobId !== null }))
}

/** A request with what the guest said, and the present plan of an erasure that waits for a decision. */
export const readRequest = async (trx: Trx, id: string) => {
  const row = await sqlOne<Row>(trx, `select * from privacy_request where id = ?`, [id])
  if (!row) throw notFound()
  const { note, correction } = await wordsOf(trx, row)
  const plan =
    row.kind === 'erasure' && row.status === 'received' ? await planOf(trx, await groupOf(trx, row.guestId)) : null
  const [read] = await shown(trx, [row])
  return { ...read!, note, correctionFields: correction ? Object.keys(correction) : [], plan }
}

const list = pageOf(PrivacyRequest, {
  order: ['dueOn', 'id'],
  filters: {
    status: equal('status'),
    kind: equal('kind'),
    guestId: matching<string>(isOfGuest('guest_id')),
    overdue: fact(overdue),
  },
})

export const listRequests = async (trx: Trx, filter: Parameters<typeof list>[1]) => {
  const { total, rows } = await list(trx, filter)
  return { total, rows: await shown(trx, rows) }
}
