import { movementKinds } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Count,
  Day,
  Instant,
  Int,
  List,
  Literal,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  listMovements,
  movementSorts,
  readMovement,
  recordArrival,
  recordProduction,
  recordTransfer,
  reverseMovement,
} from '../../db/inventory/index.ts'
import { resource } from '../lib/resource.ts'
import { trimmed } from '../lib/reason.ts'
import { Cost, Held, Measure, Note, path, Quantity, Reference } from './schemas.ts'

const head = {
  id: Uuid,
  propertyId: Uuid,
  kind: OneOf([...movementKinds]),
  occurredOn: Day,
  reference: Nullable(Text(0, 100)),
  note: Nullable(Text(0, 500)),
  supplierId: Nullable(Uuid),
  purchaseOrderId: Nullable(Uuid),
  recipeVersionId: Nullable(Uuid),
  reversesId: Nullable(Uuid),
  reversedById: Nullable(Uuid),
  status: OneOf(['posted', 'reversed']),
  /** Of the lines together; of a transfer what was moved. Minor units. */
  value: SignedAmount,
  createdBy: Nullable(Uuid),
  createdAt: Instant,
  version: Count,
}
const Movement = Obj(
  {
    ...head,
    lines: List(
      Obj({
        id: Uuid,
        itemId: Uuid,
        sku: Text(1, 30),
        locationId: Uuid,
        /** In the base, negative where it leaves. */
        quantity: Held,
        /** As it was entered. */
        entered: Obj({ quantity: Held, measure: Measure }),
        value: SignedAmount,
        /** Order of the lines of an item in a location. */
        seq: Int(1, 2_147_483_647),
        purchaseOrderLineId: Nullable(Uuid),
      }),
      { max: 5_000 },
    ),
  },
  { title: 'InventoryMovement' },
)

const movements = resource({
  name: 'inventoryMovements',
  subject: 'InventoryMovement',
  table: 'inventory_movement',
  path: `${path}/movements`,
  param: 'movementId',
  record: Movement,
  lockedBy: 'command',
  read: readMovement,
})

const list = movements.list({
  summary: 'List stock movements',
  query: {
    propertyId: Opt(Uuid),
    kind: Opt(OneOf([...movementKinds])),
    itemId: Opt(Uuid),
    locationId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
    purchaseOrderId: Opt(Uuid),
  },
  sort: { by: Object.keys(movementSorts) as (keyof typeof movementSorts)[], usual: '-createdAt' },
  of: Obj(head, { title: 'InventoryMovementListed' }),
  example: { kind: 'receipt' },
  find: ({ trx, filter }) => listMovements(trx, filter),
})

const told = { propertyId: Uuid, occurredOn: Opt(Day), reference: Opt(Reference), note: Opt(Note) }
const line = { itemId: Uuid, quantity: Quantity, measure: Measure }
const lines = List(Obj(line), { min: 1, max: 200 })
const valued = List(Obj({ ...line, value: Cost }), { min: 1, max: 200 })

/** Of a receipt of a purchase order each line names the order's. */
const received = List(Obj({ ...line, value: Cost, purchaseOrderLineId: Opt(Uuid) }), { min: 1, max: 200 })

const create = movements.create({
  summary: 'Record a receipt, transfer, production or opening stock',
  description:
    'Values are minor units without recoverable taxes. `occurredOn` is the business date, or up to 35 days before it, and not before the last count. What leaves takes the average of now. A receipt may name a purchase order, whose lines it receives; a production makes `batches` of a preparation.',
  idempotency: 'required',
  errors: [
    'insufficient_stock',
    'quantity_too_small',
    'before_count',
    'date_out_of_range',
    'reference_not_found',
    'currency_mismatch',
    'over_receipt',
    'order_closed',
    'rule_violated',
    'period_closed',
    'period_missing',
    'date_locked',
    'stock_busy',
    'business_day_changed',
    'invalid_transition',
    'not_found',
  ],
  body: AnyOf([
    Obj({ kind: Literal('opening'), ...told, locationId: Uuid, lines: valued }),
    Obj({
      kind: Literal('receipt'),
      ...told,
      locationId: Uuid,
      supplierId: Opt(Uuid),
      purchaseOrderId: Opt(Uuid),
      lines: received,
    }),
    Obj({ kind: Literal('transfer'), ...told, fromLocationId: Uuid, toLocationId: Uuid, lines }),
    Obj({
      kind: Literal('production'),
      ...told,
      recipeId: Uuid,
      locationId: Uuid,
      outputLocationId: Opt(Uuid),
      batches: Int(1, 1_000),
    }),
  ]),
  example: {
    kind: 'receipt',
    propertyId: sampleId('propertyId'),
    locationId: sampleId('locationId'),
    reference: 'NF 1027',
    lines: [{ itemId: sampleId('itemId'), quantity: '1', measure: 'l', value: 8_000 }],
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'InventoryMovement', { propertyId: body.propertyId })
    if (body.kind === 'transfer') return recordTransfer(trx, body, admission.scope('create', 'InventoryMovement'))
    return body.kind === 'production' ? recordProduction(trx, body) : recordArrival(trx, body)
  },
})

const read = movements.read({ summary: 'Read a movement with its lines' })

const reverse = movements.act('reverse', {
  summary: 'Reverse a movement at its original value',
  description:
    'On the business date. Where the value that came would leave less than nothing, or value without quantity, the average is taken and the difference posted as price variance.',
  errors: [
    'insufficient_stock',
    'in_use',
    'invalid_transition',
    'period_closed',
    'period_missing',
    'date_locked',
    'stock_busy',
    'rule_violated',
    'business_day_changed',
  ],
  idempotency: 'required',
  body: Obj({ reason: Note }),
  example: { reason: 'Delivered to the wrong house' },
  command: ({ trx, id, body, expectedVersion }) =>
    reverseMovement(trx, id, { reason: trimmed(body.reason), expectedVersion }),
})

export const routes = [list, create, read, reverse]
