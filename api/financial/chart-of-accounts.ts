import { accountClasses, controls, roles } from '../../config/financial.ts'
import {
  Bool,
  Count,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PageQuery,
  SignedAmount,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import { readChart } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const account = {
  id: Uuid,
  code: Text(1, 20),
  name: Text(1, 120),
  class: OneOf([...accountClasses]),
  side: OneOf(['debit', 'credit']),
  parentId: Nullable(Uuid),
  postable: Bool,
  control: Nullable(OneOf([...controls])),
  role: Nullable(Text(1, 60)),
  section: Nullable(Text(1, 60)),
  status: OneOf(['active', 'archived']),
  balance: Opt(SignedAmount),
}

const deepest = 6

/** The chart is at most six levels deep; the outermost has the name, since each level has one fewer below it. */
const branch = (levels: number): Schema =>
  Obj(
    levels === 1 ? account : { ...account, children: Opt(List(branch(levels - 1), { max: 2000 })) },
    levels === deepest ? { title: 'Account' } : {},
  )

const Chart = Obj({
  data: List(branch(deepest), { max: 2000 }),
  meta: Obj({ page: Int(1, 100_000), limit: Int(1, 2000), total: Count, totalPages: Count }),
  currency: Currency,
  asOf: Opt(Day),
  ledgerSequence: Opt(Count),
  pendingEvents: Opt(Count),
})

const list = route({
  id: 'chartOfAccounts.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts',
  summary: 'List the chart of accounts as tree or flat list',
  description:
    'A tree comes whole, in one page; what a filter finds stands below its groups. `asOf` or `propertyId` add balances, on the normal side of each account.',
  access: can('read', 'Account'),
  query: Obj({
    ...PageQuery,
    bookId: Opt(Uuid),
    view: Opt(OneOf(['flat', 'tree'], { default: 'flat' })),
    class: Opt(OneOf([...accountClasses])),
    status: Opt(OneOf(['active', 'archived'])),
    role: Opt(OneOf([...roles])),
    control: Opt(OneOf([...controls])),
    q: Opt(Text(1, 120)),
    asOf: Opt(Day),
    propertyId: Opt(Uuid),
  }),
  returns: Chart,
  errors: ['not_found'],
  handle: async ({ trx, query, admission }) => {
    const { page = 1, limit = 20, view, ...filter } = query
    const { flat, tree, currency, state } = await readChart(trx, filter, admission.scope('read', 'Account'))
    const facts = { currency, ...(filter.asOf === undefined ? {} : { asOf: filter.asOf }), ...state }
    return view === 'tree'
      ? {
          data: tree,
          meta: { page: 1, limit: Math.max(tree.length, 1), total: tree.length, totalPages: tree.length === 0 ? 0 : 1 },
          ...facts,
        }
      : { data: flat.slice((page - 1) * limit, page * limit), meta: pageMeta(page, limit, flat.length), ...facts }
  },
})

export const routes = [list]
