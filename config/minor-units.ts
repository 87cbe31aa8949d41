import { memo } from './memo.ts'

/**
 * Currencies whose minor unit is not a hundredth (ISO 4217). `Intl` is not asked: it answers with the places that people write, none for
 * COP, HUF or IDR, and other ones with each release.
 */
const places: Readonly<Record<string, number>> = {
  BHD: 3,
  BIF: 0,
  CLF: 4,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  IQD: 3,
  ISK: 0,
  JOD: 3,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  PYG: 0,
  RWF: 0,
  TND: 3,
  UGX: 0,
  UYI: 0,
  UYW: 4,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
}

/** Places after the point of a currency: 2 for BRL, 0 for JPY. */
export const minorDigits = (currency: string): number => places[currency] ?? 2

/** Minor units as a plain number in the currency, such as `-1234.50`. */
export const majorText = (amount: number, currency: string, point = '.'): string => {
  const digits = minorDigits(currency)
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  const sign = amount < 0 ? '-' : ''
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}${point}${text.slice(-digits)}`
}

// Making a format costs more than all of an offer's arithmetic; houses share a few of them.
const formats = memo<Intl.NumberFormat>(200)

/** Minor units as a person reads them in a locale. */
export const moneyText = (amount: number, currency: string, locale: string): string => {
  const digits = minorDigits(currency)
  const format = formats(
    `${locale} ${currency}`,
    () =>
      new Intl.NumberFormat(locale, {
        style: 'currency',
        currency,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
  )
  return format.format(amount / 10 ** digits)
}

/** An amount with the code of its currency, for words that people of several languages read, such as `1200.00 BRL`. */
export const moneyWithCode = (amount: number, currency: string): string => `${majorText(amount, currency)} ${currency}`
