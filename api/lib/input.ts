import type { FieldError } from '../../config/errors.ts'
import { ApiError, invalid } from '../../config/errors.ts'
import type { Schema } from '../../config/schema.ts'
import { Obj, Uuid } from '../../config/schema.ts'
import { mostProblems } from '../../config/sizes.ts'
import { compile, compileQuery } from '../../config/validator.ts'
import { cardFields } from './cards.ts'
import { parseBody } from './json.ts'
import { rangesOf, reversedIn } from './ranges.ts'
import type { AnyRoute } from './route.ts'

type Json = { properties?: Record<string, { type?: string; items?: { type?: string }; anyOf?: { type?: string }[] }> }

const isType = (field: { type?: string; anyOf?: { type?: string }[] } | undefined, type: string) =>
  field?.type === type || Boolean(field?.anyOf?.some((option) => option.type === type))

const fieldsOf = (schema: Schema | undefined): NonNullable<Json['properties']> => {
  const json: Json = schema ?? {}
  return json.properties ?? {}
}

const pathSchemas = new Map<string, Schema>()

/** Parameters of the path: UUIDs but for those that the route declares. Routes with the same ones share a schema, and so its check. */
export const pathSchema = (route: AnyRoute): Schema => {
  const declared = fieldsOf(route.params)
  const names = [...route.path.matchAll(/:([A-Za-z]+)/g)].map((match) => match[1] ?? '')
  const fields = Object.fromEntries(names.map((name) => [name, declared[name] ?? Uuid]))
  const key = JSON.stringify(fields)
  const schema = pathSchemas.get(key) ?? Obj(fields)
  pathSchemas.set(key, schema)
  return schema
}

const readQuery = (
  schema: Schema | undefined,
  given: URLSearchParams,
): { value: Record<string, unknown>; problems: FieldError[] } => {
  const fields = fieldsOf(schema)
  const value: Record<string, unknown> = {}
  const problems: FieldError[] = []
  for (const name of new Set(given.keys())) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) {
      problems.push({ field: name, message: 'is not known here' })
      if (problems.length >= mostProblems) break
      continue
    }
    const all = given.getAll(name)
    if (isType(field, 'array')) value[name] = all
    else if (all.length > 1) problems.push({ field: name, message: 'may stand once only' })
    else if (isType(field, 'integer') && !/^-?\d{1,9}$/.test(all[0] ?? ''))
      problems.push({ field: name, message: 'must be a whole number' })
    else if (isType(field, 'boolean') && !/^(true|false)$/.test(all[0] ?? ''))
      problems.push({ field: name, message: 'must be true or false' })
    else value[name] = all[0]
  }
  return { value, problems }
}

/** The ranges of a list in pages, which ask for a part of it; an endpoint that has an error of its own for them judges them itself. */
const rangesOfList = ({ query, errors }: AnyRoute) => {
  const names = Object.keys(fieldsOf(query))
  return names.includes('page') && !errors?.includes('range_invalid') ? rangesOf(names) : []
}

const ofBody = (error: FieldError): FieldError => (error.field === '' ? { ...error, field: 'body' } : error)

export type Input = { params: Record<string, string>; query: Record<string, unknown>; body: unknown }

/** Compiles a route's checks once; the reader throws one 400 with all field errors of path, query and body. `parsed`: the body, where it was parsed already. */
export const inputReader = (route: AnyRoute) => {
  const checkPath = compileQuery(pathSchema(route))
  const checkQuery = route.query ? compileQuery(route.query) : null
  const ranges = rangesOfList(route)
  const checkBody = route.body ? compile(route.body) : null
  const carriesBody = route.method !== 'GET' && route.bodyFormat !== 'raw'
  return (pathParams: Record<string, string>, search: URLSearchParams, raw: Buffer, parsed?: unknown): Input => {
    const params = Object.fromEntries(
      Object.entries(pathParams).map(([name, value]) => [
        name,
        /^[0-9a-fA-F-]{36}$/.test(value) ? value.toLowerCase() : value,
      ]),
    )
    const { value: query, problems } = readQuery(route.query, search)
    const errors = [
      ...(checkPath(params) ?? []),
      ...problems,
      ...(checkQuery?.(query) ?? []),
      ...reversedIn(ranges, query),
    ]
    let body: unknown = {}
    if (carriesBody) {
      body = parsed ?? (raw.length === 0 ? {} : parseBody(raw))
      const tooLarge = checkBody?.sizes(body) ?? []
      if (tooLarge.length > 0) throw invalid([...errors, ...tooLarge.map(ofBody)])
      if (checkBody) errors.push(...(checkBody.contents(body) ?? []).map(ofBody))
      else if (Object.keys(body as object).length > 0)
        errors.push({ field: Object.keys(body as object)[0] ?? 'body', message: 'is not known here' })
      // A body that nothing is known of is refused as such: no text of it is kept.
      const cards = checkBody ? cardFields(route.body, body) : []
      if (cards.length > 0)
        throw invalid(
          cards.map((field) => ({ field, message: 'must not hold the number of a payment card' })),
          'card_data_refused',
          'Card numbers are entered at the gateway, never here',
        )
    }
    if (errors.length > 0) throw invalid(errors)
    return { params, query, body }
  }
}

/** 400 for a body that breaks the rules of the edge, whatever the endpoint. */
export const bodyRefused = (message: string) => new ApiError('body_invalid', message, { errors: [] })

/** Reads the input of a request on first use. Whether it can be read may be asked before, without throwing. */
export const readOnce = (read: () => Input) => {
  let known: { value: Input } | { error: unknown } | null = null
  const reading = () => {
    try {
      return { value: read() }
    } catch (error) {
      return { error }
    }
  }
  return {
    isReadable: () => 'value' in (known ??= reading()),
    value: (): Input => {
      known ??= reading()
      if ('error' in known) throw known.error
      return known.value
    },
  }
}
