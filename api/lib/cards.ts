import { holdsCardNumber } from '../../config/card-numbers.ts'
import type { Schema } from '../../config/schema.ts'

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
