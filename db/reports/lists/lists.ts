import { wordOf } from '../../../config/report-texts.ts'
import type { ReportKey } from '../../../config/reports.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { daysAsked, housesOfOneCurrency, metaOfHouses, openDayOf } from '../houses.ts'
import { paymentsByDay, refundsByDay } from '../money.ts'
import { columnsOf } from '../operating/table.ts'
import type { Asked, Cell, ColumnKind, Reading, Sight, Window } from '../reading.ts'

type Row = Record<string, Cell>
type List = {
  columns: Readonly<Record<string, ColumnKind>>
  /** SQL of the rows, by the names of the columns. `:tenantId`, `:houses`, `:from` and `:to` are bound. */
  text: string
  /** Columns that are added up. */
  summed: readonly string[]
  /** Of a range of days; else as it stands, on the open day. */
  isDated: boolean
}

const ofHouses = (record: string) =>
  `${record}.tenant_id = :tenantId and ${record}.property_id = any(cast(:houses as uuid[]))`
const inDays = (day: string) => `${day} between cast(:from as date) and cast(:to as date)`
const named = (record: string) =>
  `join property p on p.tenant_id = ${record}.tenant_id and p.id = ${record}.property_id`

const openFolios: List = {
  columns: { property: 'text', folio: 'text', kind: 'text', booking: 'text', status: 'text', arrival: 'day', departure: 'day', balance: 'amount' },
  text: `select p.name as property, f.number as folio, f.kind, b.number as booking, r.status, r.arrival, r.departure, f.balance
     from folio f ${named('f')} left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
     left join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     where ${ofHouses('f')} and f.status = 'open' and f.balance <> 0 and cast(:from as date) <= cast(:to as date) order by p.name, f.number`,
  summed: ['balance'],
  isDated: false,
} // prettier-ignore

/** The balance of the deposit account at the end of the last day, by the document that it stands for. */
const depositsHeld: List = {
  columns: { property: 'text', booking: 'text', folio: 'text', arrival: 'day', balance: 'amount' },
  text: `select p.name as property, b.number as booking, f.number as folio, r.arrival, h.balance
     from (select l.tenant_id, l.property_id, l.document_type, l.document_id, cast(sum(l.credit - l.debit) as bigint) as balance
       from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id and a.role = 'deposits'
       where ${ofHouses('l')} and l.posting_date <= cast(:to as date) and cast(:from as date) is not null group by 1, 2, 3, 4 having sum(l.credit - l.debit) <> 0) h
     ${named('h')}
     left join folio f on f.tenant_id = h.tenant_id and h.document_type = 'folio' and f.id = h.document_id
     left join reservation r on r.tenant_id = h.tenant_id and r.id = case h.document_type when 'folio' then f.reservation_id when 'reservation' then h.document_id end
     left join booking b on b.tenant_id = h.tenant_id and b.id = case when r.booking_id is not null then r.booking_id when h.document_type = 'booking' then h.document_id end
     order by p.name, b.number nulls last, f.number nulls last`,
  summed: ['balance'],
  isDated: false,
}

const paymentsByMethod: List = {
  columns: { date: 'day', property: 'text', method: 'text', count: 'count', received: 'amount', refunded: 'amount', net: 'amount' },
  text: `select x.date, p.name as property, x.method, cast(sum(x.count) as int) as count, cast(sum(x.received) as bigint) as received,
       cast(sum(x.refunded) as bigint) as refunded, cast(sum(x.received - x.refunded) as bigint) as net
     from (
       select o.tenant_id, o.property_id, o.date, o.method, 1 as count, o.amount as received, 0 as refunded from (${paymentsByDay(ofHouses('o'))}) o
       union all
       select r.tenant_id, r.property_id, r.date, r.method, 0, 0, r.amount from (${refundsByDay(ofHouses('r'))}) r
       union all
       select c.tenant_id, c.property_id, c.received_on, c.method, 1, c.amount, 0 from receipt c
       where ${ofHouses('c')} and c.source_type not in ('payment', 'credit_note') and c.status = 'recorded' and ${inDays('c.received_on')}
       union all
       select c.tenant_id, c.property_id, f.ended_on, c.method, 0, 0, f.amount from receipt_refund f join receipt c on c.tenant_id = f.tenant_id and c.id = f.receipt_id
       where f.tenant_id = :tenantId and ${ofHouses('c')} and c.source_type not in ('payment', 'credit_note') and f.status = 'succeeded'
         and ${inDays('f.ended_on')}) x
     ${named('x')} group by x.date, p.id, p.name, x.method order by x.date, p.name, p.id, x.method`,
  summed: ['count', 'received', 'refunded', 'net'],
  isDated: true,
} // prettier-ignore

const isHidden = `s.status = 'open' and s.blind`
/**
 * The Z reports of the days of registers: a row for each session. What it began with, with what came less what went, is what was expected; the drop at closing
 * comes after the count and stands apart.
 */
const registerSessions: List = {
  columns: {
    date: 'day', property: 'text', register: 'text', number: 'count', status: 'text', opening: 'amount', cashIn: 'amount', cashOut: 'amount', expected: 'amount',
    counted: 'amount', difference: 'amount', dropped: 'amount', otherMethods: 'amount',
  },
  text: `select s.business_date as date, p.name as property, c.name as register, s.z_number as number, s.status, s.opening,
       case when ${isHidden} then null else m.cash_in end as cash_in, case when ${isHidden} then null else m.cash_out end as cash_out,
       case when ${isHidden} then null else s.expected end as expected, s.counted, s.difference, m.dropped, case when ${isHidden} then null else o.paid end as other_methods
     from cash_session s ${named('s')} join cash_account c on c.tenant_id = s.tenant_id and c.id = s.register_id
     cross join lateral (select coalesce(sum(m.amount) filter (where m.amount > 0), 0)::bigint as cash_in,
         coalesce(-sum(m.amount) filter (where m.amount < 0 and d.id is null), 0)::bigint as cash_out,
         coalesce(-sum(m.amount) filter (where d.id is not null), 0)::bigint as dropped
       from cash_movement m left join cash_transfer d on d.tenant_id = m.tenant_id and d.id = m.transfer_id and d.closing_session_id = s.id
       where m.tenant_id = s.tenant_id and m.session_id = s.id and m.cash_account_id = s.register_id and m.kind <> 'difference') m
     cross join lateral (select coalesce(sum(y.amount), 0)::bigint as paid from payment y
       where y.tenant_id = s.tenant_id and y.cash_session_id = s.id and y.method <> 'cash' and y.status = 'captured') o
     where ${ofHouses('s')} and ${inDays('s.business_date')} order by s.business_date, p.name, c.name, s.opened_at`,
  summed: ['cashIn', 'cashOut', 'difference', 'dropped', 'otherMethods'],
  isDated: true,
} // prettier-ignore

const open =
  (key: ReportKey, list: List) =>
  async (trx: Trx, asked: Asked, sight: Sight, window: Window): Promise<Reading<Row>> => {
    const houses = await housesOfOneCurrency(trx, key, asked, sight, window)
    const today = openDayOf(houses)
    const until = (asked as { asOf?: string }).asOf ?? today
    const range = list.isDated ? daysAsked(key, asked, houses, window) : { from: until, to: until }
    const meta = {
      ...(await metaOfHouses(trx, key, houses, range, sight)),
      ...(list.isDated ? {} : { provisional: true }),
    }
    const rows = await sql<Row>(trx, list.text, {
      tenantId: contextOf(trx).tenantId,
      houses: houses.map(({ id }) => id),
      ...range,
    })
    const totals = Object.fromEntries(
      list.summed.map((column) => [column, rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)]),
    )
    const words = new Set(['kind', 'status', 'method'])
    return {
      meta,
      rows,
      totals: () => totals,
      columns: columnsOf(meta.locale, list.columns),
      flat: (row) => [
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            words.has(name) && typeof value === 'string' ? wordOf(value, meta.locale) : value,
          ]),
        ),
      ],
      foot: () => ({ ...totals, property: wordOf('totals', meta.locale) }),
    }
  }

/** Open folios that are not even, as they stand. */
export const openOpenFolios = open('open_folios', openFolios)
/** Deposits of guests that are held, by booking and folio. */
export const openDepositsHeld = open('deposits_held', depositsHeld)
/** Money that came and went back, by day and method. */
export const openPaymentsByMethod = open('payments_by_method', paymentsByMethod)
/** Sessions of registers with what was counted. What an open one should hold stays hidden where it is counted blind. */
export const openRegisterSessions = open('register_sessions', registerSessions)
