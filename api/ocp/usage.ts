import { invalid } from '../../config/errors.ts'
import { Amount, Count, Currency, List, Matching, Nullable, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { priceOfMonths } from '../../db/admin/index.ts'
import { channelUse, meteredUse } from '../../db/ocp/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Kind, root } from './schemas.ts'

const Month = Matching('^20[0-9]{2}-(0[1-9]|1[0-2])$', 7)
const months = (from: string, to: string): string[] => {
  const found: string[] = []
  for (let at = from; at <= to;) {
    found.push(at)
    const [year = 0, month = 0] = at.split('-').map(Number)
    at = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`
  }
  return found
}

const usage = route({
  id: 'messages.usage',
  method: 'GET',
  path: `${root}/usage`,
  summary: 'Count messages, allowance and cost by month and channel',
  description:
    'Meters count what the service’s own accounts took: one unit a message and channel. Amounts are those of the present plan. Without a range: this month.',
  access: can('read', 'Message'),
  query: Obj({ from: Opt(Month), to: Opt(Month) }),
  example: { from: '2026-10', to: '2026-11' },
  errors: ['range_too_long'],
  returns: Obj(
    {
      months: List(
        Obj({
          month: Text(7, 7),
          meters: List(
            Obj({
              meter: Text(1, 40),
              quantity: Count,
              /** Units of the month that cost nothing. Null: all of them. */
              allowance: Nullable(Count),
              billable: Count,
              amount: Amount,
              currency: Currency,
            }),
            { max: 10 },
          ),
          channels: List(
            Obj({ propertyId: Uuid, kind: Kind, sent: Count, delivered: Count, failed: Count, segments: Count }),
            { max: 5_000 },
          ),
        }),
        { max: 24 },
      ),
    },
    { title: 'MessageUsage' },
  ),
  handle: async ({ trx, query, admission }) => {
    const now = new Date().toISOString().slice(0, 7)
    const to = query.to ?? (query.from !== undefined && query.from > now ? query.from : now)
    const from = query.from ?? to
    if (to < from) throw invalid([{ field: 'to', message: 'must not be before from' }])
    const list = months(from, to)
    if (list.length > 24)
      throw invalid([{ field: 'to', message: 'at most 24 months' }], 'range_too_long', 'The range is too long')
    const [used, channels] = [await meteredUse(trx, from, to), await channelUse(trx, from, to)]
    const priced = await priceOfMonths(
      trx,
      list.flatMap((month) =>
        (['messages.email', 'messages.phone'] as const).map((meter) => ({
          month,
          meter,
          quantity: used.find((one) => one.month === month && one.meter === meter)?.quantity ?? 0,
        })),
      ),
    )
    return {
      months: list.map((month) => ({
        month,
        meters: priced.filter((one) => one.month === month),
        channels: channels.filter(
          (one) =>
            one.month === month && (admission.propertyIds === null || admission.propertyIds.includes(one.propertyId)),
        ),
      })),
    }
  },
})

export const routes = [usage]
