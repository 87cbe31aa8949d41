import { Instant, Int, List, Nullable, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { dismissDuplicate, listDuplicates, matchKinds, readDuplicate } from '../../db/guests/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { GuestSummary, ofGuests, Version } from './schemas.ts'

const Status = OneOf(['open', 'dismissed', 'merged'])
const GuestDuplicate = Obj(
  {
    id: Uuid,
    /** 0–100: how probable it is that the two are one person. */
    score: Int(0, 100),
    matches: List(OneOf([...matchKinds]), { max: matchKinds.length }),
    status: Status,
    guests: List(GuestSummary, { max: 2 }),
    decidedBy: Nullable(Uuid),
    decidedAt: Nullable(Instant),
    version: Version,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'GuestDuplicate' },
)

const list = paged({
  id: 'guestDuplicates.list',
  path: `${ofGuests}/duplicates`,
  summary: 'List probable duplicates with matching fields',
  description:
    'Pairs are found after a profile is made or changed. They are proposals: merging is always the decision of a person.',
  access: can('read', 'GuestDuplicate'),
  query: { status: Opt(OneOf(['open', 'dismissed', 'merged'], { default: 'open' })), minScore: Opt(Int(0, 100)) },
  of: GuestDuplicate,
  find: ({ trx, query: { status = 'open', ...query }, admission }) =>
    listDuplicates(trx, { ...query, status, scope: admission.scope('read', 'Guest') }),
})

const dismiss = route({
  id: 'guestDuplicates.dismiss',
  method: 'POST',
  path: `${ofGuests}/duplicates/:duplicateId/dismiss`,
  summary: 'Mark a pair as different people',
  description: 'The pair is not proposed again, unless a document matches.',
  access: can('update', 'GuestDuplicate'),
  record: { table: 'guest_duplicate', param: 'duplicateId', lockedBy: 'command' },
  returns: GuestDuplicate,
  errors: ['invalid_transition'],
  handle: async ({ trx, params, expectedVersion, admission }) => {
    await dismissDuplicate(trx, params.duplicateId, expectedVersion)
    return readDuplicate(trx, params.duplicateId, admission.scope('read', 'Guest'))
  },
})

export const routes = [list, dismiss]
