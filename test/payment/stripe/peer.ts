import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asOfNow, closeIntent, declineFor, makePlans, planIntent, planRefundOf, troubleOf } from './plans.ts'
import type { Plans } from './plans.ts'

/** A machine that keeps intents and refunds as Stripe does, over HTTP: forms in, JSON out. It can go wrong in each way that a machine elsewhere can. */
export type Fault =
  | 'none'
  | 'error_json'
  | 'error_html'
  | 'redirect'
  | 'empty'
  | 'reset'
  | 'reset_after'
  | 'other_amount'
  | 'other_currency'
  | 'other_id'
  | 'declined'
  | 'busy'
  | 'no_key'

type Form = Record<string, unknown>
type Kept = Form & { id: string; object: string; created: number; metadata: Record<string, string> }

type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: Form }

/** `a[b][0]=c` as an object; lists are those with numbers for names. */
export const parseForm = (text: string): Form => {
  const root: Form = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '')
    let at: Form = root
    for (const [index, key] of keys.entries()) {
      if (index === keys.length - 1) at[key] = value
      else at = (at[key] ??= {}) as Form
    }
  }
  const listed = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, inside]) => [key, listed(inside)] as const)
    return entries.length > 0 && entries.every(([key]) => /^\d+$/.test(key))
      ? entries.map(([, inside]) => inside)
      : Object.fromEntries(entries)
  }
  return listed(root) as Form
}

export type Peer = {
  url: string
  seen: Seen[]
  kept: Map<string, Kept>
  fault: Fault
  /** The connected account that alone meets the fault; null: all do. */
  faultOf: string | null
  plans: Plans
  close: () => Promise<void>
}

const paymentOf = (body: Form): string => String((body['metadata'] as Form | undefined)?.['paymentId'])

export type Judge = {
  request: (path: string, body: object) => string | null
  reply: (object: object) => string | null
}

export const startStripePeer = async (judge: Judge): Promise<Peer> => {
  const plans = makePlans()
  /** The number of calls that were answered badly. */
  const spoiled = new Map<string, number>()
  const kept = new Map<string, Kept>()
  const keys = new Map<string, { body: string; status: number; reply: unknown }>()
  let count = 0
  const add = (prefix: string, object: string, body: Form, more: Form): Kept => {
    count += 1
    const made = {
      ...more,
      id: `${prefix}_${count}`,
      object,
      created: Math.floor(Date.now() / 1_000),
      metadata: (body['metadata'] ?? {}) as Record<string, string>,
    }
    kept.set(made.id, made)
    return made
  }
  const intent = (body: Form): Kept => {
    const amount = Number(body['amount'])
    const isManual = body['capture_method'] === 'manual'
    const isConfirmed = body['confirm'] === 'true'
    const status = !isConfirmed ? 'requires_payment_method' : isManual ? 'requires_capture' : 'succeeded'
    return add('pi', 'payment_intent', body, {
      amount,
      currency: body['currency'],
      status,
      capture_method: isManual ? 'manual' : 'automatic',
      amount_received: status === 'succeeded' ? amount : 0,
      amount_capturable: status === 'requires_capture' ? amount : 0,
      client_secret: 'secret_of_intent',
      next_action: null,
      last_payment_error: null,
      latest_charge:
        status === 'succeeded'
          ? { object: 'charge', payment_method_details: { card: { brand: 'visa', last4: '4242' } } }
          : null,
      payment_method: 'pm_1',
      customer: body['customer'] ?? null,
    })
  }
  const paidAlready = {
    error: {
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      message: 'A succeeded intent cannot be canceled',
    },
  }
  const missing = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object' } }
  const act = (path: string, body: Form): [number, unknown] => {
    const [, , kind = '', id, verb] = path.split('/')
    const found = id ? kept.get(id) : undefined
    if (id && !found) return [404, missing]
    if (found && verb === 'capture') {
      Object.assign(found, {
        status: 'succeeded',
        amount_received: Number(body['amount_to_capture']),
        amount_capturable: 0,
      })
      return [200, found]
    }
    if (found && verb === 'cancel') {
      const closed = closeIntent(plans, found.id)
      if (closed === 'paid') return [400, paidAlready]
      return [200, closed === 'closed' ? asOfNow(plans, found) : Object.assign(found, { status: 'canceled' })]
    }
    if (kind === 'payment_intents') {
      const made = intent(body)
      planIntent(plans, made.id, String(made.metadata['paymentId']), body)
      return [200, asOfNow(plans, made)]
    }
    if (kind === 'refunds') {
      const currency = kept.get(String(body['payment_intent']))?.['currency']
      const made = add('re', 'refund', body, {
        amount: Number(body['amount']),
        currency,
        status: 'succeeded',
        payment_intent: body['payment_intent'],
      })
      planRefundOf(plans, made.id, String(body['payment_intent']), Number(body['amount']))
      return [200, asOfNow(plans, made)]
    }
    return kind === 'customers' ? [200, add('cus', 'customer', body, {})] : [404, missing]
  }
  const read = (path: string, query: URLSearchParams): [number, unknown] => {
    const [, , kind = '', id] = path.split('/')
    const known = id ? kept.get(id) : undefined
    if (id) return known ? [200, asOfNow(plans, known)] : [404, missing]
    for (const one of kept.values()) asOfNow(plans, one)
    const object = kind.replace(/s$/, '')
    const from = Number(query.get('created[gte]') ?? 0)
    const data = [...kept.values()].filter((one) => one.object === object && one.created >= from).reverse()
    const after = query.get('starting_after')
    const at = after ? data.findIndex((one) => one.id === after) + 1 : 0
    // Short pages, so that a list has more than one.
    return [200, { object: 'list', data: data.slice(at, at + 2), has_more: data.length > at + 2 }]
  }
  const spoilt = (fault: Fault, reply: unknown): unknown => {
    const body = reply as Form
    if (fault === 'other_amount') return { ...body, amount: Number(body['amount']) + 1 }
    if (fault === 'other_currency') return { ...body, currency: 'usd' }
    if (fault === 'other_id') return { ...body, id: 'ch_1' }
    return reply
  }
  const peer = {
    url: '',
    seen: [] as Seen[],
    kept,
    plans,
    fault: 'none' as Fault,
    faultOf: null as string | null,
    close: () => Promise.resolve(),
  }
  const answer = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const url = new URL(request.url ?? '/', 'http://stripe')
    const body = parseForm(text)
    const method = request.method ?? ''
    peer.seen.push({ method, path: url.pathname, headers: request.headers, body })
    const send = (status: number, reply: unknown, headers: Record<string, string> = {}) => {
      // A reply that Stripe's own types do not know would prove nothing.
      const wrong = peer.fault === 'none' && status === 200 ? judge.reply(reply as object) : null
      if (wrong) throw new Error(wrong)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(reply))
    }
    const isMet = peer.faultOf === null || request.headers['stripe-account'] === peer.faultOf
    const fault = isMet ? peer.fault : 'none'
    if (fault === 'reset') return void request.socket.destroy()
    if (fault === 'error_json') return send(500, { error: { type: 'api_error', message: 'Something went wrong' } })
    if (fault === 'error_html')
      return void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>')
    if (fault === 'redirect') return send(302, {}, { location: `${peer.url}/elsewhere` })
    if (fault === 'empty') return send(200, {})
    if (fault === 'busy')
      return send(429, { error: { type: 'rate_limit_error', message: 'Slow down' } }, { 'retry-after': '3' })
    if (fault === 'no_key') return send(401, { error: { type: 'invalid_request_error', message: 'Invalid API key' } })
    if (fault === 'declined')
      return send(402, {
        error: { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', message: 'No funds' },
      })
    if (method !== 'POST') {
      const [status, reply] = read(url.pathname, url.searchParams)
      return send(status, reply)
    }
    const wrong = judge.request(url.pathname, structuredClone(body))
    if (wrong) return send(400, { error: { type: 'invalid_request_error', code: 'parameter_unknown', message: wrong } })
    const key = `${String(request.headers['stripe-account'])} ${String(request.headers['idempotency-key'])}`
    const before = keys.get(key)
    if (before && before.body !== text)
      return send(400, { error: { type: 'idempotency_error', message: 'Keys are for one request' } })
    const token = url.pathname === '/v1/payment_intents' ? plans.tokens.get(paymentOf(body)) : undefined
    const decline = token === undefined ? null : declineFor(token)
    if (decline) return send(402, decline)
    const trouble = token === undefined ? null : troubleOf(token)
    if (trouble === 'hang_before') return void request.socket.destroy()
    const [status, reply] = before ? [before.status, before.reply] : act(url.pathname, body)
    keys.set(key, { body: text, status, reply })
    if (trouble === 'error') return send(500, { error: { type: 'api_error', message: 'Something went wrong' } })
    if (trouble === 'empty') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    // The SDK sends once more after a reset: that answer is lost too.
    if (trouble === 'hang_after' && tries(key) <= 2) return void request.socket.destroy()
    if (fault === 'reset_after') return void request.socket.destroy()
    return send(status, spoilt(fault, reply))
  }
  const tries = (key: string): number => {
    spoiled.set(key, (spoiled.get(key) ?? 0) + 1)
    return spoiled.get(key) ?? 0
  }
  const server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString('utf8')))
    request.on('end', () => answer(request, response, text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  peer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  peer.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return peer
}
