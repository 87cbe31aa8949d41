import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { PublicProtocol } from 'paseto'
import { GenerateKeyPairFactory, SignFactory } from 'paseto/v4/public'
import { settings } from '../../config/env.ts'
import { reloadKeys, signToken, verifyToken } from '../../config/tokens.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')
const parts = (token: string) => {
  const [, , payload = '', footer = ''] = token.split('.')
  return { payload, footer }
}
const withFooter = (token: string, footer: string) => `v4.public.${parts(token).payload}.${encode(footer)}`
const flipped = (token: string, at: number) => {
  const { payload, footer } = parts(token)
  const bytes = Buffer.from(payload, 'base64url')
  bytes[at < 0 ? bytes.length + at : at] = (bytes.at(at) ?? 0) ^ 1
  return `v4.public.${bytes.toString('base64url')}.${footer}`
}

describe('a token', () => {
  const now = new Date('2026-11-21T12:00:00.000Z')
  const make = () => signToken('access', { sub: 'u', sid: 's', jti: 'j', ep: 0 }, 3_600, now)

  it('says who, which session and until when, and nothing else', async () => {
    const result = await verifyToken('access', await make(), { now })
    expect(result).to.deep.include({ ok: true, issuedAt: now, expiresAt: new Date('2026-11-21T13:00:00.000Z') })
    expect(Object.keys(result.ok ? result.claims : {}).toSorted()).to.deep.equal([
      'aud',
      'ep',
      'exp',
      'iat',
      'iss',
      'jti',
      'sid',
      'sub',
    ])
  })

  it('is the same, byte for byte, for the same facts', async () => {
    expect(await make()).to.equal(await make())
  })

  it('passes for its own purpose alone', async () => {
    for (const [made, read] of [
      ['access', 'quote'],
      ['access', 'guest'],
      ['quote', 'access'],
      ['guest', 'access'],
      ['guest', 'quote'],
      ['quote', 'guest'],
    ] as const) {
      const token = await signToken(made, { sub: 'u' }, 60, now)
      expect(await verifyToken(made, token, { now })).to.include({ ok: true })
      expect(await verifyToken(read, token, { now }), `${made} as ${read}`).to.deep.equal({ ok: false, expired: false })
    }
  })

  it('is told apart, when its time is over, from one that is bad', async () => {
    const token = await make()
    const later = new Date(now.getTime() + 3_600_000)
    expect(await verifyToken('access', token, { now: later })).to.deep.equal({ ok: false, expired: true })
    expect(await verifyToken('access', token, { now: later, allowExpired: true })).to.include({ ok: true })
    expect(await verifyToken('access', flipped(token, 3), { now: later })).to.deep.equal({ ok: false, expired: false })
  })

  it('from the future is refused', async () => {
    const token = await signToken('access', { sub: 'u' }, 60, new Date(now.getTime() + 3_600_000))
    expect(await verifyToken('access', token, { now })).to.deep.equal({ ok: false, expired: false })
    expect(await verifyToken('access', token, { now, allowExpired: true })).to.deep.equal({ ok: false, expired: false })
  })

  it('of another environment, or of a key that was taken out, is refused', async () => {
    const token = await make()
    const keys = settings.pasetoKeys
    const v4 = new PublicProtocol(GenerateKeyPairFactory, SignFactory)
    const { secretKey } = await v4.GenerateKeyPair()
    const assertion = new TextEncoder().encode('pousada:access:v1')
    const claims = { sub: 'u', sid: 's', jti: 'j', ep: 0, iss: 'pousada', aud: 'pousada-api:test' }
    const footer = new TextEncoder().encode('{"kid":"test1"}')
    const other = await v4.Sign(secretKey, claims, { footer, implicitAssertion: assertion, now, expiresIn: 60 })
    expect(await verifyToken('access', other, { now })).to.deep.equal({ ok: false, expired: false })
    const elsewhere = await signToken('access', { sub: 'u' }, 60, now)
    try {
      settings.pasetoKeys = keys.map((key) => ({ ...key, id: 'test2' }))
      reloadKeys()
      expect(await verifyToken('access', token, { now })).to.deep.equal({ ok: false, expired: false })
      expect(await verifyToken('access', elsewhere, { now })).to.deep.equal({ ok: false, expired: false })
    } finally {
      settings.pasetoKeys = keys
      reloadKeys()
    }
  })

  it('that was touched anywhere is refused, at once and without a word about why', async () => {
    const token = await make()
    const { payload, footer } = parts(token)
    const claims = {
      iss: 'pousada',
      aud: 'pousada-api:test',
      sub: 'u',
      exp: '2099-01-01T00:00:00Z',
      iat: '2026-01-01T00:00:00Z',
    }
    const bad: Record<string, string> = {
      'flipped claim': flipped(token, 10),
      'flipped signature': flipped(token, -1),
      'no footer': `v4.public.${payload}`,
      'empty footer': `v4.public.${payload}.`,
      'unknown key': withFooter(token, '{"kid":"other"}'),
      'path as key': withFooter(token, '{"kid":"../../etc/passwd"}'),
      'prototype as key': withFooter(token, '{"kid":"__proto__"}'),
      'constructor as key': withFooter(token, '{"kid":"constructor"}'),
      'more in the footer': withFooter(token, '{"kid":"test1","x":1}'),
      'list as key': withFooter(token, '{"kid":["test1"]}'),
      'footer without JSON': withFooter(token, 'test1'),
      'long footer': withFooter(token, `{"kid":"${'x'.repeat(200)}"}`),
      'a part more': `${token}.${footer}`,
      'v2 header': token.replace('v4.public.', 'v2.public.'),
      'v4 local': token.replace('v4.public.', 'v4.local.'),
      'jwt none': `${encode('{"alg":"none"}')}.${encode(JSON.stringify(claims))}.`,
      'a megabyte': `v4.public.${'A'.repeat(1_000_000)}.${footer}`,
      padding: `v4.public.${payload}==.${footer}`,
      empty: '',
      dots: '...',
    }
    for (const [name, value] of Object.entries(bad)) {
      expect(await verifyToken('access', value, { now }), name).to.deep.equal({ ok: false, expired: false })
    }
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined)
  })
})

describe('a request’s credential', () => {
  const world = useWorld()
  let token: string
  let tenantId: string
  before(async () => {
    tenantId = await makeTenant()
    token = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })
  beforeEach(() => forgetLimits(world))
  const sessions = (headers: Record<string, string>) => world.request('GET', '/api/auth/sessions', { headers })

  it('is read from the header alone, whatever its letters', async () => {
    expect((await sessions({ authorization: `bearer ${token}` })).status).to.equal(200)
    const elsewhere: Record<string, string>[] = [
      { cookie: `token=${token}` },
      { authorization: token },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token} ${token}` },
    ]
    for (const headers of elsewhere) expect((await sessions(headers)).status).to.equal(401)
    expect((await world.request('GET', `/api/auth/sessions?access_token=${token}`)).status).to.equal(401)
  })

  it('that strangers hold says when it ends, and nothing else of it', async () => {
    for (const purpose of ['quote', 'guest', 'registration'] as const) {
      const made = await signToken(
        purpose,
        { jti: tenantId, tenant: tenantId, tenantId, text: 'secret'.repeat(50) },
        60,
      )
      const payload = Buffer.from(made.split('.')[2] ?? '', 'base64url')
        .subarray(0, -64)
        .toString()
      expect(Object.keys(JSON.parse(payload) as object).sort(), purpose).to.deep.equal(
        ['aud', 'exp', 'iat', 'iss', 'sealed'].sort(),
      )
      expect(payload, purpose).not.to.contain(tenantId)
      const read = await verifyToken(purpose, made)
      expect(read.ok && read.claims, purpose).to.include({ tenantId, tenant: tenantId, jti: tenantId })
      expect(await signToken(purpose, { tenantId }, 60), 'the same claims twice').not.to.equal(
        await signToken(purpose, { tenantId }, 60),
      )
    }
  })

  it('that is bad is 401, touched, swapped or of another purpose; longer than 2,048 characters it is not read', async () => {
    const guest = await signToken('guest', { tenant: tenantId, booking: tenantId }, 3_600)
    for (const bad of [
      flipped(token, 10),
      flipped(token, -5),
      withFooter(token, '{"kid":"nobody"}'),
      guest,
      'x'.repeat(3_000),
    ]) {
      const { status, body } = await sessions({ authorization: `Bearer ${bad}` })
      expect([status, body.code]).to.deep.equal([401, 'unauthenticated'])
    }
  })

  it('that stands twice, or as token and key, is 400', async () => {
    const key = 'pou_test_00000000_x'
    const { status, body } = await sessions({ authorization: `Bearer ${token}`, 'x-api-key': key })
    expect([status, body.code]).to.deep.equal([400, 'ambiguous_credentials'])
  })

  it('is not kept in Redis, and the token’s id only as a hash', async () => {
    await sessions({ authorization: `Bearer ${token}` })
    const values: string[] = []
    for (const key of await world.redis.keys('*'))
      if ((await world.redis.type(key)) === 'string') values.push(`${key} ${await world.redis.get(key)}`)
    const all = values.join('\n')
    const result = await verifyToken('access', token)
    const jti = result.ok ? (result.claims.jti ?? '') : ''
    expect(jti).to.have.length(22)
    expect(all.includes(token)).to.equal(false)
    expect(all.includes(jti)).to.equal(false)
    expect(all.includes(createHash('sha256').update(jti).digest('base64'))).to.equal(true)
  })
})
