import { expect } from 'chai'
import { openApi } from '../../api/lib/openapi.ts'
import { operationName } from '../../api/lib/operation-name.ts'
import { pathSchema } from '../../api/lib/input.ts'
import { routes } from '../../api/routes.ts'
import { Obj, Text, Uuid } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'

type Json = Record<string, unknown>

const visit = (schema: unknown, at: string, see: (node: Json, at: string) => void) => {
  if (typeof schema !== 'object' || schema === null) return
  if (!Array.isArray(schema)) see(schema as Json, at)
  for (const [key, inner] of Object.entries(schema))
    if (key !== 'enum' && key !== 'required' && key !== 'default') visit(inner, `${at}.${key}`, see)
}

const problems = (schema: unknown, at: string, input: boolean): string[] => {
  const found: string[] = []
  visit(schema, at, (node, where) => {
    if (node.type === 'string' && input && !('maxLength' in node) && !('enum' in node) && !('const' in node))
      found.push(`${where}: a text without maxLength`)
    if (node.type === 'array' && !('maxItems' in node)) found.push(`${where}: a list without maxItems`)
    if (node.type === 'integer' && input && !('maximum' in node)) found.push(`${where}: a number without maximum`)
    if (node.type === 'object' && (node.properties || node.patternProperties) && node.additionalProperties !== false)
      found.push(`${where}: an object that takes unknown fields`)
  })
  return found
}

describe('every endpoint, as a value', () => {
  it('has an id, a method and path of its own', () => {
    expect(routes.length).to.be.greaterThan(0)
    expect(new Set(routes.map((route) => route.id)).size).to.equal(routes.length)
    expect(new Set(routes.map((route) => `${route.method} ${route.path.replace(/:[A-Za-z]+/g, ':')}`)).size).to.equal(
      routes.length,
    )
  })

  it('bounds every text, list and number that it takes, and names every field', () => {
    const found = routes.flatMap((route) => [
      ...problems(route.body, `${route.id} body`, true),
      ...problems(route.query, `${route.id} query`, true),
      ...problems(pathSchema(route), `${route.id} path`, true),
      ...problems(route.returns, `${route.id} returns`, false),
    ])
    expect(found).to.deep.equal([])
  })

  it('takes no blank for what people call or say, where something must be said', () => {
    // A booking that a channel has sold is taken as the channel says it.
    const asItComes = new Set(['channelBookings.deliver'])
    const blank = [' \u3000', '\u200b\u200d\u2060', '\u00ad\ufeff', '\u3164\u2800', '\u0001\u0007']
    const found: string[] = []
    for (const route of routes.filter(({ id }) => !asItComes.has(id)))
      visit(route.body, `${route.id} body`, (node, where) => {
        if (
          !/\.(\w*[nN]ame|reason|label|street|city)(\.anyOf\.\d+)?$/.test(where) ||
          node.type !== 'string' ||
          !node.minLength
        )
          return
        const check = compile(Text(1, 1_000, { pattern: typeof node.pattern === 'string' ? node.pattern : '' }))
        if (blank.some((text) => check(text) === null)) found.push(where)
      })
    expect(found).to.deep.equal([])
  })

  it('compiles: the schemas are what the validator takes, strictly', () => {
    for (const route of routes) {
      for (const schema of [route.body, route.query, route.params, route.returns])
        if (schema) expect(() => compile(schema), route.id).not.to.throw()
    }
  })

  it('never reads with a body, and never takes a tenant from it', () => {
    for (const route of routes) {
      if (route.method === 'GET') expect(route.body, route.id).to.equal(undefined)
      if (route.access.kind === 'tenant') expect(route.path, route.id).to.match(/^\/api\/tenants\/:tenantId(\/|$)/)
      if (route.access.kind === 'superuser') expect(route.path, route.id).to.match(/^\/superuser\//)
    }
  })

  it('has schemas of its own name: two that differ under one title make no document', () => {
    const [first, second] = routes
    if (!first || !second) throw new Error('there are routes')
    const named = (field: string) => Obj({ [field]: Uuid }, { title: 'Twofold' })
    const both = (a: string, b: string) =>
      openApi([
        { ...first, returns: named(a) },
        { ...second, returns: named(b) },
      ])
    expect(() => both('id', 'id')).to.not.throw()
    expect(() => both('id', 'otherId')).to.throw('Twofold is the title of two schemas that differ')
  })

  it('stands in the document, with its replies', () => {
    const document = openApi(routes) as {
      paths: Record<string, Record<string, { operationId: string; responses: Json }>>
    }
    for (const route of routes) {
      const operation = document.paths[route.path.replace(/:([A-Za-z]+)/g, '{$1}')]?.[route.method.toLowerCase()]
      expect(operation?.operationId, route.id).to.equal(operationName(route))
      expect(operation?.responses, route.id).to.have.property(String(route.status ?? 200))
    }
  })
})
