import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { readGuestBooking } from '../../db/reservations/guest-booking.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, pay, raisedOf, refundsOf, startPayment } from '../support/pay.ts'
import { refusal } from '../support/refusals.ts'
import { countersOf, eventsOf, makeHold, miscounted, outlive, readBooking, statusesOf } from '../support/stay.ts'

describe('The life of a booking', () => {
  useDatabase()
  let house: House
  let free: House

  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true })
    free = await makeHouse({ units: 2, deposit: null })
  })

  const confirm = (of: House, id: string) => of.inHouse((trx) => confirmBooking(trx, id))
  const settle = (of: House, id: string) => of.inHouse((trx) => confirmPaid(trx, id))
  const expire = (of: House, id: string) => of.inHouse((trx) => expireHold(trx, id))
  const cancel = (of: House, id: string, acceptedFee?: number, reservationIds?: string[]) =>
    of.inHouse((trx) => cancelReservations(trx, id, { reason: 'changed_plans', acceptedFee, reservationIds }))
  const seen = async (of: House, id: string) => (await of.inHouse((trx) => readGuestBooking(trx, id)))!
  /** A confirmed booking that was paid: what was due, or all of it. */
  const confirmed = async (of: House, options: Parameters<typeof makeHold>[1] = {}, amount: 'due' | 'all' = 'due') => {
    const id = await makeHold(of, options)
    await pay(of, id, amount)
    expect(await settle(of, id)).to.equal('confirmed')
    return id
  }

  describe('confirming', () => {
    it('confirms a hold with nothing due, once, with a profile, a folio and no hold', async () => {
      const id = await makeHold(free)
      expect(await confirm(free, id)).to.equal('confirmed')
      expect(await confirm(free, id)).to.equal('already')
      const booking = await readBooking(free, id)
      expect(booking).to.include({ holdKind: null, holdExpiresAt: null, sealed: null })
      expect(booking.rooms[0]).to.include({
        status: 'confirmed',
        primaryGuestId: booking.bookerGuestId,
        guarantee: 'none',
      })
      expect(booking.folios[0]).to.include({ number: `${booking.number}-1-1`, stage: 'deposit', balance: 0 })
      expect(await countersOf(free, 30)).to.include({ held: 0, sold: 1 })
      expect(await miscounted(free)).to.deep.equal([])
      expect(await eventsOf(free, 'reservation.confirmed')).to.have.length(1)
      const { booker } = await seen(free, id)
      expect(booker).to.deep.include({ firstName: 'Ana', lastName: 'Souza' })
      expect(booker.emailMasked).to.match(/^g\*\*\*@e\*\*\*\.com$/)
    })

    it('confirms a hold whose guests the desk has named already, by hand and by its money', async () => {
      for (const of of [free, house]) {
        const id = await makeHold(of)
        const other = await makeHold(of)
        if (of === house) await pay(of, other)
        expect(of === house ? await settle(of, other) : await confirm(of, other)).to.equal('confirmed')
        const { bookerGuestId } = await readBooking(of, other)
        await of.inHouse((trx) =>
          sql(trx, `update booking set booker_guest_id = ?, sealed = null where id = ?`, [bookerGuestId, id]),
        )
        if (of === house) await pay(of, id)
        expect(of === house ? await settle(of, id) : await confirm(of, id)).to.equal('confirmed')
        expect((await readBooking(of, id)).rooms[0]).to.include({ status: 'confirmed', primaryGuestId: bookerGuestId })
      }
    })

    it('refuses a hold whose deposit is not paid, and one whose time is over', async () => {
      const id = await makeHold(house)
      expect(await refusal(confirm(house, id))).to.include({ status: 422, code: 'payment_required' })
      const late = await makeHold(free)
      await outlive(free, late)
      expect(await refusal(confirm(free, late))).to.include({ status: 409, code: 'hold_expired' })
      expect(await expire(free, late)).to.equal('expired')
      expect(await refusal(confirm(free, late))).to.include({ status: 409, code: 'hold_expired' })
    })

    it('moves the money of a paid hold to its folio, and posts it there', async () => {
      const id = await confirmed(house)
      const booking = await readBooking(house, id)
      const due = (await seen(house, id)).paid
      expect(booking.credit).to.equal(0)
      expect(booking.folios[0]).to.include({ credits: due, charges: 0, balance: -due, stage: 'deposit' })
      expect(booking.rooms[0]?.guarantee).to.equal('deposit')
      expect(await raisedOf(house)).to.deep.equal([
        { event: 'payment.payment_captured', amount: due, document: null, stage: null },
        { event: 'payment.payment_allocated', amount: due, document: 'booking', stage: null },
        { event: 'payment.payment_allocated', amount: -due, document: 'booking', stage: null },
        { event: 'payment.payment_allocated', amount: due, document: 'folio', stage: 'deposit' },
      ])
      expect(await settle(house, id)).to.equal('nothing')
    })

    it('answers 200 with the hold while the payment is still running', async () => {
      const id = await makeHold(house)
      const paymentId = await startPayment(house, id)
      await gatewaySays(house, paymentId, 'processing')
      expect(await confirm(house, id)).to.equal('waiting')
      expect(await statusesOf(house, id)).to.deep.equal(['held'])
      expect((await readBooking(house, id)).holdKind).to.equal('payment')
    })

    it('shares the money of several rooms out over their folios', async () => {
      const id = await confirmed(house, { rooms: 2 }, 'all')
      const { folios, rooms } = await readBooking(house, id)
      expect(folios.map((one) => one.credits)).to.deep.equal(rooms.map((one) => one.total))
      expect((await seen(house, id)).balance).to.equal(0)
    })

    it('pays the folios with what a confirmed guest pays later', async () => {
      const id = await confirmed(house)
      await pay(house, id, 'all')
      expect(await settle(house, id)).to.equal('settled')
      const { folios, rooms, credit } = await readBooking(house, id)
      expect(credit).to.equal(0)
      expect(folios[0]?.credits).to.equal(rooms[0]?.total)
    })
  })

  describe('ending a hold', () => {
    it('gives nights and code back, writes a strike, and does it once whoever asks at once', async () => {
      const id = await makeHold(house)
      expect(await expire(house, id)).to.equal('alive')
      await outlive(house, id)
      const ends = await Promise.all(Array.from({ length: 8 }, () => expire(house, id)))
      expect(ends.filter((one) => one === 'expired')).to.have.length(1)
      expect(await statusesOf(house, id)).to.deep.equal(['expired'])
      expect(await countersOf(house, 30)).to.include({ held: 0, sold: 0 })
      expect(await eventsOf(house, 'reservation.expired')).to.have.length(1)
      expect(await house.inHouse((trx) => sql(trx, `select 1 from hold_strike`))).to.have.length(1)
      expect(await miscounted(house)).to.deep.equal([])
    })

    it('ends in exactly one of confirmed and expired when both come in the same instant', async () => {
      for (let round = 0; round < 10; round += 1) {
        const id = await makeHold(free, { from: 10 + round * 3 })
        await free.inHouse((trx) =>
          sql(trx, `update booking set hold_expires_at = clock_timestamp() + interval '12 milliseconds' where id = ?`, [
            id,
          ]),
        )
        const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
        const results = await Promise.allSettled([
          ...[8, 11, 12, 13].map((ms) => later(ms).then(() => confirm(free, id))),
          ...[8, 11, 12, 13, 16].map((ms) => later(ms).then(() => expire(free, id))),
        ])
        for (const result of results)
          if (result.status === 'rejected')
            expect(result.reason).to.be.instanceOf(ApiError).and.include({ code: 'hold_expired' })
        const [status] = await statusesOf(free, id)
        if (status === 'held') expect(await expire(free, id)).to.equal('expired')
        expect(['confirmed', 'expired', 'held']).to.include(status)
      }
      expect(await miscounted(free)).to.deep.equal([])
      const ids = [
        ...(await eventsOf(free, 'reservation.confirmed')),
        ...(await eventsOf(free, 'reservation.expired')),
      ].map((one) => one.data['bookingId'])
      expect(new Set(ids).size).to.equal(10)
      expect(ids).to.have.length(10)
    })

    it('waits for a payment whose outcome is open, up to the cap, and ends at the cap', async () => {
      const id = await makeHold(house)
      const paymentId = await startPayment(house, id)
      await gatewaySays(house, paymentId, 'unknown')
      await outlive(house, id)
      expect(await expire(house, id)).to.equal('waiting')
      expect(await expire(house, id)).to.equal('alive')
      await house.inHouse((trx) =>
        sql(
          trx,
          `update booking set hold_expires_at = now() - interval '1 second', hold_cap_at = now() - interval '1 second' where id = ?`,
          [id],
        ),
      )
      expect(await expire(house, id)).to.equal('expired')
    })

    it('never ends what the money covers', async () => {
      const id = await makeHold(house)
      await pay(house, id)
      await outlive(house, id)
      expect(await expire(house, id)).to.equal('covered')
      expect(await settle(house, id)).to.equal('confirmed')
    })
  })

  describe('late money', () => {
    const late = async (options: Parameters<typeof makeHold>[1] = {}) => {
      const id = await makeHold(house, options)
      const paymentId = await startPayment(house, id)
      await outlive(house, id)
      expect(await expire(house, id)).to.equal('expired')
      return { id, paymentId }
    }

    it('confirms at the quoted price while the nights are free', async () => {
      const { id, paymentId } = await late()
      await gatewaySays(house, paymentId, 'captured')
      expect((await readBooking(house, id)).credit).to.be.above(0)
      expect(await settle(house, id)).to.equal('rescued')
      expect(await settle(house, id)).to.equal('nothing')
      const booking = await readBooking(house, id)
      expect(booking.rooms[0]?.status).to.equal('confirmed')
      expect(booking.folios[0]?.credits).to.be.above(0)
      expect((await eventsOf(house, 'reservation.confirmed'))[0]?.data).to.include({ rescued: true })
      expect(await refundsOf(house)).to.deep.equal([])
      expect(await miscounted(house)).to.deep.equal([])
    })

    it('goes back in full when the nights were sold meanwhile, and leaves no profile behind', async () => {
      const { id, paymentId } = await late({ unitTypeId: house.suiteTypeId ?? '' })
      await confirmed(house, { unitTypeId: house.suiteTypeId ?? '' })
      const guests = await house.inHouse((trx) => sql(trx, `select 1 from guest`))
      await gatewaySays(house, paymentId, 'captured')
      const paid = (await readBooking(house, id)).credit
      expect(await settle(house, id)).to.equal('refunded')
      expect(await settle(house, id)).to.equal('nothing')
      expect((await readBooking(house, id)).credit).to.equal(0)
      expect(await refundsOf(house)).to.deep.equal([{ amount: paid, reason: 'late_payment', status: 'requested' }])
      expect(await house.inHouse((trx) => sql(trx, `select 1 from guest`))).to.have.length(guests.length)
      expect(await countersOf(house, 30, house.suitePoolId ?? '')).to.include({ sold: 1, held: 0 })
    })

    it('goes back in full when the house was closed for good meanwhile', async () => {
      const { id, paymentId } = await late()
      await house.inHouse((trx) => sql(trx, `update property set status = 'archived' where id = ?`, [house.propertyId]))
      await gatewaySays(house, paymentId, 'captured')
      expect(await settle(house, id)).to.equal('refunded')
      expect((await refundsOf(house)).map((one) => one.reason)).to.deep.equal(['late_payment'])
      expect(await countersOf(house, 30)).to.include({ sold: 0, held: 0 })
    })

    it('goes back when it comes for a booking that was cancelled', async () => {
      const id = await makeHold(house)
      const paymentId = await startPayment(house, id)
      await cancel(house, id)
      await gatewaySays(house, paymentId, 'captured')
      expect((await refundsOf(house)).map((one) => one.reason)).to.deep.equal(['late_payment'])
    })
  })
})
