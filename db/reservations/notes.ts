import { randomUUID } from 'node:crypto'
import { notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import { reservationChanged } from '../../config/events/reservations.ts'
import type { AlertMoment, Audience } from '../guests/index.ts'
import { contextOf, prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { findRow, insertRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import type { ReservationNoteRow, ReservationRow } from '../rows.ts'
import { ReservationNote } from './models.ts'

const most = 200

const notePlace = (noteId: string) => ({ table: 'reservation_note', rowId: noteId, purpose: 'note' })

type Stay = Pick<ReservationRow, 'id' | 'propertyId' | 'bookingId' | 'status' | 'version'> & { number: string }

export type NoteTold = { id: string; reservationId: string; text: string }

/** Notes of stays that are told at a moment to readers of the audiences, oldest first. None without a moment. */
export const notesToTell = async (
  trx: Trx,
  reservationIds: readonly string[],
  alert: Exclude<AlertMoment, 'none'> | null,
  audiences: readonly Audience[],
): Promise<NoteTold[]> => {
  if (alert === null) return []
  const rows = await prepared<ReservationNoteRow>(
    trx,
    `select * from reservation_note where reservation_id = any(?::uuid[]) and alert = ? and audience = any(?::text[]) order by created_at, id`,
    [reservationIds, alert, audiences],
  )
  return Promise.all(rows.map(async (row) => ({ ...row, ...(await openNote(trx, row)) })))
}

/** The words of a note. */
export const openNote = (trx: Trx, { id, sealed }: Pick<ReservationNoteRow, 'id' | 'sealed'>) =>
  unseal<{ text: string }>(trx, 'tenant', notePlace(id), sealed)

const lockStayAlone = async (trx: Trx, reservationId: string, expected: number | null): Promise<Stay> => {
  const stay = await sqlOne<Stay>(
    trx,
    `select r.id, r.property_id, r.booking_id, r.status, r.version, b.number || '-' || r.position as number
     from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = ? for no key update of r`,
    [reservationId],
  )
  if (!stay) throw notFound()
  if (expected !== null && expected !== stay.version) throw versionConflict(stay.version)
  return stay
}

const tell = (trx: Trx, { id, propertyId, bookingId, status, version, number }: Stay) =>
  emit(trx, reservationChanged, {
    propertyId,
    id,
    version,
    data: { reservationId: id, number, bookingId, status },
    changed: [{ field: 'notes', before: null, after: null }],
  })

/** Notes something about a stay, also of one that is over. 422 `too_many` beyond 200 notes. */
export const addNote = async (
  trx: Trx,
  reservationId: string,
  { text, audience, alertAt = 'none' }: { text: string; audience: Audience; alertAt?: AlertMoment | undefined },
  expected: number | null = null,
): Promise<string> => {
  const stay = await lockStayAlone(trx, reservationId, expected)
  const found = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from reservation_note where reservation_id = ?`,
    [reservationId],
  )
  if ((found?.count ?? 0) >= most) throw unprocessable('too_many', `A stay has at most ${most} notes`)
  const id = randomUUID()
  await insertRow(trx, ReservationNote, {
    id,
    reservationId,
    audience,
    alert: alertAt,
    sealed: await seal(trx, 'tenant', notePlace(id), { text }),
    createdBy: contextOf(trx).actor,
  })
  await tell(trx, stay)
  return id
}

/** Deletes a note of one of the audiences. 404 where there is none that the caller reads. */
export const deleteNote = async (
  trx: Trx,
  reservationId: string,
  noteId: string,
  audiences: readonly Audience[],
  expected: number | null = null,
): Promise<void> => {
  const stay = await lockStayAlone(trx, reservationId, expected)
  const note = await findRow(trx, ReservationNote, { id: noteId, reservationId }, ['audience'])
  if (!note || !audiences.includes(note.audience)) throw notFound()
  await sqlOne(trx, `delete from reservation_note where id = ?`, [noteId])
  await tell(trx, stay)
}
