import type { Column, CsvMapping } from '../../../config/cash-statements.ts'
import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { amountOf, dayOf, keptId, keptText, toldBy, Unreadable } from './text.ts'

/** Cells of a file; those in quotes may hold delimiters, line breaks and doubled quotes. */
const cellsOf = (text: string, delimiter: string): string[][] => {
  const rows: string[][] = [[]]
  let at = 0
  while (at < text.length) {
    const row = rows.at(-1) ?? []
    let cell = ''
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Unreadable('A quotation does not end')
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
    row.push(cell)
    if (at < text.length && text[at] === '\n') rows.push([])
    else if (at < text.length && at + 1 === text.length) row.push('')
    at += 1
  }
  return rows
}

const parts: Record<CsvMapping['date']['format'], { pattern: RegExp; order: readonly [number, number, number] }> = {
  'YYYY-MM-DD': { pattern: /^(\d{4})-(\d{2})-(\d{2})/, order: [1, 2, 3] },
  'DD/MM/YYYY': { pattern: /^(\d{2})\/(\d{2})\/(\d{4})/, order: [3, 2, 1] },
  'MM/DD/YYYY': { pattern: /^(\d{2})\/(\d{2})\/(\d{4})/, order: [3, 1, 2] },
  YYYYMMDD: { pattern: /^(\d{4})(\d{2})(\d{2})/, order: [1, 2, 3] },
  DDMMYYYY: { pattern: /^(\d{2})(\d{2})(\d{4})/, order: [3, 2, 1] },
  'DD/MM/YY': { pattern: /^(\d{2})\/(\d{2})\/(\d{2})$/, order: [3, 2, 1] },
}

const dateIn = (text: string, format: CsvMapping['date']['format']): string | null => {
  const { pattern, order } = parts[format]
  const found = pattern.exec(text.trim())
  if (!found) return null
  const [year = '', month = '', day = ''] = order.map((index) => found[index] ?? '')
  return dayOf(year.length === 2 ? `20${year}` : year, month, day)
}

/** Reads CSV as the mapping says. Rows that are wholly empty are passed over. Throws Unreadable. */
export const readCsv = (file: string, mapping: CsvMapping, digits: number): ParsedStatement => {
  const rows = cellsOf(file, mapping.delimiter).slice(mapping.skipRows)
  const { amount, date, decimal, textColumns, idColumn } = mapping
  const columns: Column[] = [
    date.column,
    ...textColumns,
    ...('column' in amount ? [amount.column] : [amount.inColumn, amount.outColumn]),
  ]
  const isNamed = [...columns, idColumn].some((column) => typeof column === 'string')
  const names = isNamed ? (rows.shift() ?? []).map((name) => name.trim()) : []
  const placeOf = (column: Column): number => {
    const place = typeof column === 'number' ? column - 1 : names.indexOf(column.trim())
    if (place < 0) throw new Unreadable(`The file has no column ${String(column)}`)
    return place
  }
  const places = new Map(
    [...columns, ...(idColumn === undefined ? [] : [idColumn])].map((column) => [column, placeOf(column)]),
  )
  const lines = rows.flatMap((cells, index): ParsedLine[] => {
    if (cells.every((cell) => cell.trim() === '')) return []
    const number = index + 1 + mapping.skipRows + (isNamed ? 1 : 0)
    const cell = (column: Column): string => {
      const found = cells[places.get(column) ?? -1]
      if (found === undefined) throw new Unreadable(`Row ${number} has no column ${String(column)}`)
      return found
    }
    const money = (column: Column): number => {
      const found = amountOf(cell(column), digits, decimal)
      if (found === null) throw new Unreadable(`Row ${number} has an amount that cannot be read`)
      return found
    }
    const side = (column: Column): number => (cell(column).trim() === '' ? 0 : Math.abs(money(column)))
    const bookedOn = dateIn(cell(date.column), date.format)
    if (bookedOn === null) throw new Unreadable(`Row ${number} has a date that cannot be read`)
    const text = keptText(textColumns.map(cell).join(' '), 500)
    const externalId = idColumn === undefined ? null : keptId(cell(idColumn), 255)
    return [
      {
        bookedOn,
        amount: 'column' in amount ? money(amount.column) : side(amount.inColumn) - side(amount.outColumn),
        externalId,
        documentNumber: null,
        text: text === '' ? '-' : text,
        ...toldBy(externalId, text),
      },
    ]
  })
  const closing = mapping.closingBalance ?? null
  return { bank: null, account: null, currency: null, from: null, to: null, opening: null, closing, lines }
}
