import { orderStatuses } from '../../config/payables.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
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
import {
  approveOrder,
  changeOrder,
  closeOrder,
  createOrder,
  listOrders,
  readOrder,
} from '../../db/accounts-payable/index.ts'
import { resource } from '../lib/resource.ts'
import { exempt, Part, path, Quantity, Reason, stamps } from './schemas.ts'

const Status = OneOf([...orderStatuses])
const head = {
  id: Uuid,
  number: Nullable(Count),
  supplierId: Uuid,
  propertyId: Uuid,
  bookId: Uuid,
  locationId: Nullable(Uuid),
  expectedOn: Nullable(Day),
  currency: Currency,
  total: Amount,
  notes: Text(0, 2_000),
  status: Status,
  createdBy: Uuid,
  approvedBy: Nullable(Uuid),
  approvedAt: Nullable(Instant),
  selfApproved: Bool,
  sentAt: Nullable(Instant),
  closeReason: Nullable(Text(0, 500)),
  ...stamps,
}
const PurchaseOrder = Obj(
  {
    ...head,
    lines: List(
      Obj(
        {
          id: Uuid,
          lineNo: Count,
          inventoryItemId: Nullable(Uuid),
          measure: Nullable(Text(1, 40)),
          description: Text(0, 200),
          accountId: Nullable(Uuid),
          quantity: Text(1, 40),
          unitPrice: Amount,
          amount: Amount,
          /** In the measure of the line. */
          received: Text(1, 40),
          billed: Text(1, 40),
        },
        { title: 'PurchaseOrderLine' },
      ),
      { max: 200 },
    ),
  },
  { title: 'PurchaseOrder' },
)
const Lines = List(
  Obj(
    {
      inventoryItemId: Opt(Uuid),
      measure: Opt(Words(1, 40)),
      description: Opt(Words(1, 200)),
      accountId: Opt(Uuid),
      quantity: Quantity,
      unitPrice: Part,
    },
    { title: 'PurchaseOrderLineInput' },
  ),
  { min: 1, max: 200 },
)

const orders = resource({
  name: 'purchaseOrders',
  subject: 'PurchaseOrder',
  table: 'purchase_order',
  path: `${path}/purchase-orders`,
  param: 'purchaseOrderId',
  record: PurchaseOrder,
  lockedBy: 'command',
  read: readOrder as never,
  show: (found) => found as never,
})

const list = orders.list({
  summary: 'List purchase orders',
  description: '`q` finds numbers, notes and suppliers.',
  query: {
    status: Opt(Status),
    supplierId: Opt(Uuid),
    propertyId: Opt(Uuid),
    inventoryItemId: Opt(Uuid),
    expectedFrom: Opt(Day),
    expectedTo: Opt(Day),
    q: Opt(Text(1, 120, exempt)),
  },
  of: Obj(head, { title: 'PurchaseOrderListed' }),
  example: { status: 'approved' },
  find: ({ trx, filter }) => listOrders(trx, filter) as never,
})

const lineErrors = ['reference_not_found', 'measure_unknown', 'account_not_usable', 'total_too_large'] as const

const create = orders.create({
  summary: 'Draft a purchase order',
  description:
    'A line orders an item of stock in one of its measures, or names what it is and its account. Lines without stock count as received when they are billed.',
  errors: [...lineErrors, 'supplier_archived'],
  body: Obj({
    supplierId: Uuid,
    propertyId: Uuid,
    locationId: Opt(Nullable(Uuid)),
    expectedOn: Opt(Nullable(Day)),
    lines: Lines,
    notes: Opt(Text(0, 2_000)),
  }),
  example: {
    supplierId: sampleId('supplierId'),
    propertyId: sampleId('propertyId'),
    lines: [
      {
        description: 'Paint for the façade',
        accountId: sampleId('expenseAccountId'),
        quantity: '12',
        unitPrice: 4_500,
      },
    ],
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'PurchaseOrder', { propertyId: body.propertyId })
    return createOrder(trx, body, { features: admission.features })
  },
})

const read = orders.read({ summary: 'Read an order with received and billed quantities' })

const change = orders.change({
  summary: 'Change a draft order or its expected date',
  errors: [...lineErrors, 'invalid_transition'],
  body: Sparse(Obj({ locationId: Nullable(Uuid), expectedOn: Nullable(Day), lines: Lines, notes: Text(0, 2_000) })),
  example: { notes: 'Ring the bell at the back' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    changeOrder(trx, id, body, { features: admission.features, expectedVersion }),
})

const approve = orders.act('approve', {
  summary: 'Approve an order and send it to the supplier',
  description:
    'By another user than who wrote it, with a role of the band of its total. `notify: false` sends no e-mail.',
  errors: ['invalid_transition', 'self_approval', 'key_not_allowed', 'measure_unknown'],
  body: Obj({ notify: Opt(Bool) }),
  example: { notify: false },
  command: async ({ trx, id, body, admission, expectedVersion }) => {
    await approveOrder(trx, id, { role: admission.role, expectedVersion, notify: body.notify ?? true })
  },
})

const close = orders.act('close', {
  summary: 'Cancel an order or close what will not come',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The supplier no longer has it' },
  command: ({ trx, id, body, expectedVersion }) => closeOrder(trx, id, body.reason, expectedVersion),
})

export const routes = [list, create, read, change, approve, close]
