import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { isCountry } from './countries.ts'
import type { FieldError } from './errors.ts'
import { isLanguage } from './languages.ts'
import { personName, words } from './schema.ts'
import type { Schema } from './schema.ts'
import { measureOf, mostProblems } from './sizes.ts'
import type { Measure } from './sizes.ts'

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
// Offsets as far as PostgreSQL takes them.
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/
const mailbox =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/** A real calendar day from 1900 to 2200. */
export const isDay = (value: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const date = new Date(`${value}T00:00:00Z`)
  return (
    !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(value) &&
    value >= '1900-01-01' &&
    value <= '2200-12-31'
  )
}

export const isUuid = (value: string): boolean => uuid4.test(value)

type Test = { test: (value: string) => boolean }

/** Pattern of `bounded`: what is longer than so many characters is refused unread. */
const bound = /^\^\(\?=\[\^\]\{0,(\d+)\}\$\)/

const isWithin = (value: string, most: number): boolean => {
  if (value.length <= most) return true
  if (value.length > 2 * most) return false
  return Array.from(value).length <= most
}

const patternsMade = new Map<string, RegExp>()

/** V8 takes a millisecond or more for a pattern with classes of Unicode: fields of several lengths share one. */
const sharedPattern = (pattern: string, flags: string): Test => {
  const most = bound.exec(pattern)?.[1]
  const plain = pattern.replace(bound, '^')
  const made = patternsMade.get(plain) ?? new RegExp(plain, flags)
  patternsMade.set(plain, made)
  if (most === undefined) return made
  const limit = Number(most)
  return { test: (value) => isWithin(value, limit) && made.test(value), toString: () => `/${pattern}/${flags}` } as Test
}
// Ajv names it so in code that it would write to a file; none is written.
const shared = Object.assign(sharedPattern, { code: 'new RegExp' })

/**
 * Ajv collects all errors of a list or map before anything can cut them, so its loops over a value are made to end after fifty errors of their
 * own. They count from their own beginning: whether a value is valid does not change, also under `anyOf`.
 */
const endLoops = (code: string): string =>
  code
    .replaceAll(
      /for\(let (i\d+)=0; ?(i\d+)<(len\d+); ?(i\d+)\+\+\)\{/g,
      (_, name: string, __, length: string) =>
        `for(let ${name}=0, b_${name}=errors; ${name}<${length} && errors-b_${name}<${mostProblems}; ${name}++){`,
    )
    .replaceAll(
      /for\(const (key\d+) in (data\d*)\)\{/g,
      (_, name: string, data: string) =>
        `let b_${name}=errors;for(const ${name} in ${data}){if(errors-b_${name}>=${mostProblems})break;`,
    )

const make = (options: ConstructorParameters<typeof Ajv2020>[0]) => {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    // Proven for every schema by `assertCompilable`; a process that serves does not repeat it.
    validateSchema: false,
    // Ajv's passes over the code it writes cost a third of a compilation, and V8 makes as fast a check without them.
    code: { optimize: false, regExp: shared, process: endLoops },
    ...options,
  })
  ajv.addFormat('uuid4', { type: 'string', validate: isUuid })
  ajv.addFormat('day', { type: 'string', validate: isDay })
  ajv.addFormat('instant', {
    type: 'string',
    // Its day in UTC counts too: what is stored is sent back in UTC.
    validate: (value: string) =>
      instant.test(value) &&
      isDay(value.slice(0, 10)) &&
      !Number.isNaN(Date.parse(value)) &&
      isDay(new Date(value).toISOString().slice(0, 10)),
  })
  ajv.addFormat('mailbox', {
    type: 'string',
    validate: (value: string) => mailbox.test(value) && !value.includes('..') && !value.startsWith('.'),
  })
  ajv.addFormat('https', {
    type: 'string',
    validate: (value: string) => value.startsWith('https://') && URL.canParse(value) && new URL(value).username === '',
  })
  ajv.addFormat('time-zone', { type: 'string', validate: isTimeZone })
  ajv.addFormat('country', { type: 'string', validate: isCountry })
  ajv.addFormat('language', { type: 'string', validate: isLanguage })
  // Says that a string may hold the digits of a card (`exempt`), such as a phone, or holds them but is no card (`document`); see api/lib/cards.ts.
  ajv.addKeyword({ keyword: 'cardNumber', schemaType: 'string' })
  return ajv
}

export const isTimeZone = (value: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return /^[A-Za-z_+\-/0-9]{1,64}$/.test(value)
  } catch {
    return false
  }
}

/** Bodies and payloads: nothing is coerced. */
const strict = make({})
/** Parameters of path and query, which arrive as strings; defaults are filled in. */
const lenient = make({ coerceTypes: 'array', useDefaults: true })

const readable = (error: ErrorObject): FieldError => {
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return { field: at(String(params.missingProperty)), message: 'is required' }
    case 'additionalProperties':
      return { field: at(String(params.additionalProperty)), message: 'is not known here' }
    case 'enum':
      return { field: path, message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}` }
    case 'const':
      return { field: path, message: `must be ${String(params.allowedValue)}` }
    case 'format':
      return { field: path, message: formats[String(params.format)] ?? `must be a ${String(params.format)}` }
    case 'pattern': {
      const pattern = String(params.pattern).replace(bound, '^')
      return { field: path, message: patterns[pattern] ?? `must match pattern "${pattern}"` }
    }
    default:
      return { field: path, message: error.message ?? 'is not valid' }
  }
}

const patterns: Record<string, string> = {
  [words]: 'must not be blank or hold control characters',
  [personName]: 'must not be blank or hold control characters, < or >',
}
const formats: Record<string, string> = {
  uuid4: 'must be a UUID version 4',
  day: 'must be a day such as 2026-11-20',
  instant: 'must be an instant such as 2026-11-20T12:00:00.000Z',
  mailbox: 'must be one plain e-mail address',
  https: 'must be an https address',
  country: 'must be the code of a country by ISO 3166-1, such as BR',
  language: 'must be the tag of a language, such as pt-BR',
  'time-zone': 'must be an IANA time zone such as America/Sao_Paulo',
}

const problemsOf = (validate: ValidateFunction): FieldError[] => {
  const seen = new Set<string>()
  const short = new Set(
    (validate.errors ?? []).filter((error) => error.keyword === 'minLength').map((error) => error.instancePath),
  )
  return (validate.errors ?? [])
    .filter((error) => error.keyword !== 'pattern' || !short.has(error.instancePath))
    .filter((error) => !['anyOf', 'oneOf', 'if'].includes(error.keyword) || (validate.errors ?? []).length === 1)
    .map(readable)
    .filter((error) => {
      const key = `${error.field} ${error.message}`
      return !seen.has(key) && seen.add(key)
    })
    .slice(0, mostProblems)
}

type Json = { [key: string]: Json | Json[] | string | number | boolean | null }

/**
 * All problems are told at once, so a pattern is tried on a text that is too long as well. It gives up at the first character
 * beyond, lest a body of a mebibyte keep it busy.
 */
const bounded = (schema: Json): Json => {
  const inside = Object.entries(schema).map(([key, value]): [string, Json[string]] => {
    if (key === 'enum' || key === 'default' || key === 'const') return [key, value]
    if (Array.isArray(value)) return [key, value.map((one) => (isObject(one) ? bounded(one) : one))]
    return [key, isObject(value) ? bounded(value) : value]
  })
  const copy: Json = Object.fromEntries(inside)
  if (typeof copy.pattern === 'string' && copy.pattern.startsWith('^') && typeof copy.maxLength === 'number')
    copy.pattern = `^(?=[^]{0,${copy.maxLength}}$)${copy.pattern.slice(1)}`
  return copy
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Answers all problems of a value, fifty at most, or null. `sizes` and `contents` are its two halves, for callers with work in between. */
export type Check = ((value: unknown) => FieldError[] | null) & {
  /**
   * Problems of values that are larger than the schema lets in. Nothing else should look at such a value. The schema bounds the work of this check, and the
   * value does not.
   */
  readonly sizes: (value: unknown) => FieldError[]
  readonly contents: (value: unknown) => FieldError[] | null
}

const prepared = (schema: Schema): Json => bounded(JSON.parse(JSON.stringify(schema)) as Json)

const compileWith = (ajv: Ajv2020) => {
  const known = new WeakMap<Schema, Check>()
  return (schema: Schema): Check => {
    const found = known.get(schema)
    if (found) return found
    let made: { validate: ValidateFunction; measure: Measure | null } | null = null
    const make = () => {
      const json = prepared(schema)
      return { validate: ajv.compile(json), measure: measureOf(json) }
    }
    const sizes = (value: unknown): FieldError[] => {
      const tooLarge: FieldError[] = []
      made ??= make()
      made.measure?.(value, '', tooLarge)
      return tooLarge
    }
    const contents = (value: unknown): FieldError[] | null => {
      made ??= make()
      return made.validate(value) ? null : problemsOf(made.validate)
    }
    const whole = (value: unknown): FieldError[] | null => {
      const tooLarge = sizes(value)
      return tooLarge.length > 0 ? tooLarge : contents(value)
    }
    const check = Object.assign(whole, { sizes, contents })
    known.set(schema, check)
    return check
  }
}

/** The check of a schema, compiled when it is first called, once. */
export const compile = compileWith(strict)
/** A check of strings of path and query. It changes the value in place, to the declared types and defaults. */
export const compileQuery = compileWith(lenient)

/** Throws where a schema is none, or cannot be compiled. For tests and the build: a check is compiled when it is first called. */
export const assertCompilable = (schemas: Iterable<Schema>): void => {
  const proving = [
    make({ validateSchema: true }),
    make({ validateSchema: true, coerceTypes: 'array', useDefaults: true }),
  ]
  for (const schema of new Set(schemas)) for (const ajv of proving) ajv.compile(prepared(schema))
}
