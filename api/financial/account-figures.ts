import { accountClasses } from '../../config/financial.ts'
import {
  Amount,
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
import { listAccountLines, listBalances } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { LedgerCode, Name, ledgerState } from './schemas.ts'

const lines = route({
  id: 'chartOfAccounts.lines',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts/:accountId/lines',
  summary: 'List the lines of an account with running balance',
  description:
    'In the order of posting; balances are on the normal side of the account. `opening` and `closing` are those before and after the days asked for. At most the first 10,000 lines.',
  access: can('read', 'LedgerEntry'),
  query: Obj({ ...PageQuery, from: Opt(Day), to: Opt(Day), propertyId: Opt(Uuid) }),
  returns: Obj({
    data: List(
      Obj({
        entryId: Uuid,
        lineNo: Int(1, 32_000),
        postingDate: Day,
        number: Nullable(Count),
        description: Text(1, 300),
        debit: Amount,
        credit: Amount,
        balance: SignedAmount,
        propertyId: Nullable(Uuid),
        documentType: Nullable(Text(1, 40)),
        documentId: Nullable(Uuid),
        partyType: Nullable(Text(1, 20)),
        partyId: Nullable(Uuid),
      }),
      { max: 100 },
    ),
    meta: Obj({ page: Int(1, 100_000), limit: Int(1, 100), total: Count, totalPages: Count }),
    opening: SignedAmount,
    closing: SignedAmount,
    currency: Currency,
    ...ledgerState,
  }),
  handle: async ({ trx, params, query: { page = 1, limit = 20, ...filter }, admission }) => {
    const scope = admission.scope('read', 'LedgerEntry')
    const { rows, total, state, ...sums } = await listAccountLines(trx, params.accountId, {
      ...filter,
      page,
      limit,
      scope,
    })
    return { data: rows, meta: pageMeta(page, limit, total), ...sums, ...state }
  },
})

const balances = route({
  id: 'balances.list',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/balances',
  summary: 'Show balances of many accounts at a date',
  description:
    'Cumulative to the end of `asOf`, today by default: debits and credits of accounts with movement, and the balance on the normal side. `includeClosing=false` leaves the closing entries of years out.',
  access: can('read', 'Account'),
  query: Obj({
    bookId: Opt(Uuid),
    asOf: Opt(Day),
    propertyId: Opt(Uuid),
    accountId: Opt(List(Uuid, { max: 100 })),
    class: Opt(OneOf([...accountClasses])),
    includeClosing: Opt(Bool),
  }),
  returns: Obj({
    asOf: Day,
    currency: Currency,
    ...ledgerState,
    data: List(
      Obj({
        accountId: Uuid,
        code: LedgerCode,
        name: Name,
        debit: Amount,
        credit: Amount,
        balance: SignedAmount,
      }),
      { max: 2000 },
    ),
  }),
  errors: ['not_found'],
  handle: ({ trx, query, admission }) => listBalances(trx, query, admission.scope('read', 'Account')),
})

export const routes = [lines, balances]
