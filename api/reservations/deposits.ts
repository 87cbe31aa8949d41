import { sampleDay } from '../../config/samples.ts'
import { Instant, Int, List, Obj } from '../../config/schema.ts'
import { readReservation, replaceDeposits, waiveDeposit } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'
import { reservations } from './resources.ts'
import { Reservation } from './schemas.ts'
import { showReservation } from './views.ts'

const path = `${reservations.one}/deposits` as const

const replace = route({
  id: 'reservations.setDeposits',
  method: 'PUT',
  path,
  summary: 'Replace installments that are not yet due or paid',
  description:
    'The covered part of an installment stays, and so does one that is due. All together are at most the total of the stay.',
  access: can('update', 'Deposit'),
  record: reservations.lock,
  errors: ['invalid_transition', 'installments_exceed_total', 'business_day_changed'],
  body: Obj({ installments: List(Obj({ dueAt: Instant, amount: Int(1, 100_000_000_000) }), { max: 24 }) }),
  example: { installments: [{ dueAt: `${sampleDay(1)}T12:00:00.000Z`, amount: 5_000 }] },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId }, body, admission, expectedVersion }) => {
    await replaceDeposits(trx, reservationId, body.installments, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

const waive = route({
  id: 'reservations.waiveDeposit',
  method: 'POST',
  path: `${path}/:depositId/waive`,
  summary: 'Waive the unpaid part of an installment',
  access: can('waive', 'Deposit'),
  record: reservations.lock,
  errors: ['invalid_transition', 'business_day_changed'],
  body: Obj({ reason: Reason }),
  example: { reason: 'A guest of many years' },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, depositId }, body, admission, expectedVersion }) => {
    await waiveDeposit(trx, reservationId, depositId, { reason: trimmed(body.reason), expected: expectedVersion })
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

export const routes = [replace, waive]
