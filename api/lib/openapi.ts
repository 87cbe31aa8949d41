import { isDeepStrictEqual } from 'node:util'
import type { Schema } from '../../config/schema.ts'
import { neverByKey } from '../../config/scopes.ts'
import { pathSchema } from './input.ts'
import type { AnyRoute } from './route.ts'

type Json = Record<string, unknown>

const plain = (schema: Schema): Json => JSON.parse(JSON.stringify(schema)) as Json

/** Puts schemas with a title among the components, so that the document names what the code names. Throws where two have one title. */
const hoist = (schema: unknown, components: Json): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'enum' || key === 'required' ? value : hoist(value, components),
    ]),
  )
  if (typeof inner.cardNumber === 'string') delete inner.cardNumber
  if (typeof inner.format === 'string') inner.format = formats[inner.format] ?? inner.format
  if (typeof inner.title !== 'string' || inner.type !== 'object') return inner
  const known = components[inner.title]
  if (known && !isDeepStrictEqual(known, inner))
    throw new Error(`${inner.title} is the title of two schemas that differ`)
  components[inner.title] = inner
  return { $ref: `#/components/schemas/${inner.title}` }
}

const formats: Record<string, string> = {
  uuid4: 'uuid',
  day: 'date',
  instant: 'date-time',
  mailbox: 'email',
  https: 'uri',
  'time-zone': 'time-zone',
}

const errorSchema: Json = {
  type: 'object',
  required: ['statusCode', 'code', 'message', 'requestId'],
  properties: {
    statusCode: { type: 'integer' },
    code: { type: 'string', description: 'Stable; tell errors apart by it' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
    error: { type: 'string', const: 'ForbiddenException', description: 'On every 403' },
    requestId: { type: 'string' },
  },
}

const rateHeaders = Object.fromEntries(
  [
    ['X-RateLimit-Limit', 'Requests a minute'],
    ['X-RateLimit-Remaining', 'Requests left in the window'],
    ['X-RateLimit-Reset', 'End of the window, Unix seconds'],
  ].map(([name, description]) => [name, { description, schema: { type: 'integer' } }]),
)

const meanings: Record<number, string> = {
  400: 'The request is not valid',
  401: 'Not authenticated',
  403: 'Not permitted, or a feature is not active',
  404: 'Not found',
  409: 'Another change got ahead',
  422: 'A rule of the business refuses it',
  429: 'Too many requests; Retry-After says when',
  503: 'A part that it needs is down; Retry-After says when',
}

const security = (route: AnyRoute): Json[] => {
  switch (route.access.kind) {
    case 'tenant':
      return neverByKey.has(route.access.subject) ? [{ bearer: [] }] : [{ bearer: [] }, { apiKey: [] }]
    case 'session':
    case 'superuser':
      return [{ bearer: [] }]
    case 'guest':
      return [{ guestToken: [] }]
    case 'property':
      return [{}, { apiKey: [] }]
    default:
      return route.security === 'bearer' ? [{ bearer: [] }] : []
  }
}

const statusesOf = (route: AnyRoute): number[] => {
  const writes = route.method !== 'GET'
  return [
    400,
    // A key, a signature, a password or a mailed token may be a bad one also where no credential is asked for.
    401,
    ...(route.access.kind === 'callback' ? [] : [403]),
    404,
    ...(writes ? [409, 422] : route.errors ? [422] : []),
    429,
    503,
  ]
}

const operation = (route: AnyRoute, components: Json): Json => {
  const parameters = (schema: Schema | undefined, where: 'path' | 'query'): Json[] => {
    if (!schema) return []
    const { properties = {}, required = [] } = plain(schema) as { properties?: Json; required?: string[] }
    return Object.entries(properties).map(([name, inner]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      schema: hoist(inner, components),
    }))
  }
  const headers: Json[] = []
  if (route.method === 'POST' && route.idempotency !== 'off' && route.transaction !== 'none')
    headers.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: route.idempotency === 'required',
      schema: { type: 'string', maxLength: 255 },
      description: 'The first reply is kept 72 hours and replayed',
    })
  if (route.record)
    headers.push({
      name: 'If-Match',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description: 'The version read, in quotes',
    })
  const success = (description: string) => ({
    description,
    headers: rateHeaders,
    content: { 'application/json': { schema: hoist(plain(route.returns), components) } },
  })
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    tags: [route.id.split('.')[0]],
    security: security(route),
    ...('subject' in route.access
      ? { 'x-permission': { action: route.access.action, subject: route.access.subject } }
      : {}),
    parameters: [...parameters(pathSchema(route), 'path'), ...parameters(route.query, 'query'), ...headers],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: hoist(plain(route.body), components) } },
          },
        }
      : {}),
    responses: {
      ...(route.status !== 201
        ? { 200: success('Success') }
        : { ...(route.ok === undefined ? {} : { 200: success(route.ok) }), 201: success('Created') }),
      ...Object.fromEntries(
        statusesOf(route).map((status) => [
          String(status),
          {
            description: meanings[status],
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
    ...(route.errors ? { 'x-codes': route.errors } : {}),
  }
}

/** The OpenAPI 3.1 document of the routes; it is the same for every process and commit of one tree. */
export const openApi = (routes: readonly AnyRoute[], version = '0.1.0'): Json => {
  const components: Json = { Error: errorSchema }
  const paths: Record<string, Json> = {}
  for (const route of [...routes].sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1,
  )) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pousada',
      version,
      description:
        'Runs lodging properties. Money is integer minor units beside an ISO 4217 currency; days are YYYY-MM-DD in the property’s time zone; instants are UTC.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'PASETO v4.public' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        guestToken: { type: 'apiKey', in: 'header', name: 'X-Guest-Token' },
      },
    },
  }
}
