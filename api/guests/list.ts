import {
  Bool,
  Country,
  Day,
  Email,
  Instant,
  Int,
  List,
  LocaleTag,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { guestSorts, listGuests } from '../../db/guests/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { sortOf, SortQuery } from '../lib/sort.ts'

const statuses = ['active', 'merged', 'erased'] as const
const Tag = Matching('^[a-z0-9-]{1,32}$', 32)
const sortFields = Object.keys(guestSorts) as (keyof typeof guestSorts)[]

const GuestSummary = Obj(
  {
    id: Uuid,
    status: OneOf([...statuses]),
    firstName: Text(1, 100),
    lastName: Text(0, 100),
    preferredName: Text(0, 100),
    language: Nullable(LocaleTag),
    nationality: Nullable(Country),
    residenceCountry: Nullable(Country),
    email: Nullable(Text(0, 60)),
    phone: Nullable(Text(0, 20)),
    /** Fields that are shown masked. */
    masked: List(OneOf(['email', 'phone']), { max: 2 }),
    tags: List(Tag, { max: 20 }),
    blocked: OneOf(['none', 'warn', 'refuse']),
    inHouse: Bool,
    nextArrival: Nullable(Day),
    source: OneOf(['staff', 'portal', 'channel', 'import', 'api']),
    mergedIntoId: Nullable(Uuid),
    version: Int(1, 2_147_483_647),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'GuestSummary' },
)

const list = paged({
  id: 'guests.list',
  path: '/api/tenants/:tenantId/guests',
  summary: 'Search and list guests, personal data masked',
  description:
    '`q` is an e-mail, the last four digits of a phone, a whole phone, CPF or document number, or words of a name in any order, without accents. A merged profile is found by its old data and answered by its survivor.',
  access: can('read', 'Guest'),
  query: {
    ...SortQuery,
    q: Opt(Text(3, 120, { cardNumber: 'exempt' })),
    email: Opt(Email),
    phone: Opt(Text(4, 20, { cardNumber: 'exempt' })),
    document: Opt(Text(3, 30, { cardNumber: 'exempt' })),
    tag: Opt(Tag),
    status: Opt(OneOf([...statuses], { default: 'active' })),
    blocked: Opt(OneOf(['warn', 'refuse'])),
    updatedSince: Opt(Instant),
  },
  of: GuestSummary,
  find: ({ trx, query: { status = 'active', sort, ...query }, admission }) =>
    listGuests(trx, {
      ...query,
      status,
      sort: sortOf(sort, sortFields, 'name'),
      scope: admission.scope('read', 'Guest'),
    }),
})

export const routes = [list]
