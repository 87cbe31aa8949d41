import { daysBetween, addDays } from '../../../config/time.ts'

const digitOf10 = (digits: string): number => {
  const total = digits
    .split('')
    .reverse()
    .reduce((sum, digit, at) => {
      const doubled = Number(digit) * (at % 2 === 0 ? 2 : 1)
      return sum + (doubled > 9 ? doubled - 9 : doubled)
    }, 0)
  return (10 - (total % 10)) % 10
}
/** Weights 2 to 9 from the right. */
const restOf11 = (text: string): number =>
  text
    .split('')
    .reverse()
    .reduce((sum, one, at) => sum + (one.charCodeAt(0) - 48) * ((at % 8) + 2), 0) % 11

/** The facts in the code of a payment slip; null where it does not say. */
export type Boleto = { dueOn: string | null; amount: number | null }

const firstStart = '1997-10-07'
/** Factors began anew at 1000 on this day. */
const secondStart = '2025-02-22'

/** The day of a factor: of the two that it can mean, the one nearer to the issue of the bill. */
const dayOf = (factor: number, issuedOn: string): string | null => {
  if (factor === 0) return null
  const days = [addDays(firstStart, factor), ...(factor >= 1000 ? [addDays(secondStart, factor - 1000)] : [])]
  const distance = (day: string) => Math.abs(daysBetween(issuedOn, day))
  return days.toSorted((one, another) => distance(one) - distance(another))[0] ?? null
}

const bankSlip = (line: string, issuedOn: string): Boleto | null => {
  const fields = [line.slice(0, 10), line.slice(10, 21), line.slice(21, 32)]
  if (fields.some((field) => digitOf10(field.slice(0, -1)) !== Number(field.at(-1)))) return null
  const bar = line.slice(0, 4) + line.slice(33, 47) + line.slice(4, 9) + line.slice(10, 20) + line.slice(21, 31)
  const rest = 11 - restOf11(bar)
  const digit = rest === 0 || rest >= 10 ? 1 : rest
  if (digit !== Number(line[32])) return null
  const amount = Number(line.slice(37, 47))
  return { dueOn: dayOf(Number(line.slice(33, 37)), issuedOn), amount: amount === 0 ? null : amount }
}

/** Slips of utilities and taxes: four fields of eleven digits with a check digit each. */
const utilitySlip = (line: string): Boleto | null => {
  const by10 = ['6', '7'].includes(line[2] ?? '')
  if (!by10 && !['8', '9'].includes(line[2] ?? '')) return null
  const digitOf = (digits: string) => {
    if (by10) return digitOf10(digits)
    const rest = restOf11(digits)
    return rest < 2 ? 0 : 11 - rest
  }
  const fields = [0, 12, 24, 36].map((at) => line.slice(at, at + 12))
  if (fields.some((field) => digitOf(field.slice(0, 11)) !== Number(field[11]))) return null
  const bar = fields.map((field) => field.slice(0, 11)).join('')
  if (digitOf(bar.slice(0, 3) + bar.slice(4)) !== Number(bar[3])) return null
  const amount = Number(bar.slice(4, 15))
  return { dueOn: null, amount: ['6', '8'].includes(line[2] ?? '') && amount > 0 ? amount : null }
}

/** Reads the typed line of a payment slip: 47 digits of a bank, or 48 of a utility; null where its check digits are wrong. */
export const readBoleto = (line: string, issuedOn: string): Boleto | null => {
  if (/^\d{47}$/.test(line)) return bankSlip(line, issuedOn)
  return /^8\d{47}$/.test(line) ? utilitySlip(line) : null
}

/** Tells whether the check digit of a fiscal access key is right; letters count as their code less 48. */
export const isFiscalKey = (key: string): boolean => {
  if (!/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(key)) return false
  const rest = restOf11(key.slice(0, 43))
  return (rest < 2 ? 0 : 11 - rest) === Number(key[43])
}

const checksum = (text: string): string => {
  let value = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    value ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) value = ((value & 0x8000) === 0 ? value << 1 : (value << 1) ^ 0x1021) & 0xffff
  }
  return value.toString(16).toUpperCase().padStart(4, '0')
}

const fieldsOf = (text: string): Map<string, string> | null => {
  const fields = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const length = Number(text.slice(at + 2, at + 4))
    if (!/^\d{4}$/.test(text.slice(at, at + 4)) || at + 4 + length > text.length) return null
    fields.set(text.slice(at, at + 2), text.slice(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}

/** Tells whether a BR Code points to one charge at its bank. A printed one without is paid again and again. */
export const isOfOneCharge = (code: string): boolean => fieldsOf(fieldsOf(code)?.get('26') ?? '')?.has('25') ?? false

/** The amount in a BR Code, null where the payer types it; null for a text that is none. */
export const readBrCode = (code: string): { amount: number | null } | null => {
  const fields = fieldsOf(code)
  if (!fields || fields.get('00') !== '01' || fields.get('53') !== '986') return null
  if (!/^.*6304[0-9A-Fa-f]{4}$/s.test(code) || checksum(code.slice(0, -4)) !== code.slice(-4).toUpperCase()) return null
  if (!/br\.gov\.bcb\.pix/i.test(fields.get('26') ?? '')) return null
  const amount = fields.get('54')
  if (amount === undefined) return { amount: null }
  const [, whole = '', cents = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(amount) ?? []
  return whole === '' ? null : { amount: Number(whole) * 100 + Number(cents.padEnd(2, '0')) }
}
