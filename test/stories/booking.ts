import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { sol } from '../../db/demo/ids.ts'
import type { Mailbox } from '../../scripts/services/mailbox.ts'
import type { Client } from '../support/client.ts'
import type { Database } from '../support/database.ts'
import { until } from '../support/until.ts'

export type Held = { bookingId: string; guest: string; email: string; total: number; dueNow: number }

const today = () => new Date().toISOString().slice(0, 10)

/** As a guest does it: search, quote, hold. */
export const hold = async (request: Client, offsetDays: number): Promise<Held> => {
  const { propertyId } = sol
  const arrival = addDays(today(), offsetDays)
  const departure = addDays(arrival, 2)
  const property = `/api/public/property/${propertyId}`
  const config = await request('GET', `${property}/config`)
  expect(config.status, JSON.stringify(config.body)).to.equal(200)
  const found = await request('GET', `${property}/availability?arrival=${arrival}&departure=${departure}&adults=2`)
  expect(found.status, JSON.stringify(found.body)).to.equal(200)
  const offer = found.body.offers.find((each: { dueNow: number }) => each.dueNow > 0)
  const quote = await request('POST', '/api/public/quotes', {
    body: {
      propertyId,
      arrival,
      departure,
      rooms: [{ unitTypeId: offer.unitTypeId, ratePlanId: offer.ratePlanId, adults: 2, childrenAges: [], extras: [] }],
    },
  })
  expect(quote.status, JSON.stringify(quote.body)).to.equal(200)
  const email = `guest-${randomUUID().slice(0, 8)}@guests.example`
  const held = await request('POST', '/api/public/reservations/hold', {
    idempotencyKey: randomUUID(),
    body: {
      quote: quote.body.quote,
      booker: { firstName: 'Clara', lastName: 'Nunes', email, phone: '+5511987654321' },
      acceptedTerms: config.body.portal.termsVersion,
    },
  })
  expect(held.status, JSON.stringify(held.body)).to.equal(201)
  return {
    bookingId: held.body.bookingId,
    guest: held.body.guestToken,
    email,
    total: quote.body.total,
    dueNow: quote.body.dueNow,
  }
}

/** Asks for the charge of what is due. Answers the payment's id. */
export const pay = async (request: Client, { guest }: Held, idempotencyKey: string = randomUUID()): Promise<string> => {
  const payment = await request('POST', '/api/public/payments/create', {
    guest,
    idempotencyKey,
    body: { method: 'card', cardToken: 'success' },
  })
  expect(payment.status, JSON.stringify(payment.body)).to.equal(201)
  return payment.body.paymentId
}

export type Outcome = {
  booking: string
  payments: string[]
  charges: number
  captured: boolean
  postings: string[]
  unposted: number
  mails: string[]
}

/** The outcome of a booking, wherever an effect could occur twice: gateway, ledger and mail. */
export const outcomeOf = async ({ admin }: Database, mailUrl: string, held: Held): Promise<Outcome> => {
  const rows = <Row>(text: string, bindings: unknown[] | Record<string, unknown>) => sql<Row>(admin, text, bindings)
  const [booking] = await rows<{ status: string }>(`select status from reservation where booking_id = ?`, [
    held.bookingId,
  ])
  const payments = await rows<{ id: string; status: string; capturedAmount: number }>(
    `select id, status, captured_amount from payment where target_type = 'booking' and target_id = ?`,
    [held.bookingId],
  )
  const ids = payments.map((payment) => payment.id)
  const charges = await rows(`select id from sandbox_object where kind = 'charge' and our_id = any(?)`, [ids])
  const postings = await rows<{ event: string; status: string }>(
    `select e.event, e.status from posting_event e where e.source_id = any(:ids)
       or exists (select from journal_line l where l.tenant_id = e.tenant_id and l.entry_id = e.entry_id and l.document_id = any(:ids)) order by e.seq`,
    { ids: [...ids, held.bookingId] },
  )
  const mails = (await (await fetch(`${mailUrl}/messages?to=${encodeURIComponent(held.email)}`)).json()) as {
    subject: string
  }[]
  return {
    booking: booking?.status ?? 'none',
    payments: payments.map((payment) => payment.status),
    charges: charges.length,
    captured: payments.reduce((sum, payment) => sum + payment.capturedAmount, 0) === held.dueNow,
    postings: postings.map((posting) => posting.event).sort(),
    unposted: postings.filter((posting) => posting.status !== 'posted').length,
    // Numbers of bookings and amounts stand in subjects; what counts is how often each kind came.
    mails: mails.map((mail) => mail.subject.replace(/[A-Z0-9]{6,}(-\d+)?|\d[\d.,]*/g, '#')).sort(),
  }
}

/** Waits until nothing is under way that could still add to the outcome. */
export const settled = (database: Database, withinMs = 90_000) =>
  until(
    async () => {
      const rows = await sql(
        database.admin,
        `select kind from jobs where status in ('dispatched', 'running')
           or (status = 'pending' and run_at < now() + interval '3 seconds')`,
      )
      return rows.length === 0
    },
    { withinMs, everyMs: 100, what: 'the end of all jobs' },
  )

export const smtpOf = (mailbox: Mailbox) => ({
  SMTP_URL: `smtp://127.0.0.1:${mailbox.smtpPort}`,
  PUBLIC_BASE_URL: settings.publicBaseUrl,
})
