import { minorDigits } from '../../config/minor-units.ts'

/** An amount with its currency for mails, such as `1200.00 BRL`. */
export const formatMoney = (amount: number, currency: string): string => {
  const digits = minorDigits(currency)
  const text = String(amount).padStart(digits + 1, '0')
  return `${digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`} ${currency}`
}
