import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  Amount,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { cancelAccrual, createAccrual, listAccruals, readAccrual } from '../../db/financial/index.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from './schemas.ts'

const Month = Text(7, 7, { pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' })
const kind = OneOf(['prepaid', 'deferred', 'depreciation'])
const status = OneOf(['running', 'completed', 'cancelled'])
const Money = Int(1, 10_000_000_000_000)
const Asset = Obj(
  { number: Words(0, 40), accountId: Uuid, cost: Money, residual: Int(0, 10_000_000_000_000) },
  { title: 'Asset' },
)
const head = {
  id: Uuid,
  bookId: Uuid,
  kind,
  sourceAccountId: Uuid,
  targetAccountId: Uuid,
  amount: Amount,
  firstMonth: Month,
  months: Int(1, 600),
  asset: Nullable(Asset),
  bookValue: Nullable(SignedAmount),
  propertyId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  description: Text(1, 300),
  posted: Amount,
  postedMonths: Int(0, 600),
  nextOn: Nullable(Day),
  status,
  createdBy: Uuid,
  ...stamps,
}
const PlannedMonth = Obj({ month: Month, on: Day, amount: Amount, entryId: Nullable(Uuid) })

const accruals = resource({
  name: 'accrualSchedules',
  subject: 'AccrualSchedule',
  table: 'accrual_schedule',
  path: '/api/tenants/:tenantId/financial/accrual-schedules',
  param: 'accrualScheduleId',
  record: Obj({ ...head, schedule: List(PlannedMonth, { max: 600 }) }, { title: 'AccrualSchedule' }),
  read: readAccrual,
})

const list = accruals.list({
  summary: 'List prepaid expenses, deferred income and depreciation being spread',
  query: { bookId: Opt(Uuid), kind: Opt(kind), status: Opt(status), propertyId: Opt(Uuid) },
  of: Obj(head, { title: 'AccrualScheduleHead' }),
  example: { status: 'running' },
  find: ({ trx, filter }) => listAccruals(trx, filter),
})

const create = accruals.create({
  summary: 'Spread an amount over months',
  description:
    'Each month is posted on its last day; the last takes the rest. Months that are over are posted at once, those of closed periods in one sum on the first open day. Depreciation names its asset, and spreads cost less residual value.',
  errors: ['not_found', 'account_not_usable', 'reference_not_found'],
  body: Obj({
    bookId: Opt(Uuid),
    kind,
    sourceAccountId: Opt(Uuid),
    targetAccountId: Opt(Uuid),
    amount: Money,
    firstMonth: Month,
    months: Int(1, 600),
    asset: Opt(Nullable(Asset)),
    propertyId: Opt(Nullable(Uuid)),
    costCenterId: Opt(Nullable(Uuid)),
    description: Words(1, 300),
  }),
  example: {
    bookId: sampleId('bookId'),
    kind: 'prepaid',
    targetAccountId: sampleId('expenseAccountId'),
    amount: 120_000,
    firstMonth: '2031-01',
    months: 12,
    propertyId: sampleId('propertyId'),
    description: 'Insurance of the house',
  },
  command: ({ trx, body, admission }) => createAccrual(trx, body, admission.scope('create', 'AccrualSchedule')),
})

const read = accruals.read({ summary: 'Show the months posted and to come' })

const cancel = accruals.act('cancel', {
  action: 'update',
  summary: 'Stop a schedule and post or leave the rest',
  description:
    'Months that are over are posted first, each on its last day, as the nightly run does. The rest begins after them.',
  errors: ['invalid_transition', 'period_missing', 'period_closed', 'date_locked'],
  body: Obj({ rest: OneOf(['leave', 'post']), postingDate: Opt(Day) }),
  example: { rest: 'leave', postingDate: sampleDay(0) },
  command: ({ trx, id, body }) => cancelAccrual(trx, id, body),
})

export const routes = [list, create, read, cancel]
