import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { dayOf, keptId, keptText, quoted, toldBy, Unreadable } from './text.ts'

/** A record of 240 characters and the line of the file that it stands on. */
type CnabRecord = { text: string; line: number }

/** Positions of a record, from 1, both ends with it (G18). */
const cut = ({ text }: CnabRecord, from: number, to: number): string => text.slice(from - 1, to)

const currencies: Readonly<Record<string, string>> = { BRL: 'BRL', '': 'BRL' }

const dayIn = (record: CnabRecord): string | null =>
  dayOf(cut(record, 147, 150), cut(record, 145, 146), cut(record, 143, 144))

/** Minor units of an amount of two places; null for one that is none. */
const moneyOf = (text: string, digits: number): number | null => {
  if (!/^\d{18}$/.test(text)) return null
  const value = (Number(text) / 100) * 10 ** digits
  const amount = Math.round(value)
  return Math.abs(amount - value) > 1e-6 || amount > 10_000_000_000_000 ? null : amount
}

const signed = (record: CnabRecord, digits: number): number => {
  const [text, side] = [cut(record, 151, 168), cut(record, 169, 169).toUpperCase()]
  const amount = moneyOf(text, digits)
  if (amount === null || (side !== 'C' && side !== 'D'))
    throw new Unreadable(`the amount ${quoted(text + side)} cannot be read`, record.line)
  return side === 'D' && amount > 0 ? -amount : amount
}

const lineOf = (record: CnabRecord, digits: number): ParsedLine => {
  if (cut(record, 14, 14) !== 'E') throw new Unreadable('the record is no line of a statement (segment E)', record.line)
  const bookedOn = dayIn(record)
  if (bookedOn === null)
    throw new Unreadable(`the date ${quoted(cut(record, 143, 150))} is no day of 1990 to 2099`, record.line)
  const text = keptText(cut(record, 177, 201), 500)
  const documentNumber = keptId(cut(record, 202, 240), 60)
  return {
    bookedOn,
    amount: signed(record, digits),
    externalId: null,
    documentNumber,
    text: keptText(`${text} ${documentNumber ?? ''}`, 500) || '-',
    ...toldBy(text, documentNumber),
  }
}

/** Holds a figure of a trailer against the lines; a blank one says nothing. */
const expectFigure = (record: CnabRecord, [from, to]: [number, number], what: string, found: number): void => {
  const said = cut(record, from, to)
  if (said.trim() === '') return
  if (!/^\d+$/.test(said) || Number(said) !== found)
    throw new Unreadable(`the trailer says ${quoted(said)} for ${what}, the file has ${found}`, record.line)
}

const total = (lines: readonly ParsedLine[], side: 1 | -1): number =>
  lines.reduce((sum, { amount }) => (Math.sign(amount) === side ? sum + Math.abs(amount) : sum), 0)

/** Counts and totals of the trailers of lot and file must be those of the lines: a file that lost some on its way is told by them. */
const checkTrailers = (records: readonly CnabRecord[], lines: readonly ParsedLine[], digits: number): void => {
  const [ofLot, ofFile] = records.slice(-2)
  if (!ofLot || !ofFile) return
  const written = (amount: number) => Math.round((amount / 10 ** digits) * 100)
  expectFigure(ofLot, [171, 176], 'records of the lot', records.length - 2)
  expectFigure(ofLot, [177, 194], 'the total of debits', written(total(lines, -1)))
  expectFigure(ofLot, [195, 212], 'the total of credits', written(total(lines, 1)))
  expectFigure(ofFile, [18, 23], 'lots of the file', 1)
  expectFigure(ofFile, [24, 29], 'records of the file', records.length)
}

/**
 * Reads statements of CNAB 240: one batch of segments E between its header and trailer, whose counts, totals and balances must be those of the lines. Throws
 * Unreadable, as for files for payment and collection.
 */
export const readCnab = (file: string, digits: number): ParsedStatement => {
  const records = file
    .split(/\r?\n/)
    .map((text, index) => ({ text, line: index + 1 }))
    .filter(({ text }) => text.replaceAll('\u001A', '').trim() !== '')
  const wrong = records.find(({ text }) => text.length !== 240)
  if (wrong) throw new Unreadable(`the record has ${wrong.text.length} characters, not 240`, wrong.line)
  const kinds = records.map((record) => cut(record, 8, 8)).join('')
  if (!/^013*59$/.test(kinds)) throw new Unreadable('The file is no whole statement of one account')
  const [header, trailer] = [records[1], records.at(-2)]
  if (!header || !trailer) throw new Unreadable('The file is no whole statement of one account')
  if (cut(header, 9, 9) !== 'E') throw new Unreadable('the lot is no statement', header.line)
  const lines = records.slice(2, -2).map((record) => lineOf(record, digits))
  checkTrailers(records, lines, digits)
  const balanceOf = (record: CnabRecord) => (/^\d{18}[CD]/i.test(cut(record, 151, 169)) ? signed(record, digits) : null)
  const [opening, closing] = [balanceOf(header), balanceOf(trailer)]
  const sum = lines.reduce((all, { amount }) => all + amount, 0)
  if (opening !== null && closing !== null && opening + sum !== closing)
    throw new Unreadable(
      `the closing balance is ${closing}; the opening balance of ${opening} with the lines comes to ${opening + sum}`,
      trailer.line,
    )
  return {
    bank: keptId(cut(header, 1, 3), 3),
    branch: keptId(`${cut(header, 53, 57)}-${cut(header, 58, 58)}`.replace(/-\s*$/, ''), 10),
    // Itaú writes the check digit of the account at 72.
    account: keptId(cut(header, 59, 70) + (cut(header, 71, 71).trim() || cut(header, 72, 72)), 20),
    accountLine: header.line,
    currency: currencies[cut(header, 171, 173).trim()] ?? cut(header, 171, 173),
    from: dayIn(header),
    to: dayIn(trailer),
    opening,
    closing,
    lines,
  }
}
