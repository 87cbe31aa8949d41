import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOf } from '../support/client.ts'
import type { Reply, RequestOptions } from '../support/client.ts'
import type { House } from '../support/factories.ts'
import type { Command, Ledger } from './ledger.ts'
import { randomOf } from './random.ts'
import type { Random } from './random.ts'

type Options = {
  apis: readonly string[]
  houses: readonly House[]
  ledger: Ledger
  seed: number
  guests: number
  /** Lets the time of a hold be over. */
  outlive: (house: House, bookingId: string) => Promise<void>
}

const tokens = {
  success: 50,
  decline: 4,
  action: 5,
  action_abandoned: 2,
  timeout_taken: 4,
  timeout_nothing: 2,
  error_replayed: 3,
  malformed: 3,
  duplicate_callback: 6,
  reordered_callback: 5,
  lost_callback: 4,
  refund_fails: 3,
  refund_returns: 3,
} as const
const ways = { pay: 70, expire: 8, release: 8, payLate: 6, payTwice: 8 } as const

/** So long a client repeats a command before it goes away without an answer. */
const patienceMs = 25_000
const replyMs = 30_000

type Told = { reply: Reply | null; tries: number; differing: number }

/** Guests who book, pay and cancel, and repeat what was not answered, until they are told to stop. */
export const startLoad = ({ apis, houses, ledger, seed, guests, outlive }: Options) => {
  let isOver = false
  let reads = 0

  const note = (method: string, path: string, requestId: string, reply: Reply) => {
    if (reply.status < 500 || reply.status === 503) return
    const body = JSON.stringify(reply.body).slice(0, 500)
    ledger.fail({ at: new Date().toISOString(), method, path, status: reply.status, body, requestId })
  }

  /** One try; null where no answer came. */
  const send = async (base: string, method: string, path: string, options: RequestOptions): Promise<Reply | null> => {
    const asked = clientOf(base)(method, path, options)
    asked.catch(() => {})
    const reply = await Promise.race([asked, wait(replyMs).then(() => null)]).catch(() => null)
    if (reply) note(method, path, options.headers?.['x-request-id'] ?? '', reply)
    return reply
  }

  const either = (random: Random) => random.pick(apis)

  const read = async (random: Random, path: string, options: RequestOptions): Promise<Reply | null> => {
    for (const end = Date.now() + patienceMs; !isOver && Date.now() < end; await wait(150)) {
      reads += 1
      const reply = await send(either(random), 'GET', path, options)
      if (reply && reply.status !== 503 && reply.status !== 429) return reply
    }
    return null
  }

  const saysYes = (reply: Reply) => reply.status === 200 || reply.status === 201
  const isLost = (reply: Reply | null) =>
    reply === null ||
    reply.status === 503 ||
    reply.status === 429 ||
    reply.status >= 500 ||
    reply.body?.code === 'request_in_progress' ||
    reply.body?.code === 'inventory_contended'

  /** The same command again and again under its key, until there is an answer or no patience. */
  const insist = async (
    random: Random,
    path: string,
    options: RequestOptions,
    idOf: (body: Reply['body']) => unknown,
  ) => {
    const told: Told = { reply: null, tries: 0, differing: 0 }
    const accepted: Reply[] = []
    const twice = random.chance(0.15)
    for (const end = Date.now() + patienceMs; Date.now() < end; await wait(random.between(50, 500))) {
      const bases = twice ? apis : [either(random)]
      const replies = await Promise.all(bases.map((base) => send(base, 'POST', path, options)))
      told.tries += bases.length
      accepted.push(...replies.filter((reply): reply is Reply => reply !== null && saysYes(reply)))
      told.reply = accepted.at(-1) ?? replies.find((reply) => !isLost(reply)) ?? null
      // Who was told yes asks once more now and then: the answer must be the same.
      if (told.reply && !(accepted.length === 1 && random.chance(0.1))) break
    }
    told.reply = accepted[0] ?? told.reply
    told.differing =
      new Set(accepted.map((reply) => JSON.stringify(idOf(reply.body)))).size - (accepted.length > 0 ? 1 : 0)
    return told
  }

  const command = async (
    random: Random,
    action: Command['action'],
    path: string,
    options: RequestOptions,
    idOf: (body: Reply['body']) => string | undefined,
    { bookingId, email }: { bookingId: string | null; email: string },
  ): Promise<Reply | null> => {
    const [requestId, key] = [`chaos-${randomUUID()}`, randomUUID()]
    const { reply, tries, differing } = await insist(
      random,
      path,
      { ...options, idempotencyKey: key, headers: { ...options.headers, 'x-request-id': requestId } },
      idOf,
    )
    const outcome = reply === null ? 'unknown' : saysYes(reply) ? 'accepted' : 'refused'
    const subject = reply && saysYes(reply) ? (idOf(reply.body) ?? null) : null
    ledger.command({
      requestId,
      action,
      key,
      outcome,
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

  const visit = async (random: Random, name: string, from: string) => {
    const house = random.pick(houses)
    const arrival = random.between(12, 40)
    const email = `${name}@guests.example`
    const quoted = await send(either(random), 'POST', '/api/public/quotes', {
      from,
      body: {
        propertyId: house.propertyId,
        arrival: house.day(arrival),
        departure: house.day(arrival + random.between(1, 4)),
        rooms: [
          {
            unitTypeId: house.unitTypeId,
            ratePlanId: random.chance(0.3) ? house.saverPlanId : house.ratePlanId,
            adults: 2,
            childrenAges: [],
            extras: [],
          },
        ],
      },
    })
    if (quoted?.status !== 200) return
    const held = await command(
      random,
      'public.reservations.hold',
      '/api/public/reservations/hold',
      {
        from,
        body: {
          quote: quoted.body.quote,
          booker: { firstName: 'Ana', lastName: 'Souza', email, phone: '+5524999990000' },
          acceptedTerms: house.termsVersion,
        },
      },
      (body) => body.bookingId,
      { bookingId: null, email },
    )
    if (!held || !saysYes(held)) return
    const bookingId = String(held.body.bookingId)
    const guest = { guest: String(held.body.guestToken), from }
    const who = { bookingId, email }
    const way = random.weighted(ways)
    const pay = (method: 'card' | 'pix') =>
      command(
        random,
        'public.createPayment',
        '/api/public/payments/create',
        {
          ...guest,
          body: {
            method,
            amount: random.chance(0.3) ? 'all' : 'due',
            ...(method === 'card' ? { cardToken: random.weighted(tokens) } : {}),
          },
        },
        (body) => body.paymentId,
        who,
      )
    const current = () => read(random, '/api/public/reservations/current', guest)
    const cancel = async () => {
      const booking = await current()
      if (booking?.status !== 200) return
      const { fee } = booking.body.cancellation
      await command(
        random,
        'public.reservations.cancel',
        '/api/public/reservations/cancel',
        { ...guest, body: { ...(fee > 0 ? { acceptedFee: fee } : {}), reason: 'changed_plans' } },
        (body) => body.bookingId,
        who,
      )
    }
    if (way === 'expire') return outlive(house, bookingId)
    if (way === 'release') return cancel()
    const paid = await pay(random.chance(0.25) ? 'pix' : 'card')
    if (way === 'payTwice') await pay(random.chance(0.5) ? 'pix' : 'card')
    if (way === 'payLate') await outlive(house, bookingId)
    if (!paid || !saysYes(paid)) return
    for (let looks = random.between(0, 12); looks > 0 && !isOver; looks -= 1) {
      await wait(500)
      const status = await read(random, `/api/public/payments/${paid.body.paymentId}/status`, guest)
      if (!status || !['pending', 'processing', 'action_required'].includes(String(status.body.status))) break
    }
    if (random.chance(0.5)) await cancel()
  }

  const guestOf = async (number: number) => {
    const random = randomOf(seed, `guest ${number}`)
    // Each comes from an address of its own in 127.0.0.0/8: limits count by it.
    for (let visits = 0; !isOver; visits += 1) {
      const from = `127.${random.between(1, 250)}.${random.between(1, 250)}.${random.between(1, 250)}`
      await visit(random, `g${seed}-${number}-${visits}`, from)
      await wait(random.between(100, 900))
    }
  }
  const running = Promise.all(Array.from({ length: guests }, (_, number) => guestOf(number)))
  return {
    reads: () => reads,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
