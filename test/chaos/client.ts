import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOf } from '../support/client.ts'
import type { Reply, RequestOptions } from '../support/client.ts'
import { isDeskAction } from './desk-commands.ts'
import type { Command, Ledger } from './ledger.ts'
import type { Random } from './random.ts'

/** So long a client repeats a command before it goes away without an answer. */
const patienceMs = 25_000
const replyMs = 30_000

export const saysYes = (reply: Reply) => reply.status === 200 || reply.status === 201

const isLost = (reply: Reply) =>
  reply.status >= 500 ||
  reply.status === 429 ||
  reply.body?.code === 'request_in_progress' ||
  reply.body?.code === 'inventory_contended' ||
  reply.body?.code === 'folio_busy'

export type Insistent = {
  /** One try; null where no answer came. */
  send: (base: string, method: string, path: string, options: RequestOptions) => Promise<Reply | null>
  /** Asks again until there is an answer, or no patience. */
  read: (random: Random, path: string, options: RequestOptions) => Promise<Reply | null>
  /** Repeats a command under its key until there is an answer or patience ends, and records it. */
  command: (
    random: Random,
    action: Command['action'],
    path: string,
    options: RequestOptions,
    who: { bookingId: string | null; email: string },
  ) => Promise<Reply | null>
}

/** A client that does not give up, and keeps its own record of what it was told. */
export const insistentClient = (apis: readonly string[], ledger: Ledger): Insistent => {
  const note = (method: string, path: string, requestId: string, reply: Reply) => {
    if (reply.status < 500 || reply.status === 503) return
    const body = JSON.stringify(reply.body).slice(0, 500)
    ledger.fail({ at: new Date().toISOString(), method, path, status: reply.status, body, requestId })
  }

  const send: Insistent['send'] = async (base, method, path, options) => {
    const asked = clientOf(base)(method, path, options)
    asked.catch(() => {})
    const reply = await Promise.race([asked, wait(replyMs, null, { ref: false })]).catch(() => null)
    if (reply) note(method, path, options.headers?.['x-request-id'] ?? '', reply)
    return reply
  }

  const read: Insistent['read'] = async (random, path, options) => {
    for (const end = Date.now() + patienceMs; Date.now() < end; await wait(150)) {
      const reply = await send(random.pick(apis), 'GET', path, options)
      if (reply && !isLost(reply)) return reply
    }
    return null
  }

  const insist = async (random: Random, path: string, options: RequestOptions, answerOf: (reply: Reply) => string) => {
    const accepted: Reply[] = []
    const both = random.chance(0.15)
    let told: Reply | null = null
    let tries = 0
    for (const end = Date.now() + patienceMs; Date.now() < end; await wait(random.between(50, 500))) {
      const bases = both ? apis : [random.pick(apis)]
      const replies = (await Promise.all(bases.map((base) => send(base, 'POST', path, options)))).filter(
        (reply): reply is Reply => reply !== null,
      )
      tries += bases.length
      accepted.push(...replies.filter(saysYes))
      told = accepted[0] ?? replies.find((reply) => !isLost(reply)) ?? null
      // A client that was told yes asks once more now and then: the answer must be the same.
      if (told && !(accepted.length === 1 && random.chance(0.1))) break
    }
    return { reply: told, tries, differing: Math.max(0, new Set(accepted.map(answerOf)).size - 1) }
  }

  const command: Insistent['command'] = async (random, action, path, options, { bookingId, email }) => {
    const [requestId, key] = [`chaos-${randomUUID()}`, randomUUID()]
    const idOf = ({ body }: Reply) =>
      String(
        action === 'public.createPayment' ? body.paymentId : action.startsWith('public.') ? body.bookingId : body.id,
      )
    const answerOf = (reply: Reply) =>
      isDeskAction(action) ? `${idOf(reply)} ${reply.body.status} ${reply.body.version}` : idOf(reply)
    const { reply, tries, differing } = await insist(
      random,
      path,
      { ...options, idempotencyKey: key, headers: { ...options.headers, 'x-request-id': requestId } },
      answerOf,
    )
    const subject = reply && saysYes(reply) ? idOf(reply) : null
    ledger.command({
      requestId,
      action,
      key,
      outcome: reply === null ? 'unknown' : subject === null ? 'refused' : 'accepted',
      status: reply?.status ?? null,
      code: typeof reply?.body?.code === 'string' ? reply.body.code : null,
      subject,
      bookingId: bookingId ?? subject,
      email,
      tries,
      differing,
    })
    return reply
  }
  return { send, read, command }
}
