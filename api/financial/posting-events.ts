import {
  Anything,
  Count,
  Day,
  Instant,
  Int,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  dismissPostingEvent,
  listPostingEvents,
  postingStatuses,
  readPostingEvent,
  retryPostingEvents,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'

const status = OneOf([...postingStatuses])
const head = {
  id: Uuid,
  seq: Count,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  event: Text(1, 80),
  sourceId: Uuid,
  sourceSeq: Int(0, 2_147_483_647),
  dated: OneOf(['day', 'document']),
  postingDate: Day,
  periodId: Uuid,
  reversesEventId: Nullable(Uuid),
  status,
  attempts: Int(0, 1_000_000),
  nextAt: Nullable(Instant),
  errorCode: Nullable(Text(1, 80)),
  errorMessage: Nullable(Text(0, 500)),
  ruleIds: List(Uuid, { max: 500 }),
  entryId: Nullable(Uuid),
  dismissReason: Nullable(Text(1, 500)),
  replacingEntryId: Nullable(Uuid),
  createdAt: Instant,
}
const path = '/api/tenants/:tenantId/financial/posting-events'
const PostingEvent = Obj({ ...head, payload: MapOf(Anything, { max: 50 }) }, { title: 'PostingEvent' })

const events = resource({
  name: 'postingEvents',
  subject: 'PostingEvent',
  table: 'posting_event',
  path,
  param: 'postingEventId',
  record: PostingEvent,
  read: readPostingEvent,
})

const list = events.list({
  summary: 'List posting events by status, age, event or document',
  query: {
    bookId: Opt(Uuid),
    status: Opt(status),
    event: Opt(Text(1, 80)),
    errorCode: Opt(Text(1, 80)),
    propertyId: Opt(Uuid),
    sourceId: Opt(Uuid),
    olderThanMinutes: Opt(Int(0, 1_000_000)),
  },
  of: Obj(head, { title: 'PostingEventHead' }),
  example: { status: 'parked' },
  find: ({ trx, filter }) => listPostingEvents(trx, filter),
})

const read = events.read({ summary: 'Show an event with payload, error and entry' })

const retry = route({
  id: 'postingEvents.retry',
  method: 'POST',
  path: `${path}/retry`,
  summary: 'Put failed or parked events back in the queue',
  description: 'By their ids, or all that a filter finds, at most 10,000. Other events are left as they are.',
  access: can('update', 'PostingEvent'),
  body: Obj({
    postingEventIds: Opt(List(Uuid, { min: 1, max: 200 }, { uniqueItems: true })),
    filter: Opt(Obj({ event: Opt(Text(1, 80)), errorCode: Opt(Text(1, 80)) })),
  }),
  example: { filter: { errorCode: 'account_not_usable' } },
  returns: Obj({ count: Count }, { title: 'Counted' }),
  handle: async ({ trx, body, admission }) => ({
    count: await retryPostingEvents(trx, body, admission.scope('update', 'PostingEvent')),
  }),
})

const dismiss = route({
  id: 'postingEvents.dismiss',
  method: 'POST',
  path: `${path}/:postingEventId/dismiss`,
  summary: 'Dismiss a parked event with reason and replacing entry',
  description: 'Ledger and sub-ledger stay apart until the replacing entry, a manual one of the book, explains it.',
  access: can('override', 'PostingEvent'),
  body: Obj({ reason: Words(1, 500), replacingEntryId: Opt(Nullable(Uuid)) }),
  example: { reason: 'Posted by hand with the bank statement' },
  returns: PostingEvent,
  errors: ['invalid_transition', 'reference_not_found'],
  handle: async ({ trx, params, body, admission }) => {
    const event = await readPostingEvent(trx, params.postingEventId)
    admission.check('override', 'PostingEvent', asJudged('posting_event', event.id, event))
    await dismissPostingEvent(trx, event.id, body)
    return readPostingEvent(trx, event.id)
  },
})

export const routes = [list, read, dismiss, retry]
