import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import type { StayChange } from '../../db/reservations/amend.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { depositsToWatch } from '../../db/reservations/deposits.ts'
import { watchDeposits } from '../../db/reservations/watch-deposits.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { nilId } from '../../config/nil-id.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { countersOf, eventsOf, makeHold, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

type Deposit = {
  id: string
  amount: number
  waivedAmount: number
  covered: number
  status: string
  origin: string
  dueAt: string
}

describe('Installments', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    // Two nights of 20,000; 30 % is due at booking.
    house = await makeHouse({ units: 4 })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })
  const depositsOf = async (id: string): Promise<Deposit[]> => (await owner.get(`reservations/${id}`)).body.deposits
  const hold = async (options = {}) => {
    const bookingId = await makeHold(house, { from: 30, ...options })
    return { bookingId, id: (await readBooking(house, bookingId)).rooms[0]?.id ?? '' }
  }
  const paidStay = async (amount: 'due' | 'all' = 'due') => {
    const { bookingId, id } = await hold()
    await pay(house, bookingId, amount)
    await house.inHouse((trx) => confirmPaid(trx, bookingId))
    return id
  }
  const at = (days: number) => `${house.day(days)}T12:00:00.000Z`
  const put = (id: string, installments: object[], options = {}, desk = owner) =>
    desk.send('PUT', `reservations/${id}/deposits`, { installments }, options)
  const waive = (id: string, depositId: string, desk = owner) =>
    desk.send('POST', `reservations/${id}/deposits/${depositId}/waive`, { reason: 'A guest of many years' })
  const shape = (deposits: Deposit[]) => deposits.map((one) => [one.amount, one.covered, one.status])

  it('of a hold stay due at booking, whatever it is changed to', async () => {
    const room = (nights: number) => ({
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      arrival: house.day(30),
      departure: house.day(30 + nights),
      adults: 2,
      childrenAges: [],
    })
    const made = await owner.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [room(2)],
      hold: { kind: 'option' },
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const { id, reservations } = made.body as { id: string; reservations: { id: string }[] }
    const refusedFor = async () => {
      const { body } = await owner.send('POST', `bookings/${id}/confirm`, {})
      return (body.errors ?? []).map((one: { field: string; message: string }) => [one.field, one.message])
    }
    const missing = (amount: number) => [['blockers.deposit_missing', `${amount} is due at booking`]]
    expect(await refusedFor()).to.deep.equal(missing(12_000))
    const stay = `reservations/${reservations[0]?.id ?? ''}`
    const { body } = await owner.send('POST', `${stay}/amendments`, { changes: { departure: house.day(33) } })
    await owner.send('POST', `${stay}/amendments/${body.amendmentId}/accept`, {})
    expect(await refusedFor(), 'another night').to.deep.equal(missing(18_000))
    expect((await owner.send('POST', `bookings/${id}/reservations`, room(1))).status).to.equal(201)
    expect(await refusedFor(), 'another room').to.deep.equal(missing(24_000))
  })

  it('are replaced beside what is covered, up to the total', async () => {
    const id = await paidStay()
    expect(shape(await depositsOf(id))).to.deep.equal([[12_000, 12_000, 'covered']])
    expect(await eventsOf(house, 'deposit.covered')).to.have.lengthOf(1)
    const { status, body } = await put(id, [
      { dueAt: at(5), amount: 8_000 },
      { dueAt: at(10), amount: 20_000 },
    ])
    expect(status, JSON.stringify(body)).to.equal(200)
    const all = [
      [12_000, 12_000, 'covered'],
      [8_000, 0, 'open'],
      [20_000, 0, 'open'],
    ]
    expect(shape(body.deposits)).to.deep.equal(all)
    expect(body.deposits[1].origin).to.equal('manual')
    const refused = await put(id, [{ dueAt: at(5), amount: 28_001 }])
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'installments_exceed_total'])
    expect(shape(await depositsOf(id))).to.deep.equal(all)
    expect(shape((await put(id, [])).body.deposits)).to.deep.equal(all.slice(0, 1))
    expect((await put(id, [{ dueAt: at(-1), amount: 1 }])).status).to.equal(400)
    expect((await put(id, [{ dueAt: at(1), amount: 0 }])).status).to.equal(400)
  })

  it('are replaced once of two who read the same, and their other order does not matter', async () => {
    const id = await paidStay()
    const { version } = (await owner.get(`reservations/${id}`)).body
    const match = { headers: { 'if-match': `"${version}"` } }
    const replies = await Promise.all([
      put(id, [{ dueAt: at(5), amount: 1_000 }], match),
      put(id, [{ dueAt: at(6), amount: 2_000 }], match),
    ])
    expect(replies.map((one) => one.status)).to.have.members([200, 409])
    expect(await depositsOf(id)).to.have.lengthOf(2)
  })

  it('keep the part that money covers when they are replaced', async () => {
    const id = await paidStay('all')
    await put(id, [
      { dueAt: at(5), amount: 20_000 },
      { dueAt: at(10), amount: 8_000 },
    ])
    expect(shape(await depositsOf(id))).to.deep.equal([
      [12_000, 12_000, 'covered'],
      [20_000, 20_000, 'covered'],
      [8_000, 8_000, 'covered'],
    ])
    const other = await paidStay()
    await put(other, [{ dueAt: at(5), amount: 10_000 }])
    // Of the money 3,000 more than the first installment is there.
    await house.inHouse((trx) =>
      sql(trx, `update deposit set amount = 9000 where reservation_id = ? and origin = 'policy'`, [other]),
    )
    expect(shape(await depositsOf(other))).to.deep.equal([
      [9_000, 9_000, 'covered'],
      [10_000, 3_000, 'open'],
    ])
    await put(other, [{ dueAt: at(8), amount: 28_000 }])
    expect(shape(await depositsOf(other))).to.deep.equal([
      [9_000, 9_000, 'covered'],
      [3_000, 3_000, 'covered'],
      [28_000, 0, 'open'],
    ])
  })

  it('set by hand ask for no more than a lower price, the last first', async () => {
    const id = await paidStay()
    await put(id, [
      { dueAt: at(5), amount: 5_000 },
      { dueAt: at(10), amount: 20_000 },
    ])
    const amend = async (departure: number) => {
      const { body } = await owner.send('POST', `reservations/${id}/amendments`, {
        changes: { departure: house.day(departure) },
      })
      return owner.send('POST', `reservations/${id}/amendments/${body.amendmentId}/accept`, {})
    }
    expect((await amend(31)).body.total).to.equal(20_000)
    expect(shape(await depositsOf(id))).to.deep.equal([
      [12_000, 12_000, 'covered'],
      [5_000, 0, 'open'],
      [3_000, 0, 'open'],
    ])
  })

  it('are waived by those who may, so that a hold is confirmed without money', async () => {
    const { bookingId, id } = await hold()
    const [first] = await depositsOf(id)
    expect(shape(await depositsOf(id))).to.deep.equal([[12_000, 0, 'due']])
    const reception = await openDesk(world, house, 'receptionist')
    expect((await waive(id, first?.id ?? '', reception)).status).to.equal(403)
    const replies = await Promise.all([waive(id, first?.id ?? ''), waive(id, first?.id ?? '')])
    expect(replies.map((one) => one.status)).to.deep.equal([200, 200])
    expect(shape(await depositsOf(id))).to.deep.equal([[12_000, 0, 'waived']])
    const told = await eventsOf(house, 'deposit.waived')
    expect(told.map((one) => one.data['amount'])).to.deep.equal([12_000])
    expect(await house.inHouse((trx) => confirmBooking(trx, bookingId))).to.equal('confirmed')
    const { id: other } = await hold()
    expect((await waive(other, first?.id ?? '')).status).to.equal(404)
  })

  it('are told of once when they fall due uncovered', async () => {
    const id = await paidStay()
    await put(id, [{ dueAt: at(5), amount: 8_000 }])
    const watch = () => house.inHouse((trx) => watchDeposits(trx, id))
    const waiting = async () =>
      (await inPlatform((trx) => depositsToWatch(trx, nilId))).map((one) => one.id).filter((one) => one === id)
    await watch()
    expect(await waiting()).to.deep.equal([])
    await house.inHouse((trx) =>
      sql(
        trx,
        `update deposit set due_at = now() - case origin when 'manual' then interval '1 second' else interval '1 day' end where reservation_id = ?`,
        [id],
      ),
    )
    expect(await waiting()).to.deep.equal([id])
    await watch()
    await watch()
    expect((await eventsOf(house, 'deposit.due_date_reached')).map((one) => one.data['amount'])).to.deep.equal([8_000])
    expect(await waiting()).to.deep.equal([])
    expect((await owner.get(`reservations/${id}`)).body.flags).to.include('unpaid')
    expect((await put(id, [])).body.deposits).to.have.lengthOf(2)
    const asked = await house.inHouse((trx) =>
      sql(trx, `select id from jobs where kind = 'payments.collect-deposit' and tenant_id = ?`, [house.tenantId]),
    )
    expect(asked).to.have.lengthOf(1)
  })

  it('cancel a stay whose terms say so once the grace is over, for no more than what was paid', async () => {
    const id = await paidStay()
    await put(id, [{ dueAt: at(5), amount: 8_000 }])
    const change = (text: string) => house.inHouse((trx) => sql(trx, text, [id]))
    const late = (hours: number) =>
      change(
        `update deposit set due_at = now() - make_interval(hours => ${hours}) + case origin when 'policy' then interval '-1 day' else interval '0' end where reservation_id = ?`,
      )
    const watch = () => house.inHouse((trx) => watchDeposits(trx, id))
    const status = async () => (await owner.get(`reservations/${id}`)).body.status
    await late(25)
    await watch()
    expect(await status()).to.equal('confirmed')
    await change(
      `update reservation set policies = jsonb_set(policies, '{deposit,rules,ifUnpaid}', '"cancel"') where id = ?`,
    )
    await late(23)
    await watch()
    expect(await status()).to.equal('confirmed')
    await late(25)
    // Non-refundable: the whole price would be owed, and 12,000 were paid.
    await change(
      `update reservation set policies = jsonb_set(policies, '{cancellation,rules}', '{"tiers":[],"after":{"type":"full","value":0,"of":"total"},"graceHoursAfterBooking":0,"earlyDeparture":{"type":"none","value":0,"of":"room"}}') where id = ?`,
    )
    await Promise.all([watch(), watch()])
    const { body } = await owner.get(`reservations/${id}`)
    expect(body).to.include({ status: 'cancelled', cancelReason: 'deposit_unpaid', feeAmount: 12_000 })
    expect(body.folioSummary).to.include({ charges: 12_000, credits: 12_000, balance: 0 })
    expect((await countersOf(house, 30)).sold).to.equal(0)
    expect(await eventsOf(house, 'reservation.cancelled')).to.have.lengthOf(1)
  })

  it('belong to stays that stand, and to callers of their property', async () => {
    const id = await paidStay()
    const second = await makeHouse({ tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'manager', [second.propertyId])
    expect((await put(id, [], {}, limited)).status).to.equal(404)
    const relations = await openDesk(world, house, 'relations')
    expect((await put(id, [], {}, relations)).status).to.equal(403)
    const { bookingId } = (await owner.get(`reservations/${id}`)).body
    await house.inHouse((trx) =>
      sql(
        trx,
        `update reservation set status = 'cancelled', cancel_reason = 'test', cancelled_at = now() where booking_id = ?`,
        [bookingId],
      ),
    )
    expect((await put(id, [])).body.code).to.equal('invalid_transition')
  })

  it('follow the policy of the plan that a stay changes to, where no money covers them', async () => {
    const { id } = await hold()
    const turn = (change: StayChange) => house.inHouse((trx) => amendReservation(trx, id, change))
    expect((await depositsOf(id)).map(({ amount }) => amount)).to.deep.equal([12_000])
    // Two nights of 18,000, due in full.
    await turn({ ratePlanId: house.saverPlanId })
    expect((await depositsOf(id)).map(({ amount }) => amount)).to.deep.equal([36_000])
    await turn({ ratePlanId: house.ratePlanId, price: 'current' })
    expect((await depositsOf(id)).map(({ amount }) => amount)).to.deep.equal([12_000])
    await house.inHouse(async (trx) => {
      await sql(trx, `update rate_plan set deposit_policy_id = null where id = ?`, [house.ratePlanId])
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    })
    await turn({ policy: 'new' })
    expect(await depositsOf(id)).to.deep.equal([])
  })
})
