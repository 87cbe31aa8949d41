import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { AddressRefused, bareHost, peerOf, placeOf } from '../../config/outgoing-address.ts'
import type { Found, Resolve } from '../../config/outgoing-address.ts'

export { standIn } from '../../config/outgoing-address.ts'

/** Connections that several calls of one sender share, one after the other. */
export type Connections = {
  plain: PlainAgent
  secure: SecureAgent
  /** Places of addresses as they were judged when the first call to each was made; later connections lead to the very same. */
  places: Map<string, number | Found>
  close: () => void
}

/**
 * Keeps connections open between calls, for the few seconds of one sender: each leads to an address that was judged when it was made. A call that finds its
 * kept connection closed is sent once more over a new one, so that this is for calls that may be heard twice.
 */
export const keepConnections = (): Connections => {
  const [plain, secure] = [new PlainAgent({ keepAlive: true }), new SecureAgent({ keepAlive: true })]
  return {
    plain,
    secure,
    places: new Map(),
    close: () => {
      plain.destroy()
      secure.destroy()
    },
  }
}

export type OutgoingRequest = {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH'
  headers?: Record<string, string>
  body?: string
  /** Sends no header but these, and those that HTTP itself needs. */
  onlyThese?: boolean
  /** A connection of its own unless given. */
  connections?: Connections
  /** A longer body ends the call. */
  mostBytes: number
  /** The number of its first bytes that are kept; all unless said. */
  keptBytes?: number
  /** For all of it, redirects and body included; 10 s unless said. */
  timeoutMs?: number
  /** Until the connection stands; as long as all of it unless said. */
  connectMs?: number
  /** Certificate and key, in PEM, by which the caller proves itself to the other side. */
  identity?: { cert: string; key: string } | undefined
  /** Lifts the rules of addresses, where that is set for this process unless said. */
  allowPrivate?: boolean
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
 * `refused`: the address is not one that is called (not_https, user_info_refused, port_not_allowed, address_not_public, redirect_elsewhere,
 * too_many_redirects); nothing was sent there. `not_sent`: no connection was made. `unknown`: it was, and no whole answer came (timed_out, too_large, or what the socket said).
 */
export type OutgoingOutcome = OutgoingReply | { kind: 'refused' | 'not_sent' | 'unknown'; code: string }

const longestMs = 10_000

class Refused extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** Connects to the addresses that were judged, so that a name cannot resolve differently the second time. */
const lookupOf =
  (found: Found): LookupFunction =>
  (_, options, done) =>
    options.all ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family ?? 0)

const mostRedirects = 3
// A request that was never connected cannot have been heard.
const neverConnected = new Set([
  'ECONNREFUSED',
  'ECONNECTTIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENODATA',
])

/** Gives up on a connection that is not there in time: nothing was sent. */
const limitConnecting = (request: ClientRequest, ms: number): void => {
  const timer = setTimeout(() => {
    const late = Object.assign(new Error('not connected in time'), { code: 'ECONNECTTIMEOUT' })
    request.destroy(late)
  }, ms)
  const stop = () => clearTimeout(timer)
  request.once('socket', (socket) => {
    if (request.reusedSocket) return stop()
    const event = 'encrypted' in socket ? 'secureConnect' : 'connect'
    socket.once(event, stop)
  })
  request.once('close', stop)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'

const over = (agent: PlainAgent | undefined) => (agent ? { agent } : {})

const closedMeanwhile = new Set(['ECONNRESET', 'EPIPE'])

/** A peer of this process speaks plain HTTP, or TLS by a certificate of its own. */
const askPeer = (host: string, port: number, options: RequestOptions, connections?: Connections): ClientRequest => {
  const ca = peerOf(host)?.ca
  return ca === undefined
    ? plainRequest({ ...options, ...over(connections?.plain), host: '127.0.0.1', port })
    : secureRequest({ ...options, ...over(connections?.secure), host: '127.0.0.1', port, servername: 'localhost', ca })
}

const ask = (
  url: URL,
  place: number | Found,
  sent: OutgoingRequest,
  signal: AbortSignal,
  connections?: Connections,
): Promise<{ request: ClientRequest; answer: IncomingMessage }> => {
  const { method = 'GET', headers = {}, body, connectMs, identity, onlyThese = false } = sent
  const options: RequestOptions & { cert?: string; key?: string } = {
    method,
    // A connection of its own, unless those of the sender were judged for it.
    agent: false,
    ...identity,
    signal,
    headers: {
      ...headers,
      ...(onlyThese ? {} : { 'accept-encoding': 'identity' }),
      host: url.host,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    path: `${url.pathname}${url.search}`,
  }
  return new Promise((answered, failed) => {
    const request =
      typeof place === 'number'
        ? askPeer(url.hostname, place, options, connections)
        : url.protocol === 'http:'
          ? plainRequest({
              ...options,
              ...over(connections?.plain),
              host: bareHost(url),
              port: url.port || 80,
              lookup: lookupOf(place),
            })
          : secureRequest({
              ...options,
              ...over(connections?.secure),
              host: bareHost(url),
              port: url.port || 443,
              lookup: lookupOf(place),
            })
    if (connectMs !== undefined) limitConnecting(request, connectMs)
    request.once('response', (answer) => answered({ request, answer }))
    request.on('error', (error) => {
      const isStale = request.reusedSocket && !signal.aborted && closedMeanwhile.has(codeOf(error))
      if (isStale) ask(url, place, sent, signal).then(answered, failed)
      else failed(error)
    })
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

/** The address that a GET is sent on to: the same host, or none. */
const nextOf = (url: URL, answer: IncomingMessage): URL | null => {
  const { location } = answer.headers
  const moved = [301, 302, 303, 307, 308].includes(answer.statusCode ?? 0)
  if (!moved || location === undefined || !URL.canParse(location, url.href)) return null
  const next = new URL(location, url)
  if (next.protocol !== 'https:' || next.host !== url.host) throw new Refused('redirect_elsewhere')
  return next
}

/**
 * The only way to call an address that a user has given: https, public addresses alone, judged for the connection that is
 * made, no redirect to another host (a POST follows none), an end to time and length. Nothing throws for what the other side did, and
 * nothing is repeated.
 */
export const callOut = async (sent: OutgoingRequest, resolve?: Resolve): Promise<OutgoingOutcome> => {
  if (!URL.canParse(sent.url)) return { kind: 'refused', code: 'not_https' }
  let url = new URL(sent.url)
  const { mostBytes, keptBytes = mostBytes, timeoutMs = peerOf(url.hostname)?.timeoutMs ?? longestMs } = sent
  const judging = {
    ...(resolve ? { resolve } : {}),
    ...(sent.allowPrivate === undefined ? {} : { allowPrivate: sent.allowPrivate }),
  }
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([sent.signal, deadline])
  let wasHeard = false
  let request: ClientRequest | null = null
  try {
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const place = sent.connections?.places.get(url.href) ?? (await placeOf(url, { ...judging, signal }))
      sent.connections?.places.set(url.href, place)
      const asked = await ask(url, place, sent, signal, sent.connections)
      const { answer } = asked
      request = asked.request
      wasHeard = true
      const next = (sent.method ?? 'GET') === 'GET' ? nextOf(url, answer) : null
      if (!next) {
        const { statusCode: status = 0, headers } = answer
        const read = await bodyOf(answer, mostBytes, keptBytes)
        // Read to its end, its connection may serve the next call.
        if (sent.connections) request = null
        return { kind: 'answered', status, headers, ...read }
      }
      request.destroy()
      url = next
    }
    return { kind: 'refused', code: 'too_many_redirects' }
  } catch (error) {
    if (sent.signal.aborted && !deadline.aborted) throw error
    if (deadline.aborted) return { kind: 'unknown', code: 'timed_out' }
    const code = codeOf(error)
    if (error instanceof AddressRefused) return { kind: 'refused', code }
    if (error instanceof Refused) return { kind: code === 'too_large' ? 'unknown' : 'refused', code }
    return { kind: !wasHeard && neverConnected.has(code) ? 'not_sent' : 'unknown', code }
  } finally {
    request?.destroy()
  }
}
