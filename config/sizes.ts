import type { FieldError } from './errors.ts'

type Json = { [key: string]: Json | Json[] | string | number | boolean | null | undefined }

/** No more problems of one value are collected than this; a caller mends these first. */
export const mostProblems = 50

/** Adds what is larger than a schema lets in. It reads no more of a value than the schema lets in. */
export type Measure = (value: unknown, path: string, found: FieldError[]) => void

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []) as Json[]

/** The schemas of which a value meets one or several. */
const optionsOf = (schema: Json): Json[] => [
  schema,
  ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => listOf(schema[key]).flatMap(optionsOf)),
]

const largest = (options: Json[], bound: 'maxLength' | 'maxItems' | 'maxProperties'): number =>
  Math.max(...options.map((option) => (typeof option[bound] === 'number' ? Number(option[bound]) : Infinity)))

/** Longer texts are none of a list of words and in none of the formats: no person's slip is so long. */
const longestWord = 200

const mostOf = ({ maxLength, enum: words, const: one, format }: Json): number =>
  typeof maxLength === 'number'
    ? maxLength
    : words === undefined && one === undefined && format === undefined
      ? Infinity
      : Math.max(
          longestWord,
          ...[one, ...(Array.isArray(words) ? words : [])].map((word) => JSON.stringify(word ?? null).length),
        )

const textOf = (options: Json[]): Measure | null => {
  const texts = options.filter((option) => option.type === 'string' || option.enum || typeof option.const === 'string')
  const most = Math.max(...texts.map(mostOf))
  if (texts.length === 0 || most === Infinity) return null
  return (value, field, found) => {
    // A character takes one unit or two; in between the check of the contents counts them.
    if (typeof value === 'string' && value.length > 2 * most)
      found.push({ field, message: `must NOT have more than ${most} characters` })
  }
}

const arrayOf = (options: Json[]): Measure | null => {
  const lists = options.filter((option) => option.type === 'array')
  if (lists.length === 0) return null
  const most = largest(lists, 'maxItems')
  const inside = measureOf({ anyOf: lists.flatMap(({ items }) => (isObject(items) ? [items] : [])) })
  return (value, field, found) => {
    if (!Array.isArray(value)) return
    if (value.length > most) found.push({ field, message: `must NOT have more than ${most} items` })
    else if (inside)
      for (let at = 0; at < value.length && found.length < mostProblems; at += 1)
        inside(value[at], field === '' ? String(at) : `${field}.${at}`, found)
  }
}

const objectOf = (options: Json[]): Measure | null => {
  const objects = options.filter((option) => option.type === 'object')
  if (objects.length === 0) return null
  const fields = new Map<string, Json[]>()
  const others: Json[] = []
  for (const { properties, patternProperties, additionalProperties } of objects) {
    if (isObject(properties))
      for (const [name, schema] of Object.entries(properties))
        fields.set(name, [...(fields.get(name) ?? []), schema as Json])
    if (isObject(patternProperties)) others.push(...(Object.values(patternProperties) as Json[]))
    if (isObject(additionalProperties)) others.push(additionalProperties)
  }
  const isClosed = objects.every((one) => one.additionalProperties === false && !one.patternProperties)
  const most = isClosed ? fields.size : largest(objects, 'maxProperties')
  const measures = new Map([...fields].map(([name, schemas]) => [name, measureOf({ anyOf: schemas })]))
  const rest = others.length === 0 ? null : measureOf({ anyOf: others })
  return (value, path, found) => {
    if (!isObject(value)) return
    let count = 0
    for (const name in value) {
      if (found.length >= mostProblems) return
      // Some too many are named, each by its name.
      if ((count += 1) > most + 4 * mostProblems) {
        found.push({ field: path, message: `must NOT have more than ${most} fields` })
        return
      }
      const inside = measures.get(name) ?? (isClosed ? null : rest)
      inside?.(value[name], path === '' ? name : `${path}.${name}`, found)
    }
  }
}

/** Makes the measure of a schema; null where nothing of it can be too large. */
export const measureOf = (schema: Json): Measure | null => {
  const options = optionsOf(schema)
  const parts = [textOf(options), arrayOf(options), objectOf(options)].filter((part) => part !== null)
  if (parts.length === 0) return null
  return (value, path, found) => {
    for (const part of parts) part(value, path, found)
  }
}
