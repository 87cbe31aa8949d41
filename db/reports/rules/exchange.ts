import { halfUp } from '../../lib/amounts.ts'

const scale = 10n ** 10n

/** Rates have ten places: as a whole number of 10⁻¹⁰. */
export type Rate = bigint

export const parseRate = (text: string): Rate => {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * scale + BigInt(fraction.slice(0, 10).padEnd(10, '0'))
}
export const inverseOf = (rate: Rate): Rate => halfUp(scale * scale, rate)
export const one: Rate = scale

/** An exact mean of rates: their sum, and how many they are. */
export type Mean = { sum: bigint; count: number }
export const meanOf = (rates: readonly Rate[]): Mean => ({
  sum: rates.reduce((total, rate) => total + rate, 0n),
  count: rates.length,
})

/** An amount in the minor units of another currency, half-up away from zero, so that both sides of an entry round alike. */
export const converted = (amount: number, { sum, count }: Mean, digits: { from: number; to: number }): number => {
  const size = amount < 0 ? -BigInt(amount) : BigInt(amount)
  const value = halfUp(size * sum * 10n ** BigInt(digits.to), BigInt(count) * scale * 10n ** BigInt(digits.from))
  return amount < 0 ? 0 - Number(value) : Number(value)
}
