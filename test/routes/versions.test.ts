import { expect } from 'chai'
import { codesOf } from '../../api/lib/codes.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'
import type { Reply } from '../support/client.ts'

/** Endpoints of versioned records that take any version, each with its reason. */
const anyVersion: Record<string, string> = {
  'guests.reveal': 'reads, and writes down who has seen it',
  'guestNotes.delete': 'a note is never changed',
  'entryTemplates.apply': 'makes a draft, and leaves the template',
  'superuser.adjustments.create': 'adds a line to the next bill, and leaves the tenant',
  'superuser.tenants.export': 'reads the tenant',
  'entitlements.grant': 'grants are records of their own',
  'entitlements.revoke': 'grants are records of their own',
  'gallery.create': 'adds an image, and leaves the property',
  'units.observe': 'reports what was seen, whatever the version',
}

const hasVersion = ({ returns }: AnyRoute): boolean =>
  'version' in ((JSON.parse(JSON.stringify(returns)) as { properties?: object }).properties ?? {})
const takesVersion = (route: AnyRoute): boolean => codesOf(route).includes('version_conflict')

/** The code of the command, or of the handler of a route that no resource made. */
const textOf = ({ part, handle }: AnyRoute): string => {
  const command = part?.command ?? handle
  return typeof command === 'function' ? command.toString() : ''
}

describe('If-Match', () => {
  const versioned = new Set(
    routes.filter((route) => route.method === 'GET' && hasVersion(route)).map(({ path }) => path),
  )
  /** The path and those over it that name a record beside the tenant. */
  const recordsOn = (path: string): string[] =>
    path
      .split('/')
      .map((_, at, parts) => parts.slice(0, at + 1).join('/'))
      .filter((part) => part === path || /:(?!tenantId)\w+$/.test(part))
  const isOfRecord = ({ path, method }: AnyRoute) => method !== 'POST' || /:(?!tenantId)/.test(path)

  it('is taken wherever a versioned record is changed, but for a few endpoints', () => {
    const without = routes.filter(
      (route) =>
        route.method !== 'GET' &&
        !route.readOnly &&
        !takesVersion(route) &&
        (recordsOn(route.path).some((part) => versioned.has(part)) || (hasVersion(route) && isOfRecord(route))),
    )
    expect(without.map(({ id }) => id).toSorted()).to.deep.equal(Object.keys(anyVersion).toSorted())
  })

  it('reaches every command that locks its record itself', () => {
    const deaf = routes.filter(
      (route) =>
        takesVersion(route) &&
        (!route.record || route.record.lockedBy === 'command') &&
        !textOf(route).includes('expectedVersion'),
    )
    expect(deaf.map(({ id }) => id)).to.deep.equal([])
    const made = routes.filter(({ part }) => part?.command !== undefined)
    expect(made.some((route) => textOf(route).includes('expectedVersion'))).to.equal(true)
  })

  describe('over HTTP', () => {
    const world = useWorld()
    let tenantId: string
    let owner: string
    let superuser: string
    before(async () => {
      tenantId = await makeTenant('Starter')
      owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
      superuser = (await signIn(world, await makeSuperuser('N1'))).token
    })
    beforeEach(() => forgetLimits(world))

    const operate = (method: string, act: string, body: object | undefined, version?: number): Promise<Reply> =>
      world.request(method, `/superuser/tenants/${tenantId}${act}`, {
        token: superuser,
        ...(body ? { body } : {}),
        ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
      })
    const reason = 'they asked for it'

    it('holds for what operators do to a tenant: a stale one changes nothing', async () => {
      const { body: first } = await operate('GET', '', undefined)
      const acts = [
        ['POST', '/suspend', { reason }],
        ['POST', '/reactivate', { reason }],
        ['POST', '/change-plan', { reason, plan: 'Professional' }],
        ['DELETE', '', { reason, confirmName: first.name as string }],
        ['POST', '/reactivate', { reason }],
      ] as const
      let version = first.version as number
      for (const [method, act, body] of acts) {
        const stale = await operate(method, act, body, version + 1)
        expect([stale.status, stale.body.code], `${method} ${act}`).to.deep.equal([409, 'version_conflict'])
        const { body: still } = await operate('GET', '', undefined)
        expect(still.version, `${method} ${act}`).to.equal(version)
        const done = await operate(method, act, body, version)
        expect(done.status, `${method} ${act} ${JSON.stringify(done.body)}`).to.equal(200)
        const { body: after } = await operate('GET', '', undefined)
        version = after.version as number
      }
      expect(version).to.equal((first.version as number) + acts.length)
    })

    it('lets one of two operators through who read a tenant together', async () => {
      const { body } = await operate('GET', '', undefined)
      const replies = await Promise.all(
        Array.from({ length: 4 }, () => operate('POST', '/suspend', { reason }, body.version as number)),
      )
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 409, 409, 409])
      await operate('POST', '/reactivate', { reason })
    })

    it('holds for how a tenant pays its bills', async () => {
      const own = (method: string, path: string, body?: object, version?: number) =>
        world.request(method, `/api/tenants/${tenantId}/billing/${path}`, {
          token: owner,
          ...(body ? { body } : {}),
          ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
        })
      const { body: read } = await own('GET', 'subscription')
      const set = () => own('PUT', 'payment-method', { kind: 'transfer' }, read.version as number)
      const replies = await Promise.all([set(), set()])
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 409])
      expect(replies.find(({ status }) => status === 409)?.body.code).to.equal('version_conflict')
    })
  })
})
