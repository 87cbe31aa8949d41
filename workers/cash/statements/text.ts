import { cut } from '../../../config/cut.ts'

/** A file that says something that cannot be read, with the line of the file where it is known. */
export class Unreadable extends Error {
  override name = 'Unreadable'
  constructor(message: string, line: number | null = null) {
    super(cut(line === null ? message : `Line ${line}: ${message}`, 300))
  }
}

/** A text of a file as a message repeats it. */
export const quoted = (text: string): string => `"${keptText(text, 40)}"`

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

const utf8Letter = /[\xC2-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF4][\x80-\xBF]{3}/g

/** Text that is not UTF-8: Windows-1252 throughout, or not readable. */
const singleBytes = (bytes: Buffer): string => {
  const raw = bytes.toString('latin1')
  if (utf8Letter.test(raw)) {
    const plain = raw.replaceAll(utf8Letter, (letter) => ' '.repeat(letter.length))
    throw new Unreadable(
      'letters in another encoding than the rest of the file, which is in UTF-8',
      lineAt(raw, plain.search(/[\x80-\xFF]/)),
    )
  }
  const unknown = raw.search(/[\x81\x8D\x8F\x90\x9D]/)
  if (unknown >= 0) throw new Unreadable('bytes that stand for no letter in Windows-1252', lineAt(raw, unknown))
  return new TextDecoder('windows-1252').decode(bytes)
}

/** Text of a file in UTF-8, or else in Windows-1252, of which ISO-8859-1 is a part. Throws Unreadable for any other, and for a mixture. */
export const textOf = (bytes: Buffer): string => {
  const zero = bytes.indexOf(0)
  if (zero >= 0)
    throw new Unreadable(
      'bytes of value 0, as in UTF-16; UTF-8, ISO-8859-1 and Windows-1252 are read',
      lineAt(bytes.toString('latin1'), zero),
    )
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return singleBytes(bytes)
  }
}

const scaled = (whole: string, fraction: string, digits: number): number | null => {
  if (fraction.length > digits && /[1-9]/.test(fraction.slice(digits))) return null
  const amount = Number(`${whole}${fraction.slice(0, digits).padEnd(digits, '0')}`)
  return Number.isSafeInteger(amount) && amount <= 10_000_000_000_000 ? amount : null
}

/**
 * Minor units of an amount with its sign, such as "-1.234,56", "1234.5-", "R$ 10,00" or "10,00 D", where D is money that went and C money that came. The decimal
 * mark is the last one unless said. Null where it can be read in two ways, or in none: "1,234" without a mark that is said, "-1,00 C".
 */
export const amountOf = (text: string, digits: number, decimal?: ',' | '.'): number | null => {
  const plain = text.replace(/^\s*([+-]?)\s*R\$/, '$1').replaceAll(/\s/g, '')
  const parts = /^([+-]?)([0-9.,]+)([+-]?|[CD])$/i.exec(plain)
  if (!parts) return null
  const [, before = '', body = '', after = ''] = parts
  const side = after.toUpperCase()
  if (before !== '' && side !== '' && !(before === '-' && side === 'D')) return null
  const mark = decimal ?? (body.lastIndexOf(',') > body.lastIndexOf('.') ? ',' : '.')
  const other = mark === ',' ? '.' : ','
  const [whole = '', fraction = '', ...more] = body.split(mark)
  const isGrouped = /^\d{1,3}([.,]\d{3})+$/.test(whole) && !whole.includes(mark)
  if (more.length > 0 || fraction.includes(other) || !(isGrouped || /^\d*$/.test(whole)) || whole + fraction === '')
    return null
  // One mark before three places may stand for thousands.
  if (decimal === undefined && fraction.length === 3 && digits !== 3 && !isGrouped) return null
  const amount = scaled(whole.replaceAll(other, '') || '0', fraction, digits)
  return amount === null ? null : (before === '-' || side === '-' || side === 'D') && amount !== 0 ? -amount : amount
}

/** A day that is one, of 1990 to 2099; null for any other text. */
export const dayOf = (year: string, month: string, day: string): string | null => {
  const text = `${year}-${month}-${day}`
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^(199\d|20\d\d)$/.test(year)) return null
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text ? null : text
}

const endToEnd = /\b[ED]\d{20}[A-Za-z0-9]{11}\b/
const taxNumber = /\b(\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2})\b/

/** Facts in the words of a line: the end-to-end id of a Pix, and the tax number of the other party. */
export const toldBy = (...texts: (string | null)[]) => {
  const all = texts.filter((text) => text !== null).join(' ')
  return { endToEndId: endToEnd.exec(all)?.[0] ?? null, counterpartyDocument: taxNumber.exec(all)?.[0] ?? null }
}

/** A text of a file that may be kept: one line, no control characters, so long at most. */
export const keptText = (text: string, most: number): string =>
  cut(text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ').trim(), most)
export const keptId = (text: string | undefined, most: number): string | null =>
  text === undefined || keptText(text, most) === '' ? null : keptText(text, most)
