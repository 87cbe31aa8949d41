import { payableStatuses } from '../../config/payables.ts'
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
  Text,
  Uuid,
  pageMeta,
} from '../../config/schema.ts'
import { listInstallments, readAgeing } from '../../db/accounts-payable/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { buckets, path } from './schemas.ts'

const installments = paged({
  id: 'payableInstallments.list',
  path: `${path}/installments`,
  summary: 'List the payment schedule by due date',
  description: 'Of bills that are not void; those with something open, unless `open` is false.',
  access: can('read', 'Payable'),
  query: {
    dueFrom: Opt(Day),
    dueTo: Opt(Day),
    overdue: Opt(Bool),
    open: Opt(Bool),
    supplierId: Opt(Uuid),
    propertyId: Opt(Uuid),
    bookId: Opt(Uuid),
    inPayment: Opt(Bool),
  },
  of: Obj(
    {
      id: Uuid,
      payableId: Uuid,
      payee: Obj({ supplierId: Nullable(Uuid), name: Text(0, 400) }),
      number: Nullable(Text(1, 40)),
      seq: Count,
      of: Count,
      dueOn: Day,
      daysOverdue: Count,
      amount: Amount,
      open: Amount,
      currency: Currency,
      payableStatus: OneOf([...payableStatuses]),
      onHold: Bool,
      payableBy: OneOf(['pix', 'boleto', 'none']),
      /** Why nothing can be sent for it by Pix now. */
      refusals: List(Text(1, 60), { max: 10 }),
      /** The payment that is under way for it. */
      inPayment: Nullable(Uuid),
    },
    { title: 'PayableInstallmentListed' },
  ),
  find: ({ trx, query, admission }) =>
    listInstallments(trx, { open: true, ...query, scope: admission.scope('read', 'Payable') }) as never,
})

const ageing = route({
  id: 'payables.ageing',
  method: 'GET',
  path: `${path}/ageing`,
  summary: 'Read open amounts by age on any date',
  description:
    'Days after the due date; the day itself is not due. Bills, payments and schedules count as they were dated, so a past date never changes. `credits` is what is available of credit notes and advances; payees who have nothing else are rows, too. For callers of some properties it is of these, and of what belongs to none.',
  access: can('read', 'SupplierCredit'),
  query: Obj({
    ...PageQuery,
    bookId: Opt(Uuid),
    asOf: Opt(Day),
    propertyId: Opt(Uuid),
    by: Opt(OneOf(['payee', 'property', 'costCenter'])),
  }),
  example: { bookId: sampleId('bookId'), by: 'payee' },
  returns: Obj(
    {
      asOf: Day,
      currency: Currency,
      totals: Obj(buckets),
      data: List(Obj({ key: Nullable(Uuid), name: Nullable(Text(0, 400)), ...buckets }), { max: 100 }),
      meta: Obj({ page: Int(1, 100_000), limit: Int(1, 5_000), total: Count, totalPages: Count }),
    },
    { title: 'PayableAgeing' },
  ),
  errors: ['reference_not_found'],
  handle: async ({ trx, query, admission: { propertyIds } }) => {
    const { page, limit, by = 'payee', ...filter } = query as typeof query & { page: number; limit: number }
    const { rows, total, ...found } = await readAgeing(trx, { ...filter, propertyIds, by, page, limit })
    return { ...found, data: rows, meta: pageMeta(page, limit, total) }
  },
})

export const routes = [installments, ageing]
