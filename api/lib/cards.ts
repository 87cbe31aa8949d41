import { holdsCardNumber, isCardNumber } from '../../config/card-numbers.ts'
import type { Schema } from '../../config/schema.ts'

type Json = { properties?: Record<string, Json>; items?: Json; anyOf?: Json[]; cardNumber?: string; format?: string }

const exempt = new Set(['uuid4', 'instant', 'day'])

const holdsCard = (schema: Json, value: string): boolean => {
  const options = schema.anyOf ?? [schema]
  if (options.some((option) => option.cardNumber === 'exempt' || exempt.has(option.format ?? ''))) return false
  return options.some((option) => option.cardNumber === 'document') ? isCardNumber(value) : holdsCardNumber(value)
}

/**
 * Paths of the strings that hold a card number, but for fields whose schema says that they may hold such digits. The number of an identity document
 * may hold them, and may not be a card's alone.
 */
export const cardFields = (schema: Schema | undefined, value: unknown, path = ''): string[] => {
  const json = (schema ?? {}) as Json
  if (typeof value === 'string') return holdsCard(json, value) ? [path] : []
  if (Array.isArray(value)) {
    const { items } = json.items ? json : (json.anyOf?.find((option) => option.items) ?? json)
    return value.flatMap((item, index) => cardFields(items, item, `${path}.${index}`))
  }
  if (typeof value === 'object' && value !== null) {
    const shape = json.properties ? json : json.anyOf?.find((option) => option.properties)
    return Object.entries(value).flatMap(([key, inside]) => {
      const at = path === '' ? key : `${path}.${key}`
      // A key of a map is a text as well; it is not repeated in the answer.
      if (!shape?.properties?.[key] && holdsCardNumber(key)) return [path]
      return cardFields(shape?.properties?.[key], inside, at)
    })
  }
  return []
}
