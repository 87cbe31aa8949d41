import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { stranger } from '../support/stay.ts'
import { atTheDoor, done, openInn, openTenant, refused, useDaysAhead } from './inn.ts'
import type { Inn, Tenant } from './inn.ts'

describe('A day at the front desk: money of two kinds', function () {
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
  const key = () => ({ idempotencyKey: randomUUID() })
  const post = async (path: string, body: object, desk = tenant.reception) =>
    done(await desk.send('POST', path, body, key()), 201)
  const atTheTerminal = (targetId: string, amount: number) =>
    post('payments/record', {
      propertyId: inn.propertyId,
      method: 'terminal',
      amount,
      currency: 'BRL',
      targetType: 'folio',
      targetId,
      cashAccountId: bankId,
    })
  type Line = { id: string; kind: string; category: string; amount: number; taxes: { amount: number }[] }
  const lines = async (folioId: string, query = '') =>
    done(await tenant.reception.get(`folios/${folioId}/lines?limit=100${query}`)).data as Line[]
  const lineOf = async (folioId: string, kind: string, category?: string) =>
    (await lines(folioId, `&kind=${kind}${category ? `&category=${category}` : ''}`))[0] ?? expect.fail(`no ${kind}`)

  it('10: a stay in two rooms: shared folios, an adjustment, a departure that is taken back', async () => {
    const { reception, manager } = tenant
    const { email } = stranger()
    const breakfast = { extras: [{ extraId: inn.id('BRK'), quantity: 1 }] }
    const booking = await inn.book([inn.room('STD', 'FLEX', [0, 3], breakfast)], {
      booker: { firstName: 'Rui', lastName: 'Alves', email },
    })
    expect(booking.total).to.equal(76_800)
    const [{ id }] = booking.reservations
    const { id: own } = await inn.folioOf(id)
    await atTheTerminal(own, 30_000)
    expect(await inn.folio(own)).to.include({ stage: 'deposit', credits: 30_000 })
    expect(await inn.pay(await inn.tokenOf(booking.number, email), 'all')).to.equal(46_800)
    done(await inn.act(reception, id, 'check-in', { unitId: inn.id('101'), override: atTheDoor }))
    // A split stay: from tomorrow on in another room.
    const split = { unitId: inn.id('103'), from: inn.day(1), reason: 'noise' }
    expect(done(await inn.act(reception, id, 'move', split))).to.include({ total: 76_800 })
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.folio(own)).to.include({ charges: 25_600, balance: 25_600 - 76_800 })
    done(await inn.act(reception, id, 'move', { unitId: inn.id('103'), reason: 'noise' }))
    expect(await inn.unit('101')).to.include({ occupancy: 'vacant', condition: 'dirty' })
    expect(await inn.unit('103')).to.include({ occupancy: 'occupied' })
    const parking = { extraId: inn.id('PARK'), quantity: 1, from: inn.day(1), until: inn.day(2) }
    done(await reception.send('POST', `reservations/${id}/extras`, parking), 201)
    expect((await inn.stay(id)).folioSummary).to.include({ projected: 4_000 })

    // The friend pays the first breakfast, with a part of what was paid at the terminal.
    const other = { propertyId: inn.propertyId, kind: 'guest', reservationId: id, label: 'Breakfast' }
    const { id: friend } = await post('folios', other)
    const food = await lineOf(own, 'charge', 'food')
    const terminal = (await lines(own, '&kind=payment')).find((one) => one.amount === -30_000)
    await post(`folios/${own}/transfers`, {
      toFolioId: friend,
      lines: [{ lineId: food.id }, { lineId: terminal?.id, amount: 5_000 }],
    })
    expect(await inn.folio(friend)).to.include({ charges: 5_000, credits: 5_000, balance: 0 })
    // Ten percent off a night of 20,000, of whose 952 of tax 95 go.
    const night = await lineOf(own, 'charge', 'room')
    const { lines: adjusted } = await post(`folios/${own}/adjustments`, {
      lineId: night.id,
      rate: 1_000,
      reason: 'The street was loud',
    })
    expect(adjusted.map((one: Line) => [one.amount, one.taxes.map((tax) => tax.amount)])).to.deep.equal([
      [-2_000, [-95]],
    ])
    expect(await inn.folio(own)).to.include({ charges: 18_600, credits: 71_800 })
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.folio(own)).to.include({ charges: 46_200 })

    const { commands } = done(await reception.get(`reservations/${id}/transitions`))
    const leaving = commands.find((one: { id: string }) => one.id === 'T16')
    expect(leaving.effects).to.include({ fee: 20_000, refund: 5_600 })
    done(await inn.act(reception, id, 'check-out', { early: true, refund: 'automatic' }))
    expect(await inn.refunds()).to.deep.equal([5_600])
    expect(await inn.folio(own)).to.include({ charges: 66_200, credits: 66_200, status: 'closed' })
    expect(await inn.folio(friend)).to.include({ status: 'closed' })
    expect((await inn.night('STD', 2))['sold']).to.equal(0)
    // The taxi does not come: the fee goes, night and extras are back, and what was sent stays sent.
    done(await inn.act(manager, id, 'revert-check-out', { reason: 'The flight is cancelled' }))
    expect((await inn.night('STD', 2))['sold']).to.equal(1)
    const { folioSummary, total } = await inn.stay(id)
    expect([total, folioSummary.balance, folioSummary.projected]).to.deep.equal([80_800, -20_000, 7_600])
    expect(await inn.roll()).to.deep.equal([])
    expect(refused(await inn.act(reception, id, 'check-out'))).to.deep.equal({
      status: 422,
      code: 'transition_blocked',
      fields: ['balance_not_zero'],
    })
    await atTheTerminal(own, 7_600)
    done(await inn.act(reception, id, 'check-out'))
    expect(await inn.folio(own)).to.include({ charges: 73_800, credits: 73_800, status: 'closed' })
    await inn.healthy()
  })

  it('11: the house cancels, and gives each kind of money back its own way; another comes a day late', async () => {
    const { owner, reception, manager } = tenant
    const before = await inn.night('STD', 0)
    const { email } = stranger()
    const booking = await inn.book([inn.room('STD', 'FLEX', [0, 2])], {
      booker: { firstName: 'Lia', lastName: 'Prado', email },
    })
    const [{ id }] = booking.reservations
    const { id: own } = await inn.folioOf(id)
    const { id: recorded } = await atTheTerminal(own, 20_000)
    expect(await inn.pay(await inn.tokenOf(booking.number, email), 'all')).to.equal(21_200)
    const fault = { reason: 'property_fault', note: 'No water' }
    expect(refused(await inn.act(reception, id, 'cancel', fault))).to.include({ code: 'transition_blocked' })
    const override = { rules: ['fee'], reason: 'Our own fault' }
    const { commands } = done(await manager.get(`reservations/${id}/transitions`))
    expect(commands.find((one: { id: string }) => one.id === 'T11').effects).to.include({ fee: 20_600, refund: 20_600 })
    expect(done(await inn.act(manager, id, 'cancel', { ...fault, override }))).to.include({ feeAmount: 0 })
    expect(await inn.refunds()).to.deep.equal([21_200])
    expect(await inn.folio(own)).to.include({ charges: 0, credits: 20_000, balance: -20_000, status: 'open' })
    expect(refused(await reception.send('POST', `folios/${own}/close`, {})).code).to.equal('folio_not_zero')
    await post(
      `payments/${recorded}/refunds`,
      { amount: 20_000, reason: 'cancellation', via: 'manual', cashAccountId: bankId },
      owner,
    )
    await inn.work()
    expect(await inn.folio(own)).to.include({ charges: 0, credits: 0, balance: 0 })
    done(await reception.send('POST', `folios/${own}/close`, {}))
    expect(await inn.night('STD', 0)).to.deep.equal(before)

    const late = await inn.book([inn.room('STD', 'FLEX', [0, 2])])
    const [{ id: second }] = late.reservations
    const { id: folioId } = await inn.folioOf(second)
    await atTheTerminal(folioId, 41_200)
    expect(await inn.roll()).to.deep.equal(['credit_after_no_show'])
    expect(await inn.folio(folioId)).to.include({ charges: 20_600, balance: -20_600, stage: 'deposit' })
    expect((await inn.night('STD', 1))['sold']).to.equal(0)
    const kept = { fee: 'keep', reason: 'The guest comes a day late' }
    const back = done(await inn.act(manager, second, 'reinstate', kept))
    expect([back.status, back.total, back.folioSummary.projected]).to.deep.equal(['confirmed', 20_600, 0])
    expect(await inn.folio(folioId)).to.include({ stage: 'deposit' })
    done(await inn.act(reception, second, 'check-in', { override: atTheDoor }))
    expect(await inn.roll()).to.deep.equal([])
    done(await inn.act(reception, second, 'check-out'))
    expect(await inn.folio(folioId)).to.include({ charges: 41_200, credits: 41_200, status: 'closed' })
    await inn.healthy()
  })

  it('12: a group: nights of its allotment come, go and come back, and the master folio is even at the end', async () => {
    const { reception, manager, owner } = tenant
    const nights = [
      { unitTypeId: inn.id('STD'), from: inn.D, to: inn.day(3), quantity: 2 },
      { unitTypeId: inn.id('SUP'), from: inn.D, to: inn.day(2), quantity: 1 },
    ]
    const group = done(
      await manager.send('POST', 'groups', {
        propertyId: inn.propertyId,
        code: 'TOUR',
        name: 'A tour',
        arrival: inn.D,
        departure: inn.day(3),
        ratePlanId: inn.id('CORP'),
        allotment: { nights },
      }),
      201,
    )
    const { masterFolioId: master } = done(await manager.send('POST', `groups/${group.id}/confirm`, {}))
    const row = (rowKey: string, type: string, to: number, adults: number) => ({
      rowKey,
      unitTypeId: inn.id(type),
      arrival: inn.D,
      departure: inn.day(to),
      adults,
      childrenAges: [],
      guests: [{ firstName: rowKey, lastName: 'Souza', email: stranger().email }],
    })
    const { rows: made } = done(
      await manager.send('POST', `groups/${group.id}/rooming-list`, {
        rows: [row('r1', 'STD', 3, 2), row('r2', 'STD', 2, 1), row('r3', 'SUP', 2, 2)],
      }),
    )
    const of = (key: string) =>
      (made as { rowKey: string; reservationId: string }[]).find((one) => one.rowKey === key)?.reservationId ?? ''
    const totals: number[] = []
    for (const key of ['r1', 'r2', 'r3']) totals.push((await inn.stay(of(key))).total)
    expect(totals).to.deep.equal([55_800, 36_600, 55_200])
    const { id: paid } = await atTheTerminal(master, 100_000)
    expect(await inn.folio(master)).to.include({ stage: 'deposit', credits: 100_000 })
    done(await inn.act(reception, of('r1'), 'check-in', { override: atTheDoor }))
    expect(await inn.folio(master)).to.include({ stage: 'guest' })
    expect(await inn.night('STD', 2)).to.include({ sold: 1, allotted: 1 })
    const p = done(await inn.act(reception, of('r2'), 'amendments', { changes: { departure: inn.day(3) } }), 201)
    expect(p).to.include({ difference: 18_300, feasible: true })
    done(await inn.act(reception, of('r2'), `amendments/${p.amendmentId}/accept`))
    expect(await inn.night('STD', 2)).to.include({ sold: 2, allotted: 0 })
    expect(await inn.roll()).to.deep.equal([])
    for (const [key, fee] of [
      ['r2', 18_300],
      ['r3', 27_600],
    ] as const)
      expect(await inn.stay(of(key))).to.include({ status: 'no_show', feeAmount: fee })
    expect(await inn.folio(master)).to.include({ charges: 18_600 })
    expect(await inn.night('STD', 2)).to.include({ sold: 1, allotted: 1 })
    done(await inn.act(manager, of('r3'), 'reinstate', { reason: 'The bus was late' }))
    expect(await inn.stay(of('r3'))).to.include({ total: 27_600 })
    expect(await inn.night('SUP', 1)).to.include({ sold: 1, allotted: 0 })
    done(await inn.act(reception, of('r3'), 'check-in', { override: atTheDoor }))
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.folio(master)).to.include({ charges: 64_800 })
    done(await inn.act(reception, of('r3'), 'check-out'))
    done(await inn.act(reception, of('r1'), 'check-out', { early: true }))
    expect(await inn.night('STD', 2)).to.include({ sold: 0, allotted: 2 })
    done(await manager.send('POST', `groups/${group.id}/release`, {}))
    expect(await inn.night('STD', 2)).to.include({ sold: 0, allotted: 0, free: 4 })
    const own = (await inn.folioOf(of('r2'))).id
    const fee = await lineOf(own, 'fee')
    await post(`folios/${own}/transfers`, { toFolioId: master, lines: [{ lineId: fee.id }] })
    expect(await inn.folio(master)).to.include({ charges: 83_100, balance: -16_900 })
    await post(
      `payments/${paid}/refunds`,
      { amount: 16_900, reason: 'cancellation', via: 'manual', cashAccountId: bankId },
      owner,
    )
    await inn.work()
    expect(await inn.folio(master)).to.include({ balance: 0 })
    done(await reception.send('POST', `folios/${master}/close`, {}))
    done(await reception.send('POST', `folios/${own}/close`, {}))
    expect(await inn.roll()).to.deep.equal([])
    expect(await inn.roll()).to.deep.equal([])
    await inn.work()
    expect(done(await manager.get(`groups/${group.id}`)).status).to.equal('closed')
    await inn.healthy()
  })
})
