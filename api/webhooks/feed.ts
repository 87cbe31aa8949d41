import { invalid } from '../../config/errors.ts'
import { Bool, Count, Int, List, Matching, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { fixedPlace, hasNews, matchesAny, matchesSome, readFeed } from '../../db/webhooks/index.ts'
import type { Sight } from '../../db/webhooks/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { waitUntil } from '../lib/long-poll.ts'
import { route } from '../lib/route.ts'
import { Event } from './schemas.ts'
import { refuseUnreadable, sightOf } from './sight.ts'

const Feed = Obj(
  {
    data: List(Event, { max: 100 }),
    meta: Obj({
      after: Count,
      /** Ask with it as `after` next time. */
      next: Count,
      /** The number of the newest event. */
      latest: Count,
      /** The lowest number that is kept. */
      oldest: Count,
      hasMore: Bool,
      limit: Int(1, 100),
    }),
  },
  { title: 'Feed' },
)

/** The caller's sight, narrowed to the types that were asked for. */
const sightFor = (admission: Admission, types: string | undefined): Sight => {
  const sight = sightOf(admission)
  if (types === undefined) return sight
  const patterns = types.split(',').map((pattern) => pattern.trim())
  const unknown = patterns.filter((pattern) => !matchesSome(pattern))
  if (unknown.length > 0)
    throw invalid(
      unknown.map((pattern) => ({ field: 'types', message: `${pattern} matches no type of event` })),
      'type_unknown',
      'A pattern matches no type of event',
    )
  for (const pattern of patterns) refuseUnreadable(admission, pattern, 'types')
  return { ...sight, types: sight.types.filter((type) => matchesAny(patterns, type)) }
}

const feed = route({
  id: 'events.feed',
  method: 'GET',
  path: '/api/tenants/:tenantId/events',
  summary: 'Pull events after a sequence, or wait for one',
  description:
    'Each event once, in one order without gaps; numbers that are missing are of types or properties that you may not read, or did not ask for. Ask again with `meta.next` as `after`. `after=latest` answers no event and the newest number: take it first, read the lists, then follow. With `waitSeconds` an empty answer waits for the first event.',
  access: can('read', 'Event'),
  transaction: 'none',
  errors: ['type_unknown', 'cursor_expired'],
  query: Obj({
    after: Opt(Matching('^(latest|0|[1-9][0-9]{0,14})$', 16)),
    /** Types, `<entity>.*` or `*`, separated by commas. */
    types: Opt(Text(1, 2_000)),
    propertyId: Opt(Uuid),
    entityType: Opt(Text(1, 60)),
    entityId: Opt(Uuid),
    limit: Opt(Int(1, 100, { default: 100 })),
    waitSeconds: Opt(Int(0, 20)),
  }),
  example: { after: '0', types: 'reservation.*', limit: 50 },
  returns: Feed,
  handle: async ({ open, query, admission, request }) => {
    admission.scope('read', 'Event')
    const sight = sightFor(admission, query.types)
    const { waitSeconds: seconds = 0, types: _, limit = 100, ...asked } = query
    const fixed = seconds > 0 ? await open((trx) => fixedPlace(trx, { ...asked, limit })) : { ...asked, limit }
    await waitUntil(() => open((trx) => hasNews(trx, sight, fixed)), Boolean, { seconds, gone: request.gone })
    return open((trx) => readFeed(trx, sight, fixed))
  },
})

export const routes = [feed]
