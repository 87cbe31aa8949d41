import { randomInt } from 'node:crypto'

/** Digits and capitals without I, L, O and U, which people confuse or read as words. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Luhn's check over the alphabet: finds every wrong character and nearly every exchange of neighbours. */
const checkCharacter = (body: string): string => {
  let sum = 0
  for (let index = body.length - 1, factor = 2; index >= 0; index -= 1, factor = 3 - factor) {
    const product = alphabet.indexOf(body.charAt(index)) * factor
    sum += Math.floor(product / alphabet.length) + (product % alphabet.length)
  }
  return alphabet[(alphabet.length - (sum % alphabet.length)) % alphabet.length] ?? '0'
}

/** Seven random characters and a check character. The caller that stores it ensures that it is new. */
export const bookingNumber = (): string => {
  const body = Array.from({ length: 7 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return body + checkCharacter(body)
}

/** The number as it is stored, of what a person typed; null where it cannot be one. */
export const readBookingNumber = (typed: string): string | null => {
  const number = typed
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
    .replace(/[\s.-]/g, '')
  if (!/^[0-9A-HJKMNP-TV-Z]{8}$/.test(number)) return null
  return checkCharacter(number.slice(0, 7)) === number[7] ? number : null
}
