import { invalid } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Instant, List, Nullable, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { assignmentsOf, assignmentStatuses, listAssignments, repackHouse, swapUnits } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { UnitName } from './schemas.ts'

const path = '/api/tenants/:tenantId/unit-assignments'
const Status = OneOf([...assignmentStatuses])

const UnitAssignment = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    unitId: Uuid,
    unitName: UnitName,
    reservationId: Nullable(Uuid),
    unitBlockId: Nullable(Uuid),
    from: Day,
    to: Day,
    status: Status,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'UnitAssignment' },
)

const list = paged({
  id: 'unitAssignments.list',
  path,
  summary: 'List assignments by date, unit or reservation',
  description:
    '`from` and `to` find those with a night in `[from, to)`. Released ones only where `status` asks for them.',
  access: can('read', 'UnitAssignment'),
  query: {
    propertyId: Opt(Uuid),
    unitId: Opt(Uuid),
    reservationId: Opt(Uuid),
    status: Opt(Status),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: UnitAssignment,
  find: ({ trx, query, admission }) =>
    listAssignments(trx, { ...query, scope: admission.scope('read', 'UnitAssignment') }),
})

const swap = route({
  id: 'unitAssignments.swap',
  method: 'POST',
  path: `${path}/swap`,
  summary: 'Exchange the units of two reservations',
  description:
    'From the business date or the later arrival, unless `from` is a later day, to the earlier departure. Who stays longer keeps the new unit where it is free, and goes back otherwise. What was proposed is locked by it. Where a guest is in house, both units become dirty.',
  access: can('update', 'UnitAssignment'),
  errors: [
    'invalid_transition',
    'unit_type_mismatch',
    'unit_not_assigned',
    'unit_occupied',
    'unit_conflict',
    'date_out_of_range',
    'not_found',
    'business_day_changed',
  ],
  body: Obj({ reservationIds: List(Uuid, { min: 2, max: 2 }, { uniqueItems: true }), from: Opt(Day) }),
  example: { reservationIds: [sampleId('reservationId'), sampleId('otherReservationId')] },
  returns: Obj({ data: List(UnitAssignment, { max: 1_000 }) }, { title: 'SwappedAssignments' }),
  handle: async ({ trx, body: { reservationIds, from }, admission }) => {
    const [one = '', other = ''] = reservationIds
    await swapUnits(trx, [one, other], from, admission.scope('update', 'UnitAssignment'))
    return { data: await assignmentsOf(trx, reservationIds) }
  },
})

const repack = route({
  id: 'unitAssignments.repack',
  method: 'POST',
  path: `${path}/repack`,
  summary: 'Preview or rearrange movable assignments of a property',
  description:
    'Proposed stays that arrive on `[from, to)`, by default the 31 days from the business date on and at most 92, are placed anew, and those without a unit get one where there is one. Locked and occupied units stay. `dryRun` stores nothing.',
  access: can('update', 'UnitAssignment'),
  errors: ['reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({
    propertyId: Uuid,
    unitPoolIds: Opt(List(Uuid, { min: 1, max: 100 }, { uniqueItems: true })),
    from: Opt(Day),
    to: Opt(Day),
    dryRun: Opt(Bool),
  }),
  example: { propertyId: sampleId('propertyId'), dryRun: true },
  returns: Obj(
    {
      moves: List(Obj({ reservationId: Uuid, fromUnitId: Nullable(Uuid), toUnitId: Uuid }), { max: 100_000 }),
      stranded: List(Obj({ reservationId: Uuid, from: Day, to: Day }), { max: 100_000 }),
    },
    { title: 'Repacking' },
  ),
  handle: async ({ trx, body, admission }) => {
    admission.check('update', 'UnitAssignment', { propertyId: body.propertyId })
    const { from, to } = body
    if (from !== undefined && to !== undefined && to <= from)
      throw invalid([{ field: 'to', message: 'must be after from' }])
    const { changes, stranded } = await repackHouse(trx, body)
    return {
      moves: changes.flatMap(({ reservationId, fromUnitId, toUnitId }) =>
        toUnitId === null || toUnitId === fromUnitId ? [] : [{ reservationId, fromUnitId, toUnitId }],
      ),
      stranded,
    }
  },
})

export const routes = [list, swap, repack]
