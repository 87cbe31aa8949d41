import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../config/errors.ts'
import { contextOf, prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { findRow, insertRow } from '../lib/records.ts'
import { seal, unsealGuests } from '../lib/sealing/index.ts'
import type { GuestNoteRow } from '../rows.ts'
import { lockGuest } from './lock.ts'
import { Guest, GuestNote } from './models.ts'
import { profileKey } from './profile.ts'
import { groupOf, survivorOf } from './resolve.ts'
import type { Audience } from './rules/audiences.ts'
import { tellChanged } from './tell.ts'

export const alertMoments = ['none', 'booking', 'check_in', 'check_out'] as const
export type AlertMoment = (typeof alertMoments)[number]
const mostNotes = 200

const notePlace = (id: string) => ({ table: 'guest_note', rowId: id, purpose: 'note' })

export type NewNote = { text: string; audience: Audience; alertAt?: AlertMoment | undefined }

/** Adds a note to a guest. It does not change: a corrected one is added anew. At most 200 per guest. */
export const addNote = async (
  trx: Trx,
  guestId: string,
  { text, audience, alertAt = 'none' }: NewNote,
  expected: number | null = null,
) => {
  const guest = await lockGuest(trx, guestId, expected)
  const counted = await sqlOne<{ count: number }>(trx, `select count(*) as count from guest_note where guest_id = ?`, [
    guestId,
  ])
  if ((counted?.count ?? 0) >= mostNotes) throw unprocessable('too_many', `A guest has at most ${mostNotes} notes`)
  const id = randomUUID()
  const row = await insertRow(trx, GuestNote, {
    id,
    guestId,
    audience,
    alertMoment: alertAt,
    sealed: await seal(trx, profileKey(guestId), notePlace(id), { text }),
    createdBy: contextOf(trx).actor.id,
  })
  await tellChanged(trx, guest, ['notes'])
  return shown(row, text)
}

const shown = ({ id, guestId, audience, alertMoment, createdBy, createdAt }: GuestNoteRow, text: string) => ({
  id,
  guestId,
  text,
  audience,
  alertAt: alertMoment,
  createdBy,
  createdAt,
})

type Reader = {
  audiences: readonly Audience[]
  alertAt: Exclude<AlertMoment, 'none'>
}

/** Notes of guests that reach the reader, oldest first. Those of a merged profile are given with their own guest. */
export const listNotes = async (trx: Trx, guestIds: readonly string[], { audiences }: Pick<Reader, 'audiences'>) => {
  if (audiences.length === 0 || guestIds.length === 0) return []
  const rows = await prepared<GuestNoteRow>(
    trx,
    `select * from guest_note where guest_id = any(?::uuid[]) and audience = any(?::text[]) order by created_at, id`,
    [guestIds, audiences],
  )
  const texts = await unsealGuests<{ text: string }>(
    trx,
    'profile',
    rows.map((row) => ({ guestId: row.guestId, place: notePlace(row.id), sealed: row.sealed })),
  )
  return rows.flatMap((row, index) => {
    const words = texts[index]
    return words ? [shown(row, words.text)] : []
  })
}

/**
 * Notes that are told of guests at a moment, oldest first: of each guest those of all profiles that are one with it (R14). `of` is the id by which the guest
 * was asked for.
 */
export const alertsOf = async (
  trx: Trx,
  guestIds: readonly string[],
  { audiences, alertAt }: Reader,
): Promise<{ id: string; of: string; text: string }[]> => {
  if (audiences.length === 0 || guestIds.length === 0) return []
  const rows = await prepared<GuestNoteRow & { of: string }>(
    trx,
    `select n.*, x.id as of from unnest(?::uuid[]) as x (id) join guest g on g.id = x.id
     join guest m on m.tenant_id = g.tenant_id and (m.id = ${survivorOf('g')} or m.merged_into_id = ${survivorOf('g')})
     join guest_note n on n.tenant_id = m.tenant_id and n.guest_id = m.id and n.audience = any(?::text[]) and n.alert_moment = ?
     order by n.created_at, n.id`,
    [[...new Set(guestIds)], audiences, alertAt],
  )
  const texts = await unsealGuests<{ text: string }>(
    trx,
    'profile',
    rows.map((row) => ({ guestId: row.guestId, place: notePlace(row.id), sealed: row.sealed })),
  )
  return rows.flatMap(({ id, of }, index) => {
    const words = texts[index]
    return words ? [{ id, of, text: words.text }] : []
  })
}

/** Facts of a note by which a role may delete it. 404 where the guest has none of this id. */
export const readNoteFacts = async (
  trx: Trx,
  guestId: string,
  noteId: string,
): Promise<Pick<GuestNoteRow, 'id' | 'createdBy' | 'audience'>> => {
  const row = await sqlOne<Pick<GuestNoteRow, 'id' | 'createdBy' | 'audience'>>(
    trx,
    `select id, created_by, audience from guest_note where id = ? and guest_id = any(?::uuid[])`,
    [noteId, await groupOf(trx, guestId)],
  )
  if (!row) throw notFound()
  return row
}

/** Deletes a note of a guest, also one of a profile merged into it. */
export const deleteNote = async (trx: Trx, guestId: string, noteId: string): Promise<void> => {
  const guest = await findGuest(trx, guestId)
  const rows = await sql(trx, `delete from guest_note where id = ? and guest_id = any(?::uuid[]) returning id`, [
    noteId,
    await groupOf(trx, guestId),
  ])
  if (!guest || rows.length === 0) throw notFound()
  await tellChanged(trx, guest, ['notes'])
}

const findGuest = (trx: Trx, guestId: string) => findRow(trx, Guest, guestId, ['id', 'source', 'version'])
