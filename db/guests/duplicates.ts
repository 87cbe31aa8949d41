import { conflict, notFound } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Condition } from '../lib/conditions.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { model } from '../lib/models.ts'
import type { GuestDuplicateRow } from '../rows.ts'
import type { MatchKind } from './rules/scores.ts'
import { guestsOf } from './list.ts'
import { refuseStale } from './lock.ts'
import { Guest } from './models.ts'
import { tellChanged } from './tell.ts'

const GuestDuplicate = model('guest_duplicate')

type Pair = Omit<GuestDuplicateRow, 'matches'> & { matches: MatchKind[] }

export type DuplicateFilter = Paging & {
  status: GuestDuplicateRow['status']
  minScore?: number | undefined
  scope: Condition
}

/** A page of pairs that may be one person, the most probable first; both as they stand in the list of guests. */
export const listDuplicates = async (trx: Trx, { scope, ...filter }: DuplicateFilter) => {
  const { total, rows } = await readPage<Pair>(
    trx,
    {
      columns: 'd.*',
      from: `guest_duplicate d join guest a on a.tenant_id = d.tenant_id and a.id = d.guest_a
        join guest b on b.tenant_id = d.tenant_id and b.id = d.guest_b`,
      conditions: [
        ...where('d.status = ?', filter.status),
        ...where('d.score >= ?', filter.minScore),
        // Pairs of profiles that are one by now, or are erased, are no question any more.
        ...(filter.status === 'merged' ? [] : [{ text: `a.status = 'active' and b.status = 'active'`, values: [] }]),
      ],
      order: 'd.score desc, d.id',
    },
    filter,
  )
  const guests = await guestsOf(
    trx,
    rows.flatMap((row) => [row.guestA, row.guestB]),
    scope,
  )
  return {
    total,
    rows: rows.map((row) => ({
      ...row,
      guests: [row.guestA, row.guestB].flatMap((id) => guests.get(id) ?? []),
    })),
  }
}

/** One pair with both guests. */
export const readDuplicate = async (trx: Trx, duplicateId: string, scope: Condition) => {
  const row = await sqlOne<Pair>(trx, `select * from guest_duplicate where id = ?`, [duplicateId])
  if (!row) throw notFound()
  const guests = await guestsOf(trx, [row.guestA, row.guestB], scope)
  return { ...row, guests: [row.guestA, row.guestB].flatMap((id) => guests.get(id) ?? []) }
}

/** Marks a pair as different people (M1): it is not proposed again, unless a document matches. */
export const dismissDuplicate = async (
  trx: Trx,
  duplicateId: string,
  expected: number | null = null,
): Promise<void> => {
  const row = await sqlOne<GuestDuplicateRow>(trx, `select * from guest_duplicate where id = ? for no key update`, [
    duplicateId,
  ])
  if (!row) throw notFound()
  refuseStale(row, expected)
  if (row.status === 'dismissed') return
  if (row.status !== 'open') throw conflict('invalid_transition', 'The two were merged')
  await changeRow(trx, GuestDuplicate, duplicateId, {
    status: 'dismissed',
    decidedBy: contextOf(trx).actor.id,
    decidedAt: new Date(),
  })
  for (const guestId of [row.guestA, row.guestB])
    await tellChanged(trx, await readRow(trx, Guest, guestId, ['id', 'source', 'version']), ['duplicates'])
}
