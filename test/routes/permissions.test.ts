import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { assertAgreement, disagreements } from '../../api/lib/access/agreement.ts'
import { openApi } from '../../api/lib/openapi.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { builtInRoles, isGrantable, rolePermissions } from '../../config/roles.ts'
import { scopes } from '../../config/scopes.ts'
import { actionsOf, subjectFacts, subjects } from '../../config/subjects.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { createRole } from '../../db/auth/roles.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, signIn } from '../auth/support.ts'
import type { Reply } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

type Asked = { action: string; subject: string }
const tenantRoutes = routes.filter((route) => route.access.kind === 'tenant')
const askedBy = (route: AnyRoute) => route.access as unknown as Asked

/** Tells whether a scope gives a permission, by the rules of keys. */
const gives = (scope: string, { action, subject }: Asked): boolean => {
  const { module } = subjectFacts(subject)
  if (scope === 'guests:reveal') return subject === 'Guest' && action === 'reveal'
  if (scope === 'channel:deliver')
    return (
      (subject === 'ChannelBooking' && action === 'create') ||
      (action === 'read' && (subject === 'Availability' || subject === 'RateCalendar'))
    )
  if (['auth', 'admin', 'public'].includes(module)) return false
  if (['approve', 'override', 'reveal', 'purchase'].includes(action)) return false
  const verb = action === 'read' ? 'read' : 'write'
  return scope === verb || scope === `${module}:${verb}`
}

describe('the table of permissions', () => {
  const world = useWorld()
  let tenantId = ''

  before(async function () {
    this.timeout(120_000)
    tenantId = await makeTenant()
    // No plan has it.
    for (const key of ['channels', 'webhooks'])
      await inPlatform((trx) => grantEntitlement(trx, { tenantId, key, reason: 'for the test' }))
  })

  const call = (route: AnyRoute, credential: { token: string } | { key: string }) => {
    const path = route.path.replace(/:([A-Za-z]+)/g, (_, name: string) =>
      name === 'tenantId' ? tenantId : randomUUID(),
    )
    return world.request(route.method, path, { ...credential, ...(route.method === 'GET' ? {} : { body: {} }) })
  }
  /** Calls every endpoint of tenants, some at a time, and below the limit of a session. */
  const callAll = async (
    credential: { token: string } | { key: string },
    judge: (route: AnyRoute, reply: Reply) => void,
    which: readonly AnyRoute[] = tenantRoutes,
  ) => {
    for (let at = 0; at < which.length; at += 10) {
      if (at % 80 === 0) await forgetLimits(world)
      const some = which.slice(at, at + 10)
      const replies = await Promise.all(some.map((route) => call(route, credential)))
      for (const [index, route] of some.entries()) judge(route, replies[index] as Reply)
    }
  }
  const refused = { code: 'forbidden', error: 'ForbiddenException', message: 'Insufficient permissions' }
  const facts = ({ code, error, message }: Reply['body']) => ({ code, error, message })

  it('agrees with router and document, or nothing starts', () => {
    const document = openApi(routes)
    expect(disagreements(routes, document)).to.deep.equal([])
    const [first, second] = tenantRoutes as [AnyRoute, AnyRoute]
    const spoilt: [string, readonly AnyRoute[], object][] = [
      ['is not in the document', routes, openApi(routes.slice(1))],
      ['in the document alone', routes.slice(1), document],
      ['is routed twice', [...routes, { ...first, id: 'another.one' }], document],
      ['the id of two routes', [...routes, { ...first, path: '/api/other' }], document],
      [
        'another permission',
        routes,
        openApi(routes.map((one) => (one === first ? { ...one, access: second.access } : one))),
      ],
      [
        'nobody can',
        routes.map((one) => (one === first ? { ...one, access: { ...one.access, action: 'fly' } } : one)) as AnyRoute[],
        document,
      ],
    ]
    for (const [problem, given, of] of spoilt) expect(() => assertAgreement(given, of), problem).to.throw(problem)
  })

  for (const role of builtInRoles)
    it(`lets ${role} do what it says, at every endpoint, and nothing else`, async function () {
      this.timeout(120_000)
      const { token } = await signIn(world, await makeUser({ [tenantId]: role }))
      await callAll({ token }, (route, { status, body }) => {
        const { action, subject } = askedBy(route)
        const may = rolePermissions[role].some((one) => one.subject === subject && one.action === action)
        expect(status === 403, `${route.id} as ${role}: ${status} ${body.code}`).to.equal(!may)
        if (!may) expect(facts(body), `${route.id} as ${role}`).to.deep.equal(refused)
      })
    })

  it('lets a custom role do what it names, at every endpoint, and nothing else', async function () {
    this.timeout(120_000)
    const all = Object.keys(subjects).flatMap((subject) =>
      actionsOf(subject).flatMap((action) => (isGrantable(subject, action) ? [{ subject, action }] : [])),
    )
    for (const half of [0, 1]) {
      const named = all.filter((_, at) => at % 2 === half)
      const key = `half-${half}`
      await inTenant(tenantId, (trx) =>
        createRole(trx, {
          key,
          name: key,
          permissions: named.map(({ subject, action }) => ({ subject, actions: [action] })).slice(0, 300),
        }),
      )
      const held = named.slice(0, 300)
      const person = await makeUser({ [tenantId]: 'stock' })
      await inTenant(tenantId, (trx) =>
        sql(trx, `update membership set role = null, role_id = (select id from role where key = ?) where user_id = ?`, [
          key,
          person.userId,
        ]),
      )
      const { token } = await signIn(world, person)
      await callAll({ token }, (route, { status, body }) => {
        const { action, subject } = askedBy(route)
        const may = held.some((one) => one.subject === subject && one.action === action)
        expect(status === 403, `${route.id} as ${key}: ${status} ${body.code}`).to.equal(!may)
      })
    }
  })

  it('lets a key do what one of its scopes gives, and with all other scopes nothing of it', async function () {
    this.timeout(120_000)
    const keyOf = new Map<string, string>()
    const keyFor = async (given: readonly string[]) => {
      const name = given.join()
      const known = keyOf.get(name) ?? (await makeKey(tenantId, [...given])).key
      keyOf.set(name, known)
      return known
    }
    await forgetLimits(world)
    for (const route of tenantRoutes) {
      const asked = askedBy(route)
      const sufficient = scopes.filter((scope) => gives(scope, asked))
      const without = await call(route, { key: await keyFor(scopes.filter((scope) => !sufficient.includes(scope))) })
      const never = ['User', 'Role', 'ApiKey', 'Subscription', 'AddOn'].includes(asked.subject)
      const always = asked.subject === 'Tenant' && asked.action === 'read'
      expect(
        [without.status === 403, without.body.code === (never ? 'key_not_allowed' : 'scope_missing')],
        route.id,
      ).to.deep.equal([!always, !always])
      for (const scope of sufficient.slice(-1)) {
        const { status, body } = await call(route, { key: await keyFor([scope]) })
        expect(status, `${route.id} with ${scope}: ${body.code}`).not.to.equal(403)
      }
    }
  })

  it('has no other scopes than those of the modules and the four that stand alone', () => {
    const modules = new Set<string>(Object.values(subjects).map(({ module }) => module))
    for (const module of ['auth', 'admin', 'public']) modules.delete(module)
    const named = [...modules].flatMap((module) => [`${module}:read`, `${module}:write`])
    expect(scopes).to.have.members(['read', 'write', 'guests:reveal', 'channel:deliver', ...named])
  })
})
