import { conflict, notFound, overtaken } from '../../config/errors.ts'
import { guestUnmerged } from '../../config/events/guests.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { seal, unsealGuests } from '../lib/sealing/index.ts'
import type { GuestMergeRow, GuestRow } from '../rows.ts'
import { openProfile, refuseStale } from './lock.ts'
import { askForMatch } from './match.ts'
import { isEmpty, lockGroups, mergeFields, mergePlace, same, valuesOf, writeValues } from './merge.ts'
import type { Kept, MergeField } from './merge.ts'
import { profileKey } from './profile.ts'
import { guestErased } from './resolve.ts'

/**
 * Takes a merged profile out of its survivor again (P4, R15). What was made since the merge stays with the survivor; fields that it took over and
 * still has go back to what they were.
 */
export const unmergeGuest = async (
  trx: Trx,
  mergedId: string,
  reason: string,
  expected: number | null = null,
): Promise<void> => {
  const look = () =>
    sqlOne<Pick<GuestRow, 'status' | 'mergedIntoId'> & { tookId: string | null }>(
      trx,
      `select g.status, g.merged_into_id, m.survivor_id as took_id from guest g
       left join guest_merge m on m.tenant_id = g.tenant_id and m.merged_id = g.id and m.undone_at is null where g.id = ?`,
      [mergedId],
    )
  const seen = await look()
  if (!seen) throw notFound()
  if (seen.status === 'erased') throw guestErased(mergedId)
  if (seen.status === 'active') {
    const undone = await sqlOne(trx, `select id from guest_merge where merged_id = ? limit 1`, [mergedId])
    if (undone) return
    throw conflict('invalid_transition', 'The profile is not merged into another one')
  }
  const { mergedIntoId, tookId } = seen
  if (mergedIntoId === null || tookId === null) throw conflict('invalid_transition', 'The merge was undone')
  // The profile that took it over may itself have been merged since: its fields go back there.
  const rows = await lockGroups(trx, [...new Set([mergedIntoId, tookId])])
  const now = await look()
  if (now?.mergedIntoId !== mergedIntoId || now.tookId !== tookId) throw overtaken()
  const survivor = rows.find((row) => row.id === tookId)
  const self = rows.find((row) => row.id === mergedId)
  if (!survivor || !self) throw overtaken()
  refuseStale(self, expected)
  if (survivor.status === 'erased') throw guestErased(survivor.id)
  const merge = await sqlOne<GuestMergeRow>(
    trx,
    `select * from guest_merge where merged_id = ? and undone_at is null for no key update`,
    [mergedId],
  )
  if (!merge) throw overtaken()
  await sql(trx, `update guest set status = 'active', merged_into_id = null, version = version + 1 where id = ?`, [
    mergedId,
  ])
  await sql(
    trx,
    // A profile that came apart meanwhile and was merged anew stays where that later merge put it.
    `update guest g set merged_into_id = ?, version = g.version + 1 from guest_merge own, guest_merge undone
     where g.id = any(?::uuid[]) and g.merged_into_id = ? and undone.tenant_id = g.tenant_id and undone.id = ?
       and own.tenant_id = g.tenant_id and own.merged_id = g.id and own.undone_at is null and own.merged_at < undone.merged_at`,
    [mergedId, merge.repointedIds, mergedIntoId, merge.id],
  )
  await giveBack(trx, rows, survivor, merge)
  await sql(trx, `update guest_merge set undone_at = now(), undone_by = ?::jsonb, undo_reason = ? where id = ?`, [
    JSON.stringify(contextOf(trx).actor),
    reason,
    merge.id,
  ])
  await emit(trx, guestUnmerged, {
    propertyId: null,
    id: mergedId,
    version: self.version + 1,
    data: { guestId: mergedId, survivorId: tookId },
  })
  for (const id of [mergedId, survivor.status === 'active' ? survivor.id : mergedIntoId]) await askForMatch(trx, id)
}

const keptOf = async (
  trx: Trx,
  survivorId: string,
  merge: Pick<GuestMergeRow, 'id' | 'sealed'>,
): Promise<Kept | null> => {
  const [kept] = await unsealGuests<Kept>(trx, 'profile', [
    { guestId: survivorId, place: mergePlace(merge.id), sealed: merge.sealed },
  ])
  return kept ?? null
}

/** Fields that a profile lost by a merge that was undone: the value that it had from there, and the one that it has now. */
type Lost = Partial<Record<MergeField, { from: unknown; to: unknown }>>

/** Puts back each field that still has the value which the merge gave it, also in profiles that took it over from this survivor by later merges. */
const giveBack = async (
  trx: Trx,
  locked: readonly GuestRow[],
  survivor: GuestRow,
  merge: GuestMergeRow,
): Promise<void> => {
  const kept = await keptOf(trx, survivor.id, merge)
  if (!kept) return
  const own = valuesOf(survivor, await openProfile(trx, survivor))
  const back = mergeFields.filter((field) => field in kept.after && same(own[field], kept.after[field]))
  if (back.length === 0) return
  await writeValues(trx, survivor, {
    ...own,
    ...Object.fromEntries(back.map((field) => [field, kept.before[field]])),
  })
  const lost = Object.fromEntries(back.map((field) => [field, { from: kept.after[field], to: kept.before[field] }]))
  await takeAlong(trx, locked, survivor.id, lost)
}

/**
 * Corrects the profile that `guestId` was merged into: a field that it took over from there, and still has, follows what that profile lost. The merge keeps
 * the new value, so that undoing it later works as before.
 */
const takeAlong = async (trx: Trx, locked: readonly GuestRow[], guestId: string, lost: Lost): Promise<void> => {
  const merge = await sqlOne<GuestMergeRow>(
    trx,
    `select * from guest_merge where merged_id = ? and undone_at is null for no key update`,
    [guestId],
  )
  const survivor = locked.find((row) => row.id === merge?.survivorId)
  const kept = merge && survivor ? await keptOf(trx, survivor.id, merge) : null
  if (!merge || !survivor || !kept) return
  const own = valuesOf(survivor, await openProfile(trx, survivor))
  const next: Lost = {}
  for (const field of mergeFields) {
    const change = lost[field]
    if (!change || !(field in kept.after) || !same(kept.after[field], change.from) || !same(own[field], change.from))
      continue
    const to = isEmpty(change.to) ? kept.before[field] : change.to
    next[field] = { from: change.from, to }
    kept.after[field] = to
  }
  if (Object.keys(next).length === 0) return
  const values = Object.fromEntries(Object.entries(next).map(([field, { to }]) => [field, to]))
  await writeValues(trx, survivor, { ...own, ...values })
  await sql(trx, `update guest_merge set sealed = ? where id = ?`, [
    await seal(trx, profileKey(survivor.id), mergePlace(merge.id), kept),
    merge.id,
  ])
  await takeAlong(trx, locked, survivor.id, next)
}
