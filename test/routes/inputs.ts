import fc from 'fast-check'
import { words } from '../../config/schema.ts'
import { texts, things } from './garbage.ts'

/** Schemas as the validator sees them. */
export type Json = {
  type?: string
  properties?: Record<string, Json>
  required?: string[]
  items?: Json
  anyOf?: Json[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  patternProperties?: Record<string, Json>
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

/** Values that pass, by the name of the field: ids of records that exist, a quote, the present terms. */
export type Known = Record<string, fc.Arbitrary<unknown>>

const days = ['2026-12-24', '2027-02-28', '2028-02-29', '1900-01-01', '2200-12-31']
const instants = [
  '2026-11-20T12:00:00.000Z',
  '2028-02-29T23:59:59.999999Z',
  '1900-01-01T00:00:00-12:00',
  '2200-12-31T24:00:00Z',
  '2026-11-20T12:00:00+15:59',
  '2026-11-20T12:00:00+16:00',
  '2026-11-20T12:00:00-23:59',
]

const ofFormat: Record<string, fc.Arbitrary<string>> = {
  uuid4: fc.uuid({ version: 4 }),
  day: fc.constantFrom(...days),
  instant: fc.constantFrom(...instants),
  https: fc.constantFrom('https://example.com/a.jpg', 'https://10.0.0.1/b.png'),
  country: fc.constantFrom('BR', 'PT', 'XK'),
  language: fc.constantFrom('en', 'pt-BR', 'es-419', 'zh-Hant'),
  'time-zone': fc.constantFrom('America/Sao_Paulo', 'Pacific/Kiritimati', 'UTC'),
  mailbox: fc.constantFrom('ana@example.com', "o'neil+tag@a.example.co", `${'a'.repeat(64)}@example.com`, 'x@y.zz'),
}

const ofString = (schema: Json): fc.Arbitrary<unknown> => {
  const { format, pattern, minLength = 0, maxLength = 200 } = schema
  if (format) return ofFormat[format] ?? fc.constant('x')
  const isSpoken = new RegExp(pattern ?? '', 'u')
  if (pattern && pattern !== words)
    return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' }).filter((text) => text.length <= maxLength)
  const most = Math.min(maxLength, Math.max(minLength, 40))
  return fc.oneof(
    fc
      .string({ minLength, maxLength: most, unit: 'grapheme' })
      .filter((text) => text.length <= maxLength && isSpoken.test(text)),
    fc.constant('%'.padEnd(Math.max(1, minLength), '_')),
    fc.constant('a'.repeat(maxLength)),
  )
}

/** Values that the schema accepts, near its bounds more often than not. */
export const validOf = (schema: Json, known: Known, name = ''): fc.Arbitrary<unknown> => {
  const usual = known[name]
  if (usual && schema.format !== 'instant' && schema.type !== 'boolean') return usual
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((option) => validOf(option, known)))
  switch (schema.type) {
    case 'string':
      return ofString(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1_000_000 } = schema
      return fc.oneof(
        fc.constantFrom(minimum, maximum),
        fc.integer({ min: minimum, max: Math.min(maximum, minimum + 40) }),
      )
    }
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 3 } = schema
      return fc.array(validOf(items, known, name), {
        minLength: minItems,
        maxLength: Math.min(maxItems, Math.max(minItems, 3)),
      })
    }
    case 'object': {
      const [[keys, inside] = ['', undefined]] = Object.entries(schema.patternProperties ?? {})
      const locales = ['en', 'pt-BR'].filter((locale) => new RegExp(keys, 'u').test(locale))
      const key = locales.length > 0 ? fc.constantFrom(...locales) : fc.stringMatching(new RegExp(keys, 'u'))
      if (inside) return fc.dictionary(key, validOf(inside, known), { maxKeys: 2 })
      const fields = Object.entries(schema.properties ?? {})
      return fc.record(Object.fromEntries(fields.map(([key, field]) => [key, validOf(field, known, key)])), {
        requiredKeys: schema.required ?? [],
      })
    }
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** Null mostly; one time in `times` what is given. */
export const seldom = <T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

/** Values that the schema at a place refuses, or nearly refuses: bounds and one beyond, other types, hostile texts. */
const badOf = (schema: Json | undefined): fc.Arbitrary<unknown> => {
  const edges: unknown[] = []
  if (schema?.type === 'integer' || schema?.type === 'number')
    edges.push(
      ...[schema.minimum ?? 0, schema.maximum ?? 0].flatMap((bound) => [
        bound - 1,
        bound,
        bound + 1,
        bound + 0.5,
        String(bound),
      ]),
    )
  if (schema?.type === 'string')
    edges.push(
      ...[schema.minLength ?? 0, schema.maxLength ?? 0].flatMap((bound) =>
        [bound - 1, bound, bound + 1].map((length) => 'x'.repeat(Math.max(0, length))),
      ),
      'é'.repeat(schema.maxLength ?? 1),
    )
  if (schema?.type === 'array')
    edges.push(
      [],
      Array.from({ length: (schema.maxItems ?? 0) + 1 }, () => null),
    )
  const any = fc.oneof(
    fc.constantFrom(...texts),
    fc.constantFrom(...things),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  return edges.length > 0 ? fc.oneof(fc.constantFrom(...edges), any) : any
}

type Place = { holder: Record<string, unknown> | unknown[]; key: string | number; schema: Json | undefined }

const objectOf = (schema: Json | undefined) =>
  schema?.properties ? schema : schema?.anyOf?.find((option) => option.properties)

/** Every place of a value where something else could stand. */
const placesOf = (value: unknown, schema: Json | undefined): Place[] => {
  if (Array.isArray(value))
    return value.flatMap((item, key) => [
      { holder: value, key, schema: schema?.items },
      ...placesOf(item, schema?.items),
    ])
  if (typeof value !== 'object' || value === null) return []
  const fields = objectOf(schema)?.properties ?? {}
  const names = new Set([...Object.keys(value), ...Object.keys(fields)])
  return [...names].flatMap((key) => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    return [
      { holder: value as Record<string, unknown>, key, schema: field },
      ...placesOf((value as Record<string, unknown>)[key], field),
    ]
  })
}

const extraKeys = ['extra', '__proto__', 'constructor', 'tenantId', 'tenant_id', 'toString', '', 'é', 'a.b', '$ne']

const set = ({ holder, key }: Place, value: unknown) =>
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })

/** A value that passes, one of the schema's or one of the examples, spoilt in up to two places. */
export const nearlyOf = (schema: Json, known: Known, examples: readonly unknown[] = []): fc.Arbitrary<unknown> =>
  fc.oneof(validOf(schema, known), ...(examples.length > 0 ? [fc.constantFrom(...examples)] : [])).chain((valid) => {
    const places = placesOf(valid, schema)
    const spoilt = fc
      .integer({ min: 0, max: Math.max(0, places.length - 1) })
      .chain((at) => badOf(places[at]?.schema).map((bad) => ({ at, bad })))
    const edits =
      places.length === 0
        ? fc.constant([])
        : fc.oneof(fc.constant([]), fc.array(spoilt, { minLength: 1, maxLength: 2 }))
    const removed = seldom(8, fc.nat())
    const added = seldom(8, fc.tuple(fc.constantFrom(...extraKeys), fc.constantFrom(...texts, ...things)))
    return fc.tuple(edits, removed, added).map(([changes, gone, extra]) => {
      const value: unknown = structuredClone(valid)
      const here = placesOf(value, schema)
      for (const { at, bad } of changes) {
        const place = here[at]
        if (place) set(place, bad)
      }
      const object = value as Record<string, unknown>
      if (gone !== null && here.length > 0) {
        const keys = Object.keys(object)
        Reflect.deleteProperty(object, keys[gone % Math.max(1, keys.length)] ?? '')
      }
      if (extra !== null) set({ holder: object, key: extra[0], schema: undefined }, extra[1])
      return value
    })
  })

const scalar = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed() : (JSON.stringify(value) ?? '')

/** A query from an object, at times with a parameter twice, an unknown one, or escapes that mean nothing. */
export const queryOf = (
  schema: Json | undefined,
  known: Known,
  examples: readonly unknown[] = [],
): fc.Arbitrary<string> =>
  fc
    .tuple(
      nearlyOf(schema ?? { type: 'object', properties: {} }, known, examples),
      seldom(10, fc.nat()),
      seldom(
        10,
        fc.constantFrom('%', '%zz', '%ED%A0%80=1', '=', '&&', 'a=%00', '__proto__=1', 'page=1&page=2', '+', '?', '#'),
      ),
    )
    .map(([value, twice, tail]) => {
      const pairs = Object.entries(value as Record<string, unknown>)
        .filter(([, inside]) => inside !== undefined)
        .map(([key, inside]) => `${encodeURIComponent(key)}=${encodeURIComponent(scalar(inside))}`)
      const again = twice === null || pairs.length === 0 ? [] : [pairs[twice % pairs.length] ?? '']
      const text = [...pairs, ...again, ...(tail === null ? [] : [tail.replace('#', '%23')])].join('&')
      // A line of more than 8 kB is the parser's to refuse, before any endpoint.
      return text === '' ? '' : `?${text.slice(0, 6_000).replace(/%.?$/, '')}`
    })

/** Path segments: right ones, and all that is not. */
export const segmentOf = (schema: Json, known: Known, name: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: validOf(schema, known, name).map((value) => encodeURIComponent(scalar(value))) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...texts)
        .map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 900).replace(/%.?$/, '')),
    },
    { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%E0%A4%A', '..', '%2e%2e', '%2F', ';', '*', ':x', '%00') },
  )
