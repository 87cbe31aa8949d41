import { isDeepStrictEqual } from 'node:util'
import { Obj, PageQuery, Uuid, words } from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import { neverByKey } from '../../config/scopes.ts'
import { mediaTypesOf } from './bytes.ts'
import { codesOf, refusalsOf } from './codes.ts'
import { pathSchema } from './input.ts'
import {
  errorCodeSchema,
  errorSchema,
  rateHeaders,
  refusalNames,
  refusalReply,
  requestIdHeader,
  retryAfter,
} from './openapi-errors.ts'
import { describeFields } from './openapi-fields.ts'
import { listing, meaningOfQuery, sorting } from './openapi-queries.ts'
import { operationName } from './operation-name.ts'
import { keyModeOf } from './reply-key.ts'
import { chaptersOf } from './tags.ts'
import type { AnyRoute, Hook } from './route.ts'

type Json = Record<string, unknown>

const plain = (schema: Schema): Json => JSON.parse(JSON.stringify(schema)) as Json

const longest32 = 2_147_483_647
const isShort = ({ minimum, maximum }: Json) =>
  Number(minimum ?? 0) >= -longest32 && maximum !== undefined && Number(maximum) <= longest32

/** A map as most generators of clients know it: they leave patterns of keys out, and would make an object without fields of it. */
const asMap = (schema: Json): Json => {
  const { patternProperties, ...rest } = schema
  const [only, ...more] = Object.entries((patternProperties ?? {}) as Json)
  if (only === undefined || more.length > 0 || rest.properties !== undefined || rest.additionalProperties !== false)
    return schema
  const [pattern, value] = only
  return { ...rest, propertyNames: { pattern }, additionalProperties: value }
}

/** Puts schemas with a title among the components, so that the document names what the code names. Throws where two have one title. */
const hoist = (schema: unknown, components: Json): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = describeFields(
    Object.fromEntries(
      Object.entries(asMap(schema as Json)).map(([key, value]) => [
        key,
        key === 'enum' || key === 'required' ? value : hoist(value, components),
      ]),
    ),
  )
  if (typeof inner.cardNumber === 'string') delete inner.cardNumber
  // Readers of other languages choose the width of a number by its format.
  if (inner.type === 'integer') inner.format = isShort(inner) ? 'int32' : 'int64'
  if (typeof inner.format === 'string') inner.format = formats[inner.format] ?? inner.format
  if (inner.pattern === words) {
    const { type, pattern, ...bounds } = inner
    components.Words = { type, pattern, description: 'A text of which something is seen' }
    return { $ref: '#/components/schemas/Words', ...bounds }
  }
  if (typeof inner.title !== 'string') return inner
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

const security = (route: AnyRoute): Json[] => {
  switch (route.access.kind) {
    case 'tenant':
      return neverByKey.has(route.access.subject) ? [{ bearer: [] }] : [{ bearer: [] }, { apiKey: [] }]
    case 'session':
    case 'superuser':
      return [{ bearer: [] }]
    case 'guest':
      return [{ guestToken: [] }]
    case 'registration':
      return [{ registrationToken: [] }]
    case 'property':
      return [{}, { apiKey: [] }]
    default:
      return route.security === 'bearer' ? [{ bearer: [] }] : []
  }
}

/** The components of the document, filled while its operations are made. */
type Components = Record<'schemas' | 'responses' | 'parameters' | 'headers', Json>

/** Puts a part among the components. Throws where another one has its name. */
const share = (components: Components, section: keyof Components, name: string, part: Json): Json => {
  const known = components[section][name]
  if (known && !isDeepStrictEqual(known, part)) throw new Error(`${name} is the name of two ${section} that differ`)
  components[section][name] = part
  return { $ref: `#/components/${section}/${name}` }
}

const keyHeader = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }
const repeats =
  'One key for one request: the first reply is kept 72 hours and replayed; with another path, query or body it is 422 `idempotency_key_reused`'
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 64, example: '"3"' },
  description: 'The version read, in quotes: 409 `version_conflict` where the record has changed since',
}

const headersOf = (route: AnyRoute, components: Components): Json[] => {
  const key = (name: string, required: boolean) =>
    share(components, 'parameters', name, { ...keyHeader, required, description: repeats })
  const mode = keyModeOf(route)
  return [
    ...(mode === 'accepted' ? [key('IdempotencyKey', false)] : []),
    ...(mode === 'required' ? [key('IdempotencyKeyRequired', true)] : []),
    ...(codesOf(route).includes('version_conflict') ? [share(components, 'parameters', 'IfMatch', ifMatch)] : []),
  ]
}

const uuid = plain(Uuid)
const paging = plain(Obj(PageQuery)).properties as Json

/** The description of a parameter whose schema has none. */
const toldOf = (where: 'path' | 'query', name: string, schema: unknown): Json => {
  const description = where === 'query' ? meaningOfQuery(name) : undefined
  return description === undefined || (schema as Json).description !== undefined ? {} : { description }
}

const parametersOf = (route: AnyRoute, components: Components): Json[] => {
  const example = route.body ? {} : ((route.example ?? {}) as Json)
  const parameters = (schema: Schema | undefined, where: 'path' | 'query'): Json[] => {
    if (!schema) return []
    const { properties = {}, required = [] } = plain(schema) as { properties?: Json; required?: string[] }
    return Object.entries(properties).map(([name, inner]) => {
      const usual = where === 'path' ? uuid : paging[name]
      const isUsual = usual !== undefined && isDeepStrictEqual(inner, usual)
      const sorts = where === 'query' && name === 'sort' ? (route.sorts ?? route.part?.sorts) : undefined
      const parameter = {
        name,
        in: where,
        required: where === 'path' || required.includes(name),
        ...(sorts
          ? sorting(sorts)
          : {
              ...toldOf(where, name, inner),
              ...(listing(inner as Json) ?? { schema: hoist(inner, components.schemas) }),
            }),
        ...(where === 'query' && name in example && !isUsual ? { example: example[name] } : {}),
      }
      return isUsual ? share(components, 'parameters', name, parameter) : parameter
    })
  }
  return [
    ...parameters(pathSchema(route), 'path'),
    ...parameters(route.query, 'query'),
    ...headersOf(route, components),
  ]
}

type Content = Record<string, { schema?: Json & { $ref?: string } }>

const contentOf = ({ returns }: AnyRoute, components: Components): Content => {
  const mediaTypes = mediaTypesOf(returns)
  if (!mediaTypes) return { 'application/json': { schema: hoist(plain(returns), components.schemas) as Json } }
  const isText = (mediaType: string) => mediaType.startsWith('text/')
  return Object.fromEntries(
    [...mediaTypes].map((mediaType) => [mediaType, isText(mediaType) ? { schema: { type: 'string' } } : {}]),
  )
}

const etag = { description: 'The version of the record, for If-Match', schema: { type: 'string', maxLength: 64 } }
const replayed = {
  description: 'On a reply that was kept for the Idempotency-Key',
  schema: { type: 'string', const: 'true' },
}

const hasVersion = ({ returns }: AnyRoute): boolean =>
  'version' in ((plain(returns) as { properties?: Json }).properties ?? {})

const operation = (route: AnyRoute, components: Components): Json => {
  const rates = Object.fromEntries(
    Object.entries({ ...rateHeaders, 'X-Request-Id': requestIdHeader }).map(([name, header]) => [
      name,
      share(components, 'headers', name, header),
    ]),
  )
  const own = {
    ...rates,
    ...(hasVersion(route) ? { ETag: share(components, 'headers', 'ETag', etag) } : {}),
    ...(keyModeOf(route) === 'off'
      ? {}
      : { 'Idempotent-Replayed': share(components, 'headers', 'Idempotent-Replayed', replayed) }),
  }
  const content = contentOf(route, components)
  const name = content['application/json']?.schema?.$ref?.split('/').at(-1)
  /** Shared by the operations that answer one schema; a reply that says more for itself stands with its operation. */
  const success = (description: string) => {
    const reply = { description, headers: own, content }
    const isUsual = description === 'Success' || description === 'Created'
    const kind = keyModeOf(route) === 'off' ? '' : 'Kept'
    return name !== undefined && isUsual ? share(components, 'responses', `${name}${description}${kind}`, reply) : reply
  }
  const refusals = refusalsOf(route).map((refusal) => {
    const { status, kind } = refusal
    const reply = refusalReply(refusal, rates)
    return [
      status,
      kind === null ? reply : share(components, 'responses', `${refusalNames[status]}${kind}`, reply),
    ] as const
  })
  return {
    operationId: operationName(route),
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    tags: [route.id.split('.')[0]],
    security: security(route),
    ...('subject' in route.access
      ? { 'x-permission': { action: route.access.action, subject: route.access.subject } }
      : {}),
    parameters: parametersOf(route, components),
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: hoist(plain(route.body), components.schemas),
                ...(route.example === undefined ? {} : { example: route.example }),
              },
            },
          },
        }
      : {}),
    responses: {
      ...(route.status !== 201
        ? { 200: success('Success') }
        : { ...(route.ok === undefined ? {} : { 200: success(route.ok) }), 201: success('Created') }),
      ...Object.fromEntries(refusals),
    },
  }
}

const sorted = (part: Json): Json => Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))

const hookHeaders = (components: Components): Json[] =>
  [
    ['webhook-id', 'The event; a repeated request has the same'],
    ['webhook-timestamp', 'Unix seconds of this attempt'],
    ['webhook-signature', '`v1,` and HMAC-SHA256 of `id.timestamp.body` as base64; several are separated by spaces'],
  ].map(([name = '', description]) =>
    share(components, 'parameters', name, {
      name,
      in: 'header',
      required: true,
      schema: { type: 'string' },
      description,
    }),
  )

const hooked = ({ name, summary, body }: Hook, components: Components): Json => ({
  post: {
    operationId: `on_${name.replaceAll('.', '_')}`,
    summary,
    // A receiver of ours is known by the signature, not by a credential.
    security: [],
    parameters: hookHeaders(components),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: hoist(plain(body), components.schemas) } },
    },
    responses: { '2XX': { description: 'Received. Any other answer, or none within 10 seconds, is repeated later.' } },
  },
})

/** The OpenAPI 3.1 document of the routes; it is the same for every process and commit of one tree. */
export const openApi = (routes: readonly AnyRoute[], version = '0.1.0'): Json => {
  const components: Components = {
    schemas: { Error: errorSchema, ErrorCode: errorCodeSchema },
    responses: {},
    parameters: {},
    headers: { 'Retry-After': retryAfter },
  }
  const paths: Record<string, Json> = {}
  for (const route of [...routes].sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1,
  )) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) }
  }
  const webhooks = Object.fromEntries(
    routes.flatMap(({ hooks = [] }) => hooks.map((hook) => [hook.name, hooked(hook, components)])),
  )
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
    tags: chaptersOf([...new Set(routes.map(({ id }) => id.split('.')[0] ?? ''))]).flatMap(({ tags }) =>
      tags.map(({ name, description }) => ({ name, ...(description === '' ? {} : { description }) })),
    ),
    paths,
    ...(Object.keys(webhooks).length > 0 ? { webhooks } : {}),
    components: {
      ...Object.fromEntries(Object.entries(components).map(([section, parts]) => [section, sorted(parts)])),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'PASETO v4.public' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        guestToken: { type: 'apiKey', in: 'header', name: 'X-Guest-Token' },
        registrationToken: { type: 'apiKey', in: 'header', name: 'X-Registration-Token' },
      },
    },
  }
}
