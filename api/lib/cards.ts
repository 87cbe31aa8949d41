import type { Schema } from '../../config/schema.ts'

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

/** Whether a text holds the number of a payment card: 13 to 19 digits, spaces and dashes apart. */
export const holdsCardNumber = (text: string): boolean =>
  (text.match(/\d(?:[ -]?\d){12,18}/g) ?? []).some((run) => {
    const digits = run.replace(/[ -]/g, '')
    return issuers.some((issuer) => issuer.test(digits)) && luhn(digits)
  })

type Json = { properties?: Record<string, Json>; items?: Json; anyOf?: Json[]; cardNumber?: string; format?: string }

const exempt = new Set(['uuid4', 'instant', 'day'])

/** Paths of the strings that hold a card number, but for fields whose schema says that they may hold such digits. */
export const cardFields = (schema: Schema | undefined, value: unknown, path = ''): string[] => {
  const json = (schema ?? {}) as Json
  if (typeof value === 'string') {
    const options = json.anyOf ?? [json]
    return options.some((option) => option.cardNumber === 'exempt' || exempt.has(option.format ?? '')) ||
      !holdsCardNumber(value)
      ? []
      : [path]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => cardFields(json.items, item, `${path}.${index}`))
  if (typeof value === 'object' && value !== null) {
    const shape = json.properties ? json : json.anyOf?.find((option) => option.properties)
    return Object.entries(value).flatMap(([key, inside]) =>
      cardFields(shape?.properties?.[key], inside, path === '' ? key : `${path}.${key}`),
    )
  }
  return []
}
