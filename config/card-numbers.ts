import { isCnpj } from './tax-ids.ts'

/** Ranges of issuers: the first and last number that its cards begin with, and how many digits they have. The first that fits counts. */
type Issuer = readonly [first: number, last: number, lengths: readonly number[]]
const issuers: readonly Issuer[] = [
  [4, 4, [16, 19]], // Visa
  [51, 55, [16]], // Mastercard
  [2221, 2720, [16]],
  [34, 34, [15]], // American Express
  [37, 37, [15]],
  [300, 305, [14, 16]], // Diners
  [3095, 3095, [14, 16]],
  [36, 36, [14]],
  [38, 39, [14, 16]],
  [3528, 3589, [16]], // JCB
  [62, 62, [16, 17, 18, 19]], // UnionPay
  [6, 6, [16]], // Discover, Elo, Hipercard, Maestro
  [5018, 5018, [16]], // Maestro
  [5020, 5020, [16]],
  [5038, 5038, [16]],
  [5041, 5041, [16]], // Elo
  [5066, 5067, [16]],
  [509, 509, [16]],
  [5078, 5078, [16]], // Aura
  [5895, 5896, [16]], // Naranja, Cabal
  [2200, 2204, [16]], // Mir
]

const fewest = 14

type Digits = {
  value: number[]
  /** The start and end of each digit in the text. */
  from: number[]
  to: number[]
  /** Places behind which something separates two digits. */
  cut: boolean[]
}

// Characters that people and programs put between the digits of a number. They are spaces of any kind, dashes, dots, slashes and invisible marks.
const separator = /^[\s\p{Z}\p{Cf}\p{Pd}.\u00b7\u2022\u2024_/\\|,:;'\u2019`~*#()[\]\u3000\uff0e\uff0f]$/u
const mostBetween = 3
/** Longer numbers in one piece are those of slips, invoices and the like. */
const longestPiece = 26

const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0xff10]
const digitOf = (code: number): number => {
  if (code < 128) return code >= 48 && code <= 57 ? code - 48 : -1
  const zero = zeros.find((one) => code >= one && code <= one + 9)
  if (zero !== undefined) return code - zero
  const folded = String.fromCodePoint(code).normalize('NFKC')
  return folded.length === 1 && folded >= '0' && folded <= '9' ? Number(folded) : -1
}

const hasMany = (text: string): boolean => {
  let count = 0
  for (let at = 0; at < text.length && count < fewest; at += 1) {
    const code = text.charCodeAt(at)
    if ((code >= 48 && code <= 57) || code > 127) count += 1
  }
  return count >= fewest
}

/** The digits of a text in runs, each with no more than a few separators in a row. */
function* runsOf(text: string): Generator<Digits> {
  const start = (): Digits => ({ value: [], from: [], to: [], cut: [] })
  let run = start()
  let between = 0
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0
    const end = at + (code > 0xffff ? 2 : 1)
    const digit = digitOf(code)
    if (digit >= 0) {
      if (run.value.length > 0) run.cut[run.value.length - 1] = between > 0
      run.value.push(digit)
      run.from.push(at)
      run.to.push(end)
      between = 0
    } else if (run.value.length > 0 && (!separator.test(text.slice(at, end)) || (between += 1) > mostBetween)) {
      if (run.value.length >= fewest) yield run
      run = start()
      between = 0
    }
    at = end
  }
  if (run.value.length >= fewest) yield run
}

const none: readonly number[] = []

const lengthsAt = ({ value }: Digits, at: number): readonly number[] => {
  const first = value[at] ?? 0
  if (first < 2 || first > 6) return none
  const two = first * 10 + (value[at + 1] ?? 0)
  const three = two * 10 + (value[at + 2] ?? 0)
  const four = three * 10 + (value[at + 3] ?? 0)
  for (const [from, to, lengths] of issuers) {
    const prefix = from < 10 ? first : from < 100 ? two : from < 1_000 ? three : four
    if (prefix >= from && prefix <= to) return lengths
  }
  return none
}

const luhn = ({ value }: Digits, start: number, end: number): boolean => {
  let sum = 0
  for (let at = end - 1, isDoubled = false; at >= start; at -= 1, isDoubled = !isDoubled) {
    const digit = value[at] ?? 0
    sum += isDoubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}

/**
 * Tells whether the digits are set apart as those of a card are: by fours, as on American Express and Diners, behind the issuer's six, by twos, or
 * each alone. Two telephone numbers side by side are cut elsewhere, and begin or end elsewhere.
 */
const isSetLikeCard = ({ value, cut }: Digits, start: number, end: number): boolean => {
  let [cuts, byFour, byTwo] = [0, 0, 0]
  let [isSixBehindFour, isSix] = [true, true]
  for (let at = start; at < end - 1; at += 1) {
    if (!cut[at]) continue
    const place = at + 1 - start
    cuts += 1
    if (place % 4 === 0) byFour += 1
    if (place % 2 === 0) byTwo += 1
    isSixBehindFour &&= place === 4 || place === 10
    isSix &&= place === 6
  }
  if (cuts === 0) return true
  const isWhole = start === 0 || cut[start - 1] || end === value.length || cut[end - 1]
  const length = end - start
  return Boolean(
    isWhole &&
    (byFour === cuts ||
      isSixBehindFour ||
      isSix ||
      cuts === length - 1 ||
      (byTwo === cuts && cuts === Math.ceil(length / 2) - 1)),
  )
}

/** Finds the card in a run: digits in front, and a date and a code behind, do not hide it. */
const cardIn = (run: Digits, text: string, from: number): { start: number; end: number } | null => {
  const { value, cut } = run
  // A number in the international form is a telephone's.
  if (value.length <= 15 && text[(run.from[0] ?? 0) - 1] === '+') return null
  let pieceEnd = 0
  for (let start = from; start + fewest <= value.length; start += 1) {
    if (start >= pieceEnd) {
      pieceEnd = start + 1
      while (pieceEnd < value.length && !cut[pieceEnd - 1]) pieceEnd += 1
      if (pieceEnd - start > longestPiece) {
        start = pieceEnd - 1
        continue
      }
    }
    for (const length of lengthsAt(run, start)) {
      const end = start + length
      if (end > value.length || !luhn(run, start, end) || !isSetLikeCard(run, start, end)) continue
      if (length === 14 && isCnpj(value.slice(start, end).join(''))) continue
      return { start, end }
    }
  }
  return null
}

const uuids = /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi

/** As long as the text. Digits of ids are no card, though one in some hundred ids has such by chance. */
const withoutIds = (text: string): string => text.replace(uuids, (id) => 'x'.repeat(id.length))

/** Tells whether a text holds the number of a payment card, however its digits are set apart and whatever stands around them. */
export const holdsCardNumber = (given: string): boolean => {
  if (!hasMany(given)) return false
  const text = withoutIds(given)
  for (const run of runsOf(text)) if (cardIn(run, text, 0)) return true
  return false
}

const wordsAround = /^(?:\p{L}+[\s.:#-]+)+|(?:[\s.:#-]+\p{L}+)+$/gu

/** Tells whether a text is the number of a card, with words beside it at most: documents and references may hold such digits in longer numbers. */
export const isCardNumber = (given: string): boolean => {
  const text = given.replace(wordsAround, '')
  const [run, ...others] = [...runsOf(text)]
  if (!run || others.length > 0 || text.startsWith('+') || run.value.length < 15 || run.value.length > 16) return false
  return /^[^\p{L}]*$/u.test(text) && lengthsAt(run, 0).includes(run.value.length) && luhn(run, 0, run.value.length)
}

const withoutNumbers = (text: string): string => {
  if (!hasMany(text)) return text
  const looked = withoutIds(text)
  let kept = ''
  let done = 0
  for (const run of runsOf(looked))
    for (let found = cardIn(run, looked, 0); found; found = cardIn(run, looked, found.end)) {
      kept += `${text.slice(done, run.from[found.start])}[removed]`
      done = run.to[found.end - 1] ?? text.length
    }
  return kept + text.slice(done)
}

const securityCode =
  /\b(?:cvv2?|cvc2?|cid|security code|verification code|c[oó]d(?:igo|\.)? de (?:seguran[cç]a|seguridad))\b\W{0,6}\d{3,4}\b/gi

/** Tells whether a text holds the security code of a card, named as such. */
export const holdsSecurityCode = (text: string): boolean => text.search(securityCode) >= 0

/** Removes card data that may not be kept from a text. */
export const withoutCardData = (text: string): string => withoutNumbers(text.replace(securityCode, '[removed]'))
