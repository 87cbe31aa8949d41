import { measures } from '../../../config/measures.ts'
import type { Base, Fraction } from '../../../config/measures.ts'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { halfUp } from '../../lib/amounts.ts'

/** Ten-thousandths of the base measure that one item and location can hold. */
export const largestQuantity = 999_999_999_999

/** An item as far as measures go; packages hold ten-thousandths of the base. */
export type Measured = { base: Base; packages: readonly { code: string; quantity: number }[] }

/** Ten-thousandths of a decimal with up to 4 places, such as `0.75`. */
export const quantityOf = (text: string): number => {
  const [whole = '0', places = ''] = text.replace('-', '').split('.')
  return Number(whole + places.padEnd(4, '0')) * (text.startsWith('-') ? -1 : 1)
}

/** A number of ten-thousandths as the shortest decimal. */
export const decimalOf = (quantity: number): string => {
  const digits = String(Math.abs(quantity)).padStart(5, '0')
  const places = digits.slice(-4).replace(/0+$/, '')
  return `${quantity < 0 ? '-' : ''}${digits.slice(0, -4)}${places === '' ? '' : `.${places}`}`
}

/** So many of the base are one of the measure; null where the item is not measured by it. */
export const fractionOf = ({ base, packages }: Measured, measure: string): Fraction | null => {
  const package_ = packages.find((one) => one.code === measure)
  if (package_) return [BigInt(package_.quantity), 10_000n]
  const known = Object.hasOwn(measures, measure) ? measures[measure] : undefined
  return known?.base === base ? known.fraction : null
}

/** The quantity as entered, and in the base, all in ten-thousandths. */
export type Entered = { quantity: number; entered: number; measure: string }

/**
 * Converts what a person enters by the exact fraction of its measure, half-up once (R1). 400 for a measure of another dimension or more than can be held;
 * 422 `quantity_too_small` for what comes to nothing (R2).
 *
 * @param field of the line, such as `lines.0`
 */
export const entered = (item: Measured, text: string, measure: string, field: string): Entered => {
  const fraction = fractionOf(item, measure)
  if (!fraction)
    throw invalid([
      { field: `${field}.measure`, message: `is no measure of an item kept in ${item.base}, and none of its packages` },
    ])
  const amount = quantityOf(text)
  const quantity = Number(halfUp(BigInt(amount) * fraction[0], fraction[1]))
  if (quantity > largestQuantity)
    throw invalid([
      { field: `${field}.quantity`, message: `must come to ${decimalOf(largestQuantity)} ${item.base} at most` },
    ])
  if (quantity === 0 && amount !== 0) throw tooSmall(`${field}.quantity`)
  return { quantity, entered: amount, measure }
}

const tooSmall = (field: string) =>
  unprocessable('quantity_too_small', 'The quantity comes to nothing in the base measure of the item', [
    { field, message: 'is too small' },
  ])

/** As `entered`, of more than nothing. */
export const enteredSome = (item: Measured, text: string, measure: string, field: string): Entered => {
  const found = entered(item, text, measure, field)
  if (found.quantity === 0) throw tooSmall(`${field}.quantity`)
  return found
}
