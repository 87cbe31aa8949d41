import { reportOf } from '../../config/reports.ts'
import type { ReportKey, ReportLocale } from '../../config/reports.ts'
import { wordOf } from '../../config/report-texts.ts'
import type { Chart, Column, FileRow, Meta } from '../../db/reports/index.ts'

/** The content of a file for a writer: its subject, its columns, and its rows one after the other. */
export type Source = {
  title: string
  house: string
  /** Facts that stand above the rows: label and value. */
  head: readonly (readonly [string, string])[]
  columns: readonly Column[]
  charts: readonly Chart[]
  rows: AsyncIterable<FileRow>
  /** The last row; known once the rows are read. */
  foot: () => FileRow | null
  currency: string
  locale: ReportLocale
}

/** The format of a cell: `unit` of its row says what a measure is. */
export const kindIn = ({ kind }: Column, row: FileRow): Exclude<Column['kind'], 'measure'> => {
  if (kind !== 'measure') return kind
  const unit = row['unit']
  return unit === 'amount' || unit === 'count' || unit === 'ratio' ? unit : 'text'
}

/** A writer answers the bytes of a file as they come. */
export type Writer = (source: Source) => AsyncIterable<Buffer | string>

/** Decimals of a language: a comma in Portuguese and Spanish. */
export const pointOf = (locale: ReportLocale): string => (locale === 'en' ? '.' : ',')

export const headOf = (
  report: ReportKey,
  meta: Meta,
  { locale, parameters, madeAt }: { locale: ReportLocale; parameters: object; madeAt: string },
): Source['head'] => {
  const word = (key: string) => wordOf(key, locale)
  const { name, formulaVersion } = reportOf(report)
  const told = Object.entries(parameters).map(
    ([key, value]) => `${key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  )
  return [
    [word('report'), name[locale]],
    [word('parameters'), told.join('; ')],
    [word('currency'), meta.currency],
    [word('made_at'), madeAt],
    [word('provisional'), word(meta.provisional ? 'yes' : 'no')],
    [word('formula_version'), String(formulaVersion)],
  ]
}
