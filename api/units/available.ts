import { invalid } from '../../config/errors.ts'
import { Day, Int, List, Nullable, Obj, Opt, Uuid } from '../../config/schema.ts'
import { unitsFor } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Condition, Unit, UnitName, unitFields } from './schemas.ts'

const most = 1_000
const Gap = Nullable(Int(0, 100_000))

const read = route({
  id: 'units.available',
  method: 'GET',
  path: '/api/tenants/:tenantId/units/available',
  summary: 'List units free for given dates, best fit first',
  description:
    'Units of the type first, then those that leave the smallest gap before and after; a gap without a stay or block on its other side is null. `reservationId` takes type and dates from the stay, and its own units are not in the way.',
  access: can('read', 'Unit'),
  query: Obj({
    propertyId: Uuid,
    from: Opt(Day),
    to: Opt(Day),
    unitTypeId: Opt(Uuid),
    reservationId: Opt(Uuid),
    condition: Opt(Condition),
  }),
  errors: ['reference_not_found', 'not_found'],
  returns: Obj(
    {
      data: List(
        Obj({
          unitId: Uuid,
          name: UnitName,
          building: unitFields.building,
          floor: unitFields.floor,
          unitTypeId: Uuid,
          unitPoolId: Uuid,
          attributes: unitFields.attributes,
          condition: Condition,
          ready: Unit.properties.ready,
          gapBefore: Gap,
          gapAfter: Gap,
        }),
        { max: most },
      ),
    },
    { title: 'AvailableUnits' },
  ),
  handle: async ({ trx, query, admission }) => {
    const { from, to, unitTypeId, reservationId } = query
    if (unitTypeId !== undefined && reservationId !== undefined)
      throw invalid([{ field: 'unitTypeId', message: 'is taken from the reservation' }])
    if (reservationId === undefined && (from === undefined || to === undefined))
      throw invalid([{ field: from === undefined ? 'from' : 'to', message: 'is required without reservationId' }])
    if (from !== undefined && to !== undefined && to <= from)
      throw invalid([{ field: 'to', message: 'must be after from' }])
    return { data: await unitsFor(trx, query, admission.scope('read', 'Unit'), most) }
  },
})

export const routes = [read]
