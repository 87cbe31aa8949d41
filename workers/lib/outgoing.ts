import { lookup } from 'node:dns/promises'
import { request as plainRequest } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export type OutgoingRequest = {
  url: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** A longer body ends the call. */
  mostBytes: number
  /** How much of its beginning is kept; all unless said. */
  keptBytes?: number
  /** For all of it, redirects and body included; 10 s unless said. */
  timeoutMs?: number
  signal: AbortSignal
}

export type OutgoingReply = {
  kind: 'answered'
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** Length of the whole body. */
  bytes: number
}
/**
 * `refused`: the address is not one that is called (not_https, address_not_public, redirect_elsewhere, too_many_redirects); nothing was
 * sent there. `not_sent`: no connection was made. `unknown`: it was, and no whole answer came (timed_out, too_large, or what the socket said).
 */
export type OutgoingOutcome = OutgoingReply | { kind: 'refused' | 'not_sent' | 'unknown'; code: string }

/** `timeoutMs`: how long calls to it may take where they say nothing else. */
type Peer = { host: string; port: number; timeoutMs?: number }
const peers = new Map<string, Omit<Peer, 'host'>>()
const longestMs = 10_000

/**
 * For code that starts a process of development or a test only: calls to `host` go to a peer on 127.0.0.1, as plain
 * HTTP. Every other rule stands. Answers how to take it back.
 */
export const standIn = ({ host, ...peer }: Peer): (() => void) => {
  peers.set(host, peer)
  return () => void peers.delete(host)
}

type Resolve = (host: string) => Promise<{ address: string; family: number }[]>
const resolveByDns: Resolve = (host) => lookup(host, { all: true })

class Refused extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

type Found = { address: string; family: number }[]

const until = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const give = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { once: true })
  })

/** Resolves a host and judges its addresses. One private address is enough to refuse, since any of them might be taken. */
const publicAddresses = async (host: string, resolve: Resolve, signal: AbortSignal): Promise<Found> => {
  const found =
    isIP(host) === 0 ? await Promise.race([resolve(host), until(signal)]) : [{ address: host, family: isIP(host) }]
  if (found.length === 0 || !found.every(({ address }) => isPublicAddress(address)))
    throw new Refused('address_not_public')
  return found
}

/** Connects to the addresses that were judged, so that a name cannot resolve differently the second time. */
const lookupOf =
  (found: Found): LookupFunction =>
  (_, options, done) =>
    options.all ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family ?? 0)

const mostRedirects = 3
// What was never connected cannot have been heard.
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENODATA'])

/** Where a call goes to: a peer of this process, or the public addresses of its host. */
const placeOf = async (url: URL, resolve: Resolve, signal: AbortSignal): Promise<number | Found> => {
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') throw new Refused('not_https')
  return peers.get(url.hostname)?.port ?? (await publicAddresses(bare(url), resolve, signal))
}

const bare = (url: URL) => url.hostname.replace(/^\[|\]$/g, '')

const ask = (
  url: URL,
  place: number | Found,
  { method = 'GET', headers = {}, body }: OutgoingRequest,
  signal: AbortSignal,
): Promise<{ request: ClientRequest; answer: IncomingMessage }> => {
  const options: RequestOptions = {
    method,
    // A connection of its own: one that was kept open was judged for another call.
    agent: false,
    signal,
    headers: {
      ...headers,
      'accept-encoding': 'identity',
      host: url.host,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    path: `${url.pathname}${url.search}`,
  }
  return new Promise((answered, failed) => {
    const request =
      typeof place === 'number'
        ? plainRequest({ ...options, host: '127.0.0.1', port: place })
        : secureRequest({ ...options, host: bare(url), port: url.port || 443, lookup: lookupOf(place) })
    request.once('response', (answer) => answered({ request, answer }))
    request.on('error', failed)
    request.end(body)
  })
}

const bodyOf = async (answer: IncomingMessage, mostBytes: number, keptBytes: number) => {
  const kept: Buffer[] = []
  let bytes = 0
  if (Number(answer.headers['content-length'] ?? 0) > mostBytes) throw new Refused('too_large')
  for await (const part of answer as AsyncIterable<Buffer>) {
    const room = keptBytes - bytes
    bytes += part.length
    if (bytes > mostBytes) throw new Refused('too_large')
    if (room > 0) kept.push(part.subarray(0, room))
  }
  return { body: Buffer.concat(kept), bytes }
}

/** Where a GET is sent on to: the same host, or nowhere. */
const nextOf = (url: URL, answer: IncomingMessage): URL | null => {
  const { location } = answer.headers
  const moved = [301, 302, 303, 307, 308].includes(answer.statusCode ?? 0)
  if (!moved || location === undefined || !URL.canParse(location, url.href)) return null
  const next = new URL(location, url)
  if (next.protocol !== 'https:' || next.host !== url.host) throw new Refused('redirect_elsewhere')
  return next
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'

/**
 * The only way to call an address that a user has given: https, public addresses alone, judged for the connection that is
 * made, no redirect to another host (a POST follows none), an end to time and length. Nothing throws for what the other side did, and
 * nothing is repeated.
 */
export const callOut = async (sent: OutgoingRequest, resolve: Resolve = resolveByDns): Promise<OutgoingOutcome> => {
  if (!URL.canParse(sent.url)) return { kind: 'refused', code: 'not_https' }
  let url = new URL(sent.url)
  const { mostBytes, keptBytes = mostBytes, timeoutMs = peers.get(url.hostname)?.timeoutMs ?? longestMs } = sent
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([sent.signal, deadline])
  let wasHeard = false
  let request: ClientRequest | null = null
  try {
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const asked = await ask(url, await placeOf(url, resolve, signal), sent, signal)
      const { answer } = asked
      request = asked.request
      wasHeard = true
      const next = (sent.method ?? 'GET') === 'GET' ? nextOf(url, answer) : null
      if (!next) {
        const { statusCode: status = 0, headers } = answer
        return { kind: 'answered', status, headers, ...(await bodyOf(answer, mostBytes, keptBytes)) }
      }
      request.destroy()
      url = next
    }
    return { kind: 'refused', code: 'too_many_redirects' }
  } catch (error) {
    if (sent.signal.aborted && !deadline.aborted) throw error
    if (deadline.aborted) return { kind: 'unknown', code: 'timed_out' }
    const code = codeOf(error)
    if (error instanceof Refused) return { kind: code === 'too_large' ? 'unknown' : 'refused', code }
    return { kind: !wasHeard && neverConnected.has(code) ? 'not_sent' : 'unknown', code }
  } finally {
    request?.destroy()
  }
}
