import { invalid } from '../../../config/errors.ts'
import { wordOf } from '../../../config/report-texts.ts'
import type { ReportKey } from '../../../config/reports.ts'
import { readAgeing as readPayables } from '../../accounts-payable/index.ts'
import { readAgeing as readReceivables } from '../../accounts-receivable/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { ledgerBook, metaOf } from '../ledger-context.ts'
import { columnsOf } from '../operating/table.ts'
import type { Asked, ColumnKind, FileRow, Reading, Sight } from '../reading.ts'

type Row = Record<string, string | number | null>
type Page = { total: number; rows: Row[]; totals: Row }
type Place = { bookId: string; asOf: string; propertyId?: string | undefined; page: number; limit: number }

const buckets = ['notDue', 'd1to30', 'd31to60', 'd61to90', 'over90', 'total'] as const
const perPage = 100

const open =
  (
    key: ReportKey,
    more: readonly string[],
    read: (trx: Trx, by: string, place: Place) => Promise<Page>,
    usual: string,
  ) =>
  async (trx: Trx, asked: Asked, sight: Sight): Promise<Reading<Row>> => {
    const { asOf: given, propertyId, by = usual } = asked as { asOf?: string; propertyId?: string; by?: string }
    const book = await ledgerBook(trx, asked, sight)
    if (sight.propertyIds !== null && propertyId === undefined)
      throw invalid([{ field: 'propertyId', message: 'is needed, since you have some properties alone' }])
    const asOf = given ?? book.today
    const properties = propertyId === undefined ? null : [propertyId]
    const meta = await metaOf(trx, key, book, { from: asOf, to: asOf }, properties, sight)
    const place = { bookId: book.id, asOf, propertyId, limit: perPage }
    const first = await read(trx, by, { ...place, page: 1 })
    const rows = [...first.rows]
    for (let page = 2; rows.length < first.total; page += 1) {
      const { rows: next } = await read(trx, by, { ...place, page })
      if (next.length === 0) break
      rows.push(...next)
    }
    const amounts = [...buckets, ...more]
    const columns: Record<string, ColumnKind> = {
      name: 'text',
      ...Object.fromEntries(amounts.map((name): [string, ColumnKind] => [name, 'amount'])),
    }
    const none = wordOf('none', meta.locale)
    return {
      meta,
      rows,
      totals: () => first.totals,
      columns: columnsOf(meta.locale, columns),
      flat: (row): FileRow[] => [{ ...row, name: row['name'] ?? none }],
      foot: () => ({ ...first.totals, name: wordOf('totals', meta.locale) }),
    }
  }

/** Debts to suppliers, by the days after their due dates. */
export const openPayablesAgeing = open(
  'payables_ageing',
  ['credits'],
  (trx, by, place) => readPayables(trx, { ...place, by: by as Parameters<typeof readPayables>[1]['by'] }),
  'payee',
)
/** Debts of customers, by the days after their due dates. */
export const openReceivablesAgeing = open(
  'receivables_ageing',
  ['unbilled', 'availableReceipts'],
  (trx, by, place) => readReceivables(trx, { ...place, by: by as Parameters<typeof readReceivables>[1]['by'] }),
  'customer',
)
