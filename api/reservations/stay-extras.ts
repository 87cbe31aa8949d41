import { sampleId } from '../../config/samples.ts'
import { Day, Int, Obj, Opt, Uuid } from '../../config/schema.ts'
import { addStayExtra, cancelStayExtra, changeStayExtra, readReservation } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { reservations } from './resources.ts'
import { Reservation } from './schemas.ts'
import { showReservation } from './views.ts'

const path = `${reservations.one}/extras` as const
const errors = ['invalid_transition', 'sold_out', 'business_day_changed'] as const
const Quantity = Int(1, 99)

const add = route({
  id: 'reservations.addExtra',
  method: 'POST',
  path,
  status: 201,
  summary: 'Add an extra for dates and quantity',
  description:
    'At its price of today. `from` and `until` are days of service, both included: without them each night that is left, or the first day. Guests in the house get it from the business date on.',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors: [...errors, 'extra_unavailable'],
  body: Obj({ extraId: Uuid, quantity: Quantity, from: Opt(Day), until: Opt(Day) }),
  example: { extraId: sampleId('extraId'), quantity: 1 },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId }, body, expectedVersion, admission }) => {
    await addStayExtra(trx, reservationId, body, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

const change = route({
  id: 'reservations.updateExtra',
  method: 'PATCH',
  path: `${path}/:reservationExtraId`,
  summary: 'Change quantity or dates of an extra',
  description:
    'At the price that it was sold for. Days that are on a folio stay as they are; later ones that differ stand apart.',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors,
  body: Obj({ quantity: Opt(Quantity), from: Opt(Day), until: Opt(Day) }),
  example: { quantity: 2 },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, reservationExtraId }, body, expectedVersion, admission }) => {
    await changeStayExtra(trx, reservationId, reservationExtraId, body, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

const remove = route({
  id: 'reservations.removeExtra',
  method: 'DELETE',
  path: `${path}/:reservationExtraId`,
  summary: 'Cancel what is not yet charged of an extra',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors,
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, reservationExtraId }, expectedVersion, admission }) => {
    await cancelStayExtra(trx, reservationId, reservationExtraId, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

export const routes = [add, change, remove]
