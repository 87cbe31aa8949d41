import { sampleId } from '../../config/samples.ts'
import { invalid } from '../../config/errors.ts'
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
  Sparse,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import {
  archiveAccount,
  cashFlows,
  changeAccount,
  createAccount,
  deleteAccount,
  importChart,
  readAccount,
  readAccountNow,
  readChart,
  restoreAccount,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { routes as figures } from './account-figures.ts'
import { LedgerCode, Name, ledgerState, stamps } from './schemas.ts'

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

const shownAccount = {
  ...account,
  bookId: Uuid,
  currency: Currency,
  cashFlow: Nullable(OneOf([...cashFlows])),
  usaliCode: Text(0, 20),
  referentialCode: Text(0, 20),
  ...stamps,
}
const AccountRecord = Obj({ ...shownAccount, balance: SignedAmount, ...ledgerState }, { title: 'AccountRecord' })

const ChangedAccount = Obj(shownAccount, { title: 'ChangedAccount' })

const accounts = resource({
  name: 'chartOfAccounts',
  subject: 'Account',
  table: 'account',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts',
  param: 'accountId',
  record: ChangedAccount,
  read: readAccount,
})

const mapped = {
  section: Nullable(Text(1, 60)),
  cashFlow: Nullable(OneOf([...cashFlows])),
  usaliCode: Text(0, 20),
  referentialCode: Text(0, 20),
}

const create = route({
  id: 'chartOfAccounts.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts',
  access: can('create', 'Account'),
  status: 201,
  returns: ChangedAccount,
  summary: 'Create an account',
  description:
    'Below a group, by `parentId` or `parentCode`, whose class it has; a book without a template gets its roots by `class`. `section` and `cashFlow` are those of the first account of the group unless they are sent.',
  errors: ['duplicate_code', 'reference_not_found', 'account_not_usable', 'not_found'],
  body: Obj({
    bookId: Opt(Uuid),
    code: LedgerCode,
    name: Name,
    parentId: Opt(Uuid),
    parentCode: Opt(LedgerCode),
    class: Opt(OneOf([...accountClasses])),
    postable: Opt(Bool),
    side: Opt(OneOf(['debit', 'credit'])),
    control: Opt(Nullable(OneOf([...controls]))),
    ...Sparse(Obj(mapped)).properties,
  }),
  example: { bookId: sampleId('bookId'), code: '1.1.5.7', name: 'Deposits with suppliers', parentCode: '1.1.5' },
  handle: async ({ trx, body }) => readAccount(trx, await createAccount(trx, body)),
})

const importAccounts = route({
  id: 'chartOfAccounts.import',
  method: 'POST',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts/import',
  summary: 'Add missing accounts from a template or rows',
  description:
    'All accounts that the chart lacks, or none. The group of an account is the one whose code is its own without the last part; it stands already, or in another row. What stands is skipped and not changed. The template is the default chart of the country of the book; its accounts play their roles where no other account does. `section` and `cashFlow` are those of the first account of the group unless they are sent. `dryRun` answers what would happen, with the errors of rows, and stores nothing.',
  access: can('create', 'Account'),
  body: Obj({
    bookId: Opt(Uuid),
    template: Opt(OneOf(['hotel'])),
    rows: Opt(
      List(
        Obj({
          code: LedgerCode,
          name: Name,
          class: OneOf([...accountClasses]),
          side: Opt(OneOf(['debit', 'credit'])),
          postable: Opt(Bool),
          ...Sparse(Obj(mapped)).properties,
        }),
        { min: 1, max: 500 },
      ),
    ),
    dryRun: Opt(Bool),
  }),
  example: {
    bookId: sampleId('bookId'),
    rows: [{ code: '6.7.71', name: 'Beekeeping', class: 'expense' }],
    dryRun: true,
  },
  returns: Obj(
    {
      created: List(Obj({ accountId: Nullable(Uuid), code: LedgerCode, name: Name }), { max: 2000 }),
      skipped: List(Obj({ code: LedgerCode, message: Text(1, 200) }), { max: 2000 }),
      /** `row` counts from 0. */
      errors: List(Obj({ row: Count, code: LedgerCode, field: Text(1, 40), message: Text(1, 200) }), { max: 2000 }),
    },
    { title: 'ChartImport' },
  ),
  errors: ['not_found', 'duplicate_code'],
  handle: ({ trx, body: { bookId, template, rows, dryRun = false } }) => {
    const given = template ?? rows
    if (given === undefined || (template && rows))
      throw invalid([{ field: 'rows', message: 'exactly one of template and rows is given' }])
    return importChart(trx, { bookId, rows: given, dryRun })
  },
})

const read = route({
  id: 'chartOfAccounts.read',
  method: 'GET',
  path: '/api/tenants/:tenantId/financial/chart-of-accounts/:accountId',
  summary: 'Show an account with role, control and current balance',
  description: 'Every reader of the chart sees it; the balance is that of the properties of the caller.',
  access: can('read', 'Account'),
  returns: AccountRecord,
  handle: ({ trx, params, admission }) => readAccountNow(trx, params.accountId, admission.scope('read', 'Account')),
})

const change = accounts.change({
  summary: 'Change name, parent, mapping or role of an account',
  description: 'A role moves from the account that has it; that one keeps its balance.',
  errors: [
    'duplicate_code',
    'reference_not_found',
    'account_not_usable',
    'locked_field',
    'role_mismatch',
    'invalid_transition',
  ],
  body: Sparse(Obj({ code: LedgerCode, name: Name, parentId: Uuid, ...mapped, role: OneOf([...roles]) })),
  example: { name: 'Deposits with suppliers and utilities' },
  command: ({ trx, id, body }) => changeAccount(trx, id, body),
})

const remove = accounts.remove({
  summary: 'Delete an account that was never used',
  errors: ['in_use'],
  command: ({ trx, id }) => deleteAccount(trx, id),
})

const archive = accounts.act('archive', {
  action: 'update',
  summary: 'Close an account with zero balance to new postings',
  errors: ['in_use', 'balance_not_zero'],
  command: ({ trx, id }) => archiveAccount(trx, id),
})

const restore = accounts.act('restore', {
  action: 'update',
  summary: 'Open an archived account to postings again',
  errors: ['in_use'],
  command: ({ trx, id }) => restoreAccount(trx, id),
})

export const routes = [list, create, importAccounts, read, change, remove, archive, restore, ...figures]
