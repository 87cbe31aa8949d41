import { audiencesOf } from '../../db/guests/index.ts'
import { Obj, Opt, Words } from '../../config/schema.ts'
import { addNote, deleteNote, readReservation } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { reservations } from './resources.ts'
import { NoteAlert, NoteAudience, Reservation } from './schemas.ts'
import { showReservation } from './views.ts'

const path = `${reservations.one}/notes` as const

const add = route({
  id: 'reservations.addNote',
  method: 'POST',
  path,
  status: 201,
  summary: 'Add a note or alert',
  description:
    'The note reaches the roles of its audience alone. `alertAt` says when it is told without being asked for.',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors: ['too_many'],
  body: Obj({ text: Words(1, 2_000), audience: NoteAudience, alertAt: Opt(NoteAlert) }),
  example: { text: 'Arrives with a dog', audience: 'front_desk', alertAt: 'check_in' },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId }, body, expectedVersion, admission }) => {
    await addNote(trx, reservationId, body, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

const remove = route({
  id: 'reservations.deleteNote',
  method: 'DELETE',
  path: `${path}/:noteId`,
  summary: 'Delete a note',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, noteId }, expectedVersion, admission }) => {
    const audiences = audiencesOf(admission.role, admission.can('read', 'Guest'))
    await deleteNote(trx, reservationId, noteId, audiences, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

export const routes = [add, remove]
