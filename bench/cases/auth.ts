import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { abilityOf } from '../../db/lib/ability.ts'
import { accessToken } from '../../api/auth/session-token.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { createSession } from '../../db/auth/sessions.ts'
import { inTenant, withoutTenant } from '../../db/lib/connection.ts'
import { makeTenant, makeUser, password } from '../../test/auth/support.ts'
import type { Person } from '../../test/auth/support.ts'
import { clientOf } from '../../test/support/client.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../jobs/rows.ts'
import { load } from '../load.ts'
import type { Shot } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const rounds = sized(5, 2)
const requests = sized(2_000, 500)
const floodRounds = sized(5, 2)
const steadySeconds = sized(5, 3)
const everyMs = 20
const atOnce = 500

/** A session has 100 requests a minute, so what is measured comes from many. */
const sessionsOf = async (people: Person[], tenantId: string, each: number): Promise<string[]> => {
  const tokens: string[] = []
  for (const { userId } of people)
    for (let number = 0; number < each; number += 1) {
      const facts = { userId, epoch: 0, address: '127.0.0.1', userAgent: '', isSuperuser: false, withMfa: false }
      const session = await withoutTenant((trx) => createSession(trx, { ...facts, activeTenantId: tenantId }))
      tokens.push(await accessToken({ sessionId: session.id, userId, ...session }))
    }
  return tokens
}

const keysOf = (tenantId: string, count: number) =>
  inTenant(tenantId, async (trx) => {
    const keys: string[] = []
    for (let number = 0; number < count; number += 1)
      keys.push((await createApiKey(trx, { name: `bench ${number}`, scopes: ['read'] })).key)
    return keys
  })

const cpuOf = async (child: Child) => {
  child.send({ type: 'cpu' })
  return (await child.next<{ us: number }>('answer')).us
}

type Cost = { cpuUs: number; p95Ms: number; p50Ms: number }

/** One route with and without all that authentication does, in turn: time of the processor and of the reply. */
const overhead = async (tenantId: string, tokens: string[], keys: string[]) => {
  const child = await startChild('guarded', 'guarded')
  child.send({ type: 'where' })
  const baseUrl = `http://127.0.0.1:${(await child.next<{ port: number }>('answer')).port}`
  const path = `/api/tenants/${tenantId}/bench`
  const shots: Record<'open' | 'token' | 'key', (index: number) => Shot> = {
    open: () => ({ path: '/api/bench/open' }),
    token: (index) => ({ path, headers: { authorization: `Bearer ${tokens[index % tokens.length] ?? ''}` } }),
    key: (index) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } }),
  }
  const options = { seconds: 60, inFlight: 4, expected: 200, most: requests }
  const found: Record<'open' | 'token' | 'key', Cost[]> = { open: [], token: [], key: [] }
  const names = ['open', 'token', 'key'] as const
  try {
    for (let round = -1; round < rounds; round += 1)
      for (const name of names) {
        const from = await cpuOf(child)
        const loaded = await load(baseUrl, shots[name], options)
        const cpuUs = ((await cpuOf(child)) - from) / loaded.count
        // The first round is for the compiler and the caches.
        if (round >= 0) found[name].push({ cpuUs, p95Ms: loaded.p95Ms, p50Ms: loaded.p50Ms })
      }
  } finally {
    await child.stop()
  }
  const middle = (name: (typeof names)[number], of: keyof Cost) => median(found[name].map((cost) => cost[of]))
  return { middle }
}

/** 95 of 100 requests at a steady pace are answered within this, in milliseconds, whatever else goes on. */
const steady = async (baseUrl: string, path: string, tokens: string[]): Promise<number> => {
  const here = clientOf(baseUrl)
  const times: number[] = []
  const asked: Promise<void>[] = []
  for (let number = 0; number < (steadySeconds * 1000) / everyMs; number += 1) {
    const from = performance.now()
    asked.push(
      here('GET', path, { token: tokens[number % tokens.length] ?? '' }).then(({ status }) => {
        if (status !== 200) throw new Error(`${path}: ${status}`)
        times.push(performance.now() - from)
      }),
    )
    await wait(everyMs)
  }
  await Promise.all(asked)
  return percentile(times, 0.95)
}

const asked = async <T>(child: Child, type: 'begin' | 'end'): Promise<T> => {
  const answer = child.next<T>('answer')
  child.send({ type })
  return answer
}

/**
 * Others' p95 in turn, medians: idle, while a process beside the api hashes as many passwords at once, and while `atOnce` people sign in at once, again and
 * again. The second is what the machine takes for the hashes alone; the rest is the work of the api.
 */
const flood = async (tenantId: string, tokens: string[], people: Person[]) => {
  const api = await startApi()
  const path = `/api/tenants/${tenantId}`
  const emails = people.map(({ email }) => email)
  const given = { baseUrl: api.baseUrl, emails, password, atOnce }
  const child = await startChild('flood', 'flood', given, { detached: true })
  const hashers = await startChild('hashers', 'hashers', { password })
  try {
    const idle: number[] = []
    const hashed: number[] = []
    const beyond: number[] = []
    const outcomes: Record<string, number> = {}
    for (let round = -1; round < floodRounds; round += 1) {
      const alone = await steady(api.baseUrl, path, tokens)
      await asked(hashers, 'begin')
      const besideHashes = await steady(api.baseUrl, path, tokens)
      await asked(hashers, 'end')
      await asked(child, 'begin')
      const flooded = await steady(api.baseUrl, path, tokens)
      const { outcomes: answered } = await asked<{ outcomes: Record<string, number> }>(child, 'end')
      // The first round is for the compiler, the caches and the threads.
      if (round < 0) continue
      idle.push(alone)
      hashed.push(besideHashes - alone)
      beyond.push(flooded - alone)
      for (const [status, count] of Object.entries(answered)) outcomes[status] = (outcomes[status] ?? 0) + count
    }
    return { idle: median(idle), hashed: median(hashed), beyond: median(beyond), outcomes }
  } finally {
    await child.stop()
    await hashers.stop()
    await api.stop()
  }
}

/** Microseconds to build an ability of a role that is new to the process, and to ask one something. */
const abilities = () => {
  const builds = 200
  const checks = 100_000
  const role = (version: number) =>
    abilityOf('x', { id: randomUUID(), version, permissions: [{ subject: 'Guest', actions: ['read'] }] }, null)
  role(0)
  const began = performance.now()
  for (let version = 1; version <= builds; version += 1) role(version)
  const built = performance.now()
  const owner = abilityOf('owner', null, [randomUUID()])
  owner.can('read', 'Guest')
  const asked = performance.now()
  for (let n = 0; n < checks; n += 1) owner.can('read', 'Guest')
  return { buildUs: ((built - began) / builds) * 1000, checkUs: ((performance.now() - asked) / checks) * 1000 }
}

export const bench: Bench = async () => {
  const tenantId = await makeTenant()
  const people = await Promise.all(Array.from({ length: 40 }, () => makeUser({ [tenantId]: 'manager' })))
  // At most 20 sessions of a user live; the last ones are left to who signs in.
  const tokens = await sessionsOf(people, tenantId, 10)
  const keys = await keysOf(tenantId, 60)
  const { middle } = await overhead(tenantId, tokens, keys)
  const strangers = await Promise.all(
    Array.from({ length: 40 }, () => makeUser({ [tenantId]: 'manager' }, { email: `${randomUUID()}@house.example` })),
  )
  const { idle, hashed, beyond, outcomes } = await flood(tenantId, tokens, strangers)
  const { buildUs, checkUs } = abilities()
  const open = { cpu: middle('open', 'cpuUs'), p95: middle('open', 'p95Ms') }
  return {
    results: (['token', 'key'] as const)
      .flatMap((name) => [
        judge(
          {
            name: `${name}: processor time of a request`,
            unit: 'µs',
            ours: middle(name, 'cpuUs'),
            reference: open.cpu,
          },
          null,
        ),
        judge(
          {
            name: `${name}: processor time of authentication alone`,
            unit: 'µs',
            ours: middle(name, 'cpuUs') - open.cpu,
            reference: null,
          },
          null,
        ),
        judge(
          {
            name: `${name}: what it adds to p95`,
            unit: 'ms',
            ours: Math.max(0, middle(name, 'p95Ms') - open.p95),
            reference: null,
          },
          { most: 3 },
        ),
      ])
      .concat([
        judge({ name: 'an ability, built', unit: 'µs', ours: buildUs, reference: null }, { most: 200 }),
        judge({ name: 'an ability, asked', unit: 'µs', ours: checkUs, reference: null }, { most: 1 }),
        judge({ name: 'p95 of other requests, idle', unit: 'ms', ours: idle, reference: null }, null),
        judge(
          {
            name: `p95 of other requests during ${atOnce} sign-ins at once, beyond idle`,
            unit: 'ms',
            ours: beyond,
            reference: hashed,
          },
          { most: 10 },
        ),
        judge(
          { name: 'of it, the part of the api', unit: 'ms', ours: Math.max(0, beyond - hashed), reference: null },
          { most: 10 },
        ),
      ]),
    notes: [
      'The same route, which reads one row in a transaction, for anybody (reference) and for a member or key whose role allows it: token, session, limiter, tenant, entitlement and role are the difference. Warm, 4 in flight, medians of rounds in turn.',
      `Sign-ins: ${atOnce} at once, again and again, each from an address of its own, while 50 requests a second read the own tenant; idle and flooded in turn, medians. The api is compiled and one process; those who sign in are another of the lowest priority, since they would be on machines of their own. Replies: ${Object.entries(
        outcomes,
      )
        .map(([status, count]) => `${count} × ${status}`)
        .join(
          ', ',
        )}; 429 is the hashing queue of 50 being full. The reference is the same pace while a process beside the api hashes as many passwords at once, without any sign-in: that part is the machine’s.`,
    ],
  }
}
