/** The words for bank statements and their lines. */
export const statementFormats = ['ofx', 'csv', 'cnab240'] as const
export type StatementFormat = (typeof statementFormats)[number]
export const statementStatuses = ['received', 'imported', 'rejected', 'reconciled'] as const
export type StatementStatus = (typeof statementStatuses)[number]
export const lineStatuses = ['unmatched', 'matched', 'ignored'] as const
export type LineStatus = (typeof lineStatuses)[number]

/** Bytes of a file, and its lines, at most. */
export const mostStatementBytes = 10 * 1024 * 1024
export const mostStatementLines = 50_000

/** A column by its number, from 1, or by its name in the first row that is not skipped. */
export type Column = number | string
/** The layout of a bank's file that has no standard. */
export type CsvMapping = {
  delimiter: ';' | ',' | '|' | '\t'
  /** Rows before the names of the columns, or before the first line where columns are numbers. */
  skipRows: number
  date: { column: Column; format: 'YYYY-MM-DD' | 'DD/MM/YYYY' | 'MM/DD/YYYY' | 'YYYYMMDD' | 'DDMMYYYY' | 'DD/MM/YY' }
  amount: { column: Column } | { inColumn: Column; outColumn: Column }
  decimal: ',' | '.'
  textColumns: Column[]
  idColumn?: Column | undefined
  /** Minor units at the end of the file, where a person knows them. */
  closingBalance?: number | undefined
}
