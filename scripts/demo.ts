import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Books a room as a guest would, over HTTP, against a running service, and prints each step. `npm run demo`. */

type Json = Record<string, unknown>
type Stay = { arrival: string; departure: string }
type Demo = {
  baseUrl: string
  mailUrl: string
  password: string
  sol: { tenantId: string; propertyId: string }
}

/** Ends with a sentence instead of a stack. */
const stop = (why: string): never => {
  process.stderr.write(`\n${why}\n`)
  process.exit(1)
}

const read = (): Demo => {
  const file = join(process.env.POUSADA_DATA_DIR ?? '.data', 'demo.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Demo
  } catch {
    return stop(`${file} is not there: start the service first with npm start`)
  }
}

const demo = read()
let step = 0

const say = (title: string, lines: string[] = []) => {
  step += 1
  process.stdout.write(`\n${String(step).padStart(2)}. ${title}\n${lines.map((line) => `      ${line}\n`).join('')}`)
}

const money = (amount: unknown, currency = 'BRL') =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(Number(amount) / 100)

const call = async <T = Json>(
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<T> => {
  const response = await fetch(`${demo.baseUrl}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => stop(`Nothing listens at ${demo.baseUrl}: start the service first with npm start`))
  const reply = (await response.json()) as Json
  if (!response.ok) stop(`${method} ${path} was refused with ${response.status}: ${JSON.stringify(reply)}`)
  return reply as T
}

/** Asks again until the answer is what is waited for; gives up after 30 s. */
const until = async <T>(what: string, ask: () => Promise<T>, done: (value: T) => boolean): Promise<T> => {
  for (const end = Date.now() + 30_000; Date.now() < end; await wait(250)) {
    const value = await ask()
    if (done(value)) return value
  }
  return stop(`Waited 30 s for ${what} in vain: ${demo.baseUrl}/superuser/ops shows why`)
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const { propertyId, tenantId } = demo.sol
const property = `/api/public/property/${propertyId}`

const config = await call<{
  name: string
  timezone: string
  currency: string
  portal: { holdMinutes: number; termsVersion: string }
}>('GET', `${property}/config`)
say(`The portal of ${config.name}`, [
  `time zone ${config.timezone}, currency ${config.currency}, a hold lasts ${config.portal.holdMinutes} minutes`,
])

const rooms = await call<{
  unitTypes: {
    unitTypeId: string
    name: string
    maxOccupancy: number
    ratePlans: { name: string; refundable: string; fromAmount: number | null }[]
  }[]
}>('GET', `${property}/rooms`)
say(
  'Rooms and rates',
  rooms.unitTypes.map(
    (type) =>
      `${type.name} (up to ${type.maxOccupancy}): ${type.ratePlans.map((plan) => `${plan.name}, ${plan.refundable}, from ${money(plan.fromAmount)}`).join(' | ')}`,
  ),
)

type Offer = { unitTypeId: string; ratePlanId: string; left: number; total: number; dueNow: number }
// Five days ahead, where the refundable plan keeps half: the cancellation below shows a fee and a refund.
const stay: Stay = { arrival: day(5), departure: day(8) }
const availability = await call<{ offers: Offer[] }>(
  'GET',
  `${property}/availability?arrival=${stay.arrival}&departure=${stay.departure}&adults=2`,
)
const offer =
  availability.offers.find((candidate) => candidate.dueNow > 0 && candidate.dueNow < candidate.total) ??
  availability.offers[0] ??
  stop('Nothing is free: start with fresh data')
say(`Availability from ${stay.arrival} to ${stay.departure}`, [
  `${availability.offers.length} offers; the chosen one has ${offer.left} left, costs ${money(offer.total)}, due now ${money(offer.dueNow)}`,
])

const quote = await call<{
  quote: string
  expiresAt: string
  total: number
  dueNow: number
  policies: { cancellation: { text: string } }
}>('POST', '/api/public/quotes', {
  body: {
    propertyId,
    ...stay,
    rooms: [{ unitTypeId: offer.unitTypeId, ratePlanId: offer.ratePlanId, adults: 2, childrenAges: [], extras: [] }],
  },
})
say('A signed quote', [
  `total ${money(quote.total)}, due now ${money(quote.dueNow)}, good until ${quote.expiresAt}`,
  quote.policies.cancellation.text,
])

const session = await call<{ token: string }>('POST', '/api/auth/sign-in/email', {
  body: { email: 'finance@sol.example', password: demo.password },
})
const bearer = { authorization: `Bearer ${session.token}` }
// A reader of the guides may have made further books: the inn's is the default one.
const books = await call<{ data: { id: string; isDefault: boolean }[] }>(
  'GET',
  `/api/tenants/${tenantId}/financial/books`,
  {
    headers: bearer,
  },
)
const bookId = books.data.find(({ isDefault }) => isDefault)?.id ?? ''
const ledger = `/api/tenants/${tenantId}/financial/ledger-entries`
const ofBook = `bookId=${bookId}`
const [newest] = (
  await call<{ data: { sequence: number }[] }>('GET', `${ledger}?${ofBook}&limit=1`, { headers: bearer })
).data
const before = newest?.sequence ?? 0

type Booking = {
  bookingId: string
  number: string
  status: string
  holdExpiresAt: string | null
  guestToken: string
  paid: number
  balance: number
  cancellation: { fee: number; refund: number }
}
const email = `guest-${randomUUID().slice(0, 8)}@guests.example`
const requestId = `demo-${randomUUID()}`
const held = await call<Booking>('POST', '/api/public/reservations/hold', {
  body: {
    quote: quote.quote,
    booker: { firstName: 'Clara', lastName: 'Nunes', email, phone: '+5511987654321' },
    acceptedTerms: config.portal.termsVersion,
  },
  headers: { 'x-request-id': requestId, 'idempotency-key': randomUUID() },
})
say(`Held: booking ${held.number}`, [`until ${held.holdExpiresAt ?? ''}; a minute later another guest would get it`])

const guest = { 'x-guest-token': held.guestToken }
type Payment = {
  paymentId: string
  status: string
  amount: number
  method: string
  failure: { message: string } | null
}
let payment = await call<Payment>('POST', '/api/public/payments/create', {
  body: { method: 'card', amount: 'all', cardToken: 'success' },
  headers: { ...guest, 'x-request-id': requestId, 'idempotency-key': randomUUID() },
})
say(`Payment of ${money(payment.amount)} by ${payment.method}`, [
  `the row and its job are committed; status ${payment.status}`,
])

const seen = [payment.status]
while (payment.status !== 'paid' && seen.length < 10) {
  payment = await call<Payment>(
    'GET',
    `/api/public/payments/${payment.paymentId}/status?waitSeconds=20&since=${payment.status}`,
    { headers: guest },
  )
  seen.push(payment.status)
  if (['failed', 'expired', 'cancelled'].includes(payment.status))
    stop(`The payment has ${payment.status}: ${payment.failure?.message ?? 'the gateway does not say why'}`)
}
say("The job's progress, as the guest's page sees it", [seen.join(' → ')])

const confirmed = await until(
  'the confirmation',
  () => call<Booking>('GET', '/api/public/reservations/current', { headers: guest }),
  (booking) => booking.status === 'confirmed',
)
say(`Confirmed: booking ${confirmed.number}`, [
  `paid ${money(confirmed.paid)}, to pay at the house ${money(confirmed.balance)}`,
])

type Line = { accountCode: string; accountName: string; debit: number; credit: number }
type Entry = { id: string; sequence: number; sourceType: string; description: string; total: number; lines: Line[] }
let lastSequence = before

/** The entries written since the last look, with their lines, once there are as many as are waited for. */
const entries = async (wanted: number): Promise<Entry[]> => {
  const page = await until(
    'the ledger',
    () => call<{ data: Entry[] }>('GET', `${ledger}?${ofBook}&limit=50`, { headers: bearer }),
    ({ data }) => data.filter((entry) => entry.sequence > lastSequence).length >= wanted,
  )
  const fresh = page.data.filter((entry) => entry.sequence > lastSequence).sort((a, b) => a.sequence - b.sequence)
  lastSequence = fresh.at(-1)?.sequence ?? lastSequence
  return Promise.all(fresh.map((entry) => call<Entry>('GET', `${ledger}/${entry.id}`, { headers: bearer })))
}
const written = (list: Entry[]) =>
  list.flatMap((entry) => [
    `${entry.sourceType} (${entry.description}): ${money(entry.total)}`,
    ...entry.lines.map(
      (line) =>
        `   ${line.debit > 0 ? 'debit ' : 'credit'} ${line.accountCode.padEnd(10)} ${line.accountName.padEnd(36)} ${money(line.debit || line.credit)}`,
    ),
  ])
say('The ledger', written(await entries(2)))

type Mail = { subject: string; text: string }
const mails = (count: number) =>
  until(
    'the mail',
    async () => (await (await fetch(`${demo.mailUrl}/messages?to=${encodeURIComponent(email)}`)).json()) as Mail[],
    (list) => list.length >= count,
  )
const letters = await mails(2)
const confirmation = letters.find((mail) => /confirm/i.test(mail.subject)) ?? letters[0]
say(`The e-mail: ${confirmation?.subject ?? ''}`, (confirmation?.text ?? '').trimEnd().split('\n'))

const cancelled = await call<Booking>('POST', '/api/public/reservations/cancel', {
  body: { acceptedFee: confirmed.cancellation.fee, reason: 'changed_plans' },
  headers: { ...guest, 'idempotency-key': randomUUID() },
})
say(`Cancelled: ${cancelled.status}`, [
  `fee ${money(confirmed.cancellation.fee)}, refund ${money(confirmed.cancellation.refund)}`,
])

const refunded = await until(
  'the refund',
  () => call<Payment>('GET', `/api/public/payments/${payment.paymentId}/status`, { headers: guest }),
  (state) => confirmed.cancellation.refund === 0 || state.status === 'refunded',
)
say('The refund, by its own job', [`payment ${refunded.status}`])
say('The ledger afterwards', written(await entries(confirmed.cancellation.refund === 0 ? 1 : 4)))
const last = (await mails(3)).at(-1)
say(`The last e-mail: ${last?.subject ?? ''}`, (last?.text ?? '').trimEnd().split('\n'))
process.stdout.write('\nAll done.\n')
