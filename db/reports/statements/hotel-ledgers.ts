import { wordOf } from '../../../config/report-texts.ts'
import { atOnce, hotelLedgers } from '../../../config/reports.ts'
import type { HotelLedger } from '../../../config/reports.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { balance } from '../figures.ts'
import { accountsOf, dayBefore, ledgerBook, metaOf, rangeOf, scopeOf, tooLarge } from '../ledger-context.ts'
import type { LedgerAccount } from '../ledger-context.ts'
import type { Asked, Column, Meta, Reading, Sight, Window } from '../reading.ts'

export type HotelLedgerRow = {
  date: string
  propertyId: string
  ledger: HotelLedger
  /** All on the normal side of the accounts. */
  opening: number
  debit: number
  credit: number
  closing: number
  frozen: boolean
}

/** The accounts of each ledger, by role; accounts of the same control account belong to it. */
const rolesOf: Record<HotelLedger, readonly string[]> = {
  deposits: ['deposits'],
  guest_ledger: ['guest_ledger'],
  open_orders: ['pos_clearing'],
  refunds: ['refunds_payable'],
  disputes: ['disputed_amounts'],
  gateway_clearing: ['gateway_clearing'],
  unallocated_receipts: ['unallocated_receipts'],
  receivables: ['city_ledger', 'channel_receivables'],
  taxes_and_fees: ['sales_taxes_payable', 'tourism_fees_payable'],
  gratuities: ['gratuities_payable'],
}
/** Dated by the business day alone, so that a closed day of theirs never changes. */
const frozenOnes: ReadonlySet<HotelLedger> = new Set(['deposits', 'guest_ledger', 'open_orders', 'refunds', 'disputes'])

type Moved = { accountId: string; propertyId: string; date: string; debit: number; credit: number }

const columnsOf = ({ locale }: Meta): Column[] => {
  const word = (key: string) => wordOf(key, locale)
  return [
    { key: 'date', title: word('date'), kind: 'day' },
    { key: 'propertyId', title: word('property'), kind: 'text', width: 36 },
    { key: 'ledgerName', title: word('ledger'), kind: 'text', width: 28 },
    { key: 'opening', title: word('opening'), kind: 'amount' },
    { key: 'debit', title: word('debit'), kind: 'amount' },
    { key: 'credit', title: word('credit'), kind: 'amount' },
    { key: 'closing', title: word('closing'), kind: 'amount' },
    { key: 'frozen', title: word('frozen'), kind: 'flag' },
  ]
}

const ledgerOf = (accounts: readonly LedgerAccount[], wanted: readonly HotelLedger[]) => {
  const found = new Map<string, { ledger: HotelLedger; side: 'debit' | 'credit' }>()
  for (const ledger of wanted)
    for (const account of accounts)
      if (account.role !== null && rolesOf[ledger].includes(account.role))
        found.set(account.id, { ledger, side: account.side })
  return found
}

type Sums = { debit: number; credit: number }
const keyOf = (propertyId: string, ledger: string, date = '') => `${propertyId} ${ledger} ${date}`

/** Deposits, guests, orders and the other ledgers of a hotel, per property and day (R13). The opening of a day is the closing of the day before. */
export const openHotelLedgers = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<HotelLedgerRow>> => {
  const { ledger: given } = asked as { ledger?: readonly HotelLedger[] }
  const wanted = given && given.length > 0 ? hotelLedgers.filter((one) => given.includes(one)) : hotelLedgers
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('hotel_ledgers', asked, book, window)
  const properties = scopeOf(asked, sight)
  const meta = await metaOf(trx, 'hotel_ledgers', book, range, properties, sight)
  const { tenantId } = contextOf(trx)
  const houses = await sql<{ id: string }>(
    trx,
    `select id from property where tenant_id = ? and book_id = ? and (?::uuid[] is null or id = any(?::uuid[])) order by code collate "C"`,
    [tenantId, book.id, properties, properties],
  )
  const days = daysIn(range.from, addDays(range.to, 1))
  if (window !== null && houses.length * wanted.length * days.length > atOnce.rows)
    throw tooLarge('hotel_ledgers', asked, `The reply has more than ${atOnce.rows} rows`)
  const ledgers = ledgerOf(await accountsOf(trx, book.id), wanted)
  const accountIds = [...ledgers.keys()]
  const [before, moved, closed] = await Promise.all([
    balance(trx, { bookId: book.id, on: dayBefore(range.from), properties, accountIds, withClosing: true }, [
      'property',
    ]),
    sql<Moved>(
      trx,
      `select l.account_id, l.property_id, l.posting_date as date, cast(sum(l.debit) as bigint) as debit, cast(sum(l.credit) as bigint) as credit
       from unnest(cast(:accountIds as uuid[])) a (id) join journal_line l on l.tenant_id = :tenantId and l.book_id = :bookId and l.account_id = a.id
         and l.posting_date between cast(:from as date) and cast(:to as date) and l.property_id is not null
         and (cast(:properties as uuid[]) is null or l.property_id = any(cast(:properties as uuid[])))
       group by 1, 2, 3`,
      { tenantId, bookId: book.id, ...range, properties, accountIds },
    ),
    sql<{ propertyId: string; date: string }>(
      trx,
      `select property_id, date from business_day where tenant_id = ? and property_id = any(?::uuid[]) and status = 'closed' and date between ?::date and ?::date`,
      [tenantId, houses.map(({ id }) => id), range.from, range.to],
    ),
  ])
  const openings = new Map<string, number>()
  const movements = new Map<string, Sums>()
  const signOf = (accountId: string) => (ledgers.get(accountId)?.side === 'debit' ? 1 : -1)
  for (const { accountId, propertyId, debit, credit } of before) {
    const key = keyOf(propertyId ?? '', ledgers.get(accountId)?.ledger ?? '')
    openings.set(key, (openings.get(key) ?? 0) + signOf(accountId) * (debit - credit))
  }
  for (const { accountId, propertyId, date, debit, credit } of moved) {
    const key = keyOf(propertyId, ledgers.get(accountId)?.ledger ?? '', date)
    const known = movements.get(key) ?? { debit: 0, credit: 0 }
    movements.set(key, { debit: known.debit + debit, credit: known.credit + credit })
  }
  const sideOf = new Map([...ledgers.values()].map(({ ledger, side }) => [ledger, side]))
  const closedDays = new Set(closed.map(({ propertyId, date }) => `${propertyId} ${date}`))
  const rows = houses.flatMap(({ id: propertyId }) =>
    wanted.flatMap((ledger) => {
      let opening = openings.get(keyOf(propertyId, ledger)) ?? 0
      return days.map((date): HotelLedgerRow => {
        const { debit, credit } = movements.get(keyOf(propertyId, ledger, date)) ?? { debit: 0, credit: 0 }
        const closing = opening + (sideOf.get(ledger) === 'debit' ? debit - credit : credit - debit)
        const frozen = frozenOnes.has(ledger) && closedDays.has(`${propertyId} ${date}`)
        const row = { date, propertyId, ledger, opening, debit, credit, closing, frozen }
        opening = closing
        return row
      })
    }),
  )
  const totals = {
    debit: rows.reduce((sum, { debit }) => sum + debit, 0),
    credit: rows.reduce((sum, { credit }) => sum + credit, 0),
  }
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta),
    flat: (row) => [{ ...row, ledgerName: wordOf(row.ledger, meta.locale) }],
    foot: () => ({ ledgerName: wordOf('totals', meta.locale), ...totals }),
  }
}
