import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Instant, Int, List, Nullable, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { setConditions, readHousekeepingBoard } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { HousekeepingTask, housekeeping } from './housekeeping-schemas.ts'
import { Condition, Occupancy, Service, Unit } from './schemas.ts'
import { UnitQuery } from './units.ts'

const { properties: unit } = Unit
const { properties: task } = HousekeepingTask
const state = {
  occupancy: Occupancy,
  condition: Condition,
  service: Service,
  ready: Bool,
  discrepancy: unit.discrepancy,
}

const Line = Obj(
  {
    unit: Obj({
      id: Uuid,
      name: unit.name,
      building: unit.building,
      floor: unit.floor,
      unitTypeId: Uuid,
      credits: unit.credits,
      notes: unit.notes,
    }),
    ...state,
    flags: Obj({ doNotDisturb: Bool, makeUpRequested: Bool, serviceRefused: Bool }),
    departure: Nullable(Obj({ reservationId: Uuid, dueAt: Nullable(Instant), done: Bool })),
    arrival: Nullable(
      Obj({ reservationId: Uuid, expectedAt: Nullable(Instant), guestName: Opt(Nullable(Text(0, 302))) }),
    ),
    nextArrival: Nullable(Day),
    task: Nullable(
      Obj({
        id: Uuid,
        kind: task.kind,
        status: task.status,
        assigneeId: task.assigneeId,
        priority: task.priority,
      }),
    ),
  },
  { title: 'HousekeepingBoardLine' },
)

const { propertyId: _property, status: _status, ...filters } = UnitQuery

const board = paged({
  id: 'housekeeping.board',
  path: `${housekeeping}/board`,
  summary: 'Read the state of every unit for a day',
  description:
    'Condition, occupancy and service are those of this moment; departure, arrival and task those of `date`. Of several tasks of a unit the one that is worked on, else the most urgent. Names of guests are shown to roles that may read guests.',
  access: can('read', 'HousekeepingTask'),
  query: { propertyId: Uuid, date: Day, ...filters },
  of: Line,
  errors: ['not_found'],
  find: ({ trx, query, admission }) =>
    readHousekeepingBoard(trx, {
      ...query,
      withNames: admission.can('read', 'Guest') && !admission.isMasked('Guest'),
      scope: admission.scope('read', 'HousekeepingTask'),
    }),
})

const conditions = route({
  id: 'housekeeping.setConditions',
  method: 'POST',
  path: `${housekeeping}/conditions`,
  summary: 'Set the condition of up to 500 units',
  description:
    'All or none: `errors` names each unit that cannot be set so. `cleaning` comes of starting a task, and an occupied unit is not inspected. A note takes the place of the unit’s notes.',
  access: can('update', 'UnitCondition'),
  errors: ['unit_not_in_property', 'condition_not_allowed', 'unit_occupied', 'invalid_transition', 'not_found'],
  body: Obj({
    propertyId: Uuid,
    items: List(Obj({ unitId: Uuid, condition: Condition, note: Opt(Text(0, 1000)) }), { min: 1, max: 500 }),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    items: [{ unitId: sampleId('unitId'), condition: 'clean', note: 'Aired' }],
  },
  returns: Obj({
    data: List(Obj({ unitId: Uuid, name: unit.name, ...state, version: Int(1, 2_147_483_647) }), { max: 500 }),
  }),
  handle: async ({ trx, body: { propertyId, items } }) => {
    const units = await setConditions(trx, propertyId, items)
    return { data: units.map(({ id, ...rest }) => ({ unitId: id, ...rest })) }
  },
})

export const routes = [board, conditions]
