import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { cancelPaymentsOf, paymentState } from '../../db/payment/index.ts'
import { readPayment } from '../../jobs/payment.ts'
import { balanceOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import {
  bring,
  chargesOf,
  creditOf,
  endBooking,
  exceptionsOf,
  makeBooking,
  makeTill,
  pay,
  paymentOf,
  providers,
  refundsOf,
  secondMs,
  useProvider,
  within,
  work,
} from './support.ts'
import type { Till } from './support.ts'

const setTimes = (till: Till, id: string, columns: string) =>
  within(till, (trx) => sql(trx, `update payment set ${columns} where id = ?`, [id]))

/** The last attempt lies so far back that a gateway which has not heard of it never will. */
const longAgo = (till: Till, id: string) =>
  within(till, (trx) =>
    sql(trx, `update external_call set started_at = started_at - interval '11 minutes' where idempotency_key = ?`, [
      `pay-${id}`,
    ]),
  )

for (const provider of providers)
  describe(`a payment through ${provider}`, () => {
    useDatabase()
    useProvider(provider)
    let till: Till
    let bookingId: string

    beforeEach(async () => {
      till = await makeTill(undefined, provider)
      bookingId = await makeBooking(till)
    })

    /** A Pix that comes a second after its time, so that the expiry is seen first. */
    const lateBySecond = async () => {
      settings.sandboxSecondMs = 400
      const { id } = await pay(till, bookingId, {
        token: 'pix_late',
        method: 'pix',
        expiresAt: new Date(Date.now() + 1_500),
      })
      await work()
      settings.sandboxSecondMs = secondMs
      await bring(till, id, 'expired')
      return id
    }

    const isPaidOnce = async (id: string) => {
      expect(await paymentOf(till, id)).to.include({
        status: 'captured',
        capturedAmount: 20_000,
        allocatedAmount: 20_000,
      })
      expect(await creditOf(till, bookingId)).to.equal(20_000)
      expect(await chargesOf(till, id)).to.have.length(1)
      expect(await balanceOf(till, 'gateway_clearing')).to.equal(20_000)
      expect(await balanceOf(till, 'deposits')).to.equal(20_000)
      expect(await balanceOf(till, 'unallocated_receipts')).to.equal(0)
    }

    it('by card is captured in one go, becomes credit of the booking, and is posted', async () => {
      const { id } = await pay(till, bookingId)
      await work()
      await isPaidOnce(id)
    })

    for (const method of ['pix', 'boleto'] as const)
      it(`by ${method} waits for the guest, moves the hold, and is captured when paid`, async () => {
        const { id } = await pay(till, bookingId, { method })
        await work()
        const waiting = await paymentOf(till, id)
        expect(waiting).to.include({ status: 'requires_action', capturedAmount: 0 })
        expect(waiting.action).to.be.instanceOf(Buffer)
        const [hold] = await within(till, (trx) =>
          sql<{ kind: string; until: Date }>(
            trx,
            `select hold_kind as kind, hold_expires_at as until from booking where id = ?`,
            [bookingId],
          ),
        )
        expect(hold?.kind).to.equal('payment')
        expect(hold!.until.getTime()).to.be.greaterThan(Date.now() + 11 * 60_000)
        await bring(till, id, 'captured')
        await isPaidOnce(id)
      })

    for (const [token, code] of [
      ['decline', 'insufficient_funds'],
      ['decline_expired', 'expired_card'],
      ['nonsense', 'declined'],
    ] as const)
      it(`with token ${token} is failed with ${code}, and another may follow`, async () => {
        const { id } = await pay(till, bookingId, { token })
        await work()
        const payment = await paymentOf(till, id)
        expect(payment.status).to.equal('failed')
        expect(payment.failure).to.include({ code })
        const second = await pay(till, bookingId)
        expect(second.id).to.not.equal(id)
        await work()
        await isPaidOnce(second.id)
      })

    it('that asks for action is captured once the guest has acted', async () => {
      const { id } = await pay(till, bookingId, { token: 'action' })
      await work()
      expect((await paymentOf(till, id)).status).to.equal('requires_action')
      await bring(till, id, 'captured')
      await isPaidOnce(id)
    })

    for (const token of ['action_abandoned', 'pix_unpaid'])
      it(`with token ${token} expires, and is closed at the gateway`, async () => {
        const method = token === 'pix_unpaid' ? 'pix' : 'card'
        const { id } = await pay(till, bookingId, { token, method })
        await work()
        await setTimes(till, id, `expires_at = now()`)
        await bring(till, id, 'expired')
        expect((await chargesOf(till, id))[0]?.cancelledAt).to.be.a('number')
        expect(await creditOf(till, bookingId)).to.equal(0)
      })

    // At Stripe an intent that was closed takes no money any more.
    if (provider === 'sandbox') {
      it('pix_late arrives after it expired, as late money that the booking takes', async () => {
        const id = await lateBySecond()
        await endBooking(till, bookingId, 'expired')
        const payment = await bring(till, id, 'captured')
        expect(payment.late).to.equal(true)
        await isPaidOnce(id)
      })

      it('pix_late for a cancelled booking goes back in full by itself', async () => {
        const id = await lateBySecond()
        await endBooking(till, bookingId, 'cancelled')
        await bring(till, id, 'captured')
        await work()
        expect(await refundsOf(till, id)).to.have.length(1)
        expect((await refundsOf(till, id))[0]).to.include({
          amount: 20_000,
          reason: 'late_payment',
          status: 'succeeded',
        })
        expect(await paymentOf(till, id)).to.include({
          refundedAmount: 20_000,
          refundReserved: 20_000,
          allocatedAmount: 0,
        })
        for (const role of ['gateway_clearing', 'deposits', 'unallocated_receipts', 'refunds_payable'])
          expect(await balanceOf(till, role), role).to.equal(0)
      })
    }

    it('pix_short keeps what came, gives it to the booking, and calls for a person', async () => {
      const { id } = await pay(till, bookingId, { token: 'pix_short', method: 'pix' })
      await work()
      await bring(till, id, 'captured')
      expect(await paymentOf(till, id)).to.include({ capturedAmount: 19_999, allocatedAmount: 19_999 })
      expect(await exceptionsOf(till, id)).to.deep.equal(['amount_differs'])
    })

    for (const token of ['timeout_taken', 'error_replayed', 'malformed'])
      it(`with token ${token} is neither failed nor paid until the gateway is asked, and charged once`, async () => {
        const { id } = await pay(till, bookingId, { token })
        await work()
        expect((await paymentOf(till, id)).status).to.equal('unknown')
        expect(await creditOf(till, bookingId)).to.equal(0)
        await bring(till, id, 'captured')
        await isPaidOnce(id)
      })

    it('timeout_nothing stays unknown, and ends when the gateway has not heard of it for ten minutes', async () => {
      const { id } = await pay(till, bookingId, { token: 'timeout_nothing' })
      await work()
      expect((await paymentOf(till, id)).status).to.equal('unknown')
      await bring(till, id, 'unknown')
      expect(await chargesOf(till, id)).to.have.length(0)
      await longAgo(till, id)
      const payment = await bring(till, id, 'failed')
      expect(payment.failure).to.include({ code: 'not_found_at_gateway' })
      // The journal says the same.
      expect(
        await within(till, (trx) =>
          sql(trx, `select state, code from external_call where idempotency_key = ?`, [`pay-${id}`]),
        ),
      ).to.deep.equal([{ state: 'failed', code: 'not_found_at_gateway' }])
    })

    it('of unknown outcome is not given up early by the clock of a worker that is ahead', async () => {
      const { id } = await pay(till, bookingId, { token: 'timeout_nothing' })
      await work()
      const { now } = Date
      Date.now = () => now() + 11 * 60_000
      try {
        for (let n = 0; n < 3; n += 1) {
          await within(till, (trx) => enqueue(trx, readPayment, { tenantId: till.tenantId, paymentId: id }))
          await work()
        }
      } finally {
        Date.now = now
      }
      expect((await paymentOf(till, id)).status).to.equal('unknown')
    })

    it('of unknown outcome that is cancelled meanwhile ends cancelled when the gateway has not heard of it', async () => {
      const { id } = await pay(till, bookingId, { token: 'timeout_nothing' })
      await work()
      await within(till, (trx) => cancelPaymentsOf(trx, 'booking', bookingId))
      await work()
      expect((await paymentOf(till, id)).status).to.equal('unknown')
      await longAgo(till, id)
      await bring(till, id, 'cancelled')
    })

    it('cancelled before it was sent never reaches the gateway', async () => {
      const { id } = await pay(till, bookingId)
      await within(till, (trx) => cancelPaymentsOf(trx, 'booking', bookingId))
      await work()
      expect((await paymentOf(till, id)).status).to.equal('cancelled')
      expect(await chargesOf(till, id)).to.have.length(0)
    })

    it('cancelled while it waits is closed at the gateway', async () => {
      const { id } = await pay(till, bookingId, { method: 'pix', token: 'pix_unpaid' })
      await work()
      await within(till, (trx) => cancelPaymentsOf(trx, 'booking', bookingId))
      await work()
      expect((await paymentOf(till, id)).status).to.equal('cancelled')
      expect((await chargesOf(till, id))[0]?.cancelledAt).to.be.a('number')
    })

    it('cancelled after the money came stays paid', async () => {
      const { id } = await pay(till, bookingId, { method: 'pix' })
      await work()
      await new Promise((resolve) => setTimeout(resolve, 5 * secondMs))
      await within(till, (trx) => cancelPaymentsOf(trx, 'booking', bookingId))
      await work()
      await isPaidOnce(id)
    })

    it('repeated with the same method and amount is the same payment; another method takes its place', async () => {
      const pix = await pay(till, bookingId, { method: 'pix', token: 'pix_unpaid' })
      expect(await pay(till, bookingId, { method: 'pix' })).to.deep.equal({ id: pix.id, repeated: true })
      await work()
      const card = await pay(till, bookingId)
      await work()
      expect((await paymentOf(till, pix.id)).status).to.equal('cancelled')
      expect((await paymentOf(till, pix.id)).supersededById).to.equal(card.id)
      await isPaidOnce(card.id)
    })

    it('of unknown outcome stands in the way of another', async () => {
      const { id } = await pay(till, bookingId, { token: 'timeout_taken' })
      await work()
      const refused = await pay(till, bookingId, { method: 'pix' }).catch((error: unknown) => error)
      expect(refused).to.include({ status: 409, code: 'payment_in_progress' })
      await bring(till, id, 'captured')
    })

    it('ten at once for one booking are one payment', async () => {
      const made = await Promise.all(Array.from({ length: 10 }, () => pay(till, bookingId)))
      expect(new Set(made.map((one) => one.id)).size).to.equal(1)
      expect(made.filter((one) => !one.repeated)).to.have.length(1)
      await work()
      await isPaidOnce(made[0]!.id)
    })

    it('never exceeds what is payable', async () => {
      const refused = await pay(till, bookingId, { amount: 20_001 }).catch((error: unknown) => error)
      expect(refused).to.include({ status: 422, code: 'amount_exceeds_payable' })
    })

    it('shows in the state of its booking', async () => {
      const { id } = await pay(till, bookingId, { method: 'pix', token: 'pix_unpaid' })
      await work()
      const state = await inTenant(till.tenantId, (trx) => paymentState(trx, 'booking', bookingId))
      expect(state).to.include({ authorised: 0, captured: 0 })
      expect(state.live.map((one) => one.id)).to.deep.equal([id])
    })
  })
