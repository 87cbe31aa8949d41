import type { UnitAttribute } from '../../../config/amenities.ts'
import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { model } from '../../lib/models.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Paging, Sort } from '../../lib/paging.ts'
import type { UnitRow } from '../../rows.ts'
import { openRefusals } from '../refusals.ts'
import type { Refusal } from '../refusals.ts'
import { fromUnits, stateColumns } from '../state.ts'
import type { UnitState } from '../state.ts'

type StoredUnit = Omit<UnitRow, 'tenantId' | 'attributes'> & UnitState & { attributes: UnitAttribute[] }
export type UnitRecord = Omit<StoredUnit, 'serviceRefused'> & { serviceRefused: Refusal | null }

export const Unit = model<'unit'>('unit')

/** Columns of `fromUnits`. */
export const unitColumns = `u.id, u.property_id, u.name, u.building, u.floor, u.position, u.unit_type_id, u.unit_pool_id, u.attributes, u.active_from,
  u.active_until, u.condition, u.condition_at, u.condition_by, u.last_cleaned_at, u.last_deep_clean_at, u.do_not_disturb, u.make_up_requested,
  u.service_refused, u.observed_occupancy, u.observed_at, u.observed_by, u.credits, u.notes, u.status, u.version, u.created_at, u.updated_at,
  ${stateColumns}`

export const unitSorts = {
  name: 'u.name',
  building: 'u.building',
  floor: 'u.floor',
  position: 'u.position',
  createdAt: 'u.created_at',
} as const

export type UnitFilter = {
  propertyId?: string | undefined
  unitTypeId?: string | undefined
  unitPoolId?: string | undefined
  condition?: string | undefined
  service?: string | undefined
  occupancy?: string | undefined
  floor?: number | undefined
  building?: string | undefined
  status?: string | undefined
  /** In the name, the building or the notes. */
  q?: string | undefined
}

/** Filters of units as conditions on `fromUnits`; archived ones only where they are asked for. */
export const unitConditionsOf = (filter: UnitFilter) => [
  ...where('u.property_id = ?', filter.propertyId),
  ...where('u.unit_type_id = ?', filter.unitTypeId),
  ...where('u.unit_pool_id = ?', filter.unitPoolId),
  ...where('u.condition = ?', filter.condition),
  ...where('s.service = ?', filter.service),
  ...where('s.occupancy = ?', filter.occupancy),
  ...where('u.floor = ?', filter.floor),
  ...where('u.building = ?', filter.building),
  ...where('u.status = ?', filter.status ?? 'active'),
  ...where(`strpos(lower(concat_ws(' ', u.name, u.building, u.notes)), lower(?)) > 0`, filter.q),
]

type List = UnitFilter &
  Paging & {
    sort: Sort<keyof typeof unitSorts>
    /** The records that the caller's role is for. */
    scope: Condition
  }

/** Units with their present state, a page of them. */
export const listUnits = async (trx: Trx, { sort, scope, page, limit, ...filter }: List) => {
  const { total, rows } = await readPage<StoredUnit>(
    trx,
    {
      columns: unitColumns,
      from: fromUnits,
      conditions: [...inScope(scope, 'u.property_id'), ...unitConditionsOf(filter)],
      order: orderBy(sort, unitSorts, 'u.id'),
    },
    { page, limit },
  )
  return { total, rows: await openRefusals(trx, rows) }
}

/** 404. */
export const readUnit = async (trx: Trx, id: string): Promise<UnitRecord> => {
  const rows = await sql<StoredUnit>(trx, `select ${unitColumns} from ${fromUnits} where u.id = ?`, [id])
  const [unit] = await openRefusals(trx, rows)
  if (!unit) throw notFound()
  return unit
}

/** In the order in which they were made. */
export const readUnits = async (trx: Trx, ids: readonly string[]): Promise<UnitRecord[]> =>
  openRefusals(
    trx,
    await sql<StoredUnit>(
      trx,
      `select ${unitColumns} from ${fromUnits} where u.id = any(?::uuid[]) order by array_position(?::uuid[], u.id)`,
      [ids, ids],
    ),
  )
