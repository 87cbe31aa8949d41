const issuers = [
  /^4\d{15}$/,
  /^4\d{18}$/,
  /^5[1-5]\d{14}$/,
  /^2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^6\d{15}$/,
]

const luhn = (digits: string) => {
  let sum = 0
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

const runs = /\d(?:[ -]?\d){12,18}/g
const isCard = (run: string) => {
  const digits = run.replace(/[ -]/g, '')
  return issuers.some((issuer) => issuer.test(digits)) && luhn(digits)
}

/** Whether a text holds the number of a payment card: 13 to 19 digits, spaces and dashes apart. */
export const holdsCardNumber = (text: string): boolean => (text.match(runs) ?? []).some(isCard)

const securityCode =
  /\b(?:cvv2?|cvc2?|cid|security code|verification code|c[oó]d(?:igo|\.)? de (?:seguran[cç]a|seguridad))\b\W{0,6}\d{3,4}\b/gi

/** Whether a text holds what stands on the back of a card, named as such. */
export const holdsSecurityCode = (text: string): boolean => text.search(securityCode) >= 0

/** Removes card data that may not be kept from a text. */
export const withoutCardData = (text: string): string =>
  text.replace(securityCode, '[removed]').replace(runs, (run) => (isCard(run) ? '[removed]' : run))
