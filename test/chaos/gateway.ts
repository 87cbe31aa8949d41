import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { signSandbox } from '../../db/payment/signatures.ts'
import {
  chargeCallbacks,
  chargeStatus,
  declineOf,
  planCharge,
  planRefund,
  refundCallbacks,
  refundStatus,
  showCharge,
  showRefund,
  troubleOf,
} from '../../workers/gateways/sandbox-plan.ts'
import type { Charge, Due, Refund } from '../../workers/gateways/sandbox-plan.ts'

/** The behaviour of the gateway from now on, whatever the token of a card says. */
export type GatewayMood =
  | 'well'
  | 'busy'
  | 'slow'
  | 'failing'
  | 'hangs_after'
  | 'hangs_before'
  | 'repeats_callbacks'
  | 'reorders_callbacks'
  | 'loses_callbacks'

/** A line of the gateway's own log: what it has really done. */
export type GatewayDeed =
  | { deed: 'charged'; id: string; ourId: string; amount: number; currency: string; paidAt: number | null }
  | { deed: 'cancelled'; id: string; ourId: string; at: number }
  | { deed: 'refunded'; id: string; ourId: string; charge: string; amount: number; fails: boolean }
  | { deed: 'asked'; method: string; path: string; key: string | null; mood: GatewayMood; status: number }

type Answer = { status: number; body: unknown; headers?: Record<string, string>; hang?: boolean }
type Options = { secondMs: number; logFile: string; apis: () => readonly string[]; secret: string }

const refused = (status: number, code: string): Answer => ({ status, body: { error: { code, message: code } } })
const reference = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as Record<string, unknown>
}

/**
 * A gateway elsewhere that speaks the sandbox's protocol, with a memory and a log of its own: neither shares anything with the service.
 * Each deed is in the log before the gateway answers.
 */
export const startGateway = async ({ secondMs, logFile, apis, secret }: Options) => {
  const charges = new Map<string, Charge>()
  const refunds = new Map<string, Refund>()
  const kept = new Map<string, { request: string; answer: Answer }>()
  const queue: { at: number; attempts: number; body: Record<string, unknown> }[] = []
  let mood: GatewayMood = 'well'
  const note = (deed: GatewayDeed) => appendFileSync(logFile, `${JSON.stringify(deed)}\n`)

  const announce = (object: 'charge' | 'refund', one: Charge | Refund, due: readonly Due[]) => {
    if (mood === 'loses_callbacks') return
    const ordered = mood === 'reorders_callbacks' ? due.toReversed() : due
    for (const [index, { type, at, copies }] of ordered.entries()) {
      const id = reference('evt')
      const when = mood === 'reorders_callbacks' ? Date.now() + index * secondMs : at
      for (let copy = 0; copy < (mood === 'repeats_callbacks' ? 3 : copies); copy += 1)
        queue.push({
          at: when + copy * secondMs * 2,
          attempts: 0,
          body: { id, type, account: one.accountRef, object, ref: one.id, ourId: one.ourId, created: Date.now() },
        })
    }
  }

  const once = (account: string, key: string, request: unknown, work: () => { first: Answer; later: Answer }) => {
    const text = JSON.stringify(request)
    const known = kept.get(`${account} ${key}`)
    if (known) return known.request === text ? known.answer : refused(409, 'key_reused')
    const { first, later } = work()
    kept.set(`${account} ${key}`, { request: text, answer: later })
    return first
  }

  const charge = (account: string, key: string, given: Record<string, unknown>): Answer => {
    const token = String(given.token)
    const trouble = troubleOf(token)
    if (trouble === 'hang_before') return { status: 0, body: null, hang: true }
    return once(account, key, given, () => {
      const decline = declineOf(token)
      if (decline) {
        const answer = refused(402, decline.code)
        return { first: answer, later: answer }
      }
      const now = Date.now()
      const expiresAt = typeof given.expiresAt === 'string' ? Date.parse(given.expiresAt) : null
      const [amount, method] = [Number(given.amount), String(given.method)]
      const made: Charge = {
        id: reference('ch'),
        ourId: String(given.ourId),
        accountRef: account,
        amount,
        currency: String(given.currency),
        method,
        token,
        returnUrl: null,
        createdAt: now,
        expiresAt,
        cancelledAt: null,
        mode: 'charge',
        platformFee: 0,
        captured: null,
        savedMethod: null,
        customer: null,
        linkId: null,
        ...planCharge(token, method, amount, now, expiresAt, secondMs),
      }
      const { id, ourId, currency, paidAt, paidAmount } = made
      note({ deed: 'charged', id, ourId, amount: paidAmount, currency, paidAt })
      charges.set(id, made)
      announce('charge', made, chargeCallbacks(made, now, secondMs))
      const answer: Answer = { status: 201, body: showCharge(made, now) }
      if (trouble === 'hang_after') return { first: { ...answer, hang: true }, later: answer }
      if (trouble === 'error') return { first: refused(500, 'internal_error'), later: refused(500, 'internal_error') }
      if (trouble === 'empty') return { first: { status: 200, body: {} }, later: { status: 200, body: {} } }
      return { first: answer, later: answer }
    })
  }

  const cancel = (account: string, id: string): Answer => {
    const found = charges.get(id)
    if (found?.accountRef !== account) return refused(404, 'not_found')
    const now = Date.now()
    if (chargeStatus(found, now) === 'captured' || found.cancelledAt !== null)
      return { status: 200, body: showCharge(found, now) }
    const closed = { ...found, cancelledAt: now }
    note({ deed: 'cancelled', id, ourId: found.ourId, at: now })
    charges.set(id, closed)
    announce('charge', closed, [{ type: 'charge.cancelled', at: now, copies: 1 }])
    return { status: 200, body: showCharge(closed, now) }
  }

  const refund = (account: string, key: string, given: Record<string, unknown>): Answer =>
    once(account, key, given, () => {
      const now = Date.now()
      const found = charges.get(String(given.charge))
      const amount = Number(given.amount)
      const used = [...refunds.values()]
        .filter((one) => one.charge === found?.id && refundStatus(one, now) !== 'failed')
        .reduce((sum, one) => sum + one.amount, 0)
      if (!found || chargeStatus(found, now) !== 'captured' || used + amount > found.paidAmount) {
        const answer = found ? refused(402, 'amount_exceeds_charge') : refused(404, 'not_found')
        return { first: answer, later: answer }
      }
      const made: Refund = {
        id: reference('re'),
        ourId: String(given.ourId),
        accountRef: account,
        charge: found.id,
        amount,
        currency: String(given.currency),
        createdAt: now,
        ...planRefund(found.token, now, secondMs),
      }
      note({ deed: 'refunded', id: made.id, ourId: made.ourId, charge: found.id, amount, fails: made.failsAt !== null })
      refunds.set(made.id, made)
      announce('refund', made, refundCallbacks(made))
      const answer: Answer = { status: 201, body: showRefund(made, now) }
      return { first: answer, later: answer }
    })

  /** Entries that moved the balance of an account, as in the list that the service proves itself against. No entry has fees. */
  const moved = (account: string, now: number) => {
    const entry = (id: string, kind: string, gross: number, at: number, one: Charge | Refund, object: string) => ({
      object: 'transaction',
      id,
      kind,
      gross,
      fee: 0,
      platformFee: 0,
      net: gross,
      currency: one.currency,
      source: { object, id: one.id },
      payout: null,
      occurredAt: new Date(at).toISOString(),
      availableAt: new Date(at).toISOString(),
    })
    const paid = [...charges.values()]
      .filter((one) => one.accountRef === account && chargeStatus(one, now) === 'captured')
      .map((one) => entry(`txn_${one.id}`, 'charge', one.paidAmount, one.paidAt ?? now, one, 'charge'))
    const back = [...refunds.values()]
      .filter((one) => one.accountRef === account && one.succeedsAt !== null && one.succeedsAt <= now)
      .flatMap((one) => [
        entry(`txn_${one.id}`, 'refund', -one.amount, one.succeedsAt ?? now, one, 'refund'),
        ...(refundStatus(one, now) === 'failed'
          ? [entry(`txn_${one.id}_back`, 'refund_failure', one.amount, one.failsAt ?? now, one, 'refund')]
          : []),
      ])
    return [...paid, ...back].sort((one, other) => one.occurredAt.localeCompare(other.occurredAt))
  }

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://gateway')
    const body = request.method === 'POST' ? await bodyOf(request) : {}
    const account = request.headers['x-account']
    if (request.headers.authorization !== `Bearer ${secret}` || typeof account !== 'string')
      return refused(401, 'unauthenticated')
    if (mood === 'busy') return { ...refused(429, 'rate_limited'), headers: { 'retry-after': '1' } }
    if (mood === 'failing') return refused(500, 'internal_error')
    if (mood === 'hangs_before') return { status: 0, body: null, hang: true }
    if (mood === 'slow') await wait(secondMs * 12 + (charges.size % 7) * secondMs * 2)
    const done = act(request, pathname, searchParams, account, body)
    return mood === 'hangs_after' ? { ...done, hang: true } : done
  }

  const act = (
    request: IncomingMessage,
    path: string,
    search: URLSearchParams,
    account: string,
    body: Record<string, unknown>,
  ): Answer => {
    const key = request.headers['idempotency-key']
    if (request.method === 'POST') {
      const cancelled = /^\/charges\/([^/]+)\/cancel$/.exec(path)?.[1]
      if (cancelled) return cancel(account, cancelled)
      if (typeof key !== 'string') return refused(400, 'invalid_request')
      if (path === '/charges') return charge(account, key, body)
      return path === '/refunds' ? refund(account, key, body) : refused(404, 'not_found')
    }
    const now = Date.now()
    if (path === '/transactions') return { status: 200, body: { data: moved(account, now), hasMore: false } }
    if (path === '/payouts') return { status: 200, body: { data: [], hasMore: false } }
    const read = charges.get(/^\/charges\/([^/]+)$/.exec(path)?.[1] ?? '')
    if (read) return { status: 200, body: showCharge(read, now) }
    const ourId = search.get('ourId')
    const mine = (one: Charge | Refund) => one.accountRef === account && one.ourId === ourId
    if (path === '/charges')
      return { status: 200, body: { data: [...charges.values()].filter(mine).map((one) => showCharge(one, now)) } }
    if (path === '/refunds')
      return { status: 200, body: { data: [...refunds.values()].filter(mine).map((one) => showRefund(one, now)) } }
    return refused(404, 'not_found')
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { status, body, headers, hang } = await answer(request)
    const key = request.headers['idempotency-key']
    note({
      deed: 'asked',
      method: request.method ?? '',
      path: request.url ?? '',
      key: typeof key === 'string' ? key : null,
      mood,
      status: hang ? 0 : status,
    })
    if (!hang)
      response
        .writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
        .end(JSON.stringify(body))
  }

  const deliver = async (due: (typeof queue)[number]) => {
    const body = Buffer.from(JSON.stringify(due.body))
    const addresses = apis()
    const address = addresses[due.attempts % addresses.length] ?? ''
    try {
      const reply = await fetch(`${address}/api/callbacks/payments/sandbox`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sandbox-signature': signSandbox(body, new Date(), secret),
          connection: 'close',
        },
        body,
        signal: AbortSignal.timeout(10_000),
      })
      await reply.arrayBuffer()
      if (reply.ok) return
    } catch {
      // Sent again below.
    }
    if (due.attempts < 30) queue.push({ ...due, at: Date.now() + secondMs * 5, attempts: due.attempts + 1 })
  }

  let isStopped = false
  const loop = async () => {
    while (!isStopped) {
      const now = Date.now()
      const due = queue.filter((one) => one.at <= now).slice(0, 20)
      for (const one of due) queue.splice(queue.indexOf(one), 1)
      await Promise.all(due.map(deliver))
      await wait(Math.max(20, secondMs / 4))
    }
  }
  const delivering = loop()
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    behave: (next: GatewayMood) => {
      mood = next
    },
    stop: async () => {
      isStopped = true
      server.closeAllConnections()
      await Promise.all([delivering, new Promise<void>((resolve) => server.close(() => resolve()))])
    },
  }
}
