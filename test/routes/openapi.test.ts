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
type Parameter = { $ref?: string; name: string; in: string; description?: string; schema: { description?: string } }
type Operation = {
  operationId: string
  parameters: Parameter[]
  responses: Record<string, Response>
  requestBody?: { content: Record<string, Json> }
}

/** Names of numbers that hold their unit, or are counts, places and years. */
const saysItself =
  /(Minutes|Hours|Days|Seconds|Months|Years|Ms|Count|Version|Number|Id)$|^(page|limit|totalPages|number|version|count|year|months|days|hours|minutes|adults|children|age|floor|latitude|longitude|width|height|seq|lineNo|row|column|httpStatus|quantity|max[A-Z].*|min[A-Z].*|baseOccupancy)$/
/** Numbers of things that their name says. A new amount is described in `api/lib/openapi-amounts.ts` and does not come here. */
const counts = new Set(
  `added allowance anchorDay answers approvals approvalsGiven approvalsNeeded audience batches billable billingDay bookings cancelNow cancellations
  cancelled changed closed comparables compensation complimentary concurrency countedLines covers created day daysAfterDue daysBefore daysBeforeArrival
  dead deadTotal default delivered digits dispatched dueDay entries erase events every exceptions expMonth expYear failed failures finalUnitNights first
  fiscalYearStartMonth fromSequence gapAfter gapBefore gestures graceHoursAfterBooking guest high holders hour hoursBeforeArrival houseUse idColumn
  inColumn in_progress index installments issued issues keep kept known last lastLevel lastStatus latest ledgerSequence leftOut lines linkDaysBefore low
  members met missed next noShows none normal notReady occurrences oldest onTheBooksUnits opened outColumn outOfOrder outOfService overbookedNights
  parts pausedAfterSequence pendingEvents perGuestDaily perMinute pickedUp pickupUnits planned port properties property queued read records
  recoveryCodesLeft redeemed remaining reopened reservations revealsPerHour revision revoked round rows run running runs segments sent shortage sizeM2
  skipRows skipped staff starts statusCode stays step supplier suppressed system tables tablesDone tasks tenants third_party toSequence tries unassigned
  unchanged unitNights units unknownPayments unmatchedLines upcoming urgent users waiting weather workers`.split(/\s+/),
)

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

  it('describes every query parameter, but those that name a record', () => {
    const lacking = new Set<string>()
    for (const { parameters } of operations.values())
      for (const given of parameters) {
        const { name, in: where, description, schema } = (given.$ref ? resolved(given.$ref) : given) as Parameter
        const isTold = (description ?? schema.description) !== undefined
        if (where === 'query' && !isTold && !name.endsWith('Id')) lacking.add(name)
      }
    expect([...lacking]).to.deep.equal([])
  })

  it('says the unit of every number whose name does not', () => {
    const lacking = new Set<string>()
    const isNumber = (schema: Json): boolean =>
      ['integer', 'number'].includes(schema['type'] as string) || ((schema['anyOf'] ?? []) as Json[]).some(isNumber)
    const walk = (part: unknown) => {
      if (typeof part !== 'object' || part === null) return
      const { properties } = part as { properties?: Record<string, Json> }
      for (const [name, schema] of Object.entries(properties ?? {}))
        if (isNumber(schema) && !('description' in schema) && !saysItself.test(name) && !counts.has(name))
          lacking.add(name)
      for (const [key, value] of Object.entries(part)) if (key !== 'example') walk(value)
    }
    walk(document)
    expect([...lacking].toSorted()).to.deep.equal([])
  })

  it('says what every flag asks, what every word chooses between, and what a decimal counts', () => {
    const lacking = new Set<string>()
    const isTold = ({ type, anyOf, pattern, ...rest }: Json): boolean =>
      (type === 'boolean' && !('const' in rest)) ||
      'enum' in rest ||
      (typeof pattern === 'string' && /^\^-?\??.*\\d.*\\\./.test(pattern)) ||
      (Array.isArray(anyOf) && anyOf.length <= 2 && (anyOf as Json[]).some(isTold))
    const walk = (part: unknown) => {
      if (typeof part !== 'object' || part === null) return
      const { properties } = part as { properties?: Record<string, Json> }
      for (const [name, schema] of Object.entries(properties ?? {}))
        if (isTold(schema) && !('description' in schema) && !['status', 'kind', 'code'].includes(name))
          lacking.add(name)
      for (const [key, value] of Object.entries(part)) if (key !== 'example') walk(value)
    }
    walk(document)
    expect([...lacking].toSorted()).to.deep.equal([])
  })

  it('lists the words of every status and sort', () => {
    const lacking: string[] = []
    const isOpen = (schema: Json): boolean =>
      schema['type'] === 'string' && !('enum' in schema) && !('const' in schema)
        ? true
        : [...((schema['anyOf'] ?? []) as Json[]), ...('items' in schema ? [schema['items'] as Json] : [])].some(isOpen)
    const walk = (part: unknown, path: string) => {
      if (typeof part !== 'object' || part === null) return
      const { properties } = part as { properties?: Record<string, Json> }
      for (const [name, schema] of Object.entries(properties ?? {}))
        if (/^(status|state|sort)$|Status$/.test(name) && isOpen(schema)) lacking.push(`${path}.${name}`)
      for (const [key, value] of Object.entries(part)) if (key !== 'example') walk(value, `${path}/${key}`)
    }
    walk(document.components, '')
    walk(document.paths, '')
    for (const { operationId, parameters } of operations.values())
      for (const { name, schema } of parameters)
        if (/^(status|sort)$/.test(name) && isOpen(schema)) lacking.push(`${operationId}?${name}`)
    expect(lacking).to.deep.equal([])
  })

  it('leaves open no value but those that depend on what they are about, and has no map that a generator would leave empty', () => {
    const open = new Set<string>()
    const walk = (part: unknown, path: string): void => {
      if (typeof part !== 'object' || part === null) return
      const schema = part as Json
      expect(schema, path).to.not.have.property('patternProperties')
      const says = ['type', '$ref', 'anyOf', 'allOf', 'enum', 'const', 'propertyNames'].some((word) => word in schema)
      if (!says) open.add(path)
      for (const [name, inner] of Object.entries((schema.properties ?? {}) as Json)) walk(inner, `${path}.${name}`)
      walk(schema.items, path)
      if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${path}.*`)
      for (const word of ['anyOf', 'allOf']) for (const inner of (schema[word] ?? []) as Json[]) walk(inner, path)
    }
    for (const [name, schema] of Object.entries(document.components.schemas ?? {})) walk(schema, name)
    const facts = /\.(before|after)$|\.\*$/
    expect([...open].filter((path) => !facts.test(path))).to.deep.equal([])
    expect([...open].filter((path) => path.endsWith('.*')).toSorted()).to.deep.equal([
      'BusinessDay.totals.*',
      'Event.data.*',
      'EventType.data.*',
      'GuestForm.fields.*',
      'GuestRegistration.fields.*',
      'Job.history.*',
      'Job.payload.*',
      'MessageAttempt.proof.*',
      'Payable.history.changes.*',
      'PostingEvent.payload.*',
      'Receivable.history.changes.*',
      'ReportDeclaration.parameters.*',
      'ReportRun.parameters.*',
      'ReportSchedule.parameters.*',
    ])
  })

  it('takes If-Match wherever a stale version is refused, and nowhere else', () => {
    const takes = ({ parameters }: Operation) =>
      parameters.some(({ $ref }) => $ref === '#/components/parameters/IfMatch')
    const differing = routes
      .filter((route) => {
        const operation = operations.get(operationName(route))
        return operation && takes(operation) !== codesOf(route).includes('version_conflict')
      })
      .map(({ id }) => id)
    expect(differing).to.deep.equal([])
    const [sets] = routes.filter(({ id }) => id === 'inventoryCategories.replace')
    expect(sets && takes(operations.get(operationName(sets)) as Operation)).to.equal(true)
  })

  it('names every reply that more than one operation answers', () => {
    const found = new Map<string, Set<string>>()
    for (const { operationId, responses } of operations.values())
      for (const [status, given] of Object.entries(responses)) {
        const reply = (given.$ref ? resolved(given.$ref) : given) as { content?: Record<string, { schema?: Json }> }
        const schema = reply.content?.['application/json']?.schema
        if (!status.startsWith('2') || !schema || '$ref' in schema || 'anyOf' in schema) continue
        const text = JSON.stringify(schema)
        found.set(text, (found.get(text) ?? new Set()).add(operationId))
      }
    expect([...found.values()].filter(({ size }) => size > 1).map((names) => [...names])).to.deep.equal([])
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
        'propertyPaymentMethods.replace',
        'budgets.setLines',
        'reservations.noShow',
        'receivables.writeOff',
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
      'replacePropertyPaymentMethods',
      'setBudgetLines',
      'markReservationNoShow',
      'writeOffReceivable',
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
    const status = document.paths['/api/tenants/{tenantId}/reservations']?.['get']?.parameters.find(
      ({ name }) => name === 'status',
    )?.schema as { items: { enum: string[] } }
    expect(status.items.enum).to.include.members(['held', 'checked_in', 'no_show'])
    const replies = Object.entries(document.components.responses) as [string, { headers: object }][]
    for (const [name, { headers }] of replies)
      expect(headers, name).to.include.keys(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-Request-Id'])
    for (const [name, { headers }] of replies.filter(([one]) => /^(TooMany|Unavailable)/.test(one)))
      expect(headers, name).to.include.keys(['Retry-After'])
    expect(document.tags.filter(({ description }) => description === undefined)).to.deep.equal([])
  })
})
