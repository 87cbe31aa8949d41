import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { closeFolio } from '../../db/reservations/folio/status.ts'
import { archiveProperty, suspendProperty } from '../../db/properties/house/properties/status.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { readGuestBooking } from '../../db/reservations/guest-booking.ts'
import { useDatabase } from '../support/database.ts'
import { freeUntilAWeekBefore, makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, pay, raisedOf, refundsOf, startPayment } from '../support/pay.ts'
import { refusal } from '../support/refusals.ts'
import { countersOf, eventsOf, makeHold, miscounted, readBooking, statusesOf } from '../support/stay.ts'

describe('Cancelling a booking', () => {
  useDatabase()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true })
  })

  const settle = (of: House, id: string) => of.inHouse((trx) => confirmPaid(trx, id))
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

  it('releases a hold without fee, twice alike, and gives its money back', async () => {
    const id = await makeHold(house)
    await pay(house, id)
    const { paid } = await seen(house, id)
    expect(await cancel(house, id)).to.equal('cancelled')
    expect(await cancel(house, id)).to.equal('already')
    expect(await refundsOf(house)).to.deep.equal([{ amount: paid, reason: 'cancellation', status: 'requested' }])
    expect(await countersOf(house, 30)).to.include({ held: 0 })
    expect(await settle(house, id)).to.equal('nothing')
  })

  it('cancels free of charge before the deadline and refunds all', async () => {
    const id = await confirmed(house, {}, 'all')
    const { cancellation, paid } = await seen(house, id)
    expect(cancellation).to.deep.include({ allowed: true, fee: 0, refund: paid })
    expect(await cancel(house, id)).to.equal('cancelled')
    const { folios, rooms } = await readBooking(house, id)
    expect(rooms[0]).to.include({ status: 'cancelled', cancelReason: 'changed_plans', feeAmount: 0 })
    expect(folios[0]).to.include({ balance: 0, credits: 0 })
    expect((await refundsOf(house)).map((one) => one.amount)).to.deep.equal([paid])
    expect(await countersOf(house, 30)).to.include({ sold: 0 })
    expect(await miscounted(house)).to.deep.equal([])
    expect(await seen(house, id)).to.include({ status: 'cancelled', paid: 0, balance: 0, total: 0 })
  })

  it('charges its fee to a folio that was closed by hand, which is open again, and tells of it', async () => {
    const free = await makeHouse({ units: 1, deposit: null })
    const id = await makeHold(free, { from: 1, nights: 2 })
    await free.inHouse((trx) => confirmBooking(trx, id))
    const folio = async () => (await readBooking(free, id)).folios[0]!
    const { id: folioId } = await folio()
    await free.inHouse((trx) => closeFolio(trx, folioId))
    expect(await folio()).to.include({ status: 'closed' })
    expect(await cancel(free, id, 40_000)).to.equal('cancelled')
    expect(await folio()).to.include({ status: 'open', charges: 40_000, balance: 40_000, stage: 'guest' })
    const told = await eventsOf(free, 'folio.charge_posted')
    expect(told.map(({ data }) => [data['folioId'], data['category'], data['amount']])).to.deep.equal([
      [folioId, 'cancellation', 40_000],
    ])
  })

  it('leaves what a bank disputes on the folio, and sends the rest back', async () => {
    const id = await confirmed(house, {}, 'all')
    const { paid } = await seen(house, id)
    await house.inHouse((trx) => sql(trx, `update payment set disputed_amount = 1000`))
    expect(await cancel(house, id)).to.equal('cancelled')
    expect((await refundsOf(house)).map((one) => one.amount)).to.deep.equal([paid - 1_000])
    const { folios } = await readBooking(house, id)
    expect(folios[0]).to.include({ status: 'open', balance: -1_000, credits: 1_000 })
  })

  it('closes folios that owe nothing, so that a house with nothing but cancelled bookings and no-shows can be archived', async () => {
    await confirmed(house, {}, 'all').then((id) => cancel(house, id))
    const unpaid = await makeHouse({ units: 2, deposit: null })
    const id = await makeHold(unpaid)
    await unpaid.inHouse((trx) => confirmBooking(trx, id))
    expect(await cancel(unpaid, id)).to.equal('cancelled')
    for (const one of [house, unpaid]) {
      await one.inHouse((trx) => suspendProperty(trx, one.propertyId))
      await one.inHouse((trx) => archiveProperty(trx, one.propertyId))
    }
    expect((await readBooking(unpaid, id)).folios).to.have.lengthOf(1)
    expect((await readBooking(unpaid, id)).folios[0]).to.include({ status: 'closed', balance: 0 })
  })

  it('charges the fee that was accepted, refunds the rest, and names the fee when it is another', async () => {
    // Four days ahead: half of the whole.
    const id = await confirmed(house, { from: 4 }, 'all')
    const { total, cancellation } = await seen(house, id)
    const fee = total / 2
    expect(cancellation).to.deep.include({ fee, refund: total - fee })
    const error = await refusal(cancel(house, id))
    expect(error).to.include({ status: 409, code: 'fee_changed' })
    expect(error.errors).to.deep.equal([{ field: 'acceptedFee', message: String(fee) }])
    expect(await refusal(cancel(house, id, fee - 1))).to.include({ code: 'fee_changed' })
    expect(await cancel(house, id, fee)).to.equal('cancelled')
    const { folios } = await readBooking(house, id)
    expect(folios[0]).to.include({ charges: fee, credits: fee, balance: 0, stage: 'deposit' })
    expect((await refundsOf(house)).map((one) => one.amount)).to.deep.equal([total - fee])
    expect((await raisedOf(house)).slice(-3)).to.deep.equal([
      { event: 'payment.payment_allocated', amount: fee - total, document: 'folio', stage: 'deposit' },
      { event: 'payment.refund_requested', amount: total - fee, document: null, stage: null },
      { event: 'reservations.cancellation_fee_charged', amount: fee, document: 'folio', stage: 'deposit' },
    ])
    expect((await eventsOf(house, 'reservation.cancelled'))[0]?.data).to.include({ feeAmount: fee })
  })

  it('leaves the deposit stage for a fee above the money, and keeps the rest as balance', async () => {
    const id = await confirmed(house, { from: 4 })
    const { total, paid } = await seen(house, id)
    await cancel(house, id, total / 2)
    const { folios } = await readBooking(house, id)
    expect(folios[0]).to.include({ stage: 'guest', charges: total / 2, credits: paid, balance: total / 2 - paid })
    expect(await refundsOf(house)).to.deep.equal([])
    expect((await raisedOf(house)).slice(-2)).to.deep.equal([
      { event: 'reservations.deposit_applied', amount: paid, document: 'folio', stage: null },
      { event: 'reservations.cancellation_fee_charged', amount: total / 2, document: 'folio', stage: 'guest' },
    ])
  })

  it('cancels once when asked twice at once', async () => {
    const id = await confirmed(house, { from: 4 }, 'all')
    const fee = (await seen(house, id)).total / 2
    const results = await Promise.all(Array.from({ length: 6 }, () => cancel(house, id, fee)))
    expect(results.filter((one) => one === 'cancelled')).to.have.length(1)
    expect(await refundsOf(house)).to.have.length(1)
    expect(await countersOf(house, 4)).to.include({ sold: 0 })
  })

  it('cancels one room of two and leaves the other', async () => {
    const id = await confirmed(house, { rooms: 2 }, 'all')
    const [first, second] = (await readBooking(house, id)).rooms
    expect(await cancel(house, id, 0, [first!.id])).to.equal('cancelled')
    expect(await statusesOf(house, id)).to.deep.equal(['cancelled', 'confirmed'])
    expect((await refundsOf(house)).map((one) => one.amount)).to.deep.equal([first!.total])
    expect(await seen(house, id)).to.include({ status: 'confirmed', total: second!.total, paid: second!.total })
    expect(await refusal(cancel(house, id, 0, ['aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa']))).to.include({ status: 404 })
    expect(await cancel(house, id, 0)).to.equal('cancelled')
    expect(await countersOf(house, 30)).to.include({ sold: 0 })
  })

  it('refuses while a payment is being processed, and after the arrival', async () => {
    const id = await makeHold(house)
    await gatewaySays(house, await startPayment(house, id), 'processing')
    expect(await refusal(cancel(house, id))).to.include({ status: 409, code: 'payment_in_progress' })
    const arrived = await confirmed(house, { from: 4 })
    await house.inHouse((trx) =>
      sql(
        trx,
        `update reservation set status = 'checked_in', actual_check_in_at = now(), check_in_business_date = ? where booking_id = ?`,
        [house.today, arrived],
      ),
    )
    expect(await refusal(cancel(house, arrived))).to.include({ status: 422, code: 'already_arrived' })
  })

  it('follows the policy that was booked, not the one of today', async () => {
    const id = await confirmed(house, {}, 'all')
    const version = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from policy where code = 'FLEX' and kind = 'cancellation'`),
    )
    expect(version).to.have.length(1)
    await house.inHouse((trx) =>
      sql(trx, `insert into policy_version (policy_id, number, rules, hash) values (?, 2, ?::jsonb, repeat('0', 64))`, [
        version[0]?.id,
        JSON.stringify({ ...freeUntilAWeekBefore, tiers: [] }),
      ]),
    )
    await house.inHouse((trx) => sql(trx, `update policy set current_version = 2 where id = ?`, [version[0]?.id]))
    expect((await seen(house, id)).cancellation.fee).to.equal(0)
    expect(await cancel(house, id)).to.equal('cancelled')
  })
})
