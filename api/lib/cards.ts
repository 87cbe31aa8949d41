import { holdsCardNumber, isCardNumber } from '../../config/card-numbers.ts'
import type { Schema } from '../../config/schema.ts'

type Json = {
  properties?: Record<string, Json>
  patternProperties?: object
  additionalProperties?: unknown
  items?: Json
  anyOf?: Json[]
  cardNumber?: string
  format?: string
}

const exempt = new Set(['uuid4', 'instant', 'day'])

const holdsCard = (schema: Json, value: string): boolean => {
  const options = schema.anyOf ?? [schema]
  if (options.some((option) => option.cardNumber === 'exempt' || exempt.has(option.format ?? ''))) return false
  return options.some((option) => option.cardNumber === 'document') ? isCardNumber(value) : holdsCardNumber(value)
}

/** Characters that are looked at where the schema knows of no field, and what each value counts as: it is refused in any case, and kept nowhere. */
const mostUnknown = 20_000
const each = 25

type Budget = { left: number }

const isClosed = (shapes: readonly Json[]): boolean =>
  shapes.length > 0 && shapes.every((shape) => shape.additionalProperties === false && !shape.patternProperties)

/** Looks at what a schema does not know, as far as the budget goes; true where a card number was seen. */
const holdsCardBeyond = (value: unknown, budget: Budget): boolean => {
  if (budget.left <= 0) return false
  if (typeof value === 'string') {
    const seen = value.slice(0, budget.left)
    budget.left -= seen.length + each
    return holdsCardNumber(seen)
  }
  budget.left -= each
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) {
    if (budget.left <= 0) return false
    if (!Array.isArray(value) && holdsCardBeyond(key, budget)) return true
    if (holdsCardBeyond((value as Record<string, unknown>)[key], budget)) return true
  }
  return false
}

/**
 * Paths of the strings that hold a card number, but for fields whose schema says that they may hold such digits. The number of an identity document
 * may hold them, and may not be a card's alone.
 */
export const cardFields = (
  schema: Schema | undefined,
  value: unknown,
  path = '',
  budget: Budget = { left: mostUnknown },
): string[] => {
  const json = (schema ?? {}) as Json
  if (typeof value === 'string') return holdsCard(json, value) ? [path] : []
  if (Array.isArray(value)) {
    const { items } = json.items ? json : (json.anyOf?.find((option) => option.items) ?? json)
    return value.flatMap((item, index) => cardFields(items, item, `${path}.${index}`, budget))
  }
  if (typeof value === 'object' && value !== null) {
    const shapes = (json.anyOf ?? [json]).filter((option) => option.properties)
    const closed = isClosed(shapes)
    const found: string[] = []
    for (const key in value) {
      const inside = (value as Record<string, unknown>)[key]
      const at = path === '' ? key : `${path}.${key}`
      const shape = shapes.find((option) => option.properties && Object.hasOwn(option.properties, key))
      if (shape) found.push(...cardFields(shape.properties?.[key], inside, at, budget))
      else if (closed) {
        if (budget.left <= 0) continue
        // A key is a text as well; it is not repeated in the answer.
        if (holdsCardBeyond(key, budget)) found.push(path)
        else if (holdsCardBeyond(inside, budget)) found.push(at)
      } else if (holdsCardNumber(key)) found.push(path)
      else found.push(...cardFields(undefined, inside, at, budget))
    }
    return found
  }
  return []
}
