import type { ParsedLine, ParsedStatement } from '../../../db/cash/index.ts'
import { amountOf, dayOf, keptId, keptText, toldBy, Unreadable } from './text.ts'

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

type Fields = Map<string, string>
type Found = { heads: Fields[]; ledger: Fields; transactions: Fields[] }

/** Values of one statement. Its lines and balances are their own aggregates; all else belongs to the head. */
const fieldsOf = (text: string): Found => {
  const body = text.slice(Math.max(0, text.search(/<OFX>/i)))
  if (!/^<OFX>/i.test(body) || !/<\/OFX>\s*$/i.test(body))
    throw new Unreadable('The file does not end as an OFX file does')
  const found: Found = { heads: [], ledger: new Map(), transactions: [] }
  let inside: Fields = new Map()
  let within = ''
  for (const [, close, name = '', value = ''] of body.matchAll(/<(\/?)([A-Za-z0-9_.]+)[^<>]*>([^<]*)/g)) {
    const tag = name.toUpperCase()
    if (close) {
      if (tag === within) [inside, within] = [found.heads.at(-1) ?? new Map(), '']
      continue
    }
    if (tag === 'STMTRS' || tag === 'CCSTMTRS') found.heads.push((inside = new Map()))
    else if (tag === 'STMTTRN' || tag === 'LEDGERBAL' || tag === 'AVAILBAL') {
      if (within !== '') throw new Unreadable(`${within} is not closed before ${tag}`)
      within = tag
      inside = tag === 'LEDGERBAL' ? found.ledger : new Map()
      if (tag === 'STMTTRN') found.transactions.push(inside)
    } else if (value.trim() !== '' && !inside.has(tag)) inside.set(tag, plain(value))
  }
  if (within !== '') throw new Unreadable(`${within} is not closed`)
  return found
}

const dateOf = (text: string | undefined): string | null =>
  text === undefined || !/^\d{8}/.test(text) ? null : dayOf(text.slice(0, 4), text.slice(4, 6), text.slice(6, 8))

const lineOf = (fields: Fields, index: number, digits: number): ParsedLine => {
  const amount = amountOf(fields.get('TRNAMT') ?? '', digits)
  const bookedOn = dateOf(fields.get('DTPOSTED'))
  if (amount === null) throw new Unreadable(`Line ${index + 1} has no amount that can be read`)
  if (bookedOn === null) throw new Unreadable(`Line ${index + 1} has no date that can be read`)
  const words = [fields.get('NAME'), fields.get('MEMO')].filter((word) => word !== undefined)
  const text = keptText([...new Set(words)].join(' '), 500) || keptText(fields.get('TRNTYPE') ?? '', 500)
  const externalId = keptId(fields.get('FITID'), 255)
  return {
    bookedOn,
    amount,
    externalId,
    documentNumber: keptId(fields.get('CHECKNUM') ?? fields.get('REFNUM'), 60),
    text: text === '' ? '-' : text,
    ...toldBy(externalId, text, fields.get('REFNUM') ?? null),
  }
}

/** Reads OFX of either kind (G14, G15). Throws Unreadable. */
export const readOfx = (file: string, digits: number): ParsedStatement => {
  const { heads, ledger, transactions } = fieldsOf(file)
  const [head, ...others] = heads
  if (!head) throw new Unreadable('The file holds no statement')
  if (others.length > 0) throw new Unreadable('The file holds statements of several accounts')
  const closing = ledger.has('BALAMT') ? amountOf(ledger.get('BALAMT') ?? '', digits) : null
  if (ledger.has('BALAMT') && closing === null) throw new Unreadable('The balance cannot be read')
  return {
    bank: keptId(head.get('BANKID'), 30),
    account: keptId(head.get('ACCTID'), 60),
    currency: head.get('CURDEF')?.toUpperCase() ?? null,
    from: dateOf(head.get('DTSTART')),
    to: dateOf(head.get('DTEND')) ?? dateOf(ledger.get('DTASOF')),
    opening: null,
    closing,
    lines: transactions.map((fields, index) => lineOf(fields, index, digits)),
  }
}
