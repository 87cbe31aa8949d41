import { stringify } from 'csv-stringify/sync'
import type { Column, FileRow } from '../../db/reports/index.ts'
import { majorText } from '../../config/minor-units.ts'
import { kindIn, pointOf } from './source.ts'
import type { Source, Writer } from './source.ts'

/** A number as it is written, in no quotes. */
class Bare {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const cellOf = ({ currency, locale }: Source, column: Column, row: FileRow): string | Bare => {
  const { key } = column
  const kind = kindIn(column, row)
  const value = row[key]
  if (value === null || value === undefined) return new Bare('')
  if (kind === 'amount') return new Bare(majorText(Number(value), currency, pointOf(locale)))
  if (kind === 'count') return new Bare(String(value))
  if (kind === 'ratio') return new Bare(String(value).replace('.', pointOf(locale)))
  if (kind === 'flag') return value === true ? '1' : '0'
  return String(value)
}

const batch = 500

/** CSV by RFC 4180: UTF-8 with a mark, texts in quotes, and none of them a formula to a spreadsheet. */
export const csvFile: Writer = async function* (source) {
  const write = (rows: (string | Bare)[][]) =>
    stringify(rows, {
      delimiter: source.locale === 'en' ? ',' : ';',
      record_delimiter: '\r\n',
      quoted_string: true,
      escape_formulas: true,
      cast: {
        object: (value) => ({ value: (value as unknown as Bare).text, quoted_string: false, escape_formulas: false }),
      },
    })
  const { columns, head, rows, foot } = source
  yield `\ufeff${write([...head.map(([label, value]) => [label, value]), [new Bare('')], columns.map(({ title }) => title)])}`
  let waiting: (string | Bare)[][] = []
  for await (const row of rows) {
    waiting.push(columns.map((column) => cellOf(source, column, row)))
    if (waiting.length < batch) continue
    yield write(waiting)
    waiting = []
  }
  const last = foot()
  if (last) waiting.push(columns.map((column) => cellOf(source, column, last)))
  if (waiting.length > 0) yield write(waiting)
}
