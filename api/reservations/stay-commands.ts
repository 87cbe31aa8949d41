import { forbidden, notFound } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Amount, Bool, Day, List, Obj, OneOf, Opt, Uuid, Words } from '../../config/schema.ts'
import {
  assignBestFit,
  bookingOfReservation,
  cancelReservations,
  checkIn,
  checkOut,
  markNoShow,
  moveReasons,
  moveStay,
  promiseUnit,
  readReservation,
  reinstate,
  revertCheckIn,
  revertCheckOut,
  unassignUnits,
} from '../../db/reservations/index.ts'
import { grantOverride } from '../lib/override.ts'
import { billingErrors, refuseBilling } from './billing.ts'
import { Cancel, cancelErrors, refuseNoteless } from './booking-commands.ts'
import { Override } from './requests.ts'
import { reservations } from './resources.ts'

const common = [
  'invalid_transition',
  'transition_blocked',
  'override_not_permitted',
  'folio_busy',
  'business_day_changed',
] as const

const arrive = reservations.act('check-in', {
  summary: 'Check the guests in to a unit',
  description:
    'Without `unitId` the stay gets the unit that it was given, else the best fit. All that stands in the way is named at once; what does not, but should be known, is in `warnings`. Repeating it changes nothing.',
  errors: [
    ...common,
    'unit_conflict',
    'unit_not_in_property',
    'unit_type_mismatch',
    'unit_not_assigned',
    'unit_occupied',
  ],
  body: Obj({ unitId: Opt(Uuid), override: Opt(Override) }),
  example: {},
  command: async ({ trx, id, body: { unitId, override }, caller, admission, expectedVersion }) => {
    const { warnings } = await checkIn(trx, id, {
      unitId,
      override: grantOverride({ caller, admission }, override),
      expectedVersion,
    })
    return { ...(await readReservation(trx, id)), warnings }
  },
})

const leave = reservations.act('check-out', {
  summary: 'Check out, close folios and free the unit',
  description:
    'Nights that were slept by the calendar are charged, with `chargeTonight` that of the business date too. `early` says that nights beyond them are given back, for the fee of the policy. `refund: automatic` sends gateway money above the charges back. `invoice` bills folios to the customers who pay them, within hold and limit; the rule `credit_limit` of an override bills beyond it.',
  errors: [...new Set([...common, ...billingErrors])],
  body: Obj({
    early: Opt(Bool),
    chargeTonight: Opt(Bool),
    refund: Opt(
      OneOf(['automatic', 'later'], {
        description: 'Sends gateway money above the charges back at once, or leaves it to a refund of its own',
      }),
    ),
    /** Folios of the stay whose balances are billed to the customers who pay them. */
    invoice: Opt(List(Uuid, { min: 1, max: 20 }, { uniqueItems: true })),
    override: Opt(Override),
  }),
  example: {},
  command: async ({ trx, id, body: { override, ...body }, caller, admission, expectedVersion }) => {
    const isBeyondLimit = override?.rules.includes('credit_limit') ?? false
    if (body.invoice) {
      if (!admission.can('invoice', 'Folio')) throw forbidden()
      refuseBilling(admission, isBeyondLimit)
    }
    await checkOut(trx, id, {
      ...body,
      beyondCredit: override && isBeyondLimit ? { reason: override.reason } : null,
      override: grantOverride({ caller, admission }, override),
      expectedVersion,
    })
  },
})

const miss = reservations.act('no-show', {
  summary: 'Record that the guest did not arrive',
  description: '`fee` lowers what the policy asks for. Money beyond the fee stays on the folio.',
  errors: common,
  body: Obj({ note: Opt(Words(1, 500)), fee: Opt(Amount), override: Opt(Override) }),
  example: {},
  command: async ({ trx, id, body: { override, ...body }, caller, admission, expectedVersion }) => {
    await markNoShow(trx, id, { ...body, override: grantOverride({ caller, admission }, override), expectedVersion })
  },
})

const cancel = reservations.act('cancel', {
  summary: 'Release a held or cancel a confirmed reservation',
  description: '`acceptedFee` must equal the fee of this moment, and is required where that is above 0.',
  errors: cancelErrors,
  body: Cancel,
  example: { reason: 'changed_plans' },
  command: async ({
    trx,
    id,
    body: { reason, acceptedFee, override, ...desk },
    caller,
    admission,
    expectedVersion,
  }) => {
    refuseNoteless({ reason, ...desk })
    const done = await cancelReservations(trx, await bookingOfReservation(trx, id), {
      reservationIds: [id],
      reason,
      acceptedFee,
      desk: { ...desk, override: grantOverride({ caller, admission }, override), expectedVersion },
    })
    if (done === null) throw notFound()
  },
})

const Reverting = Obj({ reason: Words(3, 500) })

const backIn = reservations.act('revert-check-in', {
  summary: 'Undo a check-in of the same business date',
  description: 'The unit is dirty and promised to the stay; folios wait in stage deposit again.',
  action: 'revert',
  errors: ['invalid_transition', 'transition_blocked', 'folio_busy', 'business_day_changed'],
  body: Reverting,
  example: { reason: 'The wrong guest' },
  command: ({ trx, id, body: { reason }, expectedVersion }) => revertCheckIn(trx, id, { reason, expectedVersion }),
})

const backOut = reservations.act('revert-check-out', {
  summary: 'Undo a check-out of the same business date',
  description: 'Nights and days of service that it gave back are taken again, and its fee is taken back.',
  action: 'revert',
  errors: [
    'invalid_transition',
    'transition_blocked',
    'sold_out',
    'beyond_horizon',
    'unit_conflict',
    'folio_busy',
    'folio_invoiced',
    'business_day_changed',
  ],
  body: Reverting,
  example: { reason: 'The guest came back' },
  command: ({ trx, id, body: { reason }, expectedVersion }) => revertCheckOut(trx, id, { reason, expectedVersion }),
})

const again = reservations.act('reinstate', {
  summary: 'Bring back a cancelled or no-show reservation',
  description:
    'Nights from the business date on are taken like new ones. A fee that is kept has paid for its nights. `policy: new` gives a cancelled stay the terms of its plan of today.',
  errors: [...common, 'sold_out', 'beyond_horizon', 'folio_invoiced', 'reference_not_found'],
  body: Obj({
    fee: Opt(OneOf(['keep', 'reverse'])),
    policy: Opt(OneOf(['keep', 'new'])),
    reason: Words(3, 500),
    override: Opt(Override),
  }),
  example: { reason: 'The guest comes after all' },
  command: ({ trx, id, body: { override, ...body }, caller, admission, expectedVersion }) =>
    reinstate(trx, id, { ...body, override: grantOverride({ caller, admission }, override), expectedVersion }),
})

const assign = reservations.act('assign', {
  summary: 'Give a unit, best fit or named, optionally locked',
  description:
    'Without `unitId` the best fit where the stay lacks one. With `from` or `to` it is given for a part of the stay. A unit that is not locked may be exchanged by the system.',
  errors: ['invalid_transition', 'unit_conflict', 'unit_not_assigned', 'unit_not_in_property', 'unit_type_mismatch'],
  body: Obj({ unitId: Opt(Uuid), from: Opt(Day), to: Opt(Day), lock: Opt(Bool) }),
  example: {},
  command: async ({ trx, id, body: { unitId, lock = false, ...part }, expectedVersion }) => {
    if (unitId === undefined) await assignBestFit(trx, id, { ...part, lock, expectedVersion })
    else await promiseUnit(trx, id, unitId, { ...part, lock, expectedVersion })
  },
})

const unassign = reservations.act('unassign', {
  summary: 'Take the unit away before check-in',
  action: 'assign',
  errors: ['invalid_transition'],
  body: Obj({}),
  example: {},
  command: ({ trx, id, expectedVersion }) => unassignUnits(trx, id, expectedVersion),
})

const move = reservations.act('move', {
  summary: 'Move an in-house guest to another unit',
  description:
    'At once, and the old unit is dirty; `from` a later night promises the unit for then. A unit that the guest comes into at once is in a condition as for a check-in, or the rule `unit_condition` of an override says that it need not. Another type takes its own nights, and the price stays. A unit that was added to the guest, as the other beds of a room are, is taken in, and none is left.',
  errors: [
    'invalid_transition',
    'transition_blocked',
    'override_not_permitted',
    'sold_out',
    'beyond_horizon',
    'unit_conflict',
    'unit_occupied',
    'unit_not_in_property',
    'unit_type_mismatch',
    'business_day_changed',
  ],
  body: Obj({
    unitId: Uuid,
    from: Opt(Day),
    reason: OneOf([...moveReasons]),
    note: Opt(Words(1, 500)),
    override: Opt(Override),
  }),
  example: { unitId: sampleId('unitId'), reason: 'noise' },
  command: ({ trx, id, body: { override, ...body }, caller, admission, expectedVersion }) =>
    moveStay(trx, id, { ...body, override: grantOverride({ caller, admission }, override), expectedVersion }),
})

export const routes = [arrive, leave, miss, cancel, backIn, backOut, again, assign, unassign, move]
