import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Count,
  Day,
  Instant,
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
import {
  readKeptCells,
  createRateChange,
  listRateChanges,
  previewRateChange,
  readRateChange,
  revertRateChange,
} from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { Reply, route } from '../lib/route.ts'
import { RestrictionsSent } from './rate-calendar.ts'
import { Price, SignedPrice, stamps } from './schemas.ts'

const shownCells = 1_000

const Item = Obj(
  {
    ratePlanIds: Opt(List(Uuid, { min: 1, max: 100 }, { uniqueItems: true })),
    unitTypeIds: Opt(List(Uuid, { min: 1, max: 100 }, { uniqueItems: true })),
    from: Day,
    to: Day,
    seasonIds: Opt(List(Uuid, { min: 1, max: 50 }, { uniqueItems: true })),
    weekDays: Opt(List(Int(1, 7), { min: 1, max: 7 }, { uniqueItems: true })),
    amount: Opt(Nullable(Price)),
    adjust: Opt(Obj({ type: OneOf(['percent', 'amount']), value: SignedPrice })),
    restrictions: Opt(RestrictionsSent),
  },
  { title: 'RateChangeItem' },
)
const Value = AnyOf([Nullable(Price), RestrictionsSent])
const Cell = Obj(
  {
    kind: OneOf(['price', 'restriction']),
    ratePlanId: Nullable(Uuid),
    unitTypeId: Nullable(Uuid),
    date: Day,
    before: Value,
    after: Value,
    skipped: Bool,
  },
  { title: 'RateChangeCell' },
)
const Status = OneOf(['queued', 'applied', 'reverted', 'failed'])
const fields = {
  id: Uuid,
  propertyId: Uuid,
  status: Status,
  note: Text(0, 500),
  items: List(Item, { max: 100 }),
  cellCount: Int(0, 100_000),
  /** Cells that a revert left alone, since they had changed meanwhile. */
  skippedCount: Int(0, 100_000),
  revertsId: Nullable(Uuid),
  createdBy: Nullable(Uuid),
  appliedAt: Nullable(Instant),
  error: Nullable(Text(0, 1_000)),
  ...stamps,
}
const RateChange = Obj(fields, { title: 'RateChange' })
const RateChangeCells = Obj(
  {
    ...fields,
    cells: List(Cell, { max: shownCells }),
    meta: Obj({
      page: Int(1, 100_000),
      limit: Int(1, shownCells),
      total: Int(0, 200_000),
      totalPages: Int(0, 200_000),
    }),
  },
  { title: 'RateChangeCells' },
)
const Preview = Obj(
  {
    dryRun: Bool,
    cellCount: Int(0, 100_000),
    /** Changes of the property that are applied before this one would be; `before` does not know of them. */
    waiting: Count,
    cells: List(Cell, { max: shownCells }),
  },
  { title: 'RateChangePreview' },
)

const path = '/api/tenants/:tenantId/rate-changes'
const record = { table: 'rate_change', param: 'rateChangeId' }

const list = paged({
  id: 'rateChanges.list',
  path,
  summary: 'List bulk changes of prices and restrictions',
  access: can('read', 'RateCalendar'),
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    createdBy: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: RateChange,
  find: ({ trx, query, admission }) =>
    listRateChanges(trx, { ...query, scope: admission.scope('read', 'RateCalendar') }),
})

const create = route({
  id: 'rateChanges.create',
  method: 'POST',
  path,
  summary: 'Preview or apply a bulk change of prices and restrictions',
  description:
    'Later items win. Up to 2,000 cells are written before the reply, up to 100,000 by a job: all of them, or none. Changes of a property, and what takes them back, are applied in the order in which they came: while one is `queued`, those after it are, too. `dryRun` answers 200 with the first 1,000 cells before and after, and stores nothing; `waiting` says how many changes are `queued` already, which would come first and are not in what it shows. A percentage is in basis points; null clears.',
  access: can('update', 'RateCalendar'),
  status: 201,
  ok: 'What a dry run found; nothing is stored',
  errors: [
    'range_too_long',
    'date_out_of_range',
    'rate_plan_derived',
    'reference_not_found',
    'invalid_transition',
    'not_found',
  ],
  body: Obj({
    propertyId: Uuid,
    note: Opt(Text(0, 500)),
    dryRun: Opt(Bool),
    items: List(Item, { min: 1, max: 100 }),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    note: 'Carnival',
    items: [
      {
        ratePlanIds: [sampleId('ratePlanId')],
        unitTypeIds: [sampleId('unitTypeId')],
        from: sampleDay(30),
        to: sampleDay(34),
        amount: 45_000,
      },
    ],
  },
  returns: AnyOf([RateChange, Preview]),
  handle: async ({ trx, body: { dryRun, ...request } }) => {
    if (!dryRun) return readRateChange(trx, await createRateChange(trx, request))
    const { cells, waiting } = await previewRateChange(trx, request)
    return new Reply(
      {
        dryRun: true,
        cellCount: cells.length,
        waiting,
        cells: cells.slice(0, shownCells).map((cell) => ({ ...cell, skipped: false })),
      },
      { status: 200 },
    )
  },
})

const read = route({
  id: 'rateChanges.read',
  method: 'GET',
  path: `${path}/:rateChangeId`,
  summary: 'Read a bulk change cell by cell',
  access: can('read', 'RateCalendar'),
  query: Obj({ page: PageQuery.page, limit: Opt(Int(1, shownCells, { default: shownCells })) }),
  returns: RateChangeCells,
  handle: async ({ trx, params, query: { page = 1, limit = shownCells }, admission }) => {
    const change = await readRateChange(trx, params.rateChangeId, admission.scope('read', 'RateCalendar'))
    const kept = change.status === 'queued' || change.status === 'failed' ? 0 : change.cellCount + change.skippedCount
    return {
      ...change,
      cells: await readKeptCells(trx, change.id, (page - 1) * limit, limit),
      meta: pageMeta(page, limit, kept),
    }
  },
})

const revert = route({
  id: 'rateChanges.revert',
  method: 'POST',
  path: `${path}/:rateChangeId/revert`,
  summary: 'Undo a bulk change where nothing changed since',
  description:
    'Cells that were changed since are left, and listed as skipped by the new change. It is applied in its turn, as any change. Reverting twice answers the first revert; one that failed is tried again.',
  access: can('update', 'RateCalendar'),
  record,
  status: 201,
  errors: ['invalid_transition'],
  returns: RateChange,
  handle: async ({ trx, params }) => readRateChange(trx, await revertRateChange(trx, params.rateChangeId)),
})

export const routes = [list, create, read, revert]
