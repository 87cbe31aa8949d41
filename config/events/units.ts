import { Bool, Day, List, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, Nights, UnitName, event } from './event.ts'
import type { Event } from './event.ts'

const unitType = { entity: 'unit_type', subject: 'UnitType', data: Obj({ unitTypeId: Uuid, code: Code }) } as const
export const unitTypeCreated = event({ type: 'unit_type.created', ...unitType })
export const unitTypeChanged = event({ type: 'unit_type.changed', ...unitType })
export const unitTypeArchived = event({ type: 'unit_type.archived', ...unitType })
export const unitTypeRestored = event({ type: 'unit_type.restored', ...unitType })

const unitPool = { entity: 'unit_pool', subject: 'UnitPool', data: Obj({ unitPoolId: Uuid, name: UnitName }) } as const
export const unitPoolCreated = event({ type: 'unit_pool.created', ...unitPool })
export const unitPoolChanged = event({ type: 'unit_pool.changed', ...unitPool })
export const unitPoolDeleted = event({ type: 'unit_pool.deleted', ...unitPool })

const unit = { entity: 'unit', subject: 'Unit', data: Obj({ unitId: Uuid, name: UnitName, unitTypeId: Uuid }) } as const
export const unitCreated = event({ type: 'unit.created', ...unit })
export const unitChanged = event({ type: 'unit.changed', ...unit })
export const unitArchived = event({ type: 'unit.archived', ...unit })
export const unitRestored = event({ type: 'unit.restored', ...unit })

const unitState = {
  entity: 'unit',
  subject: 'Unit',
  data: Obj({
    unitId: Uuid,
    name: UnitName,
    condition: Code,
    occupancy: OneOf(['occupied', 'vacant']),
    ready: Bool,
    discrepancy: Nullable(Code),
  }),
} as const
export const unitConditionChanged = event({ type: 'unit.condition_changed', ...unitState })
export const unitOccupancyChanged = event({ type: 'unit.occupancy_changed', ...unitState })
export const unitMadeReady = event({
  type: 'unit.made_ready',
  ...unitState,
  listeners: ['ocp'],
})
export const unitDiscrepancyDetected = event({
  type: 'unit.discrepancy_detected',
  ...unitState,
  listeners: ['issues'],
})

const unitBlock = {
  entity: 'unit_block',
  subject: 'UnitBlock',
  data: Obj({
    unitBlockId: Uuid,
    kind: OneOf(['out_of_order', 'out_of_service']),
    unitIds: List(Uuid, { max: 100 }),
    from: Day,
    to: Day,
    issueId: Nullable(Uuid),
  }),
} as const
export const unitBlockCreated = event({ type: 'unit_block.created', ...unitBlock })
export const unitBlockChanged = event({ type: 'unit_block.changed', ...unitBlock })
export const unitBlockEnded = event({ type: 'unit_block.ended', ...unitBlock })
export const unitBlockCancelled = event({ type: 'unit_block.cancelled', ...unitBlock })

const inventory = {
  entity: 'unit_pool',
  subject: 'Availability',
  data: Obj({ unitPoolId: Uuid, nights: Nights }),
} as const
export const inventoryOversold = event({ type: 'inventory.oversold', ...inventory })
export const inventoryRecovered = event({ type: 'inventory.recovered', ...inventory })
export const inventoryDriftRepaired = event({ type: 'inventory.drift_repaired', ...inventory })

const assignment = {
  entity: 'unit_pool',
  subject: 'UnitAssignment',
  data: Obj({ unitPoolId: Nullable(Uuid), reservationIds: List(Uuid, { max: 100 }), from: Day, to: Day }),
} as const
export const assignmentStranded = event({
  type: 'assignment.stranded',
  ...assignment,
  entity: 'reservation',
  listeners: ['issues'],
})
export const assignmentSwapped = event({ type: 'assignment.swapped', ...assignment, entity: 'reservation' })
export const assignmentRepacked = event({ type: 'assignment.repacked', ...assignment })

export const unitsEvents: Event[] = [
  unitTypeCreated,
  unitTypeChanged,
  unitTypeArchived,
  unitTypeRestored,
  unitPoolCreated,
  unitPoolChanged,
  unitPoolDeleted,
  unitCreated,
  unitChanged,
  unitArchived,
  unitRestored,
  unitConditionChanged,
  unitOccupancyChanged,
  unitMadeReady,
  unitDiscrepancyDetected,
  unitBlockCreated,
  unitBlockChanged,
  unitBlockEnded,
  unitBlockCancelled,
  inventoryOversold,
  inventoryRecovered,
  inventoryDriftRepaired,
  assignmentStranded,
  assignmentSwapped,
  assignmentRepacked,
]
