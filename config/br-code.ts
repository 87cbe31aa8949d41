import { isPixKey } from './pix-keys.ts'

/** CRC-16 of a BR Code: polynomial 1021, start FFFF, no reflection; four capitals. */
export const crcOf = (text: string): string => {
  let value = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    value ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) value = ((value & 0x8000) === 0 ? value << 1 : (value << 1) ^ 0x1021) & 0xffff
  }
  return value.toString(16).toUpperCase().padStart(4, '0')
}

/** Printable ASCII alone: accents go, and what has no plain letter. */
export const asciiOf = (text: string, most: number): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7E]+/g, '')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
    .slice(0, most)
    .trim()

const field = (id: string, value: string): string => `${id}${String(value.length).padStart(2, '0')}${value}`

const account = (inner: { key: string; text: string } | { location: string }): string => {
  const gui = field('00', 'br.gov.bcb.pix')
  if ('location' in inner) return gui + field('25', inner.location)
  const key = field('01', inner.key)
  // Field 26 is 99 long at most: the text gives way.
  const left = 99 - gui.length - key.length - 4
  const text = left > 0 ? asciiOf(inner.text, left) : ''
  return gui + key + (text === '' ? '' : field('02', text))
}

export type BrCodeParts = {
  /** Of a static code its key, and what the payer is shown; of any other the address at the bank, without scheme. */
  pix: { key: string; text: string } | { location: string }
  /** Minor units; null where the payer types them, or the bank says them. */
  amount: number | null
  name: string
  city: string
  txid: string
}

/** The text of a BR Code (R24). */
export const brCodeOf = ({ pix, amount, name, city, txid }: BrCodeParts): string => {
  const isDynamic = 'location' in pix
  const text = [
    field('00', '01'),
    ...(isDynamic ? [field('01', '12')] : []),
    field('26', account(pix)),
    field('52', '0000'),
    field('53', '986'),
    ...(amount === null || isDynamic ? [] : [field('54', (amount / 100).toFixed(2))]),
    field('58', 'BR'),
    field('59', asciiOf(name, 25) || 'NAO INFORMADO'),
    field('60', asciiOf(city, 15) || 'BRASIL'),
    field('62', field('05', isDynamic ? '***' : txid)),
    '6304',
  ].join('')
  return text + crcOf(text)
}

const fieldsOf = (text: string): Map<string, string> | null => {
  const fields = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const length = Number(text.slice(at + 2, at + 4))
    if (!/^\d{4}$/.test(text.slice(at, at + 4)) || at + 4 + length > text.length || fields.has(text.slice(at, at + 2)))
      return null
    fields.set(text.slice(at, at + 2), text.slice(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}

/** The content of the account template (26 to 51) that is of Pix: a code may have those of other networks beside it. */
const pixIn = (fields: ReadonlyMap<string, string>): Map<string, string> | null => {
  for (const [id, value] of fields) {
    const inner = id >= '26' && id <= '51' ? fieldsOf(value) : null
    if (inner?.get('00')?.toLowerCase() === 'br.gov.bcb.pix') return inner
  }
  return null
}

/** Reads a BR Code, amounts in minor units. Null where it is none: wrong check sum, lengths or currency, no key and no address, or one that cannot be (R12). */
export const readBrCode = (code: string): { amount: number | null; name: string; key: string | null } | null => {
  const fields = fieldsOf(code)
  if (!fields || fields.get('00') !== '01' || fields.get('53') !== '986') return null
  if (!/^.*6304[0-9A-Fa-f]{4}$/s.test(code) || crcOf(code.slice(0, -4)) !== code.slice(-4).toUpperCase()) return null
  const inner = pixIn(fields)
  const [key, location] = [inner?.get('01') ?? null, inner?.get('25') ?? null]
  if ((key === null) === (location === null) || (key !== null && !isPixKey(key))) return null
  // The address of a dynamic code has no scheme.
  if (location !== null && !/^[^\s/:]+\.[^\s/:]+(\/\S*)?$/.test(location)) return null
  const name = fields.get('59') ?? ''
  const amount = fields.get('54')
  if (amount === undefined) return { amount: null, name, key }
  const [, whole = '', cents = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(amount) ?? []
  return whole === '' ? null : { amount: Number(whole) * 100 + Number(cents.padEnd(2, '0')), name, key }
}
