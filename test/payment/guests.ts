import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

type Held = { guest: string; bookingId: string; number: string }

/** A house with thirty units, and guests who hold and pay over HTTP, for the tests of the surrounding `describe`. */
export const useGuests = () => {
  const world = useWorld()
  let house: House

  before(async () => {
    settings.sandboxSecondMs = 40
    settings.publicBaseUrl = world.baseUrl
    house = await makeHouse({ units: 30 })
  })

  let clients = 0
  /** Every request comes from another client, so that limits per client do not meet. */
  const request: typeof world.request = (method, path, options) => {
    clients += 1
    return world.request(method, path, {
      from: `127.0.${Math.floor(clients / 250)}.${(clients % 250) + 2}`,
      ...options,
    })
  }

  const hold = async (days = 30): Promise<Held> => {
    const quote = await request('POST', '/api/public/quotes', {
      body: {
        propertyId: house.propertyId,
        arrival: house.day(days),
        departure: house.day(days + 2),
        rooms: [
          { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras: [] },
        ],
      },
    })
    expect(quote.status, JSON.stringify(quote.body)).to.equal(200)
    const held = await request('POST', '/api/public/reservations/hold', {
      body: {
        quote: quote.body.quote,
        booker: {
          firstName: 'Ana',
          lastName: 'Lima',
          email: `ana-${randomUUID().slice(0, 8)}@example.com`,
          phone: '+5511987654321',
        },
        acceptedTerms: house.termsVersion,
      },
    })
    expect(held.status, JSON.stringify(held.body)).to.equal(201)
    return { guest: held.body.guestToken, bookingId: held.body.bookingId, number: held.body.number }
  }

  const create = (guest: string, body: Record<string, unknown>) =>
    request('POST', '/api/public/payments/create', { guest, body })
  const status = (guest: string, paymentId: string, query = '') =>
    request('GET', `/api/public/payments/${paymentId}/status${query}`, { guest })

  /** Runs all jobs, again and again, until the payment is shown so. */
  const shown = (guest: string, paymentId: string, wanted: string) =>
    until(
      async () => {
        await world.drain({ aheadMs: 0 })
        const reply = await status(guest, paymentId)
        return reply.body.status === wanted && reply.body
      },
      { withinMs: 30_000, what: `the payment being ${wanted}` },
    )

  const callbacks = () =>
    house.inHouse((trx) =>
      sql<{ eventType: string; status: string }>(trx, `select event_type, status from gateway_callback`),
    )
  const columnsOf = async (paymentId: string) =>
    (
      await house.inHouse((trx) => sql<Record<string, unknown>>(trx, `select * from payment where id = ?`, [paymentId]))
    )[0]!

  /** Of the first `before` on. */
  const made = () => house
  return { world, house: made, request, hold, create, status, shown, callbacks, columnsOf }
}
