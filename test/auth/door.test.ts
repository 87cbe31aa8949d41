import { expect } from 'chai'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { hashingPlaces, inTurn } from '../../db/auth/hashing.ts'
import { sql } from '../../db/connection.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, password, roomInMinute, signIn } from './support.ts'

const path = '/api/auth/sign-in/email'

describe('the door before who hashes', () => {
  const world = useWorld()
  const open: Socket[] = []
  beforeEach(() => forgetLimits(world))
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy()
  })

  /** Sends the head of a sign-in, and of its body one character. */
  const begin = async (from = '127.0.0.1'): Promise<Socket> => {
    const { hostname, port } = new URL(world.baseUrl)
    const socket = connect({ host: hostname, port: Number(port), localAddress: from })
    open.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: house.example\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{`,
    )
    return socket
  }
  const answerOf = async (socket: Socket): Promise<string> => {
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    return until(() => text.includes('"requestId"') && text, { what: 'an answer' })
  }
  /** All turns and all places of those who wait are taken while `work` runs. */
  const whileFull = async (work: () => Promise<void>) => {
    let free = () => {}
    const freed = new Promise<void>((resolve) => {
      free = resolve
    })
    const turns = Array.from({ length: hashingPlaces }, () => inTurn(() => freed))
    try {
      await work()
    } finally {
      free()
      await Promise.all(turns)
    }
  }

  it('refuses what cannot be hashed soon before its body is read, as it says, with the headers of rates', async () => {
    await roomInMinute(5)
    const tries = () => sql<{ n: number }>(world.database.admin, `select count(*) as n from sign_in_failure`)
    const before = await tries()
    await whileFull(async () => {
      const answer = await answerOf(await begin())
      expect(answer).to.match(/^HTTP\/1\.1 429 /)
      for (const line of [
        'Retry-After: 2',
        'X-RateLimit-Limit: 20',
        'X-RateLimit-Remaining: 19',
        'X-Content-Type-Options: nosniff',
      ])
        expect(answer).to.include(`\r\n${line}\r\n`)
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).to.include({
        statusCode: 429,
        code: 'hashing_busy',
      })
      // The refused count as all others do: beyond the limit it is the limit that is named.
      const replies = await Promise.all(
        Array.from({ length: 21 }, () => world.request('POST', path, { body: { email: 'a@b.example', password } })),
      )
      expect(new Set(replies.map(({ body }) => body.code))).to.deep.equal(new Set(['hashing_busy', 'rate_limited']))
      expect(replies.filter(({ body }) => body.code === 'rate_limited')).to.have.length(2)
    })
    expect(await tries()).to.deep.equal(before)
  })

  it('refuses who is signed in and would hash, and nobody else', async () => {
    const person = await makeUser({ [await makeTenant()]: 'owner' })
    const { token } = await signIn(world, person)
    await whileFull(async () => {
      const change = { currentPassword: password, newPassword: 'quite another password' }
      const { status, body, headers } = await world.request('POST', '/api/auth/password/change', {
        token,
        body: change,
      })
      expect([status, body.code, headers['retry-after']]).to.deep.equal([429, 'hashing_busy', '2'])
      expect((await world.request('GET', '/api/auth/me', { token })).status).to.equal(200)
      expect((await world.request('GET', path)).status).to.equal(404)
      expect(
        (await world.request('POST', '/api/auth/password/forgot', { body: { email: person.email } })).status,
      ).to.equal(200)
    })
    expect((await signIn(world, person)).token).to.be.a('string')
  })

  it('keeps no place for who sends slowly: they cannot shut others out', async () => {
    const person = await makeUser()
    await Promise.all(Array.from({ length: hashingPlaces }, (_, n) => begin(`127.2.0.${n + 1}`)))
    const enter = () => world.request('POST', path, { body: { email: person.email, password } })
    await until(async () => (await enter()).status === 200 || (await forgetLimits(world), false), {
      withinMs: 30_000,
      everyMs: 200,
      what: 'a sign-in beside many slow ones',
    })
  })
})
