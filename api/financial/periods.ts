import { sampleId } from '../../config/samples.ts'
import {
  Anything,
  Bool,
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
  closeFiscalYear,
  closePeriod,
  createFiscalYear,
  isPeriodWorking,
  listBusinessDays,
  listFiscalYears,
  listPeriods,
  periodStatuses,
  readBusinessDay,
  readFiscalYear,
  readPeriod,
  reopenFiscalYear,
  reopenPeriod,
  softClosePeriod,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from './schemas.ts'

const kind = OneOf(['regular', 'closing'])
const period = {
  id: Uuid,
  fiscalYearId: Uuid,
  number: Int(1, 13),
  kind,
  startsOn: Day,
  endsOn: Day,
  status: OneOf([...periodStatuses]),
}
const yearStatus = OneOf(['open', 'closing', 'closed'])
const year = {
  id: Uuid,
  bookId: Uuid,
  year: Int(1900, 9999),
  startsOn: Day,
  endsOn: Day,
  status: yearStatus,
  closedBy: Nullable(Uuid),
  reopenedBy: Nullable(Uuid),
  selfApproved: Bool,
  ...stamps,
}

const years = resource({
  name: 'fiscalYears',
  subject: 'FiscalYear',
  table: 'fiscal_year',
  path: '/api/tenants/:tenantId/financial/fiscal-years',
  param: 'fiscalYearId',
  record: Obj({ ...year, periods: List(Obj(period), { max: 13 }) }, { title: 'FiscalYear' }),
  read: readFiscalYear,
})

const listYears = years.list({
  summary: 'List fiscal years with their periods',
  query: { bookId: Opt(Uuid), status: Opt(yearStatus) },
  example: { status: 'open' },
  find: ({ trx, filter }) => listFiscalYears(trx, filter),
})

const createYear = years.create({
  summary: 'Create the next fiscal year with its periods',
  description:
    'The year after the last one; with `startsOn` the one before the first, while no period of that is closed.',
  errors: ['not_found', 'year_not_contiguous', 'period_closed'],
  body: Obj({ bookId: Opt(Uuid), startsOn: Opt(Day) }),
  example: { bookId: sampleId('bookId') },
  command: ({ trx, body }) => createFiscalYear(trx, body),
})

const head = {
  ...period,
  bookId: Uuid,
  closedBy: Nullable(Uuid),
  reopenedBy: Nullable(Uuid),
  selfApproved: Bool,
  sealedAt: Nullable(Instant),
  entries: Count,
  lines: Count,
  ...stamps,
}
const Item = Obj({
  code: Text(1, 60),
  blocking: Bool,
  passed: Bool,
  count: Count,
  sample: List(Uuid, { max: 10 }),
})

const Period = Obj({ ...head, working: Bool, checklist: List(Item, { max: 50 }) }, { title: 'FiscalPeriod' })
const periods = resource({
  name: 'periods',
  subject: 'FiscalPeriod',
  table: 'fiscal_period',
  path: '/api/tenants/:tenantId/financial/periods',
  param: 'periodId',
  record: Period,
  read: readPeriod,
})

const list = periods.list({
  summary: 'List periods with status and entry counts',
  description: 'Those that have days between `from` and `to`.',
  query: {
    bookId: Opt(Uuid),
    fiscalYearId: Opt(Uuid),
    status: Opt(OneOf([...periodStatuses])),
    kind: Opt(kind),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: Obj(head, { title: 'FiscalPeriodHead' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listPeriods(trx, filter),
})

const readOne = waitable({
  id: 'periods.read',
  path: periods.one,
  summary: 'Show a period with its closing checklist',
  description:
    'Each item of the checklist has a number and up to ten ids of what stands in the way. `working` tells that taxes or numbers of the diary are on their way; `waitSeconds` waits until they are done.',
  access: can('read', 'FiscalPeriod'),
  returns: Period,
  read: ({ trx, params }) => isPeriodWorking(trx, params.periodId),
  isEnough: (working) => !working,
  find: async ({ trx, params, admission }) => {
    const found = await readPeriod(trx, params.periodId)
    admission.check('read', 'FiscalPeriod', asJudged('fiscal_period', found.id, found))
    return found
  },
})

const softClose = periods.act('soft-close', {
  action: 'close',
  summary: 'Stop ordinary postings and number the diary',
  description:
    'In the order of the periods, when every business day of it is closed and no posting waits. The taxes on its revenue are assessed, then its entries get their numbers. Late entries alone enter afterwards.',
  errors: ['invalid_transition', 'period_order', 'postings_waiting', 'checklist_not_clean'],
  command: ({ trx, id }) => softClosePeriod(trx, id),
})

const close = periods.act('close', {
  summary: 'Close a period for good when its checklist is clean',
  description: 'The blocking items of the checklist must pass; `errors` name those that do not.',
  errors: ['invalid_transition', 'period_order', 'checklist_not_clean'],
  command: ({ trx, id }) => closePeriod(trx, id),
})

const reasoned = { body: Obj({ reason: Words(1, 500) }), example: { reason: 'An invoice of the month came late' } }

const reopen = periods.act('reopen', {
  ...reasoned,
  summary: 'Reopen the last closed period with a reason',
  description:
    'By another person than closed it, unless the book has a single operator. A closed period becomes soft-closed, a soft-closed one open.',
  errors: ['invalid_transition', 'period_order', 'self_approval', 'key_not_allowed'],
  command: ({ trx, id, body }) => reopenPeriod(trx, id, body.reason),
})

const closeYear = years.act('close', {
  summary: 'Close the year and carry its result to equity',
  description:
    'When its twelve months are closed and the next year is there. The entries of the closing period are written at once after; the year is `closing` until then.',
  errors: ['invalid_transition', 'period_order', 'period_missing', 'account_not_usable'],
  command: ({ trx, id }) => closeFiscalYear(trx, id),
})

const reopenYear = years.act('reopen', {
  ...reasoned,
  summary: 'Reopen the last closed year with a reason',
  description: 'By another person than closed it. Its closing entries are reversed in the closing period.',
  errors: ['invalid_transition', 'period_order', 'self_approval', 'key_not_allowed'],
  command: ({ trx, id, body }) => reopenFiscalYear(trx, id, body.reason),
})

const day = {
  id: Uuid,
  propertyId: Uuid,
  date: Day,
  status: OneOf(['open', 'closed']),
  openedAt: Instant,
  closedAt: Nullable(Instant),
  closedBy: Nullable(Uuid),
}
const days = resource({
  name: 'businessDays',
  subject: 'BusinessDay',
  table: 'business_day',
  path: '/api/tenants/:tenantId/financial/business-days',
  param: 'businessDayId',
  record: Obj({ ...day, totals: Nullable(MapOf(Anything, { max: 500 })) }, { title: 'BusinessDay' }),
  read: readBusinessDay,
})

const listDays = days.list({
  summary: 'List the business days of a property',
  query: { propertyId: Opt(Uuid), status: Opt(OneOf(['open', 'closed'])), from: Opt(Day), to: Opt(Day) },
  of: Obj(day, { title: 'BusinessDayHead' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listBusinessDays(trx, filter),
})

const readDay = days.read({
  summary: 'Show a business day with its frozen totals',
  description: '`totals` are null while the day is open, and never change afterwards.',
})

export const routes = [
  listYears,
  createYear,
  closeYear,
  reopenYear,
  list,
  readOne,
  softClose,
  close,
  reopen,
  listDays,
  readDay,
]
