import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { amountOf, dayOf, keptId, keptText, quoted, toldBy, Unreadable } from './text.ts'

// OFX 1.x is SGML, whose values have no end tags, and 2.x is XML: read by tags, both are one. No library of this package reads the first.

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
const plain = (text: string): string =>
  text
    .replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]+);/gi, (whole, name: string) => {
      if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole
      const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
      return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : ' '
    })
    .trim()

/** Values of an aggregate, and the line of the file that it begins on. */
type Fields = { values: Map<string, string>; line: number }
type Found = { heads: Fields[]; ledger: Fields; transactions: Fields[] }

/** Counts lines of a text; indexes are asked for in their order. */
const linesIn = (text: string): ((index: number) => number) => {
  let [line, at] = [1, 0]
  return (index) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < index; next = text.indexOf('\n', at)) {
      line += 1
      at = next + 1
    }
    return line
  }
}

/** Values of one statement. Its lines and balances are their own aggregates; all else belongs to the head. */
const fieldsOf = (text: string): Found => {
  const start = Math.max(0, text.search(/<OFX>/i))
  const body = text.slice(start)
  if (!/^<OFX>/i.test(body) || !/<\/OFX>\s*$/i.test(body))
    throw new Unreadable('the file does not end as an OFX file does', text.trimEnd().split('\n').length)
  const lineAt = linesIn(text)
  const fields = (line: number): Fields => ({ values: new Map(), line })
  const found: Found = { heads: [], ledger: fields(1), transactions: [] }
  let inside = fields(1)
  let within = ''
  for (const { 1: close, 2: name = '', 3: value = '', index } of body.matchAll(
    /<(\/?)([A-Za-z0-9_.]+)[^<>]*>([^<]*)/g,
  )) {
    const tag = name.toUpperCase()
    if (close) {
      if (tag === within) [inside, within] = [found.heads.at(-1) ?? fields(1), '']
      continue
    }
    if (tag === 'STMTRS' || tag === 'CCSTMTRS') found.heads.push((inside = fields(lineAt(start + index))))
    else if (tag === 'STMTTRN' || tag === 'LEDGERBAL' || tag === 'AVAILBAL') {
      if (within !== '') throw new Unreadable(`${within} is not closed before ${tag}`, lineAt(start + index))
      within = tag
      inside = fields(lineAt(start + index))
      if (tag === 'LEDGERBAL') found.ledger = inside
      if (tag === 'STMTTRN') found.transactions.push(inside)
    } else if (value.trim() !== '' && !inside.values.has(tag)) inside.values.set(tag, plain(value))
  }
  if (within !== '') throw new Unreadable(`${within} is not closed`, inside.line)
  return found
}

const dateOf = (text: string | undefined): string | null =>
  text === undefined || !/^\d{8}(\d{2}){0,3}(\D|$)/.test(text)
    ? null
    : dayOf(text.slice(0, 4), text.slice(4, 6), text.slice(6, 8))

/** Types whose amounts have one sign; others say nothing about it. */
const signs: Readonly<Record<string, 1 | -1>> = { CREDIT: 1, DEBIT: -1 }

const lineOf = ({ values, line }: Fields, digits: number): ParsedLine => {
  const [money, day, type = ''] = ['TRNAMT', 'DTPOSTED', 'TRNTYPE'].map((tag) => values.get(tag))
  if (money === undefined || day === undefined)
    throw new Unreadable(`the transaction has no ${money === undefined ? 'amount' : 'date'}`, line)
  const amount = amountOf(money, digits)
  const bookedOn = dateOf(day)
  if (amount === null) throw new Unreadable(`the amount ${quoted(money)} cannot be read`, line)
  if (bookedOn === null) throw new Unreadable(`the date ${quoted(day)} is no day of 1990 to 2099`, line)
  if (amount !== 0 && Math.sign(amount) === -(signs[type.toUpperCase()] ?? 0))
    throw new Unreadable(`the sign of ${quoted(money)} is not that of a ${type.toUpperCase()}`, line)
  const words = [values.get('NAME'), values.get('MEMO')].filter((word) => word !== undefined)
  const text = keptText([...new Set(words)].join(' '), 500) || keptText(type, 500)
  const externalId = keptId(values.get('FITID'), 255)
  return {
    bookedOn,
    amount,
    externalId,
    documentNumber: keptId(values.get('CHECKNUM') ?? values.get('REFNUM'), 60),
    text: text === '' ? '-' : text,
    ...toldBy(externalId, text, values.get('REFNUM') ?? null),
  }
}

/** Reads OFX of either kind (G14, G15). Throws Unreadable. */
export const readOfx = (file: string, digits: number): ParsedStatement => {
  const { heads, ledger, transactions } = fieldsOf(file)
  const [head, ...others] = heads
  if (!head) throw new Unreadable('The file holds no statement')
  if (others[0]) throw new Unreadable('a statement of another account begins; a file holds one', others[0].line)
  const balance = ledger.values.get('BALAMT')
  const closing = balance === undefined ? null : amountOf(balance, digits)
  if (balance !== undefined && closing === null)
    throw new Unreadable(`the balance ${quoted(balance)} cannot be read`, ledger.line)
  const from = dateOf(head.values.get('DTSTART'))
  const to = dateOf(head.values.get('DTEND')) ?? dateOf(ledger.values.get('DTASOF'))
  if (from !== null && to !== null && to < from)
    throw new Unreadable(`the statement ends on ${to}, before it begins on ${from}`, head.line)
  return {
    bank: keptId(head.values.get('BANKID'), 30),
    branch: keptId(head.values.get('BRANCHID'), 30),
    account: keptId(head.values.get('ACCTID'), 60),
    accountLine: head.line,
    currency: keptId(head.values.get('CURDEF')?.toUpperCase(), 10),
    from,
    to,
    opening: null,
    closing,
    closingOn: dateOf(ledger.values.get('DTASOF')),
    lines: transactions.map((fields) => lineOf(fields, digits)),
  }
}
