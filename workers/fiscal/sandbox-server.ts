import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { get, insert, reference } from '../gateways/sandbox-store.ts'
import type { Answer } from '../gateways/sandbox-store.ts'

/**
 * The sandbox authority: a city elsewhere, as far as the adapter can tell. It listens on loopback in the processes that run payment jobs, all of them over one
 * table. It answers by the local part of the taker's e-mail address: reject, slow, lost, nothing, cancel-refused, and all others are authorised.
 */
const secret = randomBytes(24).toString('base64url')

type Invoice = {
  id: string
  accountRef: string
  ourId: string
  number: string
  verificationCode: string
  accessKey: string
  total: number
  token: string
  authorisedAt: number
  cancelledAt: number | null
}

const refused = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
})
const notFound = refused(404, 'not_found', 'The authority knows no such number')
const notUnderstood = refused(400, 'invalid_request', 'The request is not understood')

/** Credentials that the authority takes back, for tests of a house whose certificate has ended. */
const badCredentials = 'refused'
/** Seconds of the sandbox for which a slow document is worked on, and a call hangs. */
const slowSeconds = 10
const hangsSeconds = 20

const digits = (length: number) => Array.from(randomBytes(length), (byte) => String(byte % 10)).join('')

const shown = (invoice: Invoice, now: number) =>
  invoice.authorisedAt > now
    ? { state: 'processing', retryAfterMs: Math.max(1, invoice.authorisedAt - now) }
    : {
        state: invoice.cancelledAt === null ? 'authorised' : 'cancelled',
        number: invoice.number,
        verificationCode: invoice.verificationCode,
        accessKey: invoice.accessKey,
        authorisedAt: new Date(invoice.authorisedAt).toISOString(),
        url: `https://nfse.sandbox.example/${invoice.accessKey}`,
        xml: `<NFSe><Numero>${invoice.number}</Numero><ChaveAcesso>${invoice.accessKey}</ChaveAcesso><Valor>${invoice.total}</Valor></NFSe>`,
      }

const idOf = (account: string, ourId: string) => `nfse ${account} ${ourId}`

/** Marks a number that was heard of and lost on the way, once. Answers whether it was the first time. */
const loseOnce = async (trx: PlatformTrx, accountRef: string, ourId: string): Promise<boolean> => {
  const made = await sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, our_id, state) values (?, 'nfse_lost', ?, ?, '{}') on conflict (id) do nothing returning id`,
    [`lost ${idOf(accountRef, ourId)}`, accountRef, ourId],
  )
  return made.length > 0
}

const issue = (accountRef: string, ourId: string, token: string, total: number): Promise<Answer> =>
  inPlatform(async (trx) => {
    // One after another, so that a number is issued once.
    await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, 0))`, [idOf(accountRef, ourId)])
    const now = Date.now()
    const before = await get<Invoice>(trx, 'nfse', accountRef, idOf(accountRef, ourId))
    if (before) return { status: before.authorisedAt > now ? 201 : 200, body: shown(before, now) }
    if (token === 'reject') return refused(422, 'E160', 'The taker of the service is not accepted')
    if (token === 'nothing' && (await loseOnce(trx, accountRef, ourId))) return { status: 200, body: {}, hang: true }
    const authorisedAt = token === 'slow' ? now + slowSeconds * settings.sandboxSecondMs : now
    const invoice: Invoice = {
      id: idOf(accountRef, ourId),
      accountRef,
      ourId,
      number: String(now),
      verificationCode: reference('v').slice(-8).toUpperCase(),
      accessKey: digits(50),
      total,
      token,
      authorisedAt,
      cancelledAt: null,
    }
    await insert(trx, 'nfse', invoice, invoice)
    return { status: authorisedAt > now ? 201 : 200, body: shown(invoice, now), hang: token === 'lost' }
  })

const read = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const invoice = await get<Invoice>(trx, 'nfse', accountRef, idOf(accountRef, ourId))
    return invoice ? { status: 200, body: shown(invoice, Date.now()) } : notFound
  })

const cancel = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const invoice = await get<Invoice>(trx, 'nfse', accountRef, idOf(accountRef, ourId), 'for update')
    if (!invoice) return notFound
    const now = Date.now()
    if (invoice.token === 'cancel-refused') return refused(422, 'E79', 'The authority keeps the document')
    const cancelled = { ...invoice, cancelledAt: invoice.cancelledAt ?? now }
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(cancelled), invoice.id])
    return { status: 200, body: shown(cancelled, now) }
  })

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as Record<string, unknown>
}

const answer = async (request: IncomingMessage): Promise<Answer> => {
  const account = request.headers['x-account']
  if (request.headers.authorization !== `Bearer ${secret}` || typeof account !== 'string')
    return refused(401, 'unauthenticated', 'The key is not known')
  if (request.headers['x-credentials'] === badCredentials)
    return refused(401, 'certificate_ended', 'The certificate has ended')
  const { pathname } = new URL(request.url ?? '/', 'http://sandbox')
  const [, kind, ourId, verb] = pathname.split('/')
  if (kind !== 'nfse') return notFound
  if (request.method === 'GET' && ourId) return read(account, ourId)
  if (request.method !== 'POST') return notFound
  const body = await bodyOf(request)
  if (ourId && verb === 'cancel') return cancel(account, ourId)
  const { rps, email, total } = body
  if (typeof rps !== 'string' || !Number.isSafeInteger(total)) return notUnderstood
  const token = typeof email === 'string' ? (email.split('@', 1)[0] ?? '') : ''
  return issue(account, rps, token, Number(total))
}

const serve = (request: IncomingMessage, response: ServerResponse) => {
  answer(request)
    .catch((error: unknown): Answer => {
      log.warn({ err: error }, 'the sandbox authority failed')
      return refused(500, 'internal_error', 'Something went wrong')
    })
    .then(({ status, body, hang }) => {
      if (hang) setTimeout(() => request.socket.destroy(), hangsSeconds * settings.sandboxSecondMs).unref()
      else
        response
          .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
          .end(JSON.stringify(body))
    })
    .catch((error: unknown) => log.warn({ err: error }, 'the sandbox authority could not answer'))
}

let running: Promise<{ url: string; secret: string }> | null = null

const begin = async () => {
  const server = createServer(serve)
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret }
}

/** The address of the authority, which this process starts once. It keeps no process alive. */
export const startAuthority = (): Promise<{ url: string; secret: string }> => {
  running ??= begin()
  return running
}
