import { consumptionKinds, recordedUses, wasteReasons } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import { Day, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { consumptionSorts, listConsumptions, readConsumption, recordUse } from '../../db/inventory/index.ts'
import type { ConsumptionShown } from '../../db/inventory/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Held, Measure, path, Quantity, Value } from './schemas.ts'
import { seesValue } from './values.ts'

const Consumption = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    kind: OneOf([...consumptionKinds]),
    locationId: Nullable(Uuid),
    outletId: Nullable(Uuid),
    orderId: Nullable(Uuid),
    reservationId: Nullable(Uuid),
    unitId: Nullable(Uuid),
    taskId: Nullable(Uuid),
    costCenterId: Nullable(Uuid),
    /** Of waste. */
    reason: Nullable(OneOf([...wasteReasons])),
    businessDate: Day,
    movementId: Nullable(Uuid),
    status: OneOf(['posted', 'reversed']),
    /** Of what was there; what was short costs when it is settled. */
    value: Value,
    lines: List(
      Obj({
        itemId: Uuid,
        sku: Text(1, 30),
        locationId: Uuid,
        recipeVersionId: Nullable(Uuid),
        quantity: Held,
        value: Value,
        /** Used before it was there. */
        shortQuantity: Held,
      }),
      { max: 10_000 },
    ),
    ...stamps,
  },
  { title: 'InventoryConsumption' },
)

const show = (one: ConsumptionShown, admission: Admission) =>
  seesValue(admission) ? one : { ...one, value: null, lines: one.lines.map((line) => ({ ...line, value: null })) }

const consumptions = resource({
  name: 'inventoryConsumptions',
  subject: 'InventoryConsumption',
  table: 'inventory_consumption',
  path: `${path}/consumptions`,
  param: 'consumptionId',
  record: Consumption,
  read: readConsumption,
  show,
})

const list = consumptions.list({
  summary: 'List what was consumed, where and why',
  query: {
    propertyId: Opt(Uuid),
    kind: Opt(OneOf([...consumptionKinds])),
    outletId: Opt(Uuid),
    reservationId: Opt(Uuid),
    itemId: Opt(Uuid),
    reason: Opt(OneOf([...wasteReasons])),
    from: Opt(Day),
    to: Opt(Day),
  },
  sort: { by: Object.keys(consumptionSorts) as (keyof typeof consumptionSorts)[], usual: '-businessDate' },
  example: { kind: 'waste' },
  find: ({ trx, filter }) => listConsumptions(trx, filter),
})

const create = consumptions.create({
  summary: 'Record use, waste, breakfast or a kit',
  description:
    'Of items or recipes, which are taken apart by their version of now. All of it must be there. Waste has a reason. It is undone by reversing its movement.',
  idempotency: 'required',
  errors: [
    'insufficient_stock',
    'quantity_too_small',
    'before_count',
    'date_out_of_range',
    'reference_not_found',
    'period_closed',
    'period_missing',
    'date_locked',
    'stock_busy',
    'business_day_changed',
    'invalid_transition',
    'not_found',
  ],
  body: Obj({
    propertyId: Uuid,
    kind: OneOf([...recordedUses]),
    locationId: Uuid,
    occurredOn: Opt(Day),
    reason: Opt(OneOf([...wasteReasons])),
    costCenterId: Opt(Uuid),
    reservationId: Opt(Uuid),
    unitId: Opt(Uuid),
    lines: List(Obj({ itemId: Opt(Uuid), recipeId: Opt(Uuid), quantity: Quantity, measure: Opt(Measure) }), {
      min: 1,
      max: 100,
    }),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    kind: 'waste',
    reason: 'broken',
    locationId: sampleId('locationId'),
    lines: [{ itemId: sampleId('itemId'), quantity: '1', measure: 'cl' }],
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'InventoryConsumption', { propertyId: body.propertyId, kind: body.kind })
    return recordUse(trx, body)
  },
})

export const routes = [list, create]
