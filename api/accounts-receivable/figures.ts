import { sampleId } from '../../config/samples.ts'
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
import { listInstallments, readAgeing } from '../../db/accounts-receivable/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { path } from './schemas.ts'

const installments = paged({
  id: 'receivableInstallments.list',
  path: `${path}/installments`,
  summary: 'List what is due by date',
  description: 'Of issued documents; those with something open, unless `open` is false.',
  access: can('read', 'Receivable'),
  query: {
    dueFrom: Opt(Day),
    dueTo: Opt(Day),
    overdue: Opt(Bool),
    open: Opt(Bool),
    customerId: Opt(Uuid),
    propertyId: Opt(Uuid),
    bookId: Opt(Uuid),
  },
  of: Obj(
    {
      id: Uuid,
      receivableId: Uuid,
      customer: Obj({ id: Uuid, name: Text(0, 400) }),
      number: Nullable(Text(1, 40)),
      seq: Count,
      of: Count,
      dueOn: Day,
      daysOverdue: Count,
      amount: Amount,
      open: Amount,
      currency: Currency,
      promisedOn: Nullable(Day),
      /** Proposed on top of what is open, and booked by nobody but a receipt. */
      lateCharges: Obj({ fine: Amount, interest: Amount, asOf: Day }, { title: 'LateCharges' }),
      lastLevel: Nullable(Int(1, 8)),
      /** The Pix charge that it can be paid with now. */
      pixChargeId: Nullable(Uuid),
    },
    { title: 'ReceivableInstallmentListed' },
  ),
  find: ({ trx, query, admission }) =>
    listInstallments(trx, { open: true, ...query, scope: admission.scope('read', 'Receivable') }),
})

const buckets = {
  notDue: SignedAmount,
  d1to30: SignedAmount,
  d31to60: SignedAmount,
  d61to90: SignedAmount,
  over90: SignedAmount,
  total: SignedAmount,
  unbilled: Amount,
  availableReceipts: SignedAmount,
}

const ageing = route({
  id: 'receivables.ageing',
  method: 'GET',
  path: `${path}/ageing`,
  summary: 'Read open amounts by age on any date',
  description:
    'Days after the due date; the day itself is not due. Invoices, receipts and schedules count as they were dated, so a past date never changes. `unbilled` and `availableReceipts` stand apart; customers who have nothing else are rows, too, and money without an owner is one with a null key. For callers of some properties it is of these, and of what belongs to none.',
  access: can('read', 'Receivable'),
  query: Obj({
    ...PageQuery,
    bookId: Opt(Uuid),
    asOf: Opt(Day),
    propertyId: Opt(Uuid),
    by: Opt(OneOf(['customer', 'property', 'kind'], { description: 'kind: of the customers' })),
  }),
  example: { bookId: sampleId('bookId'), by: 'customer' },
  returns: Obj(
    {
      asOf: Day,
      currency: Currency,
      totals: Obj(buckets),
      data: List(Obj({ key: Nullable(Text(1, 40)), name: Nullable(Text(0, 400)), ...buckets }), { max: 100 }),
      meta: Obj({ page: Int(1, 100_000), limit: Int(1, 5_000), total: Count, totalPages: Count }),
    },
    { title: 'ReceivableAgeing' },
  ),
  errors: ['reference_not_found'],
  handle: async ({ trx, query, admission: { propertyIds } }) => {
    const { page, limit, by = 'customer', ...filter } = query as typeof query & { page: number; limit: number }
    const { rows, total, ...found } = await readAgeing(trx, { ...filter, propertyIds, by, page, limit })
    return { ...found, data: rows, meta: pageMeta(page, limit, total) }
  },
})

export const routes = [installments, ageing]
