import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
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
import type { Static } from '../../config/schema.ts'
import {
  cancelBlock,
  endBlock,
  blockKinds,
  blockPhases,
  blockReasons,
  blockStatuses,
  listBlocks,
  readBlock,
  staysOfBlock,
  changeBlock,
  createBlock,
  previewBlock,
} from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { ReservationStatus } from '../reservations/schemas.ts'

const sent = {
  unitIds: List(Uuid, { min: 1, max: 100 }, { uniqueItems: true }),
  kind: OneOf([...blockKinds]),
  reason: OneOf([...blockReasons]),
  note: Text(0, 1000),
  from: Day,
  to: Day,
  issueId: Nullable(Uuid),
}
const fields = {
  id: Uuid,
  propertyId: Uuid,
  ...sent,
  status: OneOf([...blockStatuses]),
  phase: OneOf([...blockPhases]),
  cancelReason: Nullable(Words(1, 500)),
  ...stamps,
}
/** `rules` opens R12: nights are oversold, and promised stays have to go. */
const Override = Obj({ rules: List(OneOf(['availability']), { min: 1, max: 1 }), reason: Words(3, 500) })
const most = 50_000
const cleared = {
  /** Proposed stays that go elsewhere; without a unit where none was found. */
  moves: List(Obj({ reservationId: Uuid, fromUnitId: Uuid, toUnitId: Nullable(Uuid) }), { max: most }),
  /** Stays whose promised unit is taken from them. */
  displaced: List(Obj({ reservationId: Uuid, unitId: Uuid, from: Day, to: Day }, { title: 'DisplacedStay' }), {
    max: most,
  }),
}
const UnitBlock = Obj(fields, { title: 'UnitBlock' })
const ChangedUnitBlock = Obj({ ...fields, ...cleared }, { title: 'ChangedUnitBlock' })
const UnitBlockWithStays = Obj(
  {
    ...fields,
    stays: List(
      Obj({
        reservationId: Uuid,
        number: Text(10, 11),
        status: ReservationStatus,
        arrival: Day,
        departure: Day,
        guestName: Opt(Nullable(Text(0, 302))),
        unitId: Uuid,
        displaced: Bool,
        unitIds: List(Uuid, { max: 500 }),
      }),
      { max: 500 },
    ),
  },
  { title: 'UnitBlockWithStays' },
)
const Preview = Obj(
  {
    dryRun: Bool,
    ...cleared,
    shortNights: List(Obj({ unitPoolId: Uuid, night: Day, shortage: Int(1, 100_000) }), { max: 100_000 }),
  },
  { title: 'UnitBlockPreview' },
)

const path = '/api/tenants/:tenantId/unit-blocks'
const unitBlocks = resource({
  name: 'unitBlocks',
  subject: 'UnitBlock',
  table: 'unit_block',
  path,
  param: 'unitBlockId',
  record: UnitBlock,
  lockedBy: 'command',
  read: readBlock,
})
const refusals = [
  'sold_out',
  'unit_conflict',
  'unit_not_in_property',
  'date_out_of_range',
  'invalid_transition',
  'link_mismatch',
] as const

/** Checks the permission to oversell nights or to break promised assignments. */
const admitOverride = (
  override: Static<typeof Override> | undefined,
  propertyId: string,
  kind: string,
  admission: Pick<Admission, 'check'>,
) => {
  if (override) admission.check('override', 'UnitBlock', { propertyId, kind })
}

const list = unitBlocks.list({
  summary: 'List out-of-order and out-of-service blocks',
  description: '`from` and `to` find the blocks with a night in `[from, to)`.',
  query: {
    propertyId: Opt(Uuid),
    unitId: Opt(Uuid),
    kind: Opt(sent.kind),
    status: Opt(fields.status),
    from: Opt(Day),
    to: Opt(Day),
    issueId: Opt(Uuid),
  },
  example: { kind: 'out_of_order', from: sampleDay(1), to: sampleDay(30) },
  find: ({ trx, filter }) => listBlocks(trx, filter),
})

const create = route({
  id: 'unitBlocks.create',
  method: 'POST',
  path,
  summary: 'Preview or place a block on units',
  description:
    '`[from, to)`, from the business date on; all units or none. Out of order leaves capacity, out of service stays sellable. Proposed stays move elsewhere. `override` oversells nights and releases locked stays, which `displaced` lists; an occupied unit is never blocked. `dryRun` answers 200 with what would happen, locked stays and sold-out nights included, and stores nothing.',
  access: can('create', 'UnitBlock'),
  status: 201,
  ok: 'What a dry run found; nothing is stored',
  errors: [...refusals, 'not_found', 'reference_not_found', 'business_day_changed', 'beyond_horizon'],
  body: Obj({
    propertyId: Uuid,
    unitIds: sent.unitIds,
    kind: sent.kind,
    reason: sent.reason,
    note: Opt(sent.note),
    from: Day,
    to: Day,
    issueId: Opt(sent.issueId),
    dryRun: Opt(Bool),
    override: Opt(Override),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    unitIds: [sampleId('unitId')],
    kind: 'out_of_order',
    reason: 'maintenance',
    from: sampleDay(30),
    to: sampleDay(33),
  },
  returns: AnyOf([ChangedUnitBlock, Preview]),
  handle: async ({ trx, body: { dryRun, ...block }, admission }) => {
    const { propertyId, kind } = block
    admission.check('create', 'UnitBlock', { propertyId, kind })
    admitOverride(block.override, propertyId, kind, admission)
    if (dryRun) return new Reply({ dryRun: true, ...(await previewBlock(trx, block)) }, { status: 200 })
    const { id, ...moved } = await createBlock(trx, block)
    return { ...(await readBlock(trx, id)), ...moved }
  },
})

const read = route({
  id: 'unitBlocks.read',
  method: 'GET',
  path: unitBlocks.one,
  summary: 'Read a block with the stays it touches',
  description: '`stays` are those that had to move for it, with the units that they are to have now.',
  access: can('read', 'UnitBlock'),
  returns: UnitBlockWithStays,
  handle: async ({ trx, params, admission }) => {
    const block = await readBlock(trx, params.unitBlockId)
    admission.check('read', 'UnitBlock', block)
    const stays = await staysOfBlock(trx, block.id)
    return {
      ...block,
      stays: seesGuests(admission) ? stays : stays.map(({ guestName: _name, ...stay }) => stay),
    }
  },
})

/** Names of guests are for roles that read guests. */
export const seesGuests = ({ can: may, isMasked }: Pick<Admission, 'can' | 'isMasked'>): boolean =>
  may('read', 'Guest') && !isMasked('Guest')

const change = route({
  id: 'unitBlocks.update',
  method: 'PATCH',
  path: unitBlocks.one,
  summary: 'Change dates, units, kind or reason of a block',
  description:
    'Counters move by the difference alone. A block that has begun changes `to`, units and note only; units that are taken off it then are dirty, and to be inspected.',
  access: can('update', 'UnitBlock'),
  record: unitBlocks.lock,
  errors: [...refusals, 'block_begun', 'reference_not_found', 'business_day_changed', 'beyond_horizon'],
  body: Obj({ ...Sparse(Obj(sent)).properties, override: Opt(Override) }),
  example: { note: 'Paint is drying' },
  returns: ChangedUnitBlock,
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    const { propertyId, kind } = await readBlock(trx, params.unitBlockId)
    admission.check('update', 'UnitBlock', { propertyId, kind: body.kind ?? kind })
    admitOverride(body.override, propertyId, kind, admission)
    const moved = await changeBlock(trx, params.unitBlockId, body, expectedVersion)
    return { ...(await readBlock(trx, params.unitBlockId)), ...moved }
  },
})

const end = unitBlocks.act('end', {
  summary: 'Give the units back from today',
  description:
    'Nights to come can be sold again. The units are dirty unless `condition` says otherwise, and get an inspection task unless they are inspected.',
  action: 'update',
  errors: ['invalid_transition', 'business_day_changed'],
  body: Obj({ condition: Opt(OneOf(['dirty', 'clean', 'inspected', 'pickup'])) }),
  example: { condition: 'clean' },
  command: ({ trx, id, body: { condition = 'dirty' }, expectedVersion }) =>
    endBlock(trx, id, condition, expectedVersion),
})

const cancel = unitBlocks.act('cancel', {
  summary: 'Cancel a block that has not begun',
  action: 'delete',
  errors: ['invalid_transition', 'business_day_changed'],
  body: Obj({ reason: Opt(Words(1, 500)) }),
  example: { reason: 'The part has come earlier' },
  command: ({ trx, id, body: { reason = null }, expectedVersion }) => cancelBlock(trx, id, reason, expectedVersion),
})

export const routes = [list, create, read, change, end, cancel]
