import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PageOf,
  PageQuery,
  SignedAmount,
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import {
  approveBudget,
  createBudget,
  deleteBudget,
  listBudgetLines,
  listBudgets,
  readBudget,
  setBudgetLines,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { Name, stamps } from './schemas.ts'

const status = OneOf(['draft', 'approved', 'superseded'])
const head = {
  id: Uuid,
  bookId: Uuid,
  fiscalYearId: Uuid,
  propertyId: Nullable(Uuid),
  name: Name,
  status,
  createdBy: Uuid,
  approvedBy: Nullable(Uuid),
  approvedAt: Nullable(Instant),
  selfApproved: Bool,
  ...stamps,
}
const Month = Obj({ periodNumber: Int(1, 13), revenue: SignedAmount, expense: SignedAmount })
const Budget = Obj({ ...head, months: List(Month, { max: 13 }) }, { title: 'Budget' })
const budgets = resource({
  name: 'budgets',
  subject: 'Budget',
  table: 'budget',
  path: '/api/tenants/:tenantId/financial/budgets',
  param: 'budgetId',
  record: Budget,
  read: readBudget,
})

const list = budgets.list({
  summary: 'List budgets by year, property and status',
  query: { fiscalYearId: Opt(Uuid), propertyId: Opt(Uuid), status: Opt(status) },
  of: Obj(head, { title: 'BudgetHead' }),
  example: { status: 'approved' },
  find: ({ trx, filter }) => listBudgets(trx, filter),
})

const create = budgets.create({
  summary: 'Create a budget, empty or copied with a percentage',
  description:
    '`copy` takes the lines of a budget, or the actuals of a year by account, cost centre and month; `rate` is in basis points. The last month takes what is missing to the total of the year.',
  errors: ['not_found', 'reference_not_found'],
  body: Obj({
    fiscalYearId: Uuid,
    propertyId: Opt(Nullable(Uuid)),
    name: Name,
    copy: Opt(Obj({ budgetId: Opt(Uuid), fiscalYearId: Opt(Uuid), rate: Int(-10_000, 100_000) })),
  }),
  example: { fiscalYearId: sampleId('fiscalYearId'), propertyId: sampleId('propertyId'), name: 'Plan' },
  command: ({ trx, body, admission }) =>
    createBudget(trx, body, admission.scope('create', 'Budget'), admission.scope('read', 'Budget')),
})

const read = budgets.read({ summary: 'Show a budget with totals by month' })

const remove = budgets.remove({
  summary: 'Delete a draft budget',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => deleteBudget(trx, id),
})

const periodNumber = Int(1, 12)
const BudgetLine = Obj(
  {
    accountId: Uuid,
    accountCode: Text(1, 20),
    accountName: Text(1, 120),
    costCenterId: Nullable(Uuid),
    periodNumber,
    amount: SignedAmount,
  },
  { title: 'BudgetLine' },
)

const lines = route({
  id: 'budgets.lines',
  method: 'GET',
  path: `${budgets.one}/lines`,
  summary: 'List the lines of a budget',
  access: can('read', 'Budget'),
  query: Obj({ ...PageQuery }),
  returns: PageOf(BudgetLine),
  handle: async ({ trx, params, query: { page = 1, limit = 20 }, admission }) => {
    const scope = admission.scope('read', 'Budget')
    const { rows, total } = await listBudgetLines(trx, params.budgetId, { page, limit, scope })
    return { data: rows, meta: pageMeta(page, limit, total) }
  },
})

const setLines = route({
  id: 'budgets.setLines',
  method: 'PUT',
  path: `${budgets.one}/lines`,
  summary: 'Set lines of a draft budget',
  description: 'Amounts are on the normal side of their accounts; 0 removes a line. Lines that are not named stay.',
  access: can('update', 'Budget'),
  record: budgets.lock,
  body: Obj({
    lines: List(
      Obj({
        accountId: Uuid,
        costCenterId: Opt(Nullable(Uuid)),
        periodNumber,
        amount: Int(-10_000_000_000_000, 10_000_000_000_000),
      }),
      { min: 1, max: 1000 },
    ),
  }),
  example: { lines: [{ accountId: sampleId('accountId'), periodNumber: 1, amount: 500_000 }] },
  returns: Budget,
  errors: ['invalid_transition', 'account_not_usable', 'reference_not_found'],
  handle: async ({ trx, params, body }) => {
    await setBudgetLines(trx, params.budgetId, body.lines)
    return readBudget(trx, params.budgetId)
  },
})

const approve = budgets.act('approve', {
  summary: 'Approve a budget and retire the one before',
  description: 'By another person than those who wrote it. One of a year and property is approved at a time.',
  errors: ['invalid_transition', 'self_approval', 'key_not_allowed'],
  command: ({ trx, id }) => approveBudget(trx, id),
})

export const routes = [list, create, read, remove, lines, setLines, approve]
