import { notFound } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import { sum } from '../lib/amounts.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { withinDays } from '../lib/days.ts'
import { fact, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Part, Sort } from '../lib/paging.ts'
import { findProfiles } from '../guests/index.ts'
import type { BookingRow, FolioRow } from '../rows.ts'
import { guestName } from '../units/index.ts'
import { summariesOf } from './list.ts'
import type { ReservationListed } from './list.ts'
import { readBookingNumber } from './rules/number.ts'
import { isLive, leadingStatus } from './rules/states.ts'

export const bookingSorts = { createdAt: 'b.created_at', updatedAt: 'b.updated_at', number: 'b.number' } as const

export type BookingFilter = Paging & {
  propertyId?: string | undefined
  q?: string | undefined
  held?: boolean | undefined
  source?: string | undefined
  groupId?: string | undefined
  companyId?: string | undefined
  agencyId?: string | undefined
  externalReference?: string | undefined
  createdFrom?: string | undefined
  createdTo?: string | undefined
  sort: Sort<keyof typeof bookingSorts>
  /** The bookings that the caller may read. */
  scope: Condition
}

/** More than these are not searched through. */
const mostFound = 5_000

/** Finds bookings by what staff types: a number, also of one of the rooms, an external number, or the name of the booker or a main guest. */
const search = async (trx: Trx, q: string): Promise<Part> => {
  const text = q.trim()
  const guestIds = await findProfiles(trx, { q })
  const rows = await sql<{ id: string }>(
    trx,
    `select id from booking where number = :number
     union select id from booking where external_reference = :text
     union (select id from booking where booker_guest_id = any(cast(:guestIds as uuid[])) order by created_at desc limit :most)
     union (select booking_id from reservation where primary_guest_id = any(cast(:guestIds as uuid[])) order by arrival desc limit :most)`,
    { number: readBookingNumber(text.replace(/-\d{1,2}$/, '')), text, guestIds, most: mostFound },
  )
  return { text: 'b.id = any(?::uuid[])', values: [rows.map((row) => row.id)] }
}

type Row = BookingRow & { bookerName: string | null; reservationIds: string[] }
type Sums = Pick<FolioRow, 'reservationId' | 'balance'>

const rowsOf = `
  select b.*, ${guestName} as booker_name,
    array(select r.id from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id order by r.position)::text[] as reservation_ids
  from unnest(?::uuid[]) with ordinality as page (id, rank)
  join booking b on b.id = page.id
  left join guest g on g.tenant_id = b.tenant_id and g.id = b.booker_guest_id
  order by page.rank`

/** Bookings with their rooms, by their ids and in their order; three statements whatever their number. */
const bookingsOf = async (trx: Trx, ids: readonly string[]) => {
  if (ids.length === 0) return []
  const rows = await prepared<Row>(trx, rowsOf, [ids])
  const [rooms, folios, posted] = await Promise.all([
    summariesOf(
      trx,
      rows.flatMap((row) => row.reservationIds),
    ),
    prepared<Sums>(
      trx,
      `select reservation_id, sum(balance)::bigint as balance from folio where reservation_id = any(?::uuid[]) group by 1`,
      [rows.flatMap((row) => row.reservationIds)],
    ),
    prepared<{ id: string; postedTotal: number }>(
      trx,
      `select id, posted_total from reservation where id = any(?::uuid[])`,
      [rows.flatMap((row) => row.reservationIds)],
    ),
  ])
  const balances = new Map(folios.map((one) => [one.reservationId, one.balance]))
  const postedOf = new Map(posted.map((one) => [one.id, one.postedTotal]))
  return rows.map((row) =>
    shown(
      row,
      rooms.filter((room) => room.bookingId === row.id),
      balances,
      postedOf,
    ),
  )
}

const shown = (
  row: Row,
  rooms: ReservationListed[],
  balances: ReadonlyMap<string | null, number>,
  posted: ReadonlyMap<string, number>,
) => {
  const live = rooms.filter((one) => isLive(one.status))
  const speaking = live.length > 0 ? live : rooms
  const balance = sum(rooms.map((one) => balances.get(one.id) ?? 0)) - row.credit
  return {
    ...row,
    status: leadingStatus(rooms),
    booker: row.bookerGuestId === null ? null : { guestId: row.bookerGuestId, name: row.bookerName ?? '' },
    hold:
      row.holdKind === null || row.holdExpiresAt === null || row.holdCapAt === null
        ? null
        : { kind: row.holdKind, expiresAt: row.holdExpiresAt, capAt: row.holdCapAt },
    arrival: speaking.map((one) => one.arrival).sort()[0] ?? '',
    departure:
      speaking
        .map((one) => one.departure)
        .sort()
        .at(-1) ?? '',
    total: sum(
      rooms.map((one) => (isLive(one.status) || one.status === 'checked_out' ? one.total : 0) + (one.feeAmount ?? 0)),
    ),
    balance,
    projected: balance + sum(live.map((one) => one.total - (posted.get(one.id) ?? 0))),
    reservations: rooms,
  }
}

export type BookingShown = ReturnType<typeof shown>

/** A booking with its rooms, as the desk sees it. 404. */
export const readBooking = async (trx: Trx, id: string): Promise<BookingShown> => {
  const [booking] = await bookingsOf(trx, [id])
  if (!booking) throw notFound()
  return booking
}

/** A page of bookings with their rooms; a few statements whatever the number of rows. */
export const listBookings = async (trx: Trx, filter: BookingFilter) => {
  const { total, rows } = await readPage<{ id: string }>(
    trx,
    {
      columns: 'b.id',
      from: 'booking b',
      conditions: [
        ...inScope(filter.scope, 'b.property_id'),
        ...where('b.property_id = ?', filter.propertyId),
        ...where('b.source = ?', filter.source),
        ...where('b.group_id = ?', filter.groupId),
        ...where('b.company_id = ?', filter.companyId),
        ...where('b.agency_id = ?', filter.agencyId),
        ...where('b.external_reference = ?', filter.externalReference),
        ...(filter.q === undefined ? [] : [await search(trx, filter.q)]),
      ],
      days: withinDays('b.created_at', { from: filter.createdFrom, to: filter.createdTo }),
      facts: fact(filter.held, 'b.hold_expires_at is not null'),
      order: orderBy(filter.sort, bookingSorts, `b.id ${filter.sort[0]?.descending ? 'desc' : 'asc'}`),
    },
    filter,
  )
  return {
    total,
    rows: await bookingsOf(
      trx,
      rows.map((row) => row.id),
    ),
  }
}
