import { invalid } from '../../config/errors.ts'
import { Bool, Day, Nullable, Obj, OneOf, Sparse, Text, Words } from '../../config/schema.ts'
import { observe, readUnit } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Unit } from './schemas.ts'
import { shownUnit } from './units.ts'

const report = route({
  id: 'units.observe',
  method: 'POST',
  path: '/api/tenants/:tenantId/units/:unitId/observe',
  summary: 'Report observed occupancy, do-not-disturb or refused service',
  description:
    'One or more of its fields; it holds whatever the version of the unit. A refusal skips the stayover of the day, a wish to have the room made up makes it. A note takes the place of the unit’s notes.',
  access: can('perform', 'HousekeepingTask'),
  errors: ['date_out_of_range', 'invalid_transition'],
  body: Sparse(
    Obj({
      occupancy: OneOf(['vacant', 'occupied']),
      doNotDisturb: Bool,
      makeUpRequested: Bool,
      serviceRefused: Nullable(Obj({ until: Day, evidence: Words(3, 500) })),
      note: Text(0, 1000),
    }),
  ),
  example: { occupancy: 'vacant', doNotDisturb: false },
  returns: Unit,
  handle: async ({ trx, params, body, admission }) => {
    if (Object.keys(body).length === 0) throw invalid([{ field: 'occupancy', message: 'or another report is needed' }])
    await observe(trx, params.unitId, body, ({ propertyId }) =>
      // A report is judged as an unassigned task that is not maintenance.
      admission.check('perform', 'HousekeepingTask', { propertyId, assigneeId: null, kind: 'other' }),
    )
    return shownUnit(await readUnit(trx, params.unitId), admission)
  },
})

export const routes = [report]
