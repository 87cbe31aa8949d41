import { unitAttributes } from '../../config/amenities.ts'
import { Bool, Day, Instant, Int, List, Nullable, Obj, OneOf, Text, Uuid, Words } from '../../config/schema.ts'
import { unitConditions, unitOccupancies, unitServices } from '../../db/units/index.ts'
import { Lifecycle, stamps } from '../properties/schemas.ts'

/** The name on the door. */
export const UnitName = Words(1, 40)
export const Building = Words(1, 40)
export const Floor = Int(-20, 200)

export const UnitKind = OneOf(['private', 'shared', 'entire'])
/** Condition and occupancy of a unit at this moment. */
export const Condition = OneOf([...unitConditions])
export const Occupancy = OneOf([...unitOccupancies])
export const Service = OneOf([...unitServices])

/** Descriptive fields of a unit. */
export const unitFields = {
  building: Nullable(Building),
  floor: Nullable(Floor),
  position: Int(0, 100_000),
  attributes: List(OneOf([...unitAttributes]), { max: 30 }, { uniqueItems: true }),
  activeFrom: Day,
  activeUntil: Nullable(Day),
  credits: Int(1, 20),
  notes: Text(0, 1000),
}

export const Unit = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    name: UnitName,
    unitTypeId: Uuid,
    unitPoolId: Uuid,
    ...unitFields,
    condition: Condition,
    conditionAt: Nullable(Instant),
    conditionBy: Nullable(Uuid),
    lastCleanedAt: Nullable(Instant),
    lastDeepCleanAt: Nullable(Instant),
    doNotDisturb: Bool,
    makeUpRequested: Bool,
    /** Evidence may hold personal data: it is null where those are masked. */
    serviceRefused: Nullable(Obj({ until: Day, evidence: Nullable(Text(0, 500)) })),
    observedOccupancy: Nullable(OneOf(['vacant', 'occupied'])),
    observedAt: Nullable(Instant),
    observedBy: Nullable(Uuid),
    occupancy: Occupancy,
    service: Service,
    ready: Bool,
    discrepancy: Nullable(OneOf(['sleep', 'skip'])),
    status: Lifecycle,
    ...stamps,
  },
  { title: 'Unit' },
)
