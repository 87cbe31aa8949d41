import type { Amenity, BedKind } from '../../../config/amenities.ts'
import { notFound } from '../../../config/errors.ts'
import type { LocalText } from '../../../config/local-text.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { model } from '../../lib/models.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { PoolShare } from '../rules/availability.ts'

export type NewUnitType = {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  kind: 'private' | 'shared' | 'entire'
  baseOccupancy: number
  maxAdults: number
  maxChildren: number
  maxOccupancy: number
  beds?: { kind: BedKind; count: number }[]
  sizeM2?: number | null
  amenities?: Amenity[]
  position?: number
  bookable?: boolean
  /** Without it the type gets a pool of its own. */
  pools?: PoolShare[]
}
export type UnitTypeRecord = Required<NewUnitType> & {
  status: 'active' | 'archived'
  version: number
  createdAt: Date
  updatedAt: Date
}

export const unitTypeLifecycle = archivable('A unit type')
export const UnitType = model<
  'unit_type',
  Pick<Required<NewUnitType>, 'name' | 'description' | 'beds' | 'sizeM2' | 'amenities'>
>('unit_type')

/** Columns of `unit_type t`. */
export const unitTypeColumns = `t.id, t.property_id, t.code, t.name, t.description, t.kind, t.base_occupancy, t.max_adults, t.max_children, t.max_occupancy, t.beds,
  t.size_m2::float8 as size_m2, t.amenities, t.position, t.bookable, t.status, t.version, t.created_at, t.updated_at,
  (select coalesce(jsonb_agg(jsonb_build_object('poolId', s.unit_pool_id, 'quantity', s.quantity) order by s.unit_pool_id), '[]')
   from unit_type_pool s where s.tenant_id = t.tenant_id and s.unit_type_id = t.id) as pools`

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  kind?: string | undefined
  /** In the code, or in a name of any language. */
  q?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

export const listUnitTypes = (trx: Trx, { propertyId, status = 'active', kind, q, scope, ...paging }: Filter) =>
  readPage<UnitTypeRecord>(
    trx,
    {
      columns: unitTypeColumns,
      from: 'unit_type t',
      conditions: [
        ...inScope(scope, 't.property_id'),
        ...where('t.property_id = ?', propertyId),
        ...where('t.status = ?', status),
        ...where('t.kind = ?', kind),
        ...(q === undefined
          ? []
          : [
              {
                text: `(strpos(t.code, upper(?)) > 0 or exists (select from jsonb_each_text(t.name) n where strpos(lower(n.value), lower(?)) > 0))`,
                values: [q, q],
              },
            ]),
      ],
      order: 't.position, t.code, t.id',
    },
    paging,
  )

/** 404. */
export const readUnitType = async (trx: Trx, id: string): Promise<UnitTypeRecord> => {
  const row = await sqlOne<UnitTypeRecord>(trx, `select ${unitTypeColumns} from unit_type t where t.id = ?`, [id])
  if (!row) throw notFound()
  return row
}
