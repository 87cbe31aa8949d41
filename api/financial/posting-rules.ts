import { controls } from '../../config/financial.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Anything,
  Day,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  createPostingRule,
  endPostingRule,
  listBusinessEvents,
  listPostingRules,
  readPostingRule,
  simulatePosting,
} from '../../db/financial/index.ts'
import type { PostingPayload } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { LedgerCode, stamps } from './schemas.ts'

const Match = Sparse(
  Obj({
    propertyId: Uuid,
    category: Text(1, 40),
    unitTypeId: Uuid,
    ratePlanId: Uuid,
    marketSegment: Text(1, 40),
    outletId: Uuid,
    itemCategoryId: Uuid,
    taxRuleId: Uuid,
    channelConnectionId: Uuid,
    method: Text(1, 40),
  }),
)
const event = Text(1, 80)
const line = Text(1, 40)
const path = '/api/tenants/:tenantId/financial/posting-rules'
const side = OneOf(['debit', 'credit'])

const PostingRule = Obj(
  {
    id: Uuid,
    bookId: Uuid,
    event,
    line,
    match: Match,
    accountId: Uuid,
    costCenterId: Nullable(Uuid),
    validFrom: Day,
    validTo: Nullable(Day),
    ...stamps,
  },
  { title: 'PostingRule' },
)

const rules = resource({
  name: 'postingRules',
  subject: 'PostingRule',
  table: 'posting_rule',
  path,
  param: 'postingRuleId',
  record: PostingRule,
  read: readPostingRule,
})

const businessEvents = route({
  id: 'businessEvents.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/business-events',
  summary: 'List business events with the lines they post',
  description:
    'A line is a role, or a selector that begins with `@`; `accountId` is the account in force today where neither document nor context decides.',
  access: can('read', 'PostingRule'),
  query: Obj({ bookId: Opt(Uuid) }),
  returns: Obj({
    data: List(
      Obj({
        event,
        raisedWhen: Text(0, 300),
        dated: OneOf(['day', 'document']),
        identity: Nullable(Text(1, 300)),
        lines: List(
          Obj({
            side,
            line,
            amount: Text(1, 60),
            accountId: Nullable(Uuid),
            control: Nullable(OneOf([...controls])),
          }),
          { max: 50 },
        ),
        mirrors: List(event, { max: 50 }),
      }),
      { max: 500 },
    ),
  }),
  errors: ['not_found'],
  handle: async ({ trx, query }) => ({ data: await listBusinessEvents(trx, query.bookId) }),
})

const list = rules.list({
  summary: 'List the rules that choose accounts',
  query: { bookId: Opt(Uuid), event: Opt(event), validOn: Opt(Day) },
  example: { event: 'reservations.room_night_charged' },
  find: ({ trx, filter }) => listPostingRules(trx, filter),
})

const create = route({
  id: 'postingRules.create',
  method: 'POST',
  path,
  access: can('create', 'PostingRule'),
  status: 201,
  returns: PostingRule,
  summary: 'Create a rule from a date',
  description: 'It counts for what is posted afterwards. The account is one of the same class without control.',
  errors: ['not_found', 'rule_not_allowed', 'reference_not_found', 'period_closed', 'overlap'],
  body: Obj({
    bookId: Opt(Uuid),
    event,
    line,
    match: Opt(Match),
    accountId: Uuid,
    costCenterId: Opt(Nullable(Uuid)),
    validFrom: Day,
  }),
  example: {
    bookId: sampleId('bookId'),
    event: 'reservations.room_night_charged',
    line: '@revenue',
    match: { category: 'room' },
    accountId: sampleId('accountId'),
    validFrom: '2027-01-01',
  },
  handle: async ({ trx, body }) => readPostingRule(trx, await createPostingRule(trx, body)),
})

const simulate = route({
  id: 'postingRules.simulate',
  method: 'POST',
  path: `${path}/simulate`,
  summary: 'Show the lines that a sample event would post',
  access: can('read', 'PostingRule'),
  body: Obj({
    event,
    propertyId: Uuid,
    postingDate: Day,
    payload: Obj({
      amounts: MapOf(Anything, { max: 20 }),
      context: Opt(MapOf(Anything, { max: 30 })),
      documents: Opt(MapOf(Uuid, { max: 20 })),
      accounts: Opt(MapOf(Uuid, { max: 20 })),
      costCenterId: Opt(Nullable(Uuid)),
      memo: Opt(Text(0, 200)),
    }),
  }),
  example: {
    event: 'payment.payment_captured',
    propertyId: sampleId('propertyId'),
    postingDate: '2027-01-01',
    payload: {
      amounts: { amount: 10_000 },
      documents: { payment: sampleId('paymentId') },
      context: { money: 'gateway', target: 'booking' },
    },
  },
  returns: Obj({
    data: List(
      Obj({
        side,
        line,
        amount: Amount,
        accountId: Uuid,
        accountCode: LedgerCode,
        costCenterId: Nullable(Uuid),
        ruleId: Nullable(Uuid),
        role: Nullable(Text(1, 60)),
      }),
      { max: 500 },
    ),
  }),
  errors: ['reference_not_found', 'account_not_usable'],
  handle: async ({ trx, body }) => ({
    data: await simulatePosting(trx, { ...body, payload: body.payload as PostingPayload }),
  }),
})

const end = rules.act('end', {
  action: 'update',
  summary: 'End a rule after a date',
  errors: ['overlap'],
  body: Obj({ validTo: Day }),
  example: { validTo: '2027-12-31' },
  command: ({ trx, id, body }) => endPostingRule(trx, id, body.validTo),
})

export const routes = [businessEvents, list, create, simulate, end]
