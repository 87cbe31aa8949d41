import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { codeOf, differences } from './support.ts'
import { impatiently } from '../support/patience.ts'

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
    const [card] = [{ priceCode: 'CARD', quantity: '1' }]
    const standing = done(await open(ofGin), 201)
    const change = (body: object) => house.reception.send('PATCH', `inventory/orders/${standing.id}`, body)
    const mixed = await change({ addLines: [...ofGin, card] })
    expect(codeOf(mixed)).to.deep.equal([422, 'price_unknown'])
    const other = done(await open([card], 'SHOP'), 201)
    const voiding = { lineId: other.lines[0].id, reason: 'Not mine' }
    expect(codeOf(await change({ covers: 4, voidLines: [voiding] }))).to.deep.equal([422, 'reference_not_found'])
    expect(await house.read(standing.id)).to.deep.equal(standing)
    for (const { id } of [standing, other])
      done(await house.keyed(house.manager, `orders/${id}/cancel`, { reason: 'A mistake' }))
  })

  it('measures that do not convert, wherever stock is named', async () => {
    const bag = { code: 'BAG', name: 'Bag', quantity: '100', purchase: true }
    const salt = await house.store.item({
      sku: 'SALT',
      name: 'Salt',
      categoryId: house.food,
      base: 'g',
      packages: [bag],
    })
    const { propertyId } = house
    for (const measure of ['kg', 'un', 'BAG', 'nothing']) {
      const line = { itemId: gin, quantity: '1', measure }
      const asked = {
        receipt: house.keyed(house.keeper, 'movements', {
          kind: 'receipt',
          propertyId,
          locationId: house.bar,
          lines: [
            { itemId: salt, quantity: '1', measure: 'g', value: 100 },
            { ...line, value: 100 },
          ],
        }),
        transfer: house.keyed(house.keeper, 'movements', {
          kind: 'transfer',
          propertyId,
          fromLocationId: house.bar,
          toLocationId: house.main,
          lines: [line],
        }),
        waste: house.keyed(house.keeper, 'consumptions', {
          kind: 'waste',
          reason: 'spilled',
          propertyId,
          locationId: house.bar,
          lines: [line],
        }),
        recipe: house.keeper.send('POST', 'inventory/recipes', {
          code: 'BAD',
          name: 'Bad',
          kind: 'drink',
          yield: '1',
          components: [line],
        }),
      }
      for (const [what, reply] of Object.entries(asked))
        expect(codeOf(await reply), `${what} in ${measure}`).to.deep.equal([400, 'validation_failed'])
    }
    expect(await house.store.of(salt), 'nothing half done').to.deep.equal(['0', 0])
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

  it('changes of an order that is closed, and charges it no second time', async () => {
    const guest = await house.stay()
    const before = await house.balance(guest.folioId)
    const order = await house.order({
      outletId: house.outletOf('BAR'),
      lines: ofGin,
      reservationId: guest.id,
      close: { settlements: [{ type: 'folio' }] },
    })
    expect([order.status, await house.balance(guest.folioId)]).to.deep.equal(['closed', before + 2_750])
    const [line] = order.lines as { id: string }[]
    for (const body of [
      { addLines: ofGin },
      { voidLines: [{ lineId: line?.id, reason: 'Spilled' }] },
      { table: '4' },
      { discount: 100 },
      { serviceCharge: false },
    ])
      expect(
        codeOf(await house.manager.send('PATCH', `inventory/orders/${order.id}`, body)),
        JSON.stringify(body),
      ).to.deep.equal([409, 'invalid_transition'])
    const again = await house.keyed(house.manager, `orders/${order.id}/close`, {
      settlements: [{ type: 'house', reason: 'Sorry' }],
    })
    expect(done(again)).to.deep.equal(order)
    expect(await house.balance(guest.folioId)).to.equal(before + 2_750)
    done(await house.keyed(house.manager, `orders/${order.id}/cancel`, { reason: 'A mistake' }))
    expect(await house.balance(guest.folioId)).to.equal(before)
  })

  it('what needs stock that another holds for too long: all of it, until it is sent again', async () => {
    const guest = await house.stay()
    const before = await house.balance(guest.folioId)
    const { id } = await house.order({ outletId: house.outletOf('BAR'), lines: ofGin, reservationId: guest.id })
    const close = () => house.keyed(house.reception, `orders/${id}/close`, { settlements: [{ type: 'folio' }] })
    await inTenant(house.house.tenantId, async (trx) => {
      await sql(trx, `select 1 from inventory_stock where item_id = ? for update`, [gin])
      const busy = await impatiently(close)
      expect(codeOf(busy)).to.deep.equal([409, 'stock_busy'])
      expect(busy.headers['retry-after']).to.equal('1')
    })
    expect(await house.read(id)).to.include({ status: 'open' })
    expect(await house.balance(guest.folioId)).to.equal(before)
    expect(done(await close()).status).to.equal('closed')
    done(await house.keyed(house.manager, `orders/${id}/cancel`, { reason: 'A mistake' }))
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
    expect(codeOf(onFolio)).to.deep.equal([422, 'folio_closed'])
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
