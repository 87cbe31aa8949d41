import { request as send } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'

export type Reply<Body = Parsed> = {
  status: number
  headers: IncomingHttpHeaders
  /** Parsed where it is JSON, else the text. */
  body: Body
}

/** The type that JSON.parse answers. A test reads it without declaring it first. */
export type Parsed = ReturnType<typeof JSON.parse>

export type RequestOptions = {
  /** Bearer token. */
  token?: string
  /** API key. */
  key?: string
  /** Token of a guest. */
  guest?: string
  /** Idempotency-Key. */
  idempotencyKey?: string
  body?: unknown
  headers?: Record<string, string>
  /** As it stands, in place of `body`. */
  raw?: string | Buffer
  /** The address to send from, of 127.0.0.0/8: another client, as far as limits go. */
  from?: string
}

export type Client = <Body = Parsed>(method: string, path: string, options?: RequestOptions) => Promise<Reply<Body>>

/** A small client of one server; one connection per request, so that nothing is left open. */
export const clientOf =
  (baseUrl: string): Client =>
  (method, path, { token, key, guest, idempotencyKey, body, headers = {}, raw, from } = {}) =>
    new Promise((resolve, reject) => {
      const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
      const request = send(`${baseUrl}${path}`, {
        method,
        agent: false,
        ...(from === undefined ? {} : { localAddress: from }),
        headers: {
          ...(content === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(key === undefined ? {} : { 'x-api-key': key }),
          ...(guest === undefined ? {} : { 'x-guest-token': guest }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8')
          const json = /json/.test(response.headers['content-type'] ?? '') && text !== ''
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: json ? JSON.parse(text) : text })
        })
      })
      request.end(content)
    })
