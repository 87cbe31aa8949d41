/** A file that says something that cannot be read. The message names where. */
export class Unreadable extends Error {
  override name = 'Unreadable'
}

/** Text of a file in UTF-8, or else in Windows-1252, of which ISO-8859-1 is a part. */
export const textOf = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

const scaled = (whole: string, fraction: string, digits: number): number | null => {
  if (fraction.length > digits && /[1-9]/.test(fraction.slice(digits))) return null
  const amount = Number(`${whole}${fraction.slice(0, digits).padEnd(digits, '0')}`)
  return Number.isSafeInteger(amount) && amount <= 10_000_000_000_000 ? amount : null
}

/**
 * Minor units of an amount with its sign, such as "-1.234,56", "1234.5-" or "R$ 10,00". The decimal mark is the last one unless said. Null where it can be read
 * in two ways, or in none: "1,234" without a mark that is said.
 */
export const amountOf = (text: string, digits: number, decimal?: ',' | '.'): number | null => {
  const plain = text.replace(/^\s*([+-]?)\s*R\$/, '$1').replaceAll(/\s/g, '')
  const parts = /^([+-]?)([0-9.,]+)([+-]?)$/.exec(plain)
  if (!parts || (parts[1] !== '' && parts[3] !== '')) return null
  const [, before = '', body = '', after = ''] = parts
  const mark = decimal ?? (body.lastIndexOf(',') > body.lastIndexOf('.') ? ',' : '.')
  const other = mark === ',' ? '.' : ','
  const [whole = '', fraction = '', ...more] = body.split(mark)
  const isGrouped = /^\d{1,3}([.,]\d{3})+$/.test(whole) && !whole.includes(mark)
  if (more.length > 0 || fraction.includes(other) || !(isGrouped || /^\d*$/.test(whole)) || whole + fraction === '')
    return null
  // One mark before three places may stand for thousands.
  if (decimal === undefined && fraction.length === 3 && digits !== 3 && !isGrouped) return null
  const amount = scaled(whole.replaceAll(other, '') || '0', fraction, digits)
  return amount === null ? null : (before || after) === '-' && amount !== 0 ? -amount : amount
}

/** A day that is one; null for any other text. */
export const dayOf = (year: string, month: string, day: string): string | null => {
  const text = `${year}-${month}-${day}`
  const date = new Date(`${text}T00:00:00Z`)
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
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, most)
export const keptId = (text: string | undefined, most: number): string | null =>
  text === undefined || keptText(text, most) === '' ? null : keptText(text, most)
