import { forbidden, invalid } from '../../config/errors.ts'
import { issueCauses, issuePriorities } from '../../config/issues.ts'
import { sampleDay } from '../../config/samples.ts'
import {
  Amount,
  Count,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  Opt,
  Sparse,
  Uuid,
  Between,
} from '../../config/schema.ts'
import { daysBetween } from '../../config/time.ts'
import { readSummary } from '../../db/issues/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { path } from './schemas.ts'

const counts = <Name extends string>(names: readonly Name[]) =>
  Sparse(Obj(Object.fromEntries(names.map((name) => [name, Count])) as Record<Name, typeof Count>))
const clock = Obj({ met: Count, missed: Count, medianMinutes: Nullable(Count) })

const read = route({
  id: 'issues.summary',
  method: 'GET',
  path: `${path}/summary`,
  summary: 'Count open, late and recurring issues and their cost',
  description: '`open` is as of now; all else is about issues opened from `from` to `to`, 366 days at most.',
  access: can('read', 'Issue'),
  query: Obj({ propertyId: Opt(Uuid), from: Day, to: Day }),
  example: { from: sampleDay(0), to: sampleDay(30) },
  returns: Obj(
    {
      open: Obj({
        byStatus: counts(['open', 'in_progress', 'waiting']),
        byPriority: counts(issuePriorities),
        late: Count,
      }),
      opened: Count,
      closed: Count,
      firstResponse: clock,
      resolution: clock,
      reopened: Count,
      satisfaction: Obj({ answers: Count, average: Nullable(Between(1, 5)) }),
      byCategory: List(Obj({ categoryId: Uuid, issues: Count, late: Count, compensation: Amount }), { max: 100 }),
      byCause: counts(issueCauses),
      /** More than three of one unit and category in the time. */
      recurring: List(Obj({ unitId: Uuid, categoryId: Uuid, issues: Int(1, 2_147_483_647) }), { max: 100 }),
      /** Minor units; the currency is null where properties of several were asked for together. */
      compensation: Obj({ adjustments: Amount, gestures: Amount, currency: Nullable(Currency) }),
    },
    { title: 'IssueSummary' },
  ),
  errors: ['range_too_long'],
  handle: async ({ trx, query: { propertyId = null, from, to }, admission }) => {
    if (!admission.can('read', 'Compensation')) throw forbidden()
    const days = daysBetween(from, to)
    if (days < 0) throw invalid([{ field: 'to', message: 'must not be before from' }])
    if (days > 366) throw invalid([{ field: 'to', message: 'at most 366 days after from' }], 'range_too_long')
    return readSummary(trx, { propertyId, from, to, scope: admission.scope('read', 'Issue') })
  },
})

export const routes = [read]
