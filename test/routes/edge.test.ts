import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { holdsCardNumber } from '../../config/card-numbers.ts'
import { parseBody } from '../../api/lib/json.ts'
import { isDay } from '../../config/validator.ts'
import { settings } from '../../config/env.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'

const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'taken'
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** Digits with the last one that makes the sum right, or wrong by one. */
const digits = (prefix: string, length: number, isRight = true): string => {
  const body = prefix.padEnd(length - 1, '0')
  const sum = Array.from(body).reduceRight((total, digit, at) => {
    const doubled = (body.length - at) % 2 === 1 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return body + String((((10 - (sum % 10)) % 10) + (isRight ? 0 : 1)) % 10)
}

describe('the edge, at a bound and one beyond', () => {
  const world = useWorld()
  let tenantId: string
  let token: string
  before(async () => {
    tenantId = await makeTenant()
    token = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
  })
  beforeEach(() => forgetLimits(world))
  afterEach(() => expect(({} as { polluted?: unknown }).polluted).to.equal(undefined))

  it('of bodies: 50,000 values, depth 20, keys and numbers that are none', () => {
    const list = (values: number) => Buffer.from(`[${'1,'.repeat(values - 1)}1]`)
    // The list is a value itself, and each comma stands for one more.
    expect([codeOf(() => parseBody(list(50_000))), codeOf(() => parseBody(list(50_001)))]).to.deep.equal([
      'taken',
      'body_invalid',
    ])
    const deep = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))
    expect([codeOf(() => parseBody(deep(20))), codeOf(() => parseBody(deep(21)))]).to.deep.equal([
      'taken',
      'body_invalid',
    ])
    const refused = ['__proto__', 'constructor', 'prototype', '\\u005f_proto__'].map(
      (key) => `{"a":[{"${key}":{"polluted":1}}]}`,
    )
    for (const body of [...refused, '{"n":1e400}', '{"n":NaN}', '{"n":01}', '"text"', 'null', '{"a":"\\udc00"}'])
      expect(
        codeOf(() => parseBody(Buffer.from(body))),
        body,
      ).to.equal('body_invalid')
    for (const body of ['{"n":9007199254740991}', '{"a":"\\ud83d\\ude00"}', '[]', '{"proto":1}'])
      expect(
        codeOf(() => parseBody(Buffer.from(body))),
        body,
      ).to.equal('taken')
  })

  it('of card numbers: each issuer’s first and last, with a right sum', () => {
    const cards: [string, number][] = [
      ['4', 16],
      ['4', 19],
      ['51', 16],
      ['55', 16],
      ['2221', 16],
      ['2720', 16],
      ['34', 15],
      ['37', 15],
      ['6', 16],
    ]
    for (const [prefix, length] of cards) {
      const number = digits(prefix, length)
      expect(holdsCardNumber(number), number).to.equal(true)
      expect(holdsCardNumber(number.replace(/(\d{4})(?=\d)/g, '$1 -').replaceAll(' -', '-')), number).to.equal(true)
      expect(holdsCardNumber(digits(prefix, length, false)), `${number} with another sum`).to.equal(false)
    }
    const others: [string, number][] = [
      ['4', 17],
      ['50', 16],
      ['56', 16],
      ['2220', 16],
      ['2721', 16],
      ['35', 15],
      ['38', 15],
      ['6', 15],
    ]
    for (const [prefix, length] of others)
      expect(holdsCardNumber(digits(prefix, length)), `${prefix} ${length}`).to.equal(false)
  })

  it('of days and whole numbers: nothing is coerced, and each bound is the last', async () => {
    const days = ['1900-01-01', '2200-12-31', '2024-02-29', '1899-12-31', '2201-01-01', '2026-02-29', '2026-2-01']
    expect(days.map(isDay)).to.deep.equal([true, true, true, false, false, false, false])
    const asked = async (query: string) =>
      (await world.request('GET', `/api/tenants/${tenantId}/users?${query}`, { token })).status
    for (const query of ['page=1', 'page=000000001', 'limit=100']) expect(await asked(query), query).to.equal(200)
    for (const query of [
      'page=0',
      'page=-1',
      'page=1.0',
      'page=1e1',
      'page=0000000001',
      'page=',
      'limit=101',
      'page=1&page=1',
    ])
      expect(await asked(query), query).to.equal(400)
    const make = async (body: object) => {
      const reply = await world.request('POST', `/api/tenants/${tenantId}/roles`, { token, body })
      return [reply.status, reply.body.errors.length]
    }
    expect(await make({ key: 7, name: true, permissions: {} })).to.deep.equal([400, 3])
    const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`unknown${n}`, n]))
    expect(await make(unknown)).to.deep.equal([400, 50])
  })

  it('of other origins: a preflight is answered for 600 s, with the headers that may be sent, and no key among them', async () => {
    const mine = 'https://app.house.example'
    const preflight = (path: string, origin: string) =>
      world.request('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'POST' } })
    settings.corsOrigins.push(mine)
    try {
      for (const [path, origin, granted] of [
        [`/api/public/property/${randomUUID()}/quotes`, 'https://portal.example', '*'],
        ['/api/auth/me', mine, mine],
      ] as const) {
        const { status, headers } = await preflight(path, origin)
        expect([status, headers['access-control-allow-origin'], headers['access-control-max-age']]).to.deep.equal([
          200,
          granted,
          '600',
        ])
        expect(headers['access-control-allow-headers']?.split(', ')).to.have.members(
          'Authorization,Content-Type,If-Match,Idempotency-Key,X-Guest-Token,X-Registration-Token,X-Request-Id'.split(
            ',',
          ),
        )
        expect(headers['access-control-expose-headers']).to.include('Retry-After').and.to.include('ETag')
        expect(headers).not.to.have.property('access-control-allow-credentials')
      }
      for (const origin of ['null', 'https://evil.example', `${mine}.evil.example`, mine.toUpperCase()]) {
        const { headers } = await preflight('/api/auth/me', origin)
        expect(headers, origin).not.to.have.property('access-control-allow-origin')
        expect(headers, origin).not.to.have.property('access-control-allow-headers')
      }
    } finally {
      settings.corsOrigins.pop()
    }
    expect((await world.request('OPTIONS', '/api/auth/me')).status).to.equal(404)
    expect((await world.request('TRACE', '/api/auth/me')).status).to.equal(405)
  })

  it('of request ids: 8 to 64 signs are kept', async () => {
    const answered = async (id: string) =>
      (await world.request('GET', '/healthz', { headers: { 'x-request-id': id } })).headers['x-request-id'] === id
    expect([await answered('a'.repeat(8)), await answered('Z'.repeat(64))]).to.deep.equal([true, true])
    for (const id of ['a'.repeat(7), 'a'.repeat(65), 'under_score', 'with space1'])
      expect(await answered(id), id).to.equal(false)
  })

  it('of patience: who has not sent the headers after five seconds is cut off', async function () {
    this.timeout(120_000)
    const { port } = new URL(world.baseUrl)
    const said = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n'))
      socket.on('data', (part) => {
        text += part.toString()
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(said.split('\r\n')[0]).to.equal('HTTP/1.1 400 Bad Request')
  })
})
