import type { Column, CsvMapping } from '../../../config/cash-statements.ts'
import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { amountOf, dayOf, keptId, keptText, quoted, toldBy, Unreadable } from './text.ts'

type Row = { cells: string[]; line: number }

/** Cells of a file with the line that each row begins on; those in quotes may hold delimiters, line breaks and doubled quotes. */
const rowsOf = (text: string, delimiter: string): Row[] => {
  const rows: Row[] = [{ cells: [], line: 1 }]
  let at = 0
  let line = 1
  while (at < text.length) {
    const row = rows.at(-1)
    let cell = ''
    if (text[at] === '"') {
      const begun = line
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Unreadable('a quotation does not end', begun)
        if (text[at] === '\n') line += 1
        if (text[at] !== '"') cell += text[at] ?? ''
        else if (text[at + 1] === '"') {
          cell += '"'
          at += 1
        } else break
      }
      at += 1
    }
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') {
      if (text[at] !== '\r') cell += text[at] ?? ''
      at += 1
    }
    row?.cells.push(cell)
    if (at < text.length && text[at] === '\n') rows.push({ cells: [], line: (line += 1) })
    else if (at < text.length && at + 1 === text.length) row?.cells.push('')
    at += 1
  }
  return rows
}

const formats: Record<CsvMapping['date']['format'], { day: string; order: readonly [number, number, number] }> = {
  'YYYY-MM-DD': { day: String.raw`(\d{4})-(\d{2})-(\d{2})`, order: [1, 2, 3] },
  'DD/MM/YYYY': { day: String.raw`(\d{2})\/(\d{2})\/(\d{4})`, order: [3, 2, 1] },
  'MM/DD/YYYY': { day: String.raw`(\d{2})\/(\d{2})\/(\d{4})`, order: [3, 1, 2] },
  YYYYMMDD: { day: String.raw`(\d{4})(\d{2})(\d{2})`, order: [1, 2, 3] },
  DDMMYYYY: { day: String.raw`(\d{2})(\d{2})(\d{4})`, order: [3, 2, 1] },
  'DD/MM/YY': { day: String.raw`(\d{2})\/(\d{2})\/(\d{2})`, order: [3, 2, 1] },
}

/** A day, alone or with a time behind it. Any other text behind it may be a part of the day: the line is refused. */
const dateIn = (text: string, format: CsvMapping['date']['format']): string | null => {
  const { day: pattern, order } = formats[format]
  const found = new RegExp(String.raw`^${pattern}(?:(?:T|\s+)\d{1,2}[:h]\d{2}\b.*)?$`, 's').exec(text.trim())
  if (!found) return null
  const [year = '', month = '', day = ''] = order.map((index) => found[index] ?? '')
  return dayOf(year.length === 2 ? `20${year}` : year, month, day)
}

type Reader = { mapping: CsvMapping; digits: number; placeOf: (column: Column) => number }

const lineOf = ({ cells, line }: Row, { mapping, digits, placeOf }: Reader): ParsedLine => {
  const { amount, date, decimal, textColumns, idColumn } = mapping
  const cell = (column: Column): string => {
    const found = cells[placeOf(column)]
    if (found === undefined) throw new Unreadable(`there is no column ${String(column)}`, line)
    return found
  }
  const money = (column: Column): number => {
    const found = amountOf(cell(column), digits, decimal)
    if (found === null)
      throw new Unreadable(`the amount ${quoted(cell(column))} cannot be read with the decimal mark "${decimal}"`, line)
    return found
  }
  const side = (column: Column): number => (cell(column).trim() === '' ? 0 : money(column))
  const ofSides = (inColumn: Column, outColumn: Column): number => {
    const [came, went] = [side(inColumn), side(outColumn)]
    if (came < 0) throw new Unreadable(`money in of ${quoted(cell(inColumn))} has a minus sign`, line)
    if (/c\s*$/i.test(cell(outColumn)))
      throw new Unreadable(`money out of ${quoted(cell(outColumn))} is marked as money in`, line)
    if (came !== 0 && went !== 0) throw new Unreadable('one line has money in and money out', line)
    return came - Math.abs(went)
  }
  const bookedOn = dateIn(cell(date.column), date.format)
  if (bookedOn === null)
    throw new Unreadable(`the date ${quoted(cell(date.column))} cannot be read as ${date.format}`, line)
  const text = keptText(textColumns.map(cell).join(' '), 500)
  const externalId = idColumn === undefined ? null : keptId(cell(idColumn), 255)
  return {
    bookedOn,
    amount: 'column' in amount ? money(amount.column) : ofSides(amount.inColumn, amount.outColumn),
    externalId,
    documentNumber: null,
    text: text === '' ? '-' : text,
    ...toldBy(externalId, text),
  }
}

/** Reads CSV as the mapping says. Rows that are wholly empty are passed over. Throws Unreadable. */
export const readCsv = (file: string, mapping: CsvMapping, digits: number): ParsedStatement => {
  const rows = rowsOf(file, mapping.delimiter).slice(mapping.skipRows)
  const { amount, date, textColumns, idColumn } = mapping
  const columns: Column[] = [
    date.column,
    ...textColumns,
    ...('column' in amount ? [amount.column] : [amount.inColumn, amount.outColumn]),
    ...(idColumn === undefined ? [] : [idColumn]),
  ]
  const head = columns.some((column) => typeof column === 'string') ? rows.shift() : undefined
  const names = (head?.cells ?? []).map((name) => name.trim())
  const places = new Map(
    columns.map((column) => [column, typeof column === 'number' ? column - 1 : names.indexOf(column.trim())]),
  )
  const missing = columns.find((column) => (places.get(column) ?? -1) < 0)
  if (missing !== undefined) throw new Unreadable(`the file has no column ${String(missing)}`, head?.line ?? 1)
  const reader: Reader = { mapping, digits, placeOf: (column) => places.get(column) ?? -1 }
  const lines = rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== '')).map((row) => lineOf(row, reader))
  const closing = mapping.closingBalance ?? null
  return { bank: null, account: null, currency: null, from: null, to: null, opening: null, closing, lines }
}
