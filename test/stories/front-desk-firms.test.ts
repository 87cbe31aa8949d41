import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { stranger } from '../support/stay.ts'
import { atTheDoor, done, openInn, openTenant, refused, useDaysAhead } from './inn.ts'
import type { Inn, Tenant } from './inn.ts'

describe('A day at the front desk: firms, full houses and groups', function () {
  this.timeout(120_000)
  const world = useWorld()
  useDaysAhead()
  let tenant: Tenant
  let inn: Inn
  let bankId = ''
  before(async () => {
    tenant = await openTenant(world)
    const bank = { kind: 'bank', code: 'BANK', name: 'Banco' }
    bankId = done(await tenant.owner.send('POST', 'cash/accounts', bank, { idempotencyKey: randomUUID() }), 201).id
  })
  beforeEach(async () => {
    inn = await openInn(tenant)
  })
  /** The guest pays with a card at the terminal of the desk. */
  const atTheTerminal = async (folioId: string, amount: number) =>
    done(
      await tenant.reception.send(
        'POST',
        'payments/record',
        {
          propertyId: inn.propertyId,
          method: 'terminal',
          amount,
          currency: 'BRL',
          targetType: 'folio',
          targetId: folioId,
          cashAccountId: bankId,
        },
        { idempotencyKey: randomUUID() },
      ),
      201,
    )
  const minibar = async (folioId: string, unitAmount: number) =>
    done(
      await tenant.reception.send(
        'POST',
        `folios/${folioId}/charges`,
        { category: 'minibar', description: 'Água', unitAmount },
        { idempotencyKey: randomUUID() },
      ),
      201,
    )

  it('7: a firm pays the room, the guest what else there was, and two desks check out at once', async () => {
    const { owner, manager, reception } = tenant
    const firm = { legalName: 'Engenharia do Vale', currency: 'BRL', creditLimit: 50_000, kind: 'company' }
    const { id: customerId } = done(await owner.send('POST', 'accounts-receivable/customers', firm), 201)
    const { id: companyId } = done(
      await manager.send('POST', 'companies', { kind: 'company', legalName: 'Engenharia do Vale', customerId }),
      201,
    )
    // CORP STD 18,000 and TUR 600 a night, BRK 5,000 a day: 2 × 23,600.
    const rooms = [inn.room('STD', 'CORP', [0, 2], { extras: [{ extraId: inn.id('BRK'), quantity: 1 }] })]
    const booking = await inn.book(rooms, { companyId })
    expect(booking).to.include({ total: 47_200, status: 'confirmed' })
    const [{ id }] = booking.reservations
    expect(await inn.stay(id)).to.include({ guarantee: 'company' })
    done(await inn.act(reception, id, 'check-in', { override: atTheDoor }))
    const { id: firmFolio } = done(
      await reception.send(
        'POST',
        'folios',
        { propertyId: inn.propertyId, kind: 'company', reservationId: id, payerCompanyId: companyId, label: 'Room' },
        { idempotencyKey: randomUUID() },
      ),
      201,
    )
    const routes = [{ folioId: firmFolio, categories: ['room'] }]
    done(await reception.send('PUT', `reservations/${id}/routing`, { routes }))
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.roll()).to.deep.equal([])
    const { folioSummary } = await inn.stay(id)
    const own = (folioSummary.folios as { id: string }[]).find((one) => one.id !== firmFolio)?.id ?? ''
    await minibar(own, 1_200)
    // The room with its tax on top is the firm's; breakfast and minibar are the guest's.
    expect(await inn.folio(firmFolio)).to.include({ charges: 37_200, balance: 37_200 })
    expect(await inn.folio(own)).to.include({ charges: 11_200, balance: 11_200 })
    const leave = (body: object) => inn.act(reception, id, 'check-out', body)
    expect(refused(await leave({}))).to.deep.equal({
      status: 422,
      code: 'transition_blocked',
      fields: ['balance_not_zero', 'balance_not_zero'],
    })
    await atTheTerminal(own, 11_200)
    const left = await Promise.all([leave({ invoice: [firmFolio] }), leave({ invoice: [firmFolio] })])
    for (const reply of left) expect(done(reply)).to.include({ status: 'checked_out' })
    await inn.work()
    const billed = await inn.folio(firmFolio)
    expect(billed).to.include({ status: 'closed', balance: 0, charges: 37_200 })
    expect(await inn.folio(own)).to.include({ status: 'closed', credits: 11_200 })
    const receivable = done(await owner.get(`accounts-receivable/receivables/${billed.receivableId}`))
    expect(receivable).to.include({ total: 37_200, status: 'issued' })
    expect(done(await owner.get(`accounts-receivable/customers/${customerId}`))).to.include({ exposure: 37_200 })
    // Another stay is beyond the limit: 37,200 and 18,600 are more than 50,000.
    const next = await inn.book([inn.room('STD', 'CORP', [2, 3])], { companyId })
    const [{ id: second }] = next.reservations
    done(await inn.act(reception, second, 'check-in', { override: atTheDoor }))
    const { folioSummary: after } = await inn.stay(second)
    done(await reception.send('PATCH', `folios/${after.folios[0].id}`, { payerCompanyId: companyId }))
    const late = { invoice: [after.folios[0].id], chargeTonight: true }
    const before = await inn.stay(second)
    expect(refused(await inn.act(reception, second, 'check-out', late))).to.include({
      status: 422,
      code: 'credit_limit_exceeded',
    })
    expect(await inn.stay(second)).to.deep.equal(before)
    const limit = { rules: ['credit_limit'], reason: 'They pay tomorrow' }
    done(await inn.act(manager, second, 'check-out', { ...late, override: limit }))
    expect(done(await owner.get(`accounts-receivable/customers/${customerId}`))).to.include({ exposure: 55_800 })
    await inn.healthy()
  })

  it('8: an overbooked day: one guest is relocated for nothing, another waits and gets the room', async () => {
    const { manager, reception } = tenant
    const suite = () => inn.room('SUP', 'FLEX', [0, 1])
    const one = await inn.book([suite()])
    await inn.book([suite()])
    expect(one).to.include({ total: 30_600 })
    const full = await reception.send('POST', 'bookings', {
      propertyId: inn.propertyId,
      source: 'phone',
      booker: { firstName: 'Lia' },
      rooms: [suite()],
    })
    expect(refused(full)).to.include({ status: 409, code: 'sold_out' })
    const entry = done(
      await reception.send('POST', 'waitlist', {
        propertyId: inn.propertyId,
        contact: { name: 'Lia Prado', phone: '+5524999990001' },
        arrival: inn.D,
        departure: inn.day(1),
        unitTypeIds: [inn.id('SUP')],
        adults: 2,
        priority: 1,
      }),
      201,
    )
    type Entry = { id: string; status: string; matchedAt: string | null; bookingId: string | null }
    const waiting = async () => {
      for (const status of ['waiting', 'booked']) {
        const { data } = done(await reception.get(`waitlist?propertyId=${inn.propertyId}&status=${status}`))
        const [found] = (data as Entry[]).filter((one) => one.id === entry.id)
        if (found) return found
      }
      return expect.fail('the request is not on the waitlist')
    }
    await inn.work()
    expect(await waiting()).to.include({ status: 'waiting', matchedAt: null })
    const forced = { rules: ['availability'], reason: 'A guest of many years' }
    const refusedDesk = await reception.send('POST', 'bookings', {
      propertyId: inn.propertyId,
      source: 'phone',
      booker: { firstName: 'Eva' },
      rooms: [suite()],
      override: forced,
    })
    expect(refused(refusedDesk)).to.include({ status: 403, code: 'override_not_permitted' })
    const over = await inn.book([suite()], { override: forced }, manager)
    const [{ id: third }] = over.reservations
    expect(await inn.stay(third)).to.include({ overbooked: true })
    expect(await inn.night('SUP', 0)).to.include({ sold: 3 })
    const summary = async () => done(await reception.get(`front-desk/summary?propertyId=${inn.propertyId}`))
    expect(await summary()).to.include({ overbookedNights: 1 })
    // The terms ask for the first night, and the house relocates for nothing.
    const relocate = { reason: 'overbooked_relocated', note: 'To the inn next door' }
    expect(refused(await inn.act(reception, third, 'cancel', relocate))).to.deep.equal({
      status: 422,
      code: 'transition_blocked',
      fields: ['fee_lowered'],
    })
    const fee = { rules: ['fee'], reason: 'Our own fault' }
    expect(done(await inn.act(manager, third, 'cancel', { ...relocate, override: fee }))).to.include({
      status: 'cancelled',
      feeAmount: 0,
    })
    expect(await inn.night('SUP', 0)).to.include({ sold: 2, free: 0 })
    expect(await summary()).to.include({ overbookedNights: 0 })
    await inn.work()
    expect(await waiting()).to.include({ matchedAt: null })
    // A guest cancels at the fee of the policy: one night of the total, and the room is free for who waits.
    const [{ id: first }] = one.reservations
    const quit = { reason: 'illness' }
    expect(refused(await inn.act(reception, first, 'cancel', quit))).to.include({ status: 409, code: 'fee_changed' })
    const gone = done(await inn.act(reception, first, 'cancel', { ...quit, acceptedFee: 30_600 }))
    expect([gone.status, gone.feeAmount, gone.folioSummary.balance]).to.deep.equal(['cancelled', 30_600, 30_600])
    await inn.work()
    expect((await waiting()).matchedAt).to.be.a('string')
    const { data } = done(await reception.get(`waitlist?propertyId=${inn.propertyId}&matched=true`))
    expect((data as { id: string }[]).map((found) => found.id)).to.deep.equal([entry.id])
    const met = await inn.book([suite()], { waitlistEntryId: entry.id })
    expect(await waiting()).to.include({ status: 'booked', bookingId: met.id })
    const twice = await reception.send('POST', 'bookings', {
      propertyId: inn.propertyId,
      source: 'phone',
      booker: { firstName: 'Lia' },
      rooms: [inn.room('STD', 'FLEX', [0, 1])],
      waitlistEntryId: entry.id,
    })
    expect(twice.status, JSON.stringify(twice.body)).to.be.within(400, 422)
    expect(await inn.night('STD', 0)).to.include({ sold: 0 })
    await inn.healthy()
  })

  it('9: a group: one eats breakfast and pays it on departure, one comes late, one never comes', async () => {
    const { manager, reception } = tenant
    const group = done(
      await manager.send('POST', 'groups', {
        propertyId: inn.propertyId,
        code: 'CHOIR',
        name: 'A choir',
        arrival: inn.D,
        departure: inn.day(2),
        ratePlanId: inn.id('CORP'),
        allotment: { nights: [{ unitTypeId: inn.id('STD'), from: inn.D, to: inn.day(2), quantity: 3 }] },
      }),
      201,
    )
    const { masterFolioId } = done(await manager.send('POST', `groups/${group.id}/confirm`, {}))
    const row = (rowKey: string, adults: number) => ({
      rowKey,
      unitTypeId: inn.id('STD'),
      arrival: inn.D,
      departure: inn.day(2),
      adults,
      childrenAges: [],
      guests: [{ firstName: rowKey, lastName: 'Souza', email: stranger().email }],
    })
    const { rows: made } = done(
      await manager.send('POST', `groups/${group.id}/rooming-list`, {
        rows: [row('r1', 2), row('r2', 1), row('r3', 2)],
      }),
    )
    const of = (key: string) =>
      (made as { rowKey: string; reservationId: string }[]).find((one) => one.rowKey === key)?.reservationId ?? ''
    const totals: number[] = []
    for (const key of ['r1', 'r2', 'r3']) totals.push((await inn.stay(of(key))).total)
    expect(totals).to.deep.equal([37_200, 36_600, 37_200])
    expect(await inn.night('STD', 0)).to.include({ sold: 3, allotted: 0, free: 1 })
    done(await inn.act(reception, of('r1'), 'check-in', { override: atTheDoor }))
    done(await reception.send('POST', `reservations/${of('r1')}/extras`, { extraId: inn.id('BRK'), quantity: 1 }), 201)
    // The no-show costs one night of the total, which its own folio owes; its nights are free again.
    const missed = done(await inn.act(reception, of('r3'), 'no-show', {}))
    expect([missed.status, missed.feeAmount, missed.folioSummary.balance]).to.deep.equal(['no_show', 18_600, 18_600])
    expect(await inn.night('STD', 0)).to.include({ sold: 2 })
    expect(await inn.night('STD', 1)).to.include({ sold: 2 })
    // The second has not come by the audit. When it comes after all, the manager takes the fee back: the night that nobody slept is not owed.
    await inn.roll()
    expect(await inn.stay(of('r2'))).to.include({ status: 'no_show', feeAmount: 18_300 })
    expect(await inn.folio(masterFolioId)).to.include({ charges: 18_600 })
    done(await inn.act(manager, of('r2'), 'reinstate', { reason: 'The bus was late' }))
    expect((await inn.stay(of('r2'))).folioSummary).to.include({ balance: 0 })
    done(await inn.act(reception, of('r2'), 'check-in', { override: atTheDoor }))
    await inn.roll()
    expect(await inn.folio(masterFolioId)).to.include({ charges: 37_200 + 18_300 })
    const own = await inn.folioOf(of('r1'))
    expect(own).to.include({ charges: 10_000, balance: 10_000 })
    expect(refused(await inn.act(reception, of('r1'), 'check-out'))).to.include({ code: 'transition_blocked' })
    await atTheTerminal(own.id, 10_000)
    for (const key of ['r1', 'r2'])
      expect(done(await inn.act(reception, of(key), 'check-out'))).to.include({ status: 'checked_out' })
    expect(await inn.folioOf(of('r1'))).to.include({ status: 'closed', credits: 10_000 })
    expect(await inn.folioOf(of('r3'))).to.include({ status: 'open', balance: 18_600 })
    await atTheTerminal(masterFolioId, 55_500)
    done(await reception.send('POST', `folios/${masterFolioId}/close`, {}))
    await inn.healthy()
  })
})
