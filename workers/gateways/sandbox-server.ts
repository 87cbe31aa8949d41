import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { signSandbox } from '../../db/payment/index.ts'
import {
  cameAbout,
  cancelCharge,
  createCharge,
  createRefund,
  endCallback,
  findCharges,
  findRefunds,
  readCharge,
  takeCallbacks,
} from './sandbox-store.ts'
import type { Answer, CallbackDue, ChargeRequest, RefundRequest } from './sandbox-store.ts'

/**
 * The sandbox gateway: a machine elsewhere, as far as the adapter can tell. It listens on loopback in the processes that run payment
 * jobs, all of them over one table, and sends its callbacks over HTTP with a real signature.
 */
const secret = randomBytes(24).toString('base64url')

const notFound: Answer = { status: 404, body: { error: { code: 'not_found', message: 'There is no such path' } } }
const invalid: Answer = {
  status: 400,
  body: { error: { code: 'invalid_request', message: 'The request is not understood' } },
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}')
}

const isCharge = (body: unknown): body is ChargeRequest => {
  const given = body as Partial<ChargeRequest> | null
  return (
    typeof given?.ourId === 'string' &&
    Number.isSafeInteger(given.amount) &&
    typeof given.currency === 'string' &&
    typeof given.token === 'string'
  )
}

const isRefund = (body: unknown): body is RefundRequest => {
  const given = body as Partial<RefundRequest> | null
  return typeof given?.ourId === 'string' && Number.isSafeInteger(given.amount) && typeof given.charge === 'string'
}

const answer = async (request: IncomingMessage): Promise<Answer> => {
  const account = request.headers['x-account']
  if (request.headers.authorization !== `Bearer ${secret}` || typeof account !== 'string')
    return { status: 401, body: { error: { code: 'unauthenticated', message: 'The key is not known' } } }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  const key = request.headers['idempotency-key']
  if (request.method === 'POST') {
    const body = await bodyOf(request)
    const cancelled = /^\/charges\/([^/]+)\/cancel$/.exec(pathname)?.[1]
    if (cancelled) return cancelCharge(account, cancelled)
    if (typeof key !== 'string') return invalid
    if (pathname === '/charges') return isCharge(body) ? createCharge(account, key, body) : invalid
    if (pathname === '/refunds') return isRefund(body) ? createRefund(account, key, body) : invalid
    return notFound
  }
  const read = /^\/charges\/([^/]+)$/.exec(pathname)?.[1]
  if (read) return readCharge(account, read)
  const ourId = searchParams.get('ourId')
  if (pathname === '/charges' && ourId) return findCharges(account, ourId)
  if (pathname === '/refunds' && ourId) return findRefunds(account, ourId)
  return notFound
}

/** For so many of its seconds a call that it hangs on stays open. */
const hangsSeconds = 20

const serve = (request: IncomingMessage, response: ServerResponse) => {
  answer(request)
    .catch((error: unknown): Answer => {
      log.warn({ err: error }, 'the sandbox gateway failed')
      return { status: 500, body: { error: { code: 'internal_error', message: 'Something went wrong' } } }
    })
    .then(({ status, body, hang }) => {
      // A hanging charge is never answered.
      if (hang) setTimeout(() => request.socket.destroy(), hangsSeconds * settings.sandboxSecondMs).unref()
      else
        response
          .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
          .end(JSON.stringify(body))
    })
    .catch((error: unknown) => log.warn({ err: error }, 'the sandbox gateway could not answer'))
}

const deliver = async (due: CallbackDue): Promise<boolean> => {
  const { type, object, ref, ourId, copies } = due.state
  const body = Buffer.from(
    JSON.stringify({ id: due.id, type, account: due.accountRef, object, ref, ourId, created: Date.now() }),
  )
  const send = async () => {
    const reply = await fetch(`${settings.publicBaseUrl}/api/callbacks/payments/sandbox`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sandbox-signature': signSandbox(body, new Date()),
        connection: 'close',
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    })
    await reply.arrayBuffer()
    return reply.ok
  }
  const replies = await Promise.allSettled(Array.from({ length: copies }, send))
  return replies.some((reply) => reply.status === 'fulfilled' && reply.value)
}

/** Sends the callbacks that are due. Answers how many there were. */
export const deliverCallbacks = async (): Promise<number> => {
  const due = await takeCallbacks()
  await Promise.all(
    due.map(async (one) => {
      await endCallback(one, !(await cameAbout(one)) || (await deliver(one)))
    }),
  )
  return due.length
}

let running: Promise<{ url: string; secret: string }> | null = null

const begin = async () => {
  const server = createServer(serve)
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const loop = () => {
    deliverCallbacks()
      .catch((error: unknown) => log.debug({ err: error }, 'callbacks of the sandbox gateway wait'))
      .finally(() => setTimeout(loop, Math.min(500, Math.max(20, settings.sandboxSecondMs / 4))).unref())
  }
  loop()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret }
}

/** Where the gateway is: elsewhere, or in this process, where it is started once. It keeps no process alive. */
export const startSandbox = (): Promise<{ url: string; secret: string }> => {
  if (settings.sandboxUrl)
    return Promise.resolve({ url: settings.sandboxUrl, secret: settings.sandboxCallbackSecrets[0] ?? '' })
  running ??= begin()
  return running
}
