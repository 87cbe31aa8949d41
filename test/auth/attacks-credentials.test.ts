import { expect } from 'chai'
import { connect } from 'node:net'
import { PublicProtocol } from 'paseto'
import { ImportSecretKeyFactory, SignFactory } from 'paseto/v4/public'
import { settings } from '../../config/env.ts'
import { neverByKey, scopes } from '../../config/scopes.ts'
import { routes } from '../../api/routes.ts'
import { signToken, verifyToken } from '../../config/tokens.ts'
import { composeKey, keyIdOf } from '../../db/auth/keys.ts'
import { clientOf } from '../support/client.ts'
import { startProcess } from '../support/processes.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { codeOf, roomInStep } from './authenticator.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, password, signIn } from './support.ts'

describe('who attacks with a credential', () => {
  const world = useWorld()
  let tenantId: string
  let token: string
  before(async () => {
    tenantId = await makeTenant('Enterprise')
    token = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })
  beforeEach(() => forgetLimits(world))

  const me = (bearer: string) => world.request('GET', '/api/auth/me', { token: bearer })
  const claims = async (of: string) => {
    const result = await verifyToken('access', of)
    if (!result.ok) throw new Error('the token of the test is good')
    const { sid, jti, ep, sub } = result.claims
    return { sid, jti, ep, sub } as Record<string, string>
  }
  /** As it stands, byte for byte: a client that is kind would mend it first. */
  const raw = (path: string, lines: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(world.baseUrl)
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write([`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n')),
      )
      let text = ''
      socket.on('data', (part) => (text += part.toString()))
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
    })

  it('signed by our own key for another environment, issuer, purpose, session or user is refused', async () => {
    const own = (await signIn(world, await makeUser())).token
    const v4 = new PublicProtocol(SignFactory, ImportSecretKeyFactory)
    const [active] = settings.pasetoKeys
    const secret = await v4.ImportSecretKey(active?.paserk as `k4.secret.${string}`)
    const encode = (text: string) => new TextEncoder().encode(text)
    const sign = async (over: Record<string, string>, assertion = 'pousada:access:v1') =>
      v4.Sign(
        secret,
        { ...(await claims(own)), iss: 'pousada', aud: `pousada-api:${settings.env}`, ...over },
        {
          footer: encode(JSON.stringify({ kid: active?.id })),
          implicitAssertion: encode(assertion),
          addIssuedAt: true,
          expiresIn: 60,
        },
      )
    expect((await me(await sign({}))).status).to.equal(200)
    const bad = {
      environment: await sign({ aud: 'pousada-api:production' }),
      audience: await sign({ aud: `pousada-quote:${settings.env}` }),
      issuer: await sign({ iss: 'somebody' }),
      purpose: await sign({}, 'pousada:guest:v1'),
      version: await sign({}, 'pousada:access:v2'),
      'no assertion': await sign({}, ''),
      session: await sign({ sid: (await claims((await signIn(world, await makeUser())).token)).sid ?? '' }),
      user: await sign({ sub: (await claims((await signIn(world, await makeUser())).token)).sub ?? '' }),
      epoch: await sign({ ep: '0' }),
    }
    for (const [name, one] of Object.entries(bad)) {
      const { status, body } = await me(one)
      expect([status, body.code], name).to.deep.equal([401, 'unauthenticated'])
      expect((await world.request('POST', '/api/auth/refresh', { token: one })).status, name).to.equal(401)
    }
    expect((await me(own)).status).to.equal(200)
    // Of this session, and of no generation that it had: somebody has our key, and the session is not worth keeping.
    const strange = await sign({ jti: 'AAAAAAAAAAAAAAAAAAAAAA' })
    expect((await me(strange)).status).to.equal(401)
    expect((await me(own)).status).to.equal(200)
    expect((await world.request('POST', '/api/auth/refresh', { token: strange })).status).to.equal(401)
    expect((await me(own)).status).to.equal(401)
  })

  it('from an hour ahead cannot be refreshed, and a session is not hurt by the attempt', async () => {
    const future = await signToken('access', await claims(token), 86_400, new Date(Date.now() + 3_600_000))
    expect((await world.request('POST', '/api/auth/refresh', { token: future })).status).to.equal(401)
    expect((await me(token)).status).to.equal(200)
  })

  it('under other letters, signs or twists of a path finds nothing that the path itself would not give', async () => {
    const { token: stranger } = await signIn(world, await makeUser())
    const statusOf = async (path: string) =>
      Number(/^HTTP\/1\.1 (\d{3})/.exec(await raw(path, [`Authorization: Bearer ${stranger}`]))?.[1])
    expect(await statusOf('/api/auth/me')).to.equal(200)
    for (const path of [
      '/api/%61uth/me',
      '/api/auth%2fme',
      '//api/auth/me',
      '/api//auth/me',
      '/api/auth/me/',
      '/api/auth/me;x=1',
      '/api/auth/me%00',
      '/api/auth/./me',
      '/api/x/../auth/me',
      '/API/auth/me',
      '/api/auth/me%20',
      '/api/auth/me\\',
      `/api/tenants/${tenantId}/..%2f${tenantId}/guests`,
      `/api/tenants/${tenantId}%2e/guests`,
    ])
      expect(await statusOf(path), path).to.be.oneOf([400, 404])
    // Another spelling of the tenant's id is still that tenant, which is not the caller's.
    for (const id of [tenantId.toUpperCase(), `%${tenantId.charCodeAt(0).toString(16)}${tenantId.slice(1)}`])
      expect(await statusOf(`/api/tenants/${id}/guests`), id).to.be.oneOf([400, 403, 404])
  })

  it('that stands twice in the raw request is 400, whatever the letters of the name', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const send = (lines: string[]) => raw(`/api/tenants/${tenantId}`, lines)
    expect(await send([`Authorization: Bearer ${token}`])).to.match(/^HTTP\/1\.1 200/)
    expect(await send([`x-ApI-kEy: ${key}`])).to.match(/^HTTP\/1\.1 200/)
    for (const lines of [
      [`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`],
      [`X-API-Key: ${key}`, `x-api-key: ${key}`],
      [`X-API-Key: ${key}`, `AUTHORIZATION: Bearer ${token}`],
      [`X-API-Key: `, `Authorization: Bearer ${token}`],
    ]) {
      const reply = await send(lines)
      expect(reply, lines[0]).to.match(/^HTTP\/1\.1 400/)
      expect(reply).to.include('ambiguous_credentials')
    }
    for (const lines of [
      [`Authorization: Bearer ${token}, Bearer ${token}`],
      [`X-API-Key: ${key}, ${key}`],
      [`X-Original-URL: /api/auth/me`],
      [`X-Forwarded-User: owner`],
      [`Proxy-Authorization: Bearer ${token}`],
      [`Authorization : Bearer ${token}`],
    ])
      expect(await send(lines), lines[0]).to.match(/^HTTP\/1\.1 40[01]/)
  })

  it('of a key with a wrong length, letter or checksum costs us no statement', async () => {
    const { key } = await makeKey(tenantId, ['read'])
    const at = (index: number, to: string) => key.slice(0, index) + to + key.slice(index + 1)
    const other = (index: number) => at(index, key[index] === 'a' ? 'b' : 'a')
    const bad = [
      key.slice(0, -1),
      `${key}a`,
      ...[18, 30, 61, 62, 66].map(other),
      at(9, 'I'),
      key.replace('pou_', 'POU_'),
      key.replace('pou_test_', 'pou_live_'),
      `${key.slice(0, 30)}-${key.slice(31)}`,
    ]
    const seen = await statementsOf(async () => {
      for (const one of bad) {
        expect(keyIdOf(one), one).to.equal(null)
        expect((await world.request('GET', `/api/tenants/${tenantId}`, { key: one })).status, one).to.equal(401)
      }
    })
    expect(seen).to.deep.equal([])
    expect(await statementsOf(() => world.request('GET', `/api/tenants/${tenantId}`, { key }))).to.have.length.above(0)
  })

  it('of a key that nobody has, or of another secret for a known id, gets the one 401', async () => {
    const { keyId } = await makeKey(tenantId, ['read'])
    const replies = []
    for (const one of [composeKey('ZZZZZZZZ', Buffer.alloc(32, 7)), composeKey(keyId, Buffer.alloc(32, 7))])
      replies.push(await world.request('GET', `/api/tenants/${tenantId}`, { key: one }))
    for (const { status, body } of replies)
      expect([status, { ...body, requestId: '' }]).to.deep.equal([401, { ...replies[0]?.body, requestId: '' }])
  })

  it('of a key with every scope reaches no account, no member, role, key, plan or provider, at any endpoint', async () => {
    const made = [await makeKey(tenantId, [...scopes].slice(0, 30)), await makeKey(tenantId, ['read', 'write'])]
    const closed = routes.filter(
      ({ access }) =>
        access.kind === 'session' ||
        access.kind === 'open' ||
        access.kind === 'superuser' ||
        (access.kind === 'tenant' && neverByKey.has(access.subject)),
    )
    expect(closed.length).to.be.greaterThan(40)
    for (const route of closed) {
      await forgetLimits(world)
      const path = route.path
        .replace(':tenantId', tenantId)
        .replace(':tokenPrefix', 'ZZZZZZZZZZZZ')
        .replace(/:[A-Za-z]+/g, tenantId)
      for (const { key } of made) {
        const { status, body } = await world.request(route.method, path, {
          key,
          ...(route.method === 'GET' ? {} : { body: {} }),
        })
        expect([status, body.code], route.id).to.deep.equal([403, 'key_not_allowed'])
      }
    }
  })

  it('who gives a key rights that he lacks is refused, and so is who asks to change it', async () => {
    const manager = (await signIn(world, await makeUser({ [tenantId]: 'manager' }))).token
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', ''],
      ['PATCH', `/${tenantId}`],
      ['POST', `/${tenantId}/rotate`],
      ['POST', `/${tenantId}/revoke`],
    ] as const) {
      const { status, body } = await world.request(method, `/api/tenants/${tenantId}/api-keys${suffix}`, {
        token: manager,
        ...(method === 'GET' ? {} : { body: {} }),
      })
      expect([status, body.code], method + suffix).to.deep.equal([403, 'forbidden'])
    }
  })

  it('reads no secret in our logs, at the loudest', async function () {
    this.timeout(120_000)
    await roomInStep(10_000)
    const process = await startProcess('api', { LOG_LEVEL: 'trace' })
    try {
      const call = clientOf(process.baseUrl)
      const person = await makeUser({ [tenantId]: 'owner' })
      const wrong = 'kX9#qLm2vT8w-wrong'
      await call('POST', '/api/auth/sign-in/email', { body: { email: person.email, password: wrong } })
      const entered = await call('POST', '/api/auth/sign-in/email', { body: { email: person.email, password } })
      const first = entered.body.token as string
      const { body: begun } = await call('POST', '/api/auth/mfa/totp', { token: first })
      const { body: enrolled } = await call('POST', '/api/auth/mfa/totp/confirm', {
        token: first,
        body: { code: codeOf(begun.secret) },
      })
      const { body: made } = await call('POST', `/api/tenants/${tenantId}/api-keys`, {
        token: enrolled.token,
        body: { name: 'Logged', scopes: ['read'] },
      })
      expect(made.key).to.be.a('string')
      expect((await call('GET', `/api/tenants/${tenantId}`, { key: made.key })).status).to.equal(200)
      await call('GET', `/api/tenants/${tenantId}?key=${made.key as string}`, { token: enrolled.token })
      await call('POST', '/api/auth/password/reset', { body: { token: 'rst_not-a-token-of-ours', newPassword: wrong } })
      await call('POST', '/api/auth/mfa/verify', { raw: '{"mfaToken": "mfa_half' })
      const text = process.lines.map((line) => JSON.stringify(line)).join('\n')
      expect(process.lines.length).to.be.greaterThan(5)
      const secrets: string[] = [
        password,
        wrong,
        first,
        enrolled.token,
        begun.secret,
        made.key,
        'rst_not-a-token-of-ours',
      ]
      for (const secret of [...secrets, ...(enrolled.recoveryCodes as string[])])
        expect(text.includes(secret.slice(0, 60)), secret.slice(0, 12)).to.equal(false)
    } finally {
      await process.kill()
    }
  })
})
