import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { dayOf, keptId, keptText, toldBy, Unreadable } from './text.ts'

/** Positions of a record, from 1, both ends with it (G18). */
const cut = (record: string, from: number, to: number): string => record.slice(from - 1, to)

const currencies: Readonly<Record<string, string>> = { BRL: 'BRL', '': 'BRL' }

const dayIn = (record: string): string | null =>
  dayOf(cut(record, 147, 150), cut(record, 145, 146), cut(record, 143, 144))

const signed = (record: string, digits: number, number: number): number => {
  const [amount, side] = [cut(record, 151, 168), cut(record, 169, 169).toUpperCase()]
  if (!/^\d{18}$/.test(amount) || (side !== 'C' && side !== 'D'))
    throw new Unreadable(`Record ${number} has an amount that cannot be read`)
  const value = (Number(amount) / 100) * 10 ** digits
  if (
    !Number.isSafeInteger(Math.round(value)) ||
    Math.abs(Math.round(value) - value) > 1e-6 ||
    value > 10_000_000_000_000
  )
    throw new Unreadable(`Record ${number} has an amount that cannot be read`)
  return side === 'D' && value > 0 ? -Math.round(value) : Math.round(value)
}

const lineOf = (record: string, number: number, digits: number): ParsedLine => {
  if (cut(record, 14, 14) !== 'E') throw new Unreadable(`Record ${number} is no line of a statement (segment E)`)
  const bookedOn = dayIn(record)
  if (bookedOn === null) throw new Unreadable(`Record ${number} has a date that cannot be read`)
  const text = keptText(cut(record, 177, 201), 500)
  const documentNumber = keptId(cut(record, 202, 240), 60)
  return {
    bookedOn,
    amount: signed(record, digits, number),
    externalId: null,
    documentNumber,
    text: keptText(`${text} ${documentNumber ?? ''}`, 500) || '-',
    ...toldBy(text, documentNumber),
  }
}

/** Reads statements of CNAB 240: one batch of segments E between its header and trailer. Throws Unreadable for files for payment and collection. */
export const readCnab = (file: string, digits: number): ParsedStatement => {
  const records = file.split(/\r?\n/).filter((record) => record.replaceAll('\u001A', '').trim() !== '')
  const wrong = records.findIndex((record) => record.length !== 240)
  if (wrong >= 0) throw new Unreadable(`Record ${wrong + 1} has ${records[wrong]?.length ?? 0} characters, not 240`)
  const kinds = records.map((record) => cut(record, 8, 8)).join('')
  if (!/^013*59$/.test(kinds)) throw new Unreadable('The file is no whole statement of one account')
  const [header, trailer] = [records[1] ?? '', records.at(-2) ?? '']
  if (cut(header, 9, 9) !== 'E') throw new Unreadable('The file is no statement')
  const hasBalance = (record: string) => /^\d{18}[CD]/i.test(cut(record, 151, 169))
  return {
    bank: keptId(cut(header, 1, 3), 3),
    account: keptId(cut(header, 59, 71), 20),
    currency: currencies[cut(header, 171, 173).trim()] ?? cut(header, 171, 173),
    from: dayIn(header),
    to: dayIn(trailer),
    opening: hasBalance(header) ? signed(header, digits, 2) : null,
    closing: hasBalance(trailer) ? signed(trailer, digits, records.length - 1) : null,
    lines: records.slice(2, -2).map((record, index) => lineOf(record, index + 3, digits)),
  }
}
