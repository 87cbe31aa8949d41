import { expect } from 'chai'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { listen, makeServer } from '../../api/server.ts'
import { registry } from '../../config/metrics.ts'
import { hashingPlaces, inTurn } from '../../db/auth/hashing.ts'
import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, password, roomInMinute, signIn } from './support.ts'

const path = '/api/auth/sign-in/email'

describe('the admission of requests that hash a password', () => {
  const world = useWorld({ keepsLimits: true })
  const open: Socket[] = []
  beforeEach(() => forgetLimits(world))
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy()
  })

  const dial = async (from = '127.0.0.1', baseUrl = world.baseUrl): Promise<Socket> => {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect({ host: hostname, port: Number(port), localAddress: from })
    open.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  /** Sends the head of a sign-in, and of its body one character. */
  const begin = async (from?: string, baseUrl?: string): Promise<Socket> => {
    const socket = await dial(from, baseUrl)
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
  /** All that is sent until the other side hangs up. */
  const allOf = async (socket: Socket): Promise<string> => {
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    await until(() => socket.closed, { what: 'an end of the connection' })
    return text
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

  for (const page of ['/superuser/dashboard/sign-in', '/superuser/ops/sign-in'])
    it(`stands before the form of operators, too, and answers it by a page: ${page}`, async () => {
      await roomInMinute(5)
      const send = async (rest: string) => {
        const socket = await dial()
        socket.write(
          `POST ${page} HTTP/1.1\r\nHost: house.example\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n${rest}`,
        )
        let text = ''
        socket.on('data', (part) => (text += part.toString()))
        return until(() => /<\/html>|"requestId"/.test(text) && text, { what: 'an answer' })
      }
      await whileFull(async () => {
        const refused = await send('Content-Length: 200\r\n\r\ne')
        expect(refused).to.match(/^HTTP\/1\.1 429 .*Too many sign-ins at once/s)
        for (const line of [
          'Retry-After: 2',
          'X-RateLimit-Remaining: 19',
          'Content-Type: text/html; charset=utf-8',
          'Referrer-Policy: same-origin',
        ])
          expect(refused).to.include(`\r\n${line}\r\n`)
        expect(refused).to.match(/Content-Security-Policy: default-src 'none'; style-src/)
        expect(refused).to.include(`<a href="${page}">`)
      })
      // A request that is let in is counted once, in the window of all sign-ins.
      const inside = await send('Content-Length: 3\r\n\r\na=b')
      expect(inside).to.match(/^HTTP\/1\.1 403 .*X-RateLimit-Remaining: 18\r\n.*form_refused/s)
      const { headers } = await world.request('POST', path, { body: { email: 'nobody' } })
      expect(headers['x-ratelimit-remaining']).to.equal('17')
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
      expect((await world.request('GET', path)).status).to.equal(405)
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

  it('has no way around it: a path is what the router takes it for, and nothing else', async () => {
    await roomInMinute(5)
    const { host } = new URL(world.baseUrl)
    await whileFull(async () => {
      const outcomes = []
      for (const [method, target] of [
        ['POST', `${path}?a=1`],
        ['POST', `http://${host}${path}`],
        ['POST', `${path}/`],
        ['POST', path.toUpperCase()],
        ['POST', path.replace('sign', '%73ign')],
        ['POST', `/${path}`],
        ['PUT', path],
        ['HEAD', path],
      ] as const) {
        const socket = await dial()
        socket.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
        outcomes.push((await allOf(socket)).slice(9, 12))
      }
      expect(outcomes).to.deep.equal(['429', '429', '404', '404', '404', '404', '405', '405'])
      const twice = await dial()
      twice.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      expect(await allOf(twice)).to.match(/^HTTP\/1\.1 400 .*request_invalid/s)
    })
  })

  it('refuses in the words, and with the headers, of an answer from inside', async () => {
    await roomInMinute(5)
    const headers = { 'x-request-id': 'mine-12345678', origin: 'https://elsewhere.example' }
    const ask = () => world.request('POST', path, { headers, body: { email: 'nobody', password } })
    const inside = await ask()
    await whileFull(async () => {
      const refused = await ask()
      expect([inside.status, refused.status]).to.deep.equal([400, 429])
      expect(Object.keys(refused.headers).toSorted()).to.deep.equal(
        [...Object.keys(inside.headers), 'retry-after'].toSorted(),
      )
      const constant = Object.entries(inside.headers).filter(
        ([name]) => !['content-length', 'date', 'x-ratelimit-remaining'].includes(name),
      )
      expect(refused.headers).to.deep.include(Object.fromEntries(constant))
      expect(refused.body).to.deep.equal({
        statusCode: 429,
        code: 'hashing_busy',
        message: refused.body.message,
        requestId: 'mine-12345678',
      })
    })
  })

  it('gives one address no more places than it has requests: who only begins is counted as well', async () => {
    await roomInMinute(5)
    const begun = await Promise.all(Array.from({ length: hashingPlaces }, () => begin('127.4.0.1')))
    const answers = begun.map((socket) => {
      let text = ''
      socket.on('data', (part) => (text += part.toString()))
      return () => text
    })
    const refused = () => answers.filter((answer) => /"rate_limited"/.test(answer()))
    await until(() => refused().length === hashingPlaces - 20, { what: 'an end of patience' })
    const person = await makeUser()
    expect((await world.request('POST', path, { body: { email: person.email, password } })).status).to.equal(200)
  })

  it('gives back the places of those who go away', async () => {
    const person = await makeUser()
    const slow = await Promise.all(Array.from({ length: hashingPlaces }, (_, n) => begin(`127.5.0.${n + 1}`)))
    for (const socket of slow) socket.destroy()
    await until(
      async () => (await world.request('POST', path, { body: { email: person.email, password } })).status === 200,
      {
        withinMs: 10_000,
        what: 'a sign-in after those who went away',
      },
    )
  })

  it('takes no unread body for a request, and leaves the connection to the next one', async () => {
    await whileFull(async () => {
      const body = 'GET /healthz HTTP/1.1\r\nHost: smuggled.example\r\n\r\n'
      const socket = await dial()
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      )
      await answerOf(socket)
      socket.write(`${body}GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const rest = await allOf(socket)
      expect(rest.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 404'])
    })
  })

  it('reads no long body to its end for a reply that is sent: the connection ends', async () => {
    await whileFull(async () => {
      for (const length of ['Content-Length: 10000000', 'Transfer-Encoding: chunked']) {
        const socket = await dial()
        socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${length}\r\n\r\n`)
        const answer = await allOf(socket)
        expect(answer).to.match(/^HTTP\/1\.1 429 .*\r\nConnection: close\r\n.*hashing_busy/s)
      }
    })
  })

  it('sends one reply to who never sends the rest of his body, and then hangs up', async () => {
    const server = await makeServer()
    server.requestTimeout = 300
    server.headersTimeout = 300
    const baseUrl = await listen(server, 0)
    try {
      await whileFull(async () => {
        const answer = await allOf(await begin('127.0.0.1', baseUrl))
        expect(answer.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 429'])
      })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('counts each refusal, however many come at once', async () => {
    const total = async () => {
      const metric = await registry.getSingleMetric('http_requests_total')?.get()
      const found = metric?.values.find(({ labels }) => labels.route === 'auth.signIn' && labels.status === 429)
      return found?.value ?? 0
    }
    const before = await total()
    await whileFull(async () => {
      await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          world.request('POST', path, { body: { email: 'a@b.example', password }, from: `127.6.0.${n + 1}` }),
        ),
      )
    })
    await until(async () => (await total()) === before + 30, { what: 'all refusals to be counted' })
  })
})
