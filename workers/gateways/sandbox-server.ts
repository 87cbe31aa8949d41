import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { signSandbox } from '../../db/payment/index.ts'
import {
  cancelCharge,
  captureCharge,
  createCharge,
  createRefund,
  findCharges,
  findRefunds,
  readCharge,
} from './sandbox-charges.ts'
import type { ChargeRequest, RefundRequest } from './sandbox-charges.ts'
import { cameAbout, endCallback, takeCallbacks } from './sandbox-store.ts'
import {
  answerDispute,
  closeLink,
  createAccount,
  createLink,
  createMethod,
  endAccount,
  endMethod,
  findAccounts,
  findLinks,
  findMethods,
  makeOnboarding,
  readAccount,
  readDispute,
  readLink,
  readMethod,
} from './sandbox-accounts.ts'
import { listPaidOut, listPayouts, listTransactions, settleDue } from './sandbox-books.ts'
import type { Answer, CallbackDue } from './sandbox-store.ts'

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

const textIn = (body: unknown, name: string): string | null => {
  const value = (body as Record<string, unknown> | null)?.[name]
  return typeof value === 'string' ? value : null
}

/** Does to one object the act that the verb at the end of its path names. */
const act = (account: string, kind: string, id: string, verb: string, body: unknown): Promise<Answer> | Answer => {
  const given = (body ?? {}) as Record<string, unknown>
  switch (`${kind} ${verb}`) {
    case 'charges cancel':
      return cancelCharge(account, id)
    case 'charges capture':
      return Number.isSafeInteger(given['amount'])
        ? captureCharge(account, id, {
            amount: Number(given['amount']),
            platformFee: Number(given['platformFee'] ?? 0),
          })
        : invalid
    case 'links close':
      return closeLink(account, id)
    case 'methods detach':
      return endMethod(account, id)
    case 'accounts onboarding':
      return makeOnboarding(id)
    case 'accounts close':
      return endAccount(id)
    case 'disputes respond':
      return answerDispute(account, id, {
        action: given['action'] === 'accept' ? 'accept' : 'contest',
        evidence: (given['evidence'] ?? {}) as Record<string, string>,
      })
    default:
      return notFound
  }
}

const make = (account: string, path: string, key: string, body: unknown): Promise<Answer> | Answer => {
  const ourId = textIn(body, 'ourId')
  switch (path) {
    case '/charges':
      return isCharge(body) ? createCharge(account, key, body) : invalid
    case '/links':
      return isCharge(body) ? createLink(account, key, body) : invalid
    case '/refunds':
      return isRefund(body) ? createRefund(account, key, body) : invalid
    case '/accounts':
      return ourId ? createAccount(key, { ourId, token: textIn(body, 'token') ?? 'active' }) : invalid
    case '/methods':
      return ourId
        ? createMethod(account, key, {
            ourId,
            customer: textIn(body, 'customer'),
            token: textIn(body, 'token') ?? 'success',
          })
        : invalid
    default:
      return notFound
  }
}

const readOne = (account: string, kind: string, id: string): Promise<Answer> | Answer => {
  switch (kind) {
    case 'charges':
      return readCharge(account, id)
    case 'accounts':
      return readAccount(id)
    case 'methods':
      return readMethod(account, id)
    case 'links':
      return readLink(account, id)
    case 'disputes':
      return readDispute(account, id)
    default:
      return notFound
  }
}

const listOf = (account: string, path: string, query: URLSearchParams): Promise<Answer> | Answer => {
  if (path === '/transactions') return listTransactions(account, query.get('since'), query.get('after'))
  if (path === '/payouts') return listPayouts(account)
  const ourId = query.get('ourId')
  if (!ourId) return notFound
  switch (path) {
    case '/charges':
      return findCharges(account, ourId)
    case '/refunds':
      return findRefunds(account, ourId)
    case '/accounts':
      return findAccounts(ourId)
    case '/methods':
      return findMethods(account, ourId)
    case '/links':
      return findLinks(account, ourId)
    default:
      return notFound
  }
}

const answer = async (request: IncomingMessage): Promise<Answer> => {
  const account = request.headers['x-account']
  if (request.headers.authorization !== `Bearer ${secret}` || typeof account !== 'string')
    return { status: 401, body: { error: { code: 'unauthenticated', message: 'The key is not known' } } }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  const key = request.headers['idempotency-key']
  const [, kind = '', id, verb] = pathname.split('/')
  if (request.method === 'POST') {
    const body = await bodyOf(request)
    if (id && verb) return act(account, kind, id, verb, body)
    return typeof key === 'string' ? make(account, pathname, key, body) : invalid
  }
  if (id && verb === 'transactions') return listPaidOut(account, id)
  return id ? readOne(account, kind, id) : listOf(account, pathname, searchParams)
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
    settleDue()
      .then(deliverCallbacks)
      .catch((error: unknown) => log.debug({ err: error }, 'callbacks of the sandbox gateway wait'))
      .finally(() => setTimeout(loop, Math.min(500, Math.max(20, settings.sandboxSecondMs / 4))).unref())
  }
  loop()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret }
}

/** The address of the gateway: elsewhere, or in this process, which starts it once. It keeps no process alive. */
export const startSandbox = (): Promise<{ url: string; secret: string }> => {
  if (settings.sandboxUrl)
    return Promise.resolve({ url: settings.sandboxUrl, secret: settings.sandboxCallbackSecrets[0] ?? '' })
  running ??= begin()
  return running
}
