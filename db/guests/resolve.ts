import { conflict, overtaken, unprocessable } from '../../config/errors.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { GuestRow } from '../rows.ts'

type Found = Pick<GuestRow, 'id' | 'status' | 'mergedIntoId'>

export const guestErased = (guestId: string, field = 'guestId') =>
  conflict('guest_erased', 'The personal data of this guest were erased', [{ field, message: `${guestId} is erased` }])

/**
 * The guests that a request names: of a merged profile its survivor (R3). Each is locked FOR SHARE until the transaction ends, in the order of ids, so
 * that no erasure and no merge comes in between. Answers the survivor of each id. 422 `reference_not_found` for an id that the tenant does not
 * have, 409 `guest_erased` for a guest that is erased.
 *
 * @param field named in errors, such as `guestId`; by id where the request has several places
 */
export const resolveGuests = async (
  trx: Trx,
  guestIds: readonly string[],
  field: string | ((guestId: string) => string) = 'guestId',
): Promise<Map<string, string>> => {
  const fieldOf = (guestId: string) => (typeof field === 'string' ? field : field(guestId))
  const named = [...new Set(guestIds)]
  if (named.length === 0) return new Map()
  const found = await prepared<Found>(trx, `select id, status, merged_into_id from guest where id = any(?::uuid[])`, [
    named,
  ])
  const known = new Map(found.map((row) => [row.id, row.mergedIntoId ?? row.id]))
  const strangers = named.filter((id) => !known.has(id))
  if (strangers.length > 0)
    throw unprocessable(
      'reference_not_found',
      'A guest that the request names does not exist',
      strangers.map((id) => ({ field: fieldOf(id), message: `${id} does not exist` })),
    )
  const locked = await prepared<Found>(
    trx,
    `select id, status, merged_into_id from guest where id = any(?::uuid[]) order by id for share`,
    [[...new Set(known.values())]],
  )
  const erased = locked.find((row) => row.status === 'erased')
  if (erased) throw guestErased(erased.id, fieldOf(named.find((id) => known.get(id) === erased.id) ?? erased.id))
  // It was merged after it was looked up: the request is run once more, and finds the survivor.
  if (locked.some((row) => row.status !== 'active')) throw overtaken()
  return known
}

/** The guest that a request names: of a merged profile its survivor. Locked and refused as `resolveGuests` does. */
export const resolveGuest = async (trx: Trx, guestId: string, field?: string): Promise<string> =>
  (await resolveGuests(trx, [guestId], field)).get(guestId) ?? guestId

/**
 * The id of the profile that stands for that of `alias`: its survivor, or itself. No `coalesce`: PostgreSQL does not know that one to be leakproof, so under
 * row-level security a condition with it reads all guests of the tenant.
 */
export const survivorOf = (alias: string): string =>
  `case when ${alias}.merged_into_id is null then ${alias}.id else ${alias}.merged_into_id end`

/** Every profile `m` of the person of the profile `g`, each found by an index: the survivor, and those merged into it. */
const merged = `from guest g cross join lateral (
  select s.id, s.merged_into_id from guest s where s.tenant_id = g.tenant_id and s.id = ${survivorOf('g')}
  union all
  select s.id, s.merged_into_id from guest s where s.tenant_id = g.tenant_id and s.merged_into_id = ${survivorOf('g')}) m`

/**
 * A condition on a column of guest ids with one id as its value: true of every profile of that guest, the survivor and those merged into it (R3, R14), whichever
 * of them the id is; or with the SQL `id` in the place of the value.
 */
export const isOfGuest = (column: string, id = '?'): string => `${column} in (select m.id ${merged} where g.id = ${id})`

/** A guest with all profiles that are merged into it: the survivor first. Given any of them. Not locked. */
export const groupOf = async (trx: Trx, guestId: string): Promise<string[]> => {
  const rows = await prepared<{ id: string }>(
    trx,
    `select m.id ${merged} where g.id = ? order by m.merged_into_id nulls first, m.id`,
    [guestId],
  )
  return rows.map((row) => row.id)
}

/** The ids of every profile of these guests, whichever of a person's profiles are given. Not locked. */
export const profilesOf = async (trx: Trx, guestIds: readonly string[]): Promise<string[]> => {
  if (guestIds.length === 0) return []
  const rows = await prepared<{ id: string }>(trx, `select distinct m.id ${merged} where g.id = any(?::uuid[])`, [
    guestIds,
  ])
  return rows.map((row) => row.id)
}
