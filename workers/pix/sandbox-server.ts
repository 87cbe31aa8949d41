import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import {
  closeCharge,
  endCall,
  listPix,
  makeCharge,
  readCharge,
  readPix,
  readReturn,
  readSent,
  register,
  returnPix,
  send,
  takeCalls,
  textIn,
} from './sandbox-book.ts'
import type { Answer } from './sandbox-book.ts'

/**
 * The sandbox bank: a machine elsewhere, as far as the adapter can tell. It listens on loopback in the processes that run payment jobs, all of them over one
 * table, and calls the address that a house has registered. A client secret of `wrong` is refused.
 */
const unknownPath: Answer = { status: 404, body: { error: { code: 'not_found', message: 'There is no such path' } } }

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as Record<string, unknown>
}

const write = async (
  account: string,
  [kind = '', id = '', verb = '', code = '']: string[],
  body: Record<string, unknown>,
): Promise<Answer> => {
  if (kind === 'hook') return register(account, textIn(body, 'url'))
  if (kind === 'charges') return verb === 'cancel' ? closeCharge(account, id) : makeCharge(account, id, body)
  if (kind === 'pix' && verb === 'returns') return returnPix(account, id, code, Number(body['amount']))
  return kind === 'sent' ? send(account, id, body) : unknownPath
}

const readOne = async (
  account: string,
  [kind = '', id = '', verb = '', code = '']: string[],
  query: URLSearchParams,
): Promise<Answer> => {
  if (kind === 'charges') return readCharge(account, id)
  if (kind === 'sent') return readSent(account, id)
  if (kind !== 'pix') return unknownPath
  if (id === '') return listPix(account, query.get('from') ?? '', query.get('to') ?? '', Number(query.get('page') ?? 0))
  return verb === 'returns' ? readReturn(account, id, code) : readPix(account, id)
}

const answer = async (request: IncomingMessage): Promise<Answer> => {
  const account = request.headers['x-account']
  const [, secret = ''] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
    .toString()
    .split(':')
  if (typeof account !== 'string' || secret === '' || secret === 'wrong')
    return { status: 401, body: { error: { code: 'unauthenticated', message: 'The credentials are not known' } } }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  const path = pathname.split('/').slice(1)
  return request.method === 'POST' ? write(account, path, await bodyOf(request)) : readOne(account, path, searchParams)
}

const serve = (request: IncomingMessage, response: ServerResponse) => {
  answer(request)
    .catch((error: unknown): Answer => {
      log.warn({ err: error }, 'the sandbox bank failed')
      return { status: 500, body: { error: { code: 'internal_error', message: 'Something went wrong' } } }
    })
    .then(({ status, body, hang }) => {
      // What is done is done: only its answer is lost.
      if (hang) request.socket.destroy()
      else
        response
          .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
          .end(JSON.stringify(body))
    })
    .catch((error: unknown) => log.warn({ err: error }, 'the sandbox bank could not answer'))
}

/** Makes the calls that are due. Answers how many there were. */
export const deliverPixCalls = async (): Promise<number> => {
  const due = await takeCalls()
  await Promise.all(
    due.map(async (one) => {
      const { endToEndId, txid } = one.state
      const heard =
        one.url !== null &&
        (await fetch(`${one.url}/pix`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ pix: [{ endToEndId, ...(txid === null ? {} : { txid }) }] }),
          redirect: 'manual',
          signal: AbortSignal.timeout(10_000),
        }).then(
          async (reply) => {
            await reply.arrayBuffer()
            return reply.ok
          },
          () => false,
        ))
      await endCall(one, heard)
    }),
  )
  return due.length
}

let running: Promise<{ url: string }> | null = null

const begin = async () => {
  const server = createServer(serve)
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const loop = () => {
    deliverPixCalls()
      .catch((error: unknown) => log.debug({ err: error }, 'calls of the sandbox bank wait'))
      .finally(() => setTimeout(loop, Math.min(500, Math.max(20, settings.sandboxSecondMs / 4))).unref())
  }
  loop()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The address of the bank, which this process starts once. It keeps no process alive. */
export const startSandboxBank = (): Promise<{ url: string }> => {
  running ??= begin()
  return running
}
