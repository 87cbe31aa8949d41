import { marketSegments } from '../../config/market-segments.ts'
import { overrideRules } from '../../config/override-rules.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Sparse,
  Text,
  TimeOfDay,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  addStayGuest,
  changeStayFields,
  changeStayGuest,
  previewTransitions,
  readReservation,
  removeStayGuest,
} from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { grantOverride, mayOverride } from '../lib/override.ts'
import { route } from '../lib/route.ts'
import { personOf } from './people.ts'
import { NamedPerson, Override } from './requests.ts'
import { reservations } from './resources.ts'
import { Purpose, Reservation, ReservationStatus } from './schemas.ts'
import { Alerts, Notice } from './told.ts'
import { audiencesFor, showReservation, toldOfStay } from './views.ts'

const change = reservations.change({
  summary: 'Change arrival time, purpose, segment or requests',
  description: 'After check-out the purpose and the segment alone. Dates, type and party change by an amendment.',
  errors: ['invalid_transition', 'transition_blocked', 'business_day_changed'],
  body: Sparse(
    Obj({
      arrivalTime: Nullable(TimeOfDay),
      departureTime: Nullable(TimeOfDay),
      purpose: Nullable(Purpose),
      marketSegment: OneOf([...marketSegments]),
      requests: Nullable(Text(0, 500)),
    }),
  ),
  example: { arrivalTime: '18:30', purpose: 'business' },
  command: ({ trx, id, body, expectedVersion }) => changeStayFields(trx, id, body, expectedVersion),
})

const Transitions = Obj(
  {
    version: Int(1, 2_147_483_647),
    businessDate: Day,
    commands: List(
      Obj({
        /** Id of the transition in the table of states. */
        id: Text(2, 4),
        command: Text(1, 40),
        to: ReservationStatus,
        /** Nothing stands in the way. */
        allowed: Bool,
        blockers: List(
          Obj({
            ...Notice,
            waivable: Bool,
            rule: Nullable(OneOf([...overrideRules])),
            /** The caller may set the rule aside. */
            permitted: Bool,
          }),
          { max: 50 },
        ),
        warnings: List(Obj(Notice), { max: 50 }),
        /** Notes of the stay and its guests that are told at this moment. */
        alerts: Alerts,
        effects: Obj({
          fee: Amount,
          refund: Amount,
          balanceDue: SignedAmount,
          currency: Currency,
          nightsReleased: List(Day, { max: 366 }),
          nightsTaken: List(Day, { max: 366 }),
          unitId: Nullable(Uuid),
        }),
      }),
      { max: 20 },
    ),
  },
  { title: 'Transitions' },
)

const transitions = route({
  id: 'reservations.transitions',
  method: 'GET',
  path: `${reservations.one}/transitions`,
  summary: 'Preview each command with blockers, fee and effects',
  description:
    'Every command that the present status allows, as it would be met now if it were sent without a body. The commands act on the same plans. `refund` of a check-out is what `refund: automatic` would send back.',
  access: can('read', 'Reservation'),
  returns: Transitions,
  handle: async ({ trx, params: { reservationId }, caller, admission }) => {
    const preview = await previewTransitions(
      trx,
      reservationId,
      (rule) => mayOverride({ caller, admission }, rule),
      audiencesFor(admission),
    )
    admission.check('read', 'Reservation', { propertyId: preview.propertyId })
    return preview
  },
})

const place = {
  age: Opt(Nullable(Int(0, 120))),
  role: Opt(OneOf(['primary', 'companion'])),
  responsibleId: Opt(Nullable(Uuid)),
  kinship: Opt(Nullable(Words(1, 60))),
  authorisationDocumentId: Opt(Nullable(Uuid)),
}
const path = `${reservations.one}/guests` as const
const guestErrors = ['invalid_transition', 'reference_not_found', 'business_day_changed'] as const

const addGuest = route({
  id: 'reservations.addGuest',
  method: 'POST',
  path,
  status: 201,
  summary: 'Add a guest to the reservation',
  description: 'A profile by `guestId`, or a new one by its names. No more than the party has.',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors: [
    ...guestErrors,
    'occupancy_exceeded',
    'transition_blocked',
    'override_not_permitted',
    'duplicate',
    'duplicate_guest',
    'guest_erased',
    'document_invalid',
  ],
  body: Obj({ ...NamedPerson.properties, ...place, override: Opt(Override) }),
  example: { firstName: 'Rui', lastName: 'Souza', age: 12 },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId }, body, caller, expectedVersion, admission }) => {
    const { override, age, role, responsibleId, kinship, authorisationDocumentId, ...person } = body
    await addStayGuest(
      trx,
      reservationId,
      personOf(person, 'guest'),
      { age, role, responsibleId, kinship, authorisationDocumentId },
      {
        override: grantOverride({ caller, admission }, override),
        source: caller.kind === 'api_key' ? 'api' : 'staff',
        expectedVersion,
      },
    )
    return toldOfStay(trx, reservationId, admission)
  },
})

const changeGuest = route({
  id: 'reservations.updateGuest',
  method: 'PATCH',
  path: `${path}/:reservationGuestId`,
  summary: 'Change role, age or responsible adult of a guest',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors: [...guestErrors, 'rule_violated'],
  body: Obj(place),
  example: { age: 13 },
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, reservationGuestId }, body, expectedVersion, admission }) => {
    await changeStayGuest(trx, reservationId, reservationGuestId, body, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

const removeGuest = route({
  id: 'reservations.removeGuest',
  method: 'DELETE',
  path: `${path}/:reservationGuestId`,
  summary: 'Remove a guest from the reservation',
  access: can('update', 'Reservation'),
  record: reservations.lock,
  errors: ['invalid_transition', 'rule_violated', 'business_day_changed'],
  returns: Reservation,
  handle: async ({ trx, params: { reservationId, reservationGuestId }, expectedVersion, admission }) => {
    await removeStayGuest(trx, reservationId, reservationGuestId, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

export const routes = [change, transitions, addGuest, changeGuest, removeGuest]
