import type { ReportDeclaration, ReportKey, ReportLocale } from '../../config/reports.ts'
import type { Trx } from '../lib/connection.ts'

/**
 * The rights of a reader: the chosen properties of a member, or null for all of them. `own`: the member whose lines alone are read. `locale`: of its names, where
 * that is not the tenant's.
 */
export type Sight = { propertyIds: readonly string[] | null; own?: string; locale?: ReportLocale }

/** Rows of a page, or all of them. */
export type Window = { page: number; limit: number } | null

/** The format of a column in a file. Amounts are minor units of the report's currency, ratios decimal strings; `unit` of a row says what its measure is. */
export type ColumnKind = 'measure' | 'text' | 'day' | 'amount' | 'count' | 'ratio' | 'flag'
export type Column = { key: string; title: string; kind: ColumnKind; width?: number }
export type Cell = string | number | boolean | null
export type FileRow = Readonly<Record<string, Cell | undefined>> & { level?: number }

/** A chart of the rows of a file: a mark for each row that it takes, of the columns `keys`, named by the column `label`. */
export type Chart = {
  label: string
  keys: readonly [string] | readonly [string, string]
  takes?: (row: FileRow) => boolean
}

/** Facts of a reading (R2). Its figures stay so for ever once `provisional` is false, but for late entries, which raise `ledgerSequence`. */
export type Meta = {
  report: string
  propertyIds: string[]
  bookId: string | null
  bookName: string
  startDate: string | null
  endDate: string
  currency: string
  asOf: string
  ledgerSequence: number
  pendingEvents: number
  provisional: boolean
  openDays: { propertyId: string; date: string }[]
  /** Nights of its houses whose facts differed when they were last proved, by the report that is read from them (R26). */
  drifts?: { propertyId: string; report: ReportKey; from: string; to: string }[]
  formulaVersion: number
  locale: ReportLocale
}

export type Reading<Row extends object = object> = {
  meta: Meta
  rows: Iterable<Row> | AsyncIterable<Row>
  /** Complete once the rows are read. */
  totals: () => object
  /** Rows of all pages, where it is read in pages. */
  total?: number
  columns: readonly Column[]
  /** Rows of a file that one row makes. */
  flat: (row: Row) => FileRow[]
  /** Rows of a file that come after those of all rows, where its totals have more than one. */
  tail?: () => FileRow[]
  /** The last row of a file. */
  foot: () => FileRow | null
  /** Charts of its file, where people would rather look than read. */
  charts?: readonly Chart[]
  /** Exchange rates that the figures rest on. */
  usedRates?: readonly string[]
}

/** Parameters as a caller sent them, checked by the schema of the report. */
export type Asked = Readonly<Record<string, unknown>>

/** One report: the endpoint and a run read it by the same function. */
export type Report = {
  declaration: ReportDeclaration
  open: (trx: Trx, asked: Asked, sight: Sight, window: Window) => Promise<Reading>
}
