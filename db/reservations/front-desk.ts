import { notFound } from '../../config/errors.ts'
import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import { alertsOf, findProfiles } from '../guests/index.ts'
import type { Audience } from '../guests/index.ts'
import { prepared } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readPage } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import { readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { GuestRow, ReservationRow, UnitRow } from '../rows.ts'
import { fromUnits, guestName, presentDayOf } from '../units/index.ts'
import { flagsColumn, hasFlag } from './flags.ts'
import type { Flag } from './flags.ts'
import { notesToTell } from './notes.ts'
import { readBookingNumber } from './rules/number.ts'

export type DeskList = 'arrivals' | 'departures' | 'in-house'

export type DeskFilter = Paging & {
  propertyId: string
  /** The business date, if it is left out. */
  date?: string | undefined
  flag?: Flag | undefined
  q?: string | undefined
  /** Notes of these are told. */
  audiences: readonly Audience[]
}

export type Day = { propertyId: string; date: string; today: string }

/** A part of a statement whose places are named. */
const part = (text: string, values: unknown[]): Part => ({ text, values })
const ofProperty = ({ propertyId }: Day) => part('r.property_id = ?', [propertyId])

/**
 * Stays of a day of the house, by the list: those still expected, overdue ones on the business date, and those that are done. A future day tells what is
 * planned, a past one what was.
 */
export const conditionOf: Readonly<Record<DeskList, (day: Day) => Part>> = {
  arrivals: ({ date, today }) =>
    date === today
      ? part(
          `(r.status = 'confirmed' and r.arrival <= ?::date or r.status in ('checked_in', 'checked_out') and r.check_in_business_date = ?::date)`,
          [date, date],
        )
      : part(
          `(r.status = 'confirmed' and r.arrival = ?::date or r.status in ('checked_in', 'checked_out') and r.check_in_business_date = ?::date)`,
          [date, date],
        ),
  departures: ({ date, today }) =>
    date > today
      ? part(`r.status in ('confirmed', 'checked_in') and r.departure = ?::date`, [date])
      : part(
          `(r.status = 'checked_in' and r.departure ${date === today ? '<=' : '='} ?::date or r.status = 'checked_out' and r.check_out_business_date = ?::date)`,
          [date, date],
        ),
  'in-house': ({ date, today }) =>
    date === today
      ? part(`r.status = 'checked_in'`, [])
      : date > today
        ? part(`r.status in ('confirmed', 'checked_in') and r.arrival <= ?::date and r.departure > ?::date`, [
            date,
            date,
          ])
        : part(
            `r.status in ('checked_in', 'checked_out') and r.check_in_business_date <= ?::date and coalesce(r.check_out_business_date > ?::date, true)`,
            [date, date],
          ),
}

const expectedBy = `select x.id from reservation x where x.property_id = ? and x.status = any(?) and x.arrival <= ?::date`

/**
 * Arrivals of today are among these, by an index each. Few are confirmed and past their arrival, which PostgreSQL does not know: it would read all stays for
 * them.
 */
const arrivalsOfToday = ({ propertyId, date }: Day): Part =>
  part(
    `r.id = any(array(${expectedBy} union all select x.id from reservation x where x.property_id = ? and x.check_in_business_date = ?::date))`,
    [propertyId, ['confirmed'], date, propertyId, date],
  )

/** Stays that a day of the house may count: held or confirmed and expected by it, in the house, and those that left on it or later or came and left on it. */
export const countedOn = ({ propertyId, date }: Day): Part =>
  part(
    `r.id = any(array(${expectedBy}
      union all select x.id from reservation x where x.property_id = ? and x.status = 'checked_in'
      union all select x.id from reservation x where x.property_id = ? and x.status = 'checked_out' and x.check_in_business_date = ?::date
      union all select x.id from reservation x where x.property_id = ? and x.status = 'checked_out' and x.check_out_business_date >= ?::date))`,
    [propertyId, ['held', 'confirmed'], date, propertyId, propertyId, date, propertyId, date],
  )

/** The statuses with which the day's business with a stay is over. */
const doneBy: Readonly<Record<DeskList, readonly ReservationRow['status'][]>> = {
  arrivals: ['checked_in', 'checked_out'],
  departures: ['checked_out'],
  'in-house': [],
}
const alertOf = { arrivals: 'check_in', departures: 'check_out', 'in-house': null } as const

const search = async (trx: Trx, q: string): Promise<Part> => {
  const text = q.trim()
  return part(
    `(b.number = ? or b.external_reference = ? or r.primary_guest_id = any(?::uuid[]) or exists (
      select from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
      where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status <> 'released' and u.name = ?))`,
    [readBookingNumber(text.replace(/-\d{1,2}$/, '')), text, await findProfiles(trx, { q }), text],
  )
}

type Row = Pick<
  ReservationRow,
  | 'id'
  | 'status'
  | 'arrival'
  | 'departure'
  | 'arrivalTime'
  | 'departureTime'
  | 'adults'
  | 'childrenAges'
  | 'primaryGuestId'
  | 'currency'
  | 'version'
> & {
  group: { groupId: string; name: string } | null
  company: { companyId: string; name: string } | null
  number: string
  bookingId: string
  flags: Flag[]
  unitTypeId: string
  unitTypeName: LocalText
  guestName: string | null
  language: GuestRow['language']
  tags: string[] | null
  unit: { unitId: string; name: string; condition: UnitRow['condition']; ready: boolean } | null
  balance: number
  depositDue: number
}

/** The unit of the stay on a day, else the one that it has first; of several the first by name. */
const unitColumn = `(
  select jsonb_build_object('unitId', u.id, 'name', u.name, 'condition', u.condition, 'ready', s.ready)
  from ${fromUnits} join unit_assignment a on a.unit_id = u.id and a.tenant_id = r.tenant_id and a.reservation_id = r.id
    and a.status in ('proposed', 'locked', 'occupied', 'ended')
  order by not (a.starts_on <= k.day and a.ends_on > k.day), a.status = 'ended', a.starts_on desc, u.name limit 1)`

// Names stand apart from the joins, whose orders are many to weigh as it is.
const rowsOf = `
  select r.id, b.number || '-' || r.position as number, r.booking_id, r.status, r.arrival, r.departure, r.arrival_time, r.departure_time, r.adults,
    r.children_ages, r.primary_guest_id, r.currency, r.version, r.unit_type_id,
    (select t.name from unit_type t where t.tenant_id = r.tenant_id and t.id = r.unit_type_id) as unit_type_name, ${guestName} as guest_name, g.language, g.tags,
    case when b.group_id is not null then jsonb_build_object('groupId', b.group_id, 'name',
      (select e.name from booking_group e where e.tenant_id = b.tenant_id and e.id = b.group_id)) end as "group",
    case when b.company_id is not null then jsonb_build_object('companyId', b.company_id, 'name',
      (select c.legal_name from company c where c.tenant_id = b.tenant_id and c.id = b.company_id)) end as company,
    ${flagsColumn}, ${unitColumn} as unit, coalesce(f.balance, 0)::bigint as balance,
    case when r.status in ('confirmed', 'checked_in') then greatest(0, coalesce((
      select sum(d.amount - d.waived_amount) from deposit d where d.tenant_id = r.tenant_id and d.reservation_id = r.id and d.due_at <= now()), 0)
        - coalesce(f.credits, 0))::bigint else 0 end as deposit_due
  from unnest(?::uuid[]) with ordinality as page (id, rank)
  cross join (select ?::date as day) k
  join reservation r on r.id = page.id
  join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
  join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
  left join guest g on g.tenant_id = r.tenant_id and g.id = r.primary_guest_id
  left join lateral (select sum(o.balance) as balance, sum(o.credits) as credits from folio o
    where o.tenant_id = r.tenant_id and o.reservation_id = r.id) f on true
  order by page.rank`

const orders: Readonly<Record<DeskList, string>> = {
  arrivals: `r.status <> 'confirmed', r.arrival, r.arrival_time nulls last, r.id`,
  departures: `r.status = 'checked_out', r.departure, r.departure_time nulls last, r.id`,
  'in-house': 'r.departure, r.arrival, r.id',
}

export const propertyOf = async (trx: Trx, propertyId: string): Promise<SaleProperty> => {
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound()
  return property
}

const shown = (
  list: DeskList,
  property: SaleProperty,
  { primaryGuestId, guestName: name, language, tags, adults, childrenAges, ...row }: Row,
  alerts: { id: string; text: string }[],
) => ({
  ...row,
  reservationId: row.id,
  guest: primaryGuestId === null ? null : { guestId: primaryGuestId, name: name ?? '', language, tags: tags ?? [] },
  party: { adults, childrenAges },
  unitTypeName: textIn(row.unitTypeName, property.locales[0] ?? 'en', ...property.locales),
  alerts,
  done: doneBy[list].includes(row.status),
})

/** A page of a list of the day. One statement for the rows whatever their number, and two for the notes of stays and guests that are told at that moment. */
export const listDesk = async (
  trx: Trx,
  list: DeskList,
  { propertyId, date, flag, q, audiences, ...paging }: DeskFilter,
) => {
  const property = await propertyOf(trx, propertyId)
  const day: Day = { propertyId, today: presentDayOf(property), date: date ?? presentDayOf(property) }
  const { total, rows: found } = await readPage<{ id: string }>(
    trx,
    {
      columns: 'r.id',
      from: `reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
        join property y on y.tenant_id = r.tenant_id and y.id = r.property_id`,
      conditions: [
        ofProperty(day),
        conditionOf[list](day),
        ...(list === 'arrivals' && day.date === day.today ? [arrivalsOfToday(day)] : []),
        ...(flag === undefined ? [] : [part(hasFlag(flag), [])]),
        ...(q === undefined ? [] : [await search(trx, q)]),
      ],
      order: orders[list],
    },
    paging,
  )
  const ids = found.map((row) => row.id)
  if (ids.length === 0) return { total, rows: [] }
  const alertAt = alertOf[list]
  const [rows, ofStays] = await Promise.all([
    prepared<Row>(trx, rowsOf, [ids, day.date]),
    notesToTell(trx, ids, alertAt, audiences),
  ])
  const guestIds = rows.flatMap((row) => (row.primaryGuestId === null ? [] : [row.primaryGuestId]))
  const ofGuests = alertAt === null ? [] : await alertsOf(trx, guestIds, { audiences, alertAt })
  return {
    total,
    rows: rows.map((row) =>
      shown(list, property, row, [
        ...ofGuests.filter((note) => note.of === row.primaryGuestId),
        ...ofStays.filter((note) => note.reservationId === row.id),
      ]),
    ),
  }
}
