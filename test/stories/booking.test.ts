import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refundsOf } from '../support/pay.ts'
import { miscounted, outlive, portalOf, readBooking } from '../support/stay.ts'
import type { Portal } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

/** Balance of an account of the ledger by its role, credits positive. */
const balanceOf = async (house: House, role: string): Promise<number> => {
  const [row] = await house.inHouse((trx) =>
    sql<{ balance: number }>(
      trx,
      `select coalesce(sum(l.credit - l.debit), 0)::bigint as balance from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
       where a.role = ?`,
      [role],
    ),
  )
  return row?.balance ?? 0
}

describe('A guest books, pays, and cancels', () => {
  const world = useWorld()
  let house: House
  let portal: Portal

  beforeEach(async () => {
    house = await makeHouse({ units: 3, suite: true, taxes: true })
    portal = portalOf(world.request, house, (await makeKey(house.tenantId, ['read', 'write'])).key)
    await forgetLimits(world)
  })

  const hold = async (options: Parameters<Portal['quote']>[0] = {}) => {
    const { body: quote } = await portal.quote(options)
    const { status, body } = await portal.hold(quote.quote)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as { bookingId: string; guestToken: string; total: number; dueNow: number }
  }
  const payBy = async (guest: string, body: object) => {
    const reply = await world.request('POST', '/api/public/payments/create', { guest, body })
    expect(reply.status, JSON.stringify(reply.body)).to.equal(201)
    return reply.body as { paymentId: string; status: string; amount: number }
  }
  const current = async (guest: string) =>
    (await world.request('GET', '/api/public/reservations/current', { guest })).body
  const statusOf = async (guest: string, paymentId: string) =>
    (await world.request('GET', `/api/public/payments/${paymentId}/status`, { guest })).body

  it('by card: the payment confirms the booking, the ledger and the message follow, and what is left goes back', async () => {
    const { guestToken, bookingId, total } = await hold({ from: 4 })
    const { paymentId, amount } = await payBy(guestToken, { method: 'card', amount: 'all', cardToken: 'success' })
    expect(amount).to.equal(total)
    await world.drain()
    expect(await statusOf(guestToken, paymentId)).to.deep.include({ status: 'paid' })
    expect(await current(guestToken)).to.include({ status: 'confirmed', paid: total, balance: 0 })
    expect(await balanceOf(house, 'deposits')).to.equal(total)
    expect(await balanceOf(house, 'unallocated_receipts')).to.equal(0)
    const messages = await house.inHouse((trx) =>
      sql<{ key: string }>(trx, `select t.key from message m join message_template t on t.id = m.template_id`),
    )
    expect(messages.map((one) => one.key)).to.include.members(['reservation-confirmed'])

    const { cancellation } = await current(guestToken)
    const cancelled = await world.request('POST', '/api/public/reservations/cancel', {
      guest: guestToken,
      body: { acceptedFee: cancellation.fee },
    })
    expect(cancelled.status, JSON.stringify(cancelled.body)).to.equal(200)
    await world.drain()
    await world.drain({ aheadMs: 120_000, kinds: ['payments.read-refund', 'payments.sweep', 'ledger.post'] })
    expect(cancellation.fee).to.be.above(0)
    expect(await balanceOf(house, 'deposits')).to.equal(0)
    expect(await balanceOf(house, 'cancellation_income')).to.equal(cancellation.fee)
    expect((await refundsOf(house))[0]).to.include({ amount: total - cancellation.fee, reason: 'cancellation' })
    expect(await miscounted(house)).to.deep.equal([])
    expect((await readBooking(house, bookingId)).folios[0]).to.include({ balance: 0 })
  }).timeout(60_000)

  it('with a declined card: nothing is confirmed, and the hold ends by itself', async () => {
    const { guestToken, bookingId } = await hold()
    const { paymentId } = await payBy(guestToken, { method: 'card', cardToken: 'decline' })
    await world.drain()
    expect((await statusOf(guestToken, paymentId)).status).to.be.oneOf(['action_required', 'failed'])
    expect(await current(guestToken)).to.include({ status: 'held', paid: 0 })
    await outlive(house, bookingId)
    await world.drain({ kinds: ['inventory.expire-hold', 'inventory.sweep-holds'], aheadMs: 3_600_000 })
    expect(await current(guestToken)).to.include({ status: 'expired' })
    expect(await miscounted(house)).to.deep.equal([])
  }).timeout(60_000)
})
