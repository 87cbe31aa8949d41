import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { stranger } from '../support/stay.ts'
import { atTheDoor, done, openInn, openTenant, refused, useDaysAhead } from './inn.ts'
import type { Inn, Tenant } from './inn.ts'

describe('A day at the front desk: stays', function () {
  this.timeout(120_000)
  const world = useWorld()
  useDaysAhead()
  let tenant: Tenant
  let inn: Inn
  before(async () => {
    tenant = await openTenant(world)
  })
  beforeEach(async () => {
    inn = await openInn(tenant)
  })

  it('1: a walk-in with breakfast pays at the door, and leaves on the same day', async () => {
    const { reception } = tenant
    const { email } = stranger()
    const rooms = [inn.room('STD', 'FLEX', [0, 1], { extras: [{ extraId: inn.id('BRK'), quantity: 1 }] })]
    const booking = await inn.book(rooms, {
      source: 'walk_in',
      booker: { firstName: 'Vera', lastName: 'Prado', email },
      checkIn: {},
      override: atTheDoor,
    })
    const [{ id }] = booking.reservations
    expect(booking).to.include({ status: 'checked_in', total: 25_600 })
    const { assignments } = await inn.stay(id)
    const { unitName } = assignments[0]
    expect(await inn.unit(unitName)).to.include({ occupancy: 'occupied' })
    const { inHouse } = done(await reception.get(`front-desk/summary?propertyId=${inn.propertyId}`))
    expect(inHouse).to.include({ reservations: 1, adults: 2 })

    const { folioSummary } = await inn.stay(id)
    const folioId = folioSummary.folios[0].id as string
    const charge = { category: 'minibar', description: 'Água', quantity: '2', unitAmount: 600 }
    done(await reception.send('POST', `folios/${folioId}/charges`, charge, { idempotencyKey: randomUUID() }), 201)
    const lines = async () =>
      done(await reception.get(`folios/${folioId}/lines?limit=100`)).data as { amount: number }[]
    const [line] = (await lines()) as { amount: number; taxes: { code: string; amount: number }[] }[]
    expect(line).to.include({ amount: 1200 })
    expect(line?.taxes.map(({ code, amount }) => [code, amount])).to.deep.equal([['ISS', 57]])
    expect((await inn.stay(id)).folioSummary).to.include({ balance: 1200, projected: 26_800 })

    expect(refused(await inn.act(reception, id, 'check-out'))).to.deep.equal({
      status: 422,
      code: 'transition_blocked',
      fields: ['balance_not_zero', 'early_departure_not_confirmed'],
    })
    expect(await inn.pay(await inn.tokenOf(booking.number, email), 'all')).to.equal(26_800)
    const left = done(await inn.act(reception, id, 'check-out', { chargeTonight: true }))
    expect(left).to.include({ status: 'checked_out' })
    const folio = await inn.folio(folioId)
    expect(folio).to.include({ charges: 26_800, credits: 26_800, status: 'closed', balance: 0 })
    expect(folio.taxes).to.deep.include({ code: 'ISS', included: true, amount: 952 + 238 + 57 })
    expect(await inn.unit(unitName)).to.include({ occupancy: 'vacant', condition: 'dirty' })
    expect((await inn.unit(unitName))?.task).to.include({ kind: 'departure', status: 'open' })
    const before = await lines()
    done(await inn.act(reception, id, 'check-out', { chargeTonight: true }))
    expect(await lines()).to.deep.equal(before)
    await inn.healthy()
  })

  it('2: a guest who has paid at the portal leaves a day early', async () => {
    const { reception } = tenant
    const { email } = stranger()
    const { quote, reply } = await inn.holdRoom(email, 'STD', 'DEP', [0, 3])
    expect(quote).to.include({ total: 61_800, dueNow: 18_540 })
    const held = done(reply, 201)
    expect(await inn.pay(held.guestToken, 'all')).to.equal(61_800)
    const { reservations } = done(await reception.get(`bookings/${held.bookingId}`))
    const [{ id, status }] = reservations
    expect(status).to.equal('confirmed')
    expect(await inn.folioOf(id)).to.include({ credits: 61_800, charges: 0, stage: 'deposit' })
    expect((await inn.stay(id)).deposits[0]).to.include({ amount: 18_540, covered: 18_540, status: 'covered' })
    done(await inn.act(reception, id, 'check-in', { override: atTheDoor }))
    expect(await inn.folioOf(id)).to.include({ stage: 'guest' })
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.folioOf(id)).to.include({ charges: 41_200, balance: -20_600 })
    const preview = done(await reception.get(`reservations/${id}/transitions`))
    expect(preview.businessDate).to.equal(inn.day(2))
    const t16 = preview.commands.find((one: { id: string }) => one.id === 'T16')
    expect(t16.effects).to.include({ fee: 20_000, refund: 600 })
    expect((await inn.night('STD', 2))['sold']).to.equal(1)
    const unsaid = refused(await inn.act(reception, id, 'check-out'))
    expect(unsaid).to.include({ status: 422, code: 'transition_blocked' })
    expect(unsaid.fields).to.include('early_departure_not_confirmed')
    done(await inn.act(reception, id, 'check-out', { early: true, refund: 'automatic' }))
    expect(await inn.refunds()).to.deep.equal([600])
    expect(await inn.folioOf(id)).to.include({ charges: 61_200, credits: 61_200, status: 'closed' })
    expect((await inn.night('STD', 2))['sold']).to.equal(0)
    await inn.healthy()
  })

  it('3: a deposit, a change of dates, a fee, a reinstatement, and a cancellation that is free', async () => {
    const { reception, manager } = tenant
    const before = await inn.night('STD', 3)
    const { email } = stranger()
    const { quote, reply } = await inn.holdRoom(email, 'STD', 'DEP', [20, 22])
    expect(quote).to.include({ total: 41_200, dueNow: 12_360 })
    const held = done(reply, 201)
    expect(await inn.pay(held.guestToken, 'due')).to.equal(12_360)
    const { reservations } = done(await reception.get(`bookings/${held.bookingId}`))
    const [{ id, status }] = reservations
    expect(status).to.equal('confirmed')
    const amend = async (from: number) => {
      const changes = { arrival: inn.day(from), departure: inn.day(from + 2) }
      const proposal = done(await inn.act(reception, id, 'amendments', { changes }), 201)
      expect(proposal).to.include({ difference: 0, feasible: true })
      done(await inn.act(reception, id, `amendments/${proposal.amendmentId}/accept`))
    }
    await amend(3)
    const reason = 'changed_plans'
    const unasked = await inn.act(reception, id, 'cancel', { reason })
    expect(refused(unasked)).to.include({ status: 409, code: 'fee_changed' })
    expect(JSON.stringify(unasked.body)).to.contain('20600')
    const cancelled = done(await inn.act(reception, id, 'cancel', { reason, acceptedFee: 20_600 }))
    expect(cancelled).to.include({ status: 'cancelled', feeAmount: 20_600 })
    await inn.work()
    expect(await inn.folioOf(id)).to.include({ stage: 'guest', balance: 8_240 })
    expect(await inn.refunds()).to.deep.equal([])
    const back = { fee: 'reverse', policy: 'keep', reason: 'The guest comes after all' }
    expect((await inn.act(reception, id, 'reinstate', back)).status).to.equal(403)
    expect(done(await inn.act(manager, id, 'reinstate', back))).to.include({ status: 'confirmed' })
    expect(await inn.folioOf(id)).to.include({ charges: 0, credits: 12_360, stage: 'deposit' })
    expect((await inn.stay(id)).deposits).to.have.lengthOf(1)
    expect((await inn.stay(id)).deposits[0]).to.include({ amount: 12_360, covered: 12_360, status: 'covered' })
    await amend(20)
    expect(done(await inn.act(reception, id, 'cancel', { reason }))).to.include({ status: 'cancelled', feeAmount: 0 })
    expect(await inn.refunds()).to.deep.equal([12_360])
    expect(await inn.folioOf(id)).to.include({ status: 'closed', balance: 0, charges: 0, credits: 0 })
    expect(await inn.night('STD', 3)).to.deep.equal(before)
    await inn.healthy()
  })
})
