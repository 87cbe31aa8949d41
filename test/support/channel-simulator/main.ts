import { fstatSync } from 'node:fs'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ChannelRange } from '../../../config/channels.ts'
import { makeStore } from './store.ts'
import type { Mood, Store } from './store.ts'

/**
 * A channel manager in a process of its own: what it is told and what it has sold are in its memory alone. Under /control a test sees that, and
 * says how it behaves. It ends when its standard input does.
 */
type Account = { secret: string; store: Store; mood: Mood; waiting: (() => void)[] }
const accounts = new Map<string, Account>()

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

const answer = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

const isSigned = (request: IncomingMessage, secret: string, body: string): boolean => {
  const [, at = '', given = ''] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['x-pousada-signature'])) ?? []
  if (Math.abs(Date.now() / 1_000 - Number(at)) > 300) return false
  const right = createHmac('sha256', secret).update(`${at}.${body}`).digest()
  return timingSafeEqual(right, Buffer.from(given.padEnd(64, '0'), 'hex'))
}

const control = async (name: string, request: IncomingMessage, response: ServerResponse) => {
  const text = await bodyOf(request)
  const sent = text === '' ? {} : (JSON.parse(text) as { secret?: string; mood?: Mood; revisions?: { id: string }[] })
  const account = accounts.get(name) ?? { secret: '', store: makeStore(), mood: 'well', waiting: [] }
  accounts.set(name, account)
  if (sent.secret !== undefined) account.secret = sent.secret
  if (sent.mood !== undefined) account.mood = sent.mood
  if (sent.revisions) account.store.add(sent.revisions)
  if (account.mood !== 'waits') for (const go of account.waiting.splice(0)) go()
  answer(response, 200, account.store.shown())
}

const act = (account: Account, request: IncomingMessage, url: URL, body: string): unknown => {
  const { store, mood } = account
  const key = String(request.headers['idempotency-key'] ?? '')
  if (url.pathname === '/ping') return { ok: true }
  if (url.pathname === '/ari')
    return store.push(key, (JSON.parse(body) as { ranges: ChannelRange[] }).ranges, mood === 'rejects')
  if (url.pathname === '/bookings')
    return store.page(url.searchParams.get('after') ?? '', Number(url.searchParams.get('limit')), mood === 'repeats')
  if (url.pathname === '/bookings/acknowledge')
    return store.acknowledge((JSON.parse(body) as { ids: string[] }).ids) ?? {}
  return null
}

const serve = async (request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? '/', 'http://channel')
  const named = /^\/control\/([^/]+)$/.exec(url.pathname)?.[1]
  if (named !== undefined) return control(named, request, response)
  const account = accounts.get(String(request.headers['x-pousada-property']))
  const body = await bodyOf(request)
  const at = Date.now()
  if (!account || !isSigned(request, account.secret, body)) return answer(response, 401, { error: 'signature' })
  const { mood, store } = account
  const pushed = url.pathname === '/ari' ? (JSON.parse(body) as { kind: string; ranges: ChannelRange[] }) : null
  const note = (status: number) =>
    store.log.push({
      at,
      method: request.method ?? '',
      path: url.pathname,
      key: String(request.headers['idempotency-key'] ?? '') || null,
      kind: pushed?.kind ?? null,
      ranges: pushed?.ranges ?? [],
      status,
    })
  if (mood === 'busy') return note(429) && answer(response, 429, { error: 'limit' }, { 'retry-after': '1' })
  if (mood === 'failing') return note(500) && answer(response, 500, { error: 'failing' })
  if (mood === 'refuses') return note(403) && answer(response, 403, { error: 'refused' })
  const result = act(account, request, url, body)
  note(mood === 'drops' ? 0 : 200)
  if (mood === 'drops') return response.destroy()
  if (mood === 'waits') await new Promise<void>((go) => account.waiting.push(go))
  return result === null ? answer(response, 404, { error: 'unknown' }) : answer(response, 200, result)
}

const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
server.listen(Number(process.env.CHANNEL_SIMULATOR_PORT ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
// A test ends it by closing its pipe; a terminal by Ctrl-C. Without any input, as behind a service manager, it goes on.
const input = fstatSync(0)
if (input.isFIFO() || input.isSocket()) process.stdin.resume().on('end', () => process.exit(0))
