import { countStatuses } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Count, Instant, List, Nullable, Obj, OneOf, Opt, SignedAmount, Text, Uuid } from '../../config/schema.ts'
import {
  approveCount,
  cancelCount,
  countSorts,
  enterLines,
  listCounts,
  propertyOfLocation,
  readCount,
  startCount,
} from '../../db/inventory/index.ts'
import type { CountShown } from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Held, Measure, Note, path, Quantity } from './schemas.ts'
import { seesValue } from './values.ts'

const head = {
  id: Uuid,
  propertyId: Uuid,
  locationId: Uuid,
  categoryId: Nullable(Uuid),
  /** A blind count tells the expected quantity only after its approval. */
  blind: Bool,
  status: OneOf([...countStatuses]),
  startedBy: Uuid,
  approvedBy: Nullable(Uuid),
  selfApproved: Bool,
  movementId: Nullable(Uuid),
  note: Text(0, 500),
  approvalNote: Text(0, 500),
  lineCount: Count,
  countedLines: Count,
  /** Of the differences, once they are booked. Minor units; negative for a loss. */
  value: Nullable(SignedAmount),
  closedAt: Nullable(Instant),
  ...stamps,
}
const InventoryCount = Obj(
  {
    ...head,
    lines: List(
      Obj({
        itemId: Uuid,
        sku: Text(1, 30),
        name: Text(1, 120),
        base: OneOf(['g', 'ml', 'un']),
        /** Stock at the moment of the entry. */
        expected: Nullable(Held),
        counted: Nullable(Held),
        entered: Nullable(Obj({ quantity: Held, measure: Measure })),
        difference: Nullable(Held),
        value: Nullable(SignedAmount),
        countedBy: Nullable(Uuid),
        countedAt: Nullable(Instant),
      }),
      { max: 6_000 },
    ),
  },
  { title: 'InventoryCount' },
)

const show = (count: CountShown, admission: Admission) =>
  seesValue(admission) ? count : { ...count, value: null, lines: count.lines.map((line) => ({ ...line, value: null })) }

const counts = resource({
  name: 'inventoryCounts',
  subject: 'InventoryCount',
  table: 'inventory_count',
  path: `${path}/counts`,
  param: 'countId',
  record: InventoryCount,
  lockedBy: 'command',
  read: readCount,
  show,
})

const list = counts.list({
  summary: 'List stock counts',
  query: { propertyId: Opt(Uuid), locationId: Opt(Uuid), status: Opt(OneOf([...countStatuses])) },
  sort: { by: Object.keys(countSorts) as (keyof typeof countSorts)[], usual: '-createdAt' },
  of: Obj(head, { title: 'InventoryCountListed' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listCounts(trx, filter),
})

const create = counts.create({
  summary: 'Start a count of a location',
  description:
    'Its lines are the items named, else what the location holds or has a level for. An item is in one open count of a location at a time. Selling goes on.',
  errors: ['item_being_counted', 'reference_not_found', 'too_many', 'invalid_transition'],
  body: Obj({
    locationId: Uuid,
    categoryId: Opt(Uuid),
    itemIds: Opt(List(Uuid, { min: 1, max: 500 })),
    blind: Opt(Bool),
    note: Opt(Note),
  }),
  example: { locationId: sampleId('toLocationId') },
  command: async ({ trx, body, admission }) => {
    const propertyId = await propertyOfLocation(trx, body.locationId)
    if (propertyId !== null) admission.check('create', 'InventoryCount', { propertyId })
    return startCount(trx, body)
  },
})

const read = counts.read({ summary: 'Read a count with its lines and differences' })

const enter = route({
  id: 'inventoryCounts.enter',
  method: 'PUT',
  path: `${counts.one}/lines`,
  summary: 'Enter counted quantities',
  description:
    'Several people may count; the last entry of a line counts. What is expected is the stock of that moment, so that sales go on meanwhile.',
  access: can('update', 'InventoryCount'),
  record: counts.lock,
  errors: ['item_being_counted', 'quantity_too_small', 'reference_not_found', 'stock_busy', 'invalid_transition'],
  body: Obj({ lines: List(Obj({ itemId: Uuid, counted: Quantity, measure: Measure }), { min: 1, max: 500 }) }),
  example: { lines: [{ itemId: sampleId('itemId'), counted: '0.75', measure: 'l' }] },
  returns: InventoryCount,
  handle: async ({ trx, params: { countId }, body, expectedVersion, admission }) => {
    await enterLines(trx, countId, body.lines, expectedVersion)
    return show(await readCount(trx, countId), admission)
  },
})

const approve = counts.act('approve', {
  summary: 'Approve a count and book its differences',
  description:
    'By a person who counted none of it; the owner may all the same. A loss takes the average; a gain the average, else the last cost, else the reference cost.',
  errors: [
    'self_approval',
    'count_incomplete',
    'recount_needed',
    'cost_unknown',
    'stock_busy',
    'rule_violated',
    'period_closed',
    'period_missing',
    'date_locked',
    'business_day_changed',
    'invalid_transition',
  ],
  body: Obj({ note: Opt(Note) }),
  example: { note: 'Seen' },
  command: ({ trx, id, body, admission, expectedVersion }) =>
    approveCount(trx, id, { note: body.note, isOwner: admission.role === 'owner', expectedVersion }),
})

const cancel = counts.act('cancel', {
  summary: 'Cancel a count without booking anything',
  action: 'delete',
  errors: ['invalid_transition'],
  command: ({ trx, id, expectedVersion }) => cancelCount(trx, id, expectedVersion),
})

export const routes = [list, create, read, enter, approve, cancel]
