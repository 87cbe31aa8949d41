import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { overDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { ReservationRow, UnitBlockRow } from '../../rows.ts'
import { guestName } from '../assignments/read.ts'
import { presentDay } from '../state.ts'

export const blockKinds = ['out_of_order', 'out_of_service'] as const
export const blockReasons = [
  'maintenance',
  'renovation',
  'damage',
  'deep_cleaning',
  'inspection',
  'owner_use',
  'staff_use',
  'other',
] as const
export const blockStatuses = ['open', 'ended', 'cancelled'] as const
export const blockPhases = ['planned', 'running', 'past'] as const

export type BlockRecord = Omit<UnitBlockRow, 'tenantId'> & { phase: (typeof blockPhases)[number] }

const columns = `b.id, b.property_id, b.unit_ids, b.kind, b.reason, b.note, b."from", b."to", b.issue_id, b.status, b.cancel_reason, b.version, b.created_at, b.updated_at,
  case when b.status <> 'open' or b."to" <= d.today then 'past' when b."from" > d.today then 'planned' else 'running' end as phase`
const from = `unit_block b join property y on y.tenant_id = b.tenant_id and y.id = b.property_id
  cross join lateral (select ${presentDay('y')} as today) d`
const inReach = (scope: Condition) => inScope(scope, { propertyId: 'b.property_id', kind: 'b.kind' })

/** Found by the index of the units of blocks: none serves a condition on the array itself. */
const ofUnit = `b.id in (select x.unit_block_id from unit_block_unit x where x.tenant_id = b.tenant_id and x.unit_id = ?)`

/** Days of the longest block of the tenant, which an index tells. */
const longest = `(select x."to" - x."from" from unit_block x order by x."to" - x."from" desc limit 1)`

type Filter = Paging & {
  propertyId?: string | undefined
  unitId?: string | undefined
  kind?: string | undefined
  status?: string | undefined
  /** Blocks with a night in `[from, to)`. */
  from?: string | undefined
  to?: string | undefined
  issueId?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Blocks, those that begin first first. */
export const listBlocks = (trx: Trx, { scope, ...filter }: Filter) =>
  readPage<BlockRecord>(
    trx,
    {
      columns,
      from,
      counted: { list: 'unit_block', as: 'b' },
      conditions: [
        ...inReach(scope),
        ...where('b.property_id = ?', filter.propertyId),
        ...where(ofUnit, filter.unitId),
        ...where('b.kind = ?', filter.kind),
        ...where('b.status = ?', filter.status),
        ...where('b.issue_id = ?', filter.issueId),
      ],
      days: overDays(
        { first: 'b."from"', end: 'b."to"', mostDays: longest },
        { after: filter.from, before: filter.to },
      ),
      order: 'b."from", b.id',
    },
    filter,
  )

/** 404. */
export const readBlock = async (trx: Trx, id: string): Promise<BlockRecord> => {
  const row = await sqlOne<BlockRecord>(trx, `select ${columns} from ${from} where b.id = ?`, [id])
  if (!row) throw notFound()
  return row
}

export type TouchedStay = {
  reservationId: string
  number: string
  status: ReservationRow['status']
  arrival: string
  departure: string
  guestName: string | null
  /** The planned unit. */
  unitId: string
  /** True if that unit had been promised. */
  displaced: boolean
  /** The units of now; none while it waits for a unit. */
  unitIds: string[]
}

/** Stays that had to move for a block, by arrival; the first 500. */
export const staysOfBlock = (trx: Trx, blockId: string): Promise<TouchedStay[]> =>
  sql<TouchedStay>(
    trx,
    `select r.id as reservation_id, b.number || '-' || r.position as number, r.status, r.arrival, r.departure, ${guestName} as guest_name, s.unit_id, s.displaced,
       array(select a.unit_id from unit_assignment a where a.tenant_id = r.tenant_id and a.reservation_id = r.id
         and a.status in ('proposed', 'locked', 'occupied') order by a.starts_on, a.unit_id) as unit_ids
     from unit_block_stay s
     join reservation r on r.tenant_id = s.tenant_id and r.id = s.reservation_id
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
     where s.unit_block_id = ? order by r.arrival, r.id, s.unit_id limit 500`,
    [blockId],
  )
