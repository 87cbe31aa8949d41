import { mostStayNights } from '../../config/limits.ts'
import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import { addDays } from '../../config/time.ts'
import type { Condition } from '../lib/conditions.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onDays, overDays, withinDays, withinTimes } from '../lib/days.ts'
import type { Days } from '../lib/days.ts'
import { findProfiles } from '../guests/index.ts'
import { allOf, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Part, Sort } from '../lib/paging.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { hasFlag } from './flags.ts'
import type { Flag } from './flags.ts'
import { isGuestStay } from './guest-stays.ts'
import { readBookingNumber } from './rules/number.ts'

export const dateFields = ['stay', 'arrival', 'departure', 'created'] as const
export const sortFields = ['arrival', 'departure', 'createdAt', 'updatedAt', 'holdExpiresAt', 'number'] as const

export type ReservationFilter = Paging & {
  status?: string[] | undefined
  startDate?: string | undefined
  endDate?: string | undefined
  dateField: (typeof dateFields)[number]
  propertyId?: string | undefined
  unitTypeId?: string | undefined
  ratePlanId?: string | undefined
  guestId?: string | undefined
  bookingId?: string | undefined
  groupId?: string | undefined
  companyId?: string | undefined
  agencyId?: string | undefined
  unitId?: string | undefined
  source?: string | undefined
  updatedSince?: string | undefined
  flag?: Flag | undefined
  /** The sum that its folios owe. */
  balance?: 'due' | 'credit' | 'zero' | undefined
  q?: string | undefined
  sort: Sort<(typeof sortFields)[number]>
  /** The reservations that the caller may read. */
  scope: Condition
}

/** More than these are not searched through. */
const mostFound = 5_000

const columns: Record<(typeof sortFields)[number], string> = {
  arrival: 'r.arrival',
  departure: 'r.departure',
  createdAt: 'r.created_at',
  updatedAt: 'r.updated_at',
  holdExpiresAt: 'b.hold_expires_at',
  number: 'b.number',
}

const isOnDays = ({ startDate, endDate }: ReservationFilter) => (startDate ?? endDate) !== undefined

/**
 * Days of stays: a stay spends a night within, so the night of `startDate` counts, and so does that of `endDate`. Without days stays are counted by their last
 * changes.
 */
const daysOf = (filter: ReservationFilter): Days => {
  const { dateField, startDate, endDate, updatedSince } = filter
  if (!isOnDays(filter)) return withinTimes('r.updated_at', { from: updatedSince }, '<=')
  const asked = { from: startDate, to: endDate }
  if (dateField === 'created') return withinDays('r.created_at', asked)
  if (dateField !== 'stay') return onDays(`r.${dateField}`, asked)
  const before = endDate === undefined ? undefined : addDays(endDate, 1)
  return overDays({ first: 'r.arrival', end: 'r.departure', mostDays: mostStayNights }, { after: startDate, before })
}

/** Finds stays by what staff types: its number, the guest's name, an external number, the name of a unit. Each uses its own index. */
const search = async (trx: Trx, q: string): Promise<Part> => {
  const text = q.trim()
  const [typed = '', position] = text.split(/-(?=\d{1,2}$)/)
  const rows = await sql<{ id: string }>(
    trx,
    `select r.id from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
       where b.number = ? and (?::int is null or r.position = ?::int)
     union select r.id from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id where b.external_reference = ?
     union (select r.id from reservation r where r.primary_guest_id = any(?::uuid[]) order by r.arrival desc limit ?)
     union (select a.reservation_id from unit u join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id
       where u.name = ? and a.status in ('proposed', 'locked', 'occupied') and a.reservation_id is not null limit ?)`,
    [
      readBookingNumber(typed),
      position ?? null,
      position ?? null,
      text,
      await findProfiles(trx, { q }),
      mostFound,
      text,
      mostFound,
    ],
  )
  return { text: 'r.id = any(?::uuid[])', values: [rows.map((row) => row.id)] }
}

const balances = { due: '> 0', credit: '< 0', zero: '= 0' } as const
const owed = `(select coalesce(sum(f.balance), 0) from folio f where f.tenant_id = r.tenant_id and f.reservation_id = r.id)`

const conditionsOf = async (trx: Trx, filter: ReservationFilter): Promise<Part[]> => {
  return [
    ...where('r.property_id = ?', filter.propertyId),
    ...where('r.unit_type_id = ?', filter.unitTypeId),
    ...where('r.rate_plan_id = ?', filter.ratePlanId),
    ...where('r.booking_id = ?', filter.bookingId),
    ...where('b.source = ?', filter.source),
    ...where('b.group_id = ?', filter.groupId),
    ...where('b.company_id = ?', filter.companyId),
    ...where('b.agency_id = ?', filter.agencyId),
    ...inScope(filter.scope, 'r.property_id'),
    ...where('r.status = any(?)', filter.status),
    ...(isOnDays(filter) ? where('r.updated_at >= ?::timestamptz', filter.updatedSince) : []),
    ...where(isGuestStay, filter.guestId),
    ...where(
      `r.id in (select a.reservation_id from unit_assignment a where a.unit_id = ? and a.status <> 'released')`,
      filter.unitId,
    ),
    ...(filter.flag === undefined ? [] : [{ text: hasFlag(filter.flag), values: [] }]),
    ...(filter.balance === undefined ? [] : [{ text: `${owed} ${balances[filter.balance]}`, values: [] }]),
    ...(filter.q === undefined ? [] : [await search(trx, filter.q)]),
  ]
}

type Row = Pick<
  ReservationRow,
  | 'id'
  | 'bookingId'
  | 'position'
  | 'propertyId'
  | 'status'
  | 'unitTypeId'
  | 'ratePlanId'
  | 'arrival'
  | 'departure'
  | 'adults'
  | 'childrenAges'
  | 'arrivalTime'
  | 'marketSegment'
  | 'guarantee'
  | 'channelManaged'
  | 'overbooked'
  | 'primaryGuestId'
  | 'currency'
  | 'roomTotal'
  | 'extrasTotal'
  | 'taxTotal'
  | 'total'
  | 'feeAmount'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> &
  Pick<BookingRow, 'source' | 'holdExpiresAt'> & {
    bookingNumber: string
    guestName: string | null
    unitTypeName: LocalText
    ratePlanName: LocalText
    locales: string[]
    unitId: string | null
    unitName: string | null
    balance: number | null
  }

/**
 * The rows of a page by their keys: one text whatever was filtered by, so that a connection plans these joins once. The stays and their units are planned apart from what
 * is shown beside them: the orders in which eight tables can be joined are so many that to weigh them takes longer than all else that is done for a page.
 */
const rowsOf = `
  select r.id, r.booking_id, r.position, r.property_id, r.status, r.unit_type_id, r.rate_plan_id, r.arrival, r.departure, r.adults, r.children_ages,
    r.arrival_time, r.market_segment, r.guarantee, r.channel_managed, r.overbooked, r.primary_guest_id, r.currency, r.room_total, r.extras_total,
    r.tax_total, r.total, r.fee_amount, r.version, r.created_at, r.updated_at, r.source, r.booking_number,
    case when r.status = 'held' then r.hold_expires_at end as hold_expires_at,
    nullif(concat_ws(' ', nullif(coalesce(nullif(g.preferred_name, ''), g.first_name), ''), nullif(g.last_name, '')), '') as guest_name,
    t.name as unit_type_name, p.name as rate_plan_name, h.locales, f.balance, r.unit_id, r.unit_name
  from (
    select r.*, b.source, b.number as booking_number, b.hold_expires_at, u.unit_id, u.unit_name, page.rank
    from unnest(?::uuid[]) with ordinality as page (id, rank)
    join reservation r on r.id = page.id
    join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
    left join lateral (select a.unit_id, n.name as unit_name from unit_assignment a join unit n on n.tenant_id = a.tenant_id and n.id = a.unit_id
      where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status in ('proposed', 'locked', 'occupied', 'ended')
      order by upper(a.during) desc, a.id limit 1) u on true
    offset 0) r
  join unit_type t on t.tenant_id = r.tenant_id and t.id = r.unit_type_id
  join rate_plan p on p.tenant_id = r.tenant_id and p.id = r.rate_plan_id
  join property h on h.tenant_id = r.tenant_id and h.id = r.property_id
  left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
  left join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.is_primary
  order by r.rank`

/** A page of reservations; a few statements whatever the number of rows. Names, nothing sealed; amounts are for the caller to leave out. */
export const listReservations = async (trx: Trx, filter: ReservationFilter) => {
  const conditions = await conditionsOf(trx, filter)
  const way = filter.sort[0]?.descending ? 'desc' : 'asc'
  // Most bookings hold nothing: those are in the order of their own ids first, as their index is.
  const byHold = filter.sort.at(-1)?.field === 'holdExpiresAt' ? `b.id ${way}, ` : ''
  const order = orderBy(filter.sort, columns, `${byHold}r.id ${way}`)
  const asked = `${allOf(conditions).text} ${order}`
  const joins = [
    ...(/\bb\./.test(asked) ? ['join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id'] : []),
    ...(/\by\./.test(asked) ? ['join property y on y.tenant_id = r.tenant_id and y.id = r.property_id'] : []),
  ]
  const { total, rows: found } = await readPage<{ id: string }>(
    trx,
    {
      columns: 'r.id',
      from: ['reservation r', ...joins].join(' '),
      conditions,
      counted: { list: 'reservation', as: 'r' },
      days: daysOf(filter),
      order,
    },
    filter,
  )
  return {
    total,
    rows: await summariesOf(
      trx,
      found.map((row) => row.id),
    ),
  }
}

/** Reservations as lists show them, in the order of their ids. */
export const summariesOf = async (trx: Trx, ids: readonly string[]) =>
  ids.length === 0 ? [] : (await prepared<Row>(trx, rowsOf, [ids])).map(shown)

export type ReservationListed = Awaited<ReturnType<typeof summariesOf>>[number]

/** Writes into the row, since copying one of forty fields costs as much as reading it; fields that no reply names are cut off at the edge. */
const shown = (row: Row) => {
  const { bookingNumber, guestName, locales, unitId, unitName, primaryGuestId } = row
  return Object.assign(row as Omit<Row, 'unitTypeName' | 'ratePlanName'>, {
    number: `${bookingNumber}-${row.position}`,
    primaryGuest: primaryGuestId === null ? null : { guestId: primaryGuestId, name: guestName ?? '' },
    unitTypeName: textIn(row.unitTypeName, locales[0] ?? 'en', ...locales),
    ratePlanName: textIn(row.ratePlanName, locales[0] ?? 'en', ...locales),
    unit: unitId === null ? null : { unitId, name: unitName ?? '' },
  })
}
