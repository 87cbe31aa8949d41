import { hasWord, wordOf } from '../../config/report-texts.ts'
import type { Column, FileRow, Meta, Reading } from './reading.ts'
import type { Line } from './rules/income.ts'
import { ratioOf } from './rules/vectors.ts'

/** A column beside the amount. `compared`: with its difference from the amount. */
export type StatementColumn = { key: string; name: string; compared: boolean }

export type StatementRow = {
  key: string
  name: string
  level: number
  accountId: string | null
  code: string | null
  amount: number
  columns?: { key: string; amount: number; difference?: number; ratio?: string | null }[]
}

const nameOf = ({ key, name }: Line, { locale }: Meta): string =>
  name === null ? wordOf(key, locale) : hasWord(name) ? wordOf(name, locale) : name

/** A statement of rows and columns from its lines: the first amount of a line is the row's, the others are its columns. */
export const statementReading = (
  meta: Meta,
  columns: readonly StatementColumn[],
  lines: readonly Line[],
  totals: object,
): Reading<StatementRow> & { meta: Meta & { columns: { key: string; name: string }[] } } => {
  const rows = lines.map((line): StatementRow => {
    const [amount = 0, ...others] = line.amounts
    return {
      key: line.key,
      name: nameOf(line, meta),
      level: line.level,
      accountId: line.accountId,
      code: line.code,
      amount,
      ...(columns.length === 0
        ? {}
        : {
            columns: columns.map(({ key, compared }, index) => {
              const other = others[index] ?? 0
              return compared
                ? { key, amount: other, difference: amount - other, ratio: ratioOf(amount - other, Math.abs(other)) }
                : { key, amount: other }
            }),
          }),
    }
  })
  return {
    meta: { ...meta, columns: columns.map(({ key, name }) => ({ key, name })) },
    rows,
    totals: () => totals,
    columns: fileColumns(meta, columns),
    flat: (row) => [flatRow(row)],
    foot: () => null,
  }
}

const fileColumns = (meta: Meta, columns: readonly StatementColumn[]): Column[] => {
  const word = (key: string) => wordOf(key, meta.locale)
  return [
    { key: 'code', title: word('code'), kind: 'text', width: 14 },
    { key: 'name', title: word('name'), kind: 'text', width: 48 },
    {
      key: 'amount',
      title: columns.length > 0 && !columns[0]?.compared ? word('total') : word('amount'),
      kind: 'amount',
    },
    ...columns.flatMap(({ key, name, compared }): Column[] => [
      { key: `amount ${key}`, title: name, kind: 'amount' },
      ...(compared
        ? ([
            { key: `difference ${key}`, title: word('difference'), kind: 'amount' },
            { key: `ratio ${key}`, title: word('ratio'), kind: 'ratio' },
          ] as const)
        : []),
    ]),
  ]
}

const flatRow = ({ code, name, level, amount, columns = [] }: StatementRow): FileRow => ({
  code,
  name,
  level,
  amount,
  ...Object.fromEntries(
    columns.flatMap(({ key, amount: other, difference, ratio }) => [
      [`amount ${key}`, other],
      [`difference ${key}`, difference ?? null],
      [`ratio ${key}`, ratio ?? null],
    ]),
  ),
})
