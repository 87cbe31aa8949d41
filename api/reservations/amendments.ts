import { overrideRules } from '../../config/override-rules.ts'
import { ChildrenAges } from '../../config/quote.ts'
import { sampleDay } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Uuid,
} from '../../config/schema.ts'
import {
  acceptAmendment,
  proposeAmendment,
  propertyOfReservation,
  readAmendment,
  readReservation,
} from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { grantOverride } from '../lib/override.ts'
import { route } from '../lib/route.ts'
import { ManualNights, Override } from './requests.ts'
import { reservations } from './resources.ts'
import { Adults, Reservation } from './schemas.ts'
import { showReservation } from './views.ts'

const Amendment = Obj(
  {
    amendmentId: Uuid,
    reservationId: Uuid,
    baseVersion: Int(1, 2_147_483_647),
    status: OneOf(['proposed', 'accepted', 'expired']),
    expiresAt: Instant,
    nights: List(
      Obj({
        date: Day,
        change: OneOf(['kept', 'added', 'removed', 'repriced']),
        before: Nullable(Amount),
        after: Nullable(Amount),
      }),
      { max: 732 },
    ),
    extras: Amount,
    taxes: Amount,
    totalBefore: Amount,
    totalAfter: Amount,
    difference: SignedAmount,
    policyChanged: Bool,
    depositDue: Amount,
    /** It can be accepted as it is, without an override. */
    feasible: Bool,
    shortNights: List(Day, { max: 366 }),
    unit: OneOf(['kept', 'released', 'moves', 'conflict']),
    needsOverride: List(OneOf([...overrideRules]), { max: overrideRules.length }),
  },
  { title: 'Amendment' },
)
const path = `${reservations.one}/amendments` as const

const propose = route({
  id: 'reservations.proposeAmendment',
  method: 'POST',
  path,
  status: 201,
  summary: 'Price a change of dates, type, plan or party',
  description:
    'Nothing is taken for a proposal, which is good for 30 minutes. `from` limits a new type or plan to nights from that day. `price: current` prices all open nights anew, `keep` keeps the price for another type. `allowMove` gives the added nights of a guest in the house another unit where theirs is taken. `feasible` says that it can be accepted without an override.',
  access: can('amend', 'Reservation'),
  record: reservations.lock,
  errors: [
    'invalid_transition',
    'transition_blocked',
    'occupancy_exceeded',
    'restriction_violated',
    'reference_not_found',
    'beyond_horizon',
    'business_day_changed',
  ],
  body: Obj({
    changes: Obj({
      arrival: Opt(Day),
      departure: Opt(Day),
      unitTypeId: Opt(Uuid),
      ratePlanId: Opt(Uuid),
      adults: Opt(Adults),
      childrenAges: Opt(ChildrenAges),
      manualNights: Opt(ManualNights),
      from: Opt(Day),
      allowMove: Opt(Bool),
    }),
    price: Opt(OneOf(['keep', 'current'])),
    policy: Opt(OneOf(['keep', 'new'])),
  }),
  example: { changes: { departure: sampleDay(33) } },
  returns: Amendment,
  handle: async ({ trx, params: { reservationId }, body: { changes, price, policy }, expectedVersion }) => {
    const id = await proposeAmendment(trx, reservationId, { ...changes, price, policy }, expectedVersion)
    return readAmendment(trx, reservationId, id)
  },
})

const read = route({
  id: 'reservations.readAmendment',
  method: 'GET',
  path: `${path}/:amendmentId`,
  summary: 'Read a priced change',
  access: can('read', 'Reservation'),
  returns: Amendment,
  handle: async ({ trx, params: { reservationId, amendmentId }, admission }) => {
    admission.check('read', 'Reservation', { propertyId: await propertyOfReservation(trx, reservationId) })
    return readAmendment(trx, reservationId, amendmentId)
  },
})

const accept = route({
  id: 'reservations.acceptAmendment',
  method: 'POST',
  path: `${path}/:amendmentId/accept`,
  summary: 'Apply a priced change',
  description: 'At the price of the proposal, or not at all. Repeating it changes nothing.',
  access: can('amend', 'Reservation'),
  record: reservations.lock,
  errors: [
    'invalid_transition',
    'amendment_stale',
    'amendment_expired',
    'transition_blocked',
    'override_not_permitted',
    'sold_out',
    'unit_conflict',
    'occupancy_exceeded',
    'restriction_violated',
    'reference_not_found',
    'beyond_horizon',
    'business_day_changed',
  ],
  body: Obj({ override: Opt(Override) }),
  example: {},
  returns: Reservation,
  handle: async ({ trx, params, body: { override }, caller, admission, expectedVersion }) => {
    const { reservationId, amendmentId } = params
    const granted = grantOverride({ caller, admission }, override)
    await acceptAmendment(trx, reservationId, amendmentId, granted, expectedVersion)
    return showReservation(await readReservation(trx, reservationId), admission)
  },
})

export const routes = [propose, read, accept]
