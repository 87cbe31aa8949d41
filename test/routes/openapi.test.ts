import { expect } from 'chai'
import { events } from '../../config/events/all.ts'
import { codesOf } from '../../api/lib/codes.ts'
import { openApi } from '../../api/lib/openapi.ts'
import { operationName } from '../../api/lib/operation-name.ts'
import { routes } from '../../api/routes.ts'

type Json = Record<string, unknown>
type Response = {
  $ref?: string
  content?: Record<string, { schema: { allOf: { properties?: { code: { enum: string[] } } }[] } }>
}
type Operation = {
  operationId: string
  responses: Record<string, Response>
  requestBody?: { content: Record<string, Json> }
}

const document = openApi(routes) as {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Json>
}
const operations = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation.operationId, operation]),
)

const refsIn = (part: unknown): string[] => {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : key === 'example' ? [] : refsIn(value),
  )
}

const resolved = (ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((part, name) => (part as Json | undefined)?.[name], document)

/** The codes that an error reply of the document lists. */
const listed = (response: Response): string[] => {
  const reply = response.$ref ? (resolved(response.$ref) as Response) : response
  return (
    reply.content?.['application/json']?.schema.allOf.flatMap(({ properties }) => properties?.code.enum ?? []) ?? []
  )
}

describe('the document of the routes', () => {
  it('refers to parts that are there, and has none that nothing refers to', () => {
    const refs = new Set(refsIn(document))
    expect([...refs].filter((ref) => resolved(ref) === undefined)).to.deep.equal([])
    const parts = Object.entries(document.components)
      .filter(([section]) => section !== 'securitySchemes')
      .flatMap(([section, named]) => Object.keys(named).map((name) => `#/components/${section}/${name}`))
    expect(parts.filter((ref) => !refs.has(ref))).to.deep.equal([])
  })

  it('gives every whole number its width, and every list of a query its bound', () => {
    const lacking: string[] = []
    const walk = (part: unknown, path: string) => {
      if (typeof part !== 'object' || part === null || path.endsWith('/example')) return
      if ('type' in part && part.type === 'integer' && !('format' in part)) lacking.push(path)
      if (path.includes('/parameters/') && 'type' in part && part.type === 'array' && !('maxItems' in part))
        lacking.push(path)
      for (const [key, value] of Object.entries(part)) walk(value, `${path}/${key}`)
    }
    walk(document, '')
    expect(lacking).to.deep.equal([])
  })

  it('lists for every operation the codes that it may answer, and no others', () => {
    for (const route of routes) {
      const responses = Object.entries(operations.get(operationName(route))?.responses ?? {})
      const codes = responses.filter(([status]) => Number(status) >= 400).flatMap(([, response]) => listed(response))
      expect(codes.toSorted(), route.id).to.deep.equal(codesOf(route))
    }
  })

  it('describes a webhook of every type of event, with its schema, and the ping', () => {
    const hooks = Object.entries((document as unknown as { webhooks: Record<string, { post: Operation }> }).webhooks)
    const typeIn = (part: unknown): unknown[] =>
      typeof part !== 'object' || part === null
        ? []
        : Object.entries(part).flatMap(([key, value]) =>
            key === '$ref' && typeof value === 'string'
              ? typeIn(resolved(value))
              : key === 'type' && typeof value === 'object' && value !== null && 'const' in value
                ? [value.const]
                : typeIn(value),
          )
    expect(hooks.map(([name]) => name)).to.have.members([...events.map(({ type }) => type), 'webhook.ping'])
    for (const [name, { post }] of hooks)
      expect(typeIn(post.requestBody?.content['application/json']), name).to.deep.equal([name])
  })

  it('names every operation once, as a method of a client is named', () => {
    const names = routes.map(operationName)
    expect(names.filter((name, at) => names.indexOf(name) !== at || !/^[a-z][a-zA-Z]{2,49}$/.test(name))).to.deep.equal(
      [],
    )
    const named = (id: string) => routes.filter((route) => route.id === id).map(operationName)[0]
    expect(
      [
        'reservations.list',
        'unitTypes.read',
        'policies.create',
        'properties.updateSettings',
        'properties.goLive',
        'users.resendInvitation',
        'ageCategories.replace',
        'jobs.replay',
        'channelConnections.pushes',
        'auth.signIn',
        'payments.callback',
      ].map(named),
    ).to.deep.equal([
      'listReservations',
      'getUnitType',
      'createPolicy',
      'updatePropertySettings',
      'goLiveProperty',
      'resendUserInvitation',
      'replaceAgeCategories',
      'replayJobs',
      'getChannelConnectionPushes',
      'signIn',
      'receivePaymentCallback',
    ])
  })

  it('shows an example of every request that has a body', () => {
    const withBody = routes.filter(({ body }) => body)
    expect(withBody.filter(({ example }) => example === undefined).map(({ id }) => id)).to.deep.equal([])
    for (const route of withBody)
      expect(
        operations.get(operationName(route))?.requestBody?.content['application/json']?.example,
        route.id,
      ).to.deep.equal(route.example)
  })

  it('says how wide amounts are, which fields lists sort by, and which headers each reply has', () => {
    const document = openApi(routes) as {
      tags: { name: string; description?: string }[]
      components: { schemas: Record<string, { properties: Record<string, { format?: string }> }>; responses: object }
      paths: Record<string, Record<string, { parameters: { name?: string; schema?: object }[] }>>
    }
    expect(document.components.schemas['GuestPayment']?.properties['amount']?.format).to.equal('int64')
    const list = document.paths['/api/tenants/{tenantId}/properties']?.['get']
    const sort = list?.parameters.find(({ name }) => name === 'sort')?.schema as { items: { enum: string[] } }
    expect(sort.items.enum).to.include.members(['name', '-name'])
    const replies = Object.entries(document.components.responses) as [string, { headers: object }][]
    for (const [name, { headers }] of replies)
      expect(headers, name).to.include.keys(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-Request-Id'])
    for (const [name, { headers }] of replies.filter(([one]) => /^(TooMany|Unavailable)/.test(one)))
      expect(headers, name).to.include.keys(['Retry-After'])
    expect(document.tags.filter(({ description }) => description === undefined)).to.deep.equal([])
  })
})
