import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openBar as openBenchBar, openOrders } from '../../bench/stock/bar.ts'
import { closeOrder } from '../../db/inventory/index.ts'
import { done } from '../stories/inn.ts'
import { makeHouse } from '../support/factories.ts'
import { statementsIn } from '../support/statements.ts'
import { roundTrips } from '../support/trips.ts'
import { useWorld } from '../support/world.ts'
import type { Bar } from './bar.ts'
import { useOrders } from './orders-support.ts'
import { codeOf } from './support.ts'

describe('Orders of an outlet over HTTP', function () {
  this.timeout(120_000)
  const world = useWorld()
  const { gins, close, cancel, externalId, made } = useOrders(world, { stocked: false })
  let house: Bar
  let gin: string
  before(() => {
    ;({ house, gin } = made())
  })

  it('S11: goes from stock to the folio in one step, and back', async () => {
    const { store, reception, manager } = house
    await store.receive(house.bar, gin, '1000', 'ml', 8_000)
    const guest = await house.stay()
    const before = await house.balance(guest.folioId)
    const body = {
      ...gins('2'),
      externalId: externalId(),
      reservationId: guest.id,
      discount: 500,
      close: { settlements: [{ type: 'folio' }] },
    }
    expect(codeOf(await house.keyed(reception, 'orders', body))).to.deep.equal([403, 'forbidden'])
    const order = done(await house.keyed(manager, 'orders', body), 201)
    expect(order).to.include({
      status: 'closed',
      subtotal: 5_000,
      discount: 500,
      serviceChargeAmount: 450,
      total: 4_950,
      paidAmount: 0,
    })
    expect(order.number).to.match(/^BAR-\d{6}-1$/)
    const lines = await house.rows<{ category: string; amount: number }>(
      `select category, amount from folio_line where source_type = 'pos_order' and source_id = ? order by amount desc`,
      [order.id],
    )
    expect(lines).to.deep.equal([
      { category: 'beverage', amount: 4_500 },
      { category: 'service_charge', amount: 450 },
    ])
    expect(await house.balance(guest.folioId)).to.equal(before + 4_950)
    expect(await store.of(gin)).to.deep.equal(['900', 7_200])
    expect(await house.ledger('pos_clearing')).to.equal(0)
    expect(await house.ledger('gratuities_payable')).to.equal(450)
    expect(await house.ledger('revenue_beverage')).to.equal(4_500)
    expect(await house.ledger('cost_beverage')).to.equal(800)
    const again = done(await house.keyed(manager, 'orders', body))
    expect([again.id, await store.of(gin)]).to.deep.equal([order.id, ['900', 7_200]])

    expect(codeOf(await cancel(order.id, {}, reception))).to.deep.equal([403, 'forbidden'])
    const back = await Promise.all([cancel(order.id), cancel(order.id), cancel(order.id)])
    expect(back.map(({ status, body: { status: state } }) => [status, state])).to.deep.equal(
      back.map(() => [200, 'voided']),
    )
    expect(await house.balance(guest.folioId)).to.equal(before)
    expect(await store.of(gin)).to.deep.equal(['1000', 8_000])
    for (const role of ['gratuities_payable', 'cost_beverage', 'revenue_beverage', 'pos_clearing'])
      expect(await house.ledger(role), role).to.equal(0)
    expect(codeOf(await close(order.id, []))).to.deep.equal([409, 'invalid_transition'])
  })

  it('closes 10 lines with recipes of 10 components in 20 statements', async () => {
    const bar = await openBenchBar(await makeHouse({ units: 1, deposit: null }))
    const [first = '', second = '', ...others] = await openOrders(bar, 4)
    const settlements = [{ type: 'payment' as const, method: 'card' as const, cashAccountId: bar.cardAccountId }]
    const closing = (id: string) => bar.byCashier((trx) => closeOrder(trx, id, settlements))
    await closing(first)
    // Its beginning is two statements here, and one where plans are kept.
    const statements = await statementsIn(() => closing(second))
    expect(statements.length, statements.map((text) => text.trim().slice(0, 100)).join('\n')).to.be.within(10, 21)
    // Account and stock are locked in the sixth of these; others of the same bar wait for two more.
    const trips: number[] = []
    for (const id of others) trips.push(await roundTrips(() => closing(id)))
    // One of them may begin anew where the machine is busy.
    expect(Math.min(...trips)).to.be.at.most(8)
  })

  it('changes while it is open: lines, discount and what was wasted', async () => {
    const order = await house.order({ ...gins('3'), table: '7' })
    const change = (body: object, by = house.reception, version?: number) =>
      by.send('PATCH', `inventory/orders/${order.id}`, body, version ? { headers: { 'if-match': `"${version}"` } } : {})
    const [line] = order.lines as { id: string }[]
    expect(codeOf(await change({ discount: 100 }))).to.deep.equal([403, 'forbidden'])
    expect(
      codeOf(
        await change({
          addLines: [
            { priceCode: 'NOPE', quantity: '1' },
            { priceCode: 'NADA', quantity: '1' },
          ],
        }),
      ),
    ).to.deep.equal([422, 'price_unknown'])
    const more = done(await change({ addLines: [{ priceCode: 'TOUR', quantity: '2.5' }], covers: 2 }))
    expect(more).to.include({ subtotal: 7_750, serviceChargeAmount: 775, total: 8_525, covers: 2 })
    expect(codeOf(await change({ covers: 3 }, house.reception, order.version))).to.deep.equal([409, 'version_conflict'])
    const voided = done(await change({ voidLines: [{ lineId: line?.id, reason: 'Spilled', wasted: true }] }))
    expect(voided).to.include({ subtotal: 250, total: 275 })
    expect(codeOf(await change({ discount: 251 }, house.manager))).to.deep.equal([400, 'validation_failed'])
    const before = await house.store.of(gin)
    done(await close(order.id, [{ type: 'house', reason: 'Sorry' }], house.manager))
    expect(await house.store.of(gin)).to.deep.equal([
      String(Number(before[0]) - 150),
      before[1] - Math.round((before[1] * 150) / Number(before[0])),
    ])
    expect(codeOf(await change({ covers: 1 }))).to.deep.equal([409, 'invalid_transition'])
  })

  it('goes from one table to another, and is split between guests to the cent', async () => {
    const [one, other] = [await house.stay(), await house.stay()]
    const balances = async () => [await house.balance(one.folioId), await house.balance(other.folioId)] as const
    const books = async () =>
      [await house.ledger('revenue_beverage'), await house.ledger('gratuities_payable')] as const
    const [[a, b], [revenue, gratuities], stock] = [await balances(), await books(), await house.store.of(gin)]
    const order = await house.order({ ...gins('3'), table: '31' })
    const at = async (table: string) =>
      done(await house.reception.get(`inventory/orders?propertyId=${house.propertyId}&q=${table}`)).data.map(
        ({ id }: { id: string }) => id,
      )
    expect(await at('31')).to.deep.equal([order.id])
    const moved = await house.reception.send('PATCH', `inventory/orders/${order.id}`, { table: '32' })
    expect(done(moved)).to.include({ table: '32', total: 8_250 })
    expect([await at('31'), await at('32')]).to.deep.equal([[], [order.id]])
    expect(await at(order.number.toLowerCase())).to.deep.equal([order.id])
    for (const sign of ['%25', '_', '%25-%25', '%5C']) expect(await at(sign), sign).to.deep.equal([])
    const folio = (reservationId: string, amount?: number) => ({ type: 'folio', reservationId, amount })
    for (const [settlements, refusal] of [
      [
        [folio(one.id, 2_751), folio(other.id, 5_498)],
        [422, 'settlement_mismatch'],
      ],
      [
        [folio(one.id), folio(other.id)],
        [400, 'validation_failed'],
      ],
    ] as const)
      expect(codeOf(await close(order.id, [...settlements]))).to.deep.equal(refusal)
    expect(await balances()).to.deep.equal([a, b])
    const closed = done(await close(order.id, [folio(one.id, 2_751), folio(other.id)]))
    expect(closed.settlements.map(({ amount }: { amount: number }) => amount)).to.deep.equal([2_751, 5_499])
    expect(await balances()).to.deep.equal([a + 2_751, b + 5_499])
    expect(await books()).to.deep.equal([revenue + 7_500, gratuities + 750])
    done(await cancel(order.id))
    expect([await balances(), await books(), await house.store.of(gin)]).to.deep.equal([
      [a, b],
      [revenue, gratuities],
      stock,
    ])
  })

  it('finds the stay of a minibar, and keeps housekeeping to it', async () => {
    const attendant = await house.desk('housekeeper')
    const guest = await house.stay()
    const body = (unitId: string | undefined) => ({
      outletId: house.outletOf('MINI'),
      unitId,
      lines: [{ priceCode: 'GT', quantity: '1' }],
      close: { settlements: [{ type: 'folio' }] },
    })
    expect(codeOf(await house.keyed(attendant, 'orders', { ...gins('1') }))).to.deep.equal([403, 'forbidden'])
    const [empty] = await house.rows<{ id: string }>(
      `select u.id from unit u where not exists (select from unit_assignment a where a.unit_id = u.id and a.status = 'occupied') limit 1`,
    )
    expect(codeOf(await house.keyed(attendant, 'orders', body(empty?.id)))).to.deep.equal([422, 'not_in_house'])
    expect(codeOf(await house.keyed(attendant, 'orders', body(undefined)))).to.deep.equal([400, 'validation_failed'])
    const [before, other] = [await house.balance(guest.folioId), await house.stay()]
    const foreign = { ...body(guest.unitId), reservationId: other.id }
    expect(codeOf(await house.keyed(attendant, 'orders', foreign))).to.deep.equal([422, 'not_in_house'])
    const order = done(await house.keyed(attendant, 'orders', body(guest.unitId)), 201)
    expect(order).to.include({ status: 'closed', reservationId: guest.id, total: 2_500 })
    expect(await house.balance(guest.folioId)).to.equal(before + 2_500)
    expect(await house.ledger('revenue_minibar')).to.equal(2_500)
  })

  it('charges nothing to rooms where the outlet does not, and shows no order of another tenant', async () => {
    const guest = await house.stay()
    const outletId = house.outletOf('SHOP')
    await house.prices(outletId, { code: 'CARD', name: 'Postcard', amount: 300, revenueGroup: 'other' })
    const order = await house.order({
      outletId,
      lines: [{ priceCode: 'CARD', quantity: '1' }],
      reservationId: guest.id,
    })
    expect(codeOf(await close(order.id, [{ type: 'folio' }]))).to.deep.equal([422, 'room_charge_not_allowed'])
    const outlets = done(await house.keeper.get(`inventory/outlets?propertyId=${house.propertyId}`))
    expect(
      codeOf(await house.keeper.send('PUT', 'inventory/outlets', { propertyId: house.propertyId, outlets: [] })),
    ).to.deep.equal([422, 'in_use'])
    expect(outlets.data).to.have.length(3)
    expect(codeOf(await house.reception.get(`inventory/orders/${randomUUID()}`))).to.deep.equal([404, 'not_found'])
    done(await cancel(order.id))
  })
})
