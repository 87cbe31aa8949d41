import { rhythmUnits } from '../../config/payables.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Count,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeRecurring, createRecurring, listRecurring, readRecurring } from '../../db/accounts-payable/index.ts'
import { resource } from '../lib/resource.ts'
import { givenPayee, GivenLine, GivenWithholding, Kind, path, stamps } from './schemas.ts'

const Template = Obj(
  {
    ...givenPayee,
    kind: Kind,
    lines: List(GivenLine, { min: 1, max: 200 }),
    withholdings: Opt(List(GivenWithholding, { max: 20 })),
    notes: Opt(Text(0, 2_000)),
  },
  { title: 'RecurringPayableTemplate' },
)
const RecurringPayable = Obj(
  {
    id: Uuid,
    bookId: Uuid,
    propertyId: Nullable(Uuid),
    supplierId: Nullable(Uuid),
    name: Text(1, 120),
    template: Template,
    every: Int(1, 24),
    unit: OneOf([...rhythmUnits]),
    day: Nullable(Int(1, 31)),
    firstOn: Day,
    endsOn: Nullable(Day),
    /** Null once it has ended. */
    nextOn: Nullable(Day),
    leadDays: Count,
    pausedUntil: Nullable(Day),
    submit: Bool,
    createdBy: Uuid,
    ...stamps,
  },
  { title: 'RecurringPayable' },
)

const recurring = resource({
  name: 'recurringPayables',
  subject: 'RecurringPayable',
  table: 'recurring_payable',
  path: `${path}/recurring-payables`,
  param: 'recurringPayableId',
  record: RecurringPayable,
  read: readRecurring as never,
  show: (found) => found as never,
})

const templateErrors = [
  'reference_not_found',
  'account_not_usable',
  'supplier_archived',
  'lines_not_equal',
  'total_too_large',
] as const

const list = recurring.list({
  summary: 'List recurring payables with their next date',
  query: { supplierId: Opt(Uuid), propertyId: Opt(Uuid), bookId: Opt(Uuid), ended: Opt(Bool) },
  example: { ended: false },
  find: ({ trx, filter }) => listRecurring(trx, filter) as never,
})

const create = recurring.create({
  summary: 'Create a recurring payable such as rent or energy',
  description:
    'A bill is made for each due date, `leadDays` before it: a draft, or submitted where `submit` says so. A day that a month does not have is its last one.',
  errors: templateErrors,
  body: Obj({
    bookId: Opt(Uuid),
    propertyId: Opt(Nullable(Uuid)),
    name: Words(1, 120),
    template: Template,
    every: Opt(Int(1, 24)),
    unit: OneOf([...rhythmUnits]),
    day: Opt(Nullable(Int(1, 31))),
    firstOn: Day,
    endsOn: Opt(Nullable(Day)),
    leadDays: Opt(Int(0, 60)),
    submit: Opt(Bool),
  }),
  example: {
    bookId: sampleId('bookId'),
    propertyId: sampleId('propertyId'),
    name: 'Rent of the annex',
    template: {
      payeeName: 'Imobiliária do Porto',
      kind: 'bill',
      lines: [{ description: 'Rent', accountId: sampleId('expenseAccountId'), amount: 350_000 }],
    },
    unit: 'month',
    day: 31,
    firstOn: '2027-01-31',
  },
  command: ({ trx, body, admission }) => createRecurring(trx, body, { features: admission.features }),
})

const change = recurring.change({
  summary: 'Change, pause or end future occurrences',
  description: 'Dates that fall into a pause are skipped, and not caught up.',
  errors: templateErrors,
  body: Sparse(
    Obj({
      name: Words(1, 120),
      template: Template,
      endsOn: Nullable(Day),
      leadDays: Int(0, 60),
      pausedUntil: Nullable(Day),
      submit: Bool,
    }),
  ),
  example: { name: 'Rent of the annexes' },
  command: ({ trx, id, body, admission }) => changeRecurring(trx, id, body, { features: admission.features }),
})

export const routes = [list, create, change]
