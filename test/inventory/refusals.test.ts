import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { codeOf, differences } from './support.ts'

describe('What stock and outlets refuse', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: Bar
  let gin: string
  before(async () => {
    house = await openBar(world)
    gin = await house.store.item({ sku: 'GIN', name: 'Gin', categoryId: house.drinks, base: 'ml', barcode: '78912345' })
    await house.store.receive(house.bar, gin, '1', 'l', 8_000)
    const price = { name: 'Gin', itemId: gin, quantity: '50', amount: 2_500, revenueGroup: 'beverage' }
    await house.prices(house.outletOf('BAR'), { code: 'GIN', ...price })
    await house.prices(house.outletOf('SHOP'), { code: 'CARD', name: 'Postcard', amount: 300, revenueGroup: 'other' })
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => {
    expect(await house.store.of(gin)).to.deep.equal(['1000', 8_000])
    expect(await differences(world, house.house.tenantId)).to.deep.equal([])
  })
  const open = (lines: object[], outlet = 'BAR') =>
    house.keyed(house.reception, 'orders', { outletId: house.outletOf(outlet), lines })
  const ofGin = [{ priceCode: 'GIN', quantity: '1' }]

  it('the price of another outlet, and quantities of nothing or less', async () => {
    expect(codeOf(await open(ofGin, 'SHOP'))).to.deep.equal([422, 'price_unknown'])
    for (const quantity of ['0', '-1', '0.00001', '1e3', '', '100000000'])
      expect((await open([{ priceCode: 'GIN', quantity }])).status, quantity).to.equal(400)
  })

  it('counts below nothing, in another dimension, of what is no item, and by whom they are approved', async () => {
    const count = done(await house.keyed(house.keeper, 'counts', { locationId: house.bar, itemIds: [gin] }), 201).id
    const enter = (line: object) =>
      house.keeper.send('PUT', `inventory/counts/${count}/lines`, { lines: [{ itemId: gin, measure: 'ml', ...line }] })
    for (const line of [{ counted: '-1' }, { counted: '1', measure: 'kg' }, { counted: 'many' }])
      expect((await enter(line)).status, JSON.stringify(line)).to.equal(400)
    expect(codeOf(await enter({ counted: '1', itemId: randomUUID() }))).to.deep.equal([422, 'reference_not_found'])
    const approve = (by: Bar['keeper']) => house.keyed(by, `counts/${count}/approve`, {})
    expect(codeOf(await approve(house.manager))).to.deep.equal([422, 'count_incomplete'])
    done(
      await house.manager.send('PUT', `inventory/counts/${count}/lines`, {
        lines: [{ itemId: gin, counted: '1', measure: 'l' }],
      }),
    )
    expect(codeOf(await approve(house.manager))).to.deep.equal([403, 'self_approval'])
    done(await house.keyed(house.manager, `counts/${count}/cancel`, {}))
    expect(codeOf(await approve(house.owner))).to.deep.equal([409, 'invalid_transition'])
  })

  it('changes of an order that is over', async () => {
    const { id } = done(await open(ofGin), 201)
    done(await house.keyed(house.manager, `orders/${id}/cancel`, { reason: 'A mistake' }))
    const change = await house.reception.send('PATCH', `inventory/orders/${id}`, { addLines: ofGin })
    expect(codeOf(change)).to.deep.equal([409, 'invalid_transition'])
    const close = await house.keyed(house.manager, `orders/${id}/close`, {
      settlements: [{ type: 'house', reason: 'Sorry' }],
    })
    expect(codeOf(close)).to.deep.equal([409, 'invalid_transition'])
  })

  it('a close onto a folio that is closed, or by a session that is over, and takes nothing for it', async () => {
    const guest = await house.stay()
    const folio = done(
      await house.manager.send(
        'POST',
        'folios',
        { propertyId: house.propertyId, kind: 'house', label: 'Bar' },
        { idempotencyKey: randomUUID() },
      ),
      201,
    ).id as string
    done(await house.manager.send('POST', `folios/${folio}/close`, {}, { idempotencyKey: randomUUID() }))
    const account = { kind: 'register', code: 'REG', name: 'Bar', propertyId: house.propertyId }
    const opening = { amount: 0, on: house.house.today }
    const keyed = (path: string, body: object, by = house.manager) =>
      by.send('POST', path, body, { idempotencyKey: randomUUID() })
    const register = done(await keyed('cash/accounts', { ...account, opening }, house.owner), 201).id
    const session = done(await keyed('cash/sessions', { registerId: register, count: {} }), 201).id
    done(await keyed(`cash/sessions/${session}/close`, { count: {} }))
    const { id } = done(
      await house.keyed(house.reception, 'orders', {
        outletId: house.outletOf('BAR'),
        lines: ofGin,
        reservationId: guest.id,
      }),
      201,
    )
    const close = (settlement: object) =>
      house.keyed(house.manager, `orders/${id}/close`, { settlements: [settlement] })
    const onFolio = await close({ type: 'folio', folioId: folio })
    expect([409, 422]).to.include(onFolio.status)
    expect(codeOf(await close({ type: 'payment', method: 'cash', cashSessionId: session }))).to.deep.equal([
      422,
      'session_closed',
    ])
    expect(await house.read(id)).to.include({ status: 'open', paidAmount: 0 })
    done(await house.keyed(house.manager, `orders/${id}/cancel`, { reason: 'A mistake' }))
  })

  it('two items of one code', async () => {
    const item = (more: object) =>
      house.keeper.send('POST', 'inventory/items', {
        sku: `S${randomUUID().slice(0, 8).toUpperCase()}`,
        name: 'Other',
        categoryId: house.drinks,
        base: 'ml',
        ...more,
      })
    expect(codeOf(await item({ sku: 'GIN' }))).to.deep.equal([409, 'duplicate_code'])
    expect(codeOf(await item({ barcode: '78912345' }))).to.deep.equal([409, 'duplicate_code'])
  })
})
