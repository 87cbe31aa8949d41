import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { codeOf, differences } from './support.ts'

describe('Orders of an outlet over HTTP', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: Bar
  let gin: string
  let drink: string
  let count = 0
  before(async () => {
    house = await openBar(world)
    gin = await house.store.item({ sku: 'GIN', name: 'Gin', categoryId: house.drinks, base: 'ml' })
    drink = await house.recipe({
      code: 'GT',
      name: 'Gin and tonic',
      kind: 'drink',
      yield: '1',
      components: [{ itemId: gin, quantity: '50', measure: 'ml' }],
    })
    const price = { name: 'Gin and tonic', recipeId: drink, amount: 2_500, revenueGroup: 'beverage' }
    await house.prices(
      house.outletOf('BAR'),
      { code: 'GT', ...price },
      { code: 'TOUR', name: 'Tour', amount: 100, revenueGroup: 'tours' },
    )
    await house.prices(house.outletOf('MINI'), { code: 'GT', ...price })
    await house.prices(house.outletOf('SHOP'), { code: 'CARD', name: 'Postcard', amount: 300, revenueGroup: 'other' })
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => {
    expect(await differences(world, house.house.tenantId)).to.deep.equal([])
    expect(await house.ledger('pos_clearing')).to.equal(await openMoney())
  })

  /** What was paid for orders that are still open stands on the clearing account. */
  const openMoney = async () =>
    -(
      (await house.rows<{ paid: number }>(`select coalesce(sum(paid_amount), 0)::bigint as paid from pos_order`))[0]
        ?.paid ?? 0
    ) +
    ((
      await house.rows<{ paid: number }>(
        `select coalesce(sum(s.amount), 0)::bigint as paid from pos_settlement s join pos_order o on o.id = s.order_id and o.status = 'closed' where s.type = 'payment'`,
      )
    )[0]?.paid ?? 0)
  const gins = (quantity: string) => ({ outletId: house.outletOf('BAR'), lines: [{ priceCode: 'GT', quantity }] })
  const close = (id: string, settlements: object[], by = house.reception) =>
    house.keyed(by, `orders/${id}/close`, { settlements })
  const cancel = (id: string, body: object = {}, by = house.manager) =>
    house.keyed(by, `orders/${id}/cancel`, { reason: 'A mistake', ...body })
  const externalId = () => `POS-${(count += 1)}`

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
    expect([await house.ledger('gratuities_payable'), await house.ledger('cost_beverage')]).to.deep.equal([0, 0])
    expect(codeOf(await close(order.id, []))).to.deep.equal([409, 'invalid_transition'])
  })

  it('closes one order once, however many close it at once', async () => {
    const guest = await house.stay()
    const { id } = await house.order({ ...gins('1'), reservationId: guest.id })
    const many = await Promise.all(Array.from({ length: 6 }, () => close(id, [{ type: 'folio' }])))
    expect(many.map(({ status, body }) => [status, body.status])).to.deep.equal(many.map(() => [200, 'closed']))
    expect(await house.rows(`select 1 from inventory_consumption where order_id = ?`, [id])).to.have.length(1)
    expect(await house.rows(`select 1 from folio_line where source_id = ?`, [id])).to.have.length(2)
    expect((await house.read(id)).settlements).to.have.length(1)
  })

  it('takes one order for an external id that is sent twenty times at once', async () => {
    const body = { ...gins('1'), externalId: externalId() }
    const many = await Promise.all(Array.from({ length: 20 }, () => house.keyed(house.reception, 'orders', body)))
    expect(many.filter(({ status }) => status === 201)).to.have.length(1)
    expect(many.filter(({ status }) => status === 200)).to.have.length(19)
    expect(new Set(many.map(({ body: { id } }) => id)).size).to.equal(1)
    done(await cancel(many[0]?.body.id))
  })

  it('sells the last bottle twice: one is short, none is negative, and what comes settles it', async () => {
    const rum = await house.store.item({ sku: 'RUM', name: 'Rum', categoryId: house.drinks, base: 'ml' })
    await house.store.receive(house.bar, rum, '700', 'ml', 7_000)
    const shop = house.outletOf('SHOP')
    await house.prices(
      shop,
      { code: 'CARD', name: 'Postcard', amount: 300, revenueGroup: 'other' },
      { code: 'RUM', name: 'A bottle of rum', itemId: rum, quantity: '700', amount: 9_000, revenueGroup: 'beverage' },
    )
    const bottle = {
      outletId: shop,
      lines: [{ priceCode: 'RUM', quantity: '1' }],
      close: { settlements: [{ type: 'house', reason: 'On the house' }] },
    }
    const sold = await Promise.all([1, 2, 3].map(() => house.keyed(house.manager, 'orders', bottle)))
    expect(sold.map(({ status }) => status)).to.deep.equal([201, 201, 201])
    expect(await house.store.of(rum)).to.deep.equal(['0', 0])
    const { rows } = await house.store.stock({ itemId: rum })
    expect(rows[0]).to.include({ quantity: '0', short: '1400', value: 0 })
    expect(await house.ledger('cost_complimentary')).to.equal(7_000)
    const events = await house.rows(`select 1 from event where type = 'stock.run_short' and entity ->> 'id' = ?`, [rum])
    expect(events).to.have.length(2)
    await house.store.receive(house.bar, rum, '1000', 'ml', 12_000)
    expect((await house.store.stock({ itemId: rum })).rows[0]).to.include({ short: '400', value: 0 })
    expect(await house.ledger('cost_complimentary')).to.equal(19_000)
    // A void gives back what was settled since, too, and ends what is short of it.
    for (const { body } of sold) done(await cancel(body.id))
    expect(await house.ledger('cost_complimentary')).to.equal(0)
    expect(await house.store.of(rum)).to.deep.equal(['1700', 19_000])
  })

  it('uses the recipe of the moment of the close, also while it changes', async () => {
    const vodka = await house.store.item({ sku: 'VODKA', name: 'Vodka', categoryId: house.drinks, base: 'ml' })
    await house.store.receive(house.bar, vodka, '10', 'l', 50_000)
    const shot = await house.recipe({
      code: 'SHOT',
      name: 'Shot',
      kind: 'drink',
      yield: '1',
      components: [{ itemId: vodka, quantity: '40', measure: 'ml' }],
    })
    const outletId = house.outletOf('SHOP')
    await house.prices(outletId, {
      code: 'SHOT',
      name: 'Shot',
      recipeId: shot,
      amount: 1_000,
      revenueGroup: 'beverage',
    })
    const orders = []
    for (let one = 0; one < 8; one += 1)
      orders.push(await house.order({ outletId, lines: [{ priceCode: 'SHOT', quantity: '1' }] }))
    const change = (quantity: string) =>
      house.keeper.send('PATCH', `inventory/recipes/${shot}`, {
        components: [{ itemId: vodka, quantity, measure: 'ml' }],
      })
    const [first, ...others] = orders
    done(await change('50'))
    done(await close(first?.id, [{ type: 'house', reason: 'Tasting' }], house.manager))
    expect(await house.store.of(vodka)).to.deep.equal(['9950', 49_750])
    const both = await Promise.all([
      change('60'),
      ...others.map(({ id }) => close(id, [{ type: 'house', reason: 'Tasting' }], house.manager)),
    ])
    expect(both.map(({ status }) => status)).to.deep.equal(both.map(() => 200))
    const used = await house.rows<{ quantity: number; versions: number }>(
      `select l.quantity, count(distinct l.recipe_version_id)::int as versions from inventory_consumption_line l where l.item_id = ? group by 1 order by 1`,
      [vodka],
    )
    expect(used.every(({ quantity, versions }) => [500_000, 600_000].includes(quantity) && versions === 1)).to.equal(
      true,
    )
    const recipe = done(await house.keeper.get(`inventory/recipes/${shot}`))
    expect(recipe).to.include({ currentVersion: 3 })
    expect(recipe.cost).to.deep.equal([{ currency: 'BRL', amount: '300' }])
    for (const { id } of orders) done(await cancel(id))
    expect(await house.store.of(vodka)).to.deep.equal(['10000', 50_000])
  })

  it('is paid in cash and by card, and a void turns what the open session took', async () => {
    const { propertyId, manager, reception } = house
    const keyed = (path: string, body: object, by = manager) =>
      by.send('POST', path, body, { idempotencyKey: randomUUID() })
    const account = async (kind: string) =>
      done(
        await keyed(
          'cash/accounts',
          {
            kind,
            code: kind.toUpperCase(),
            name: kind,
            propertyId,
            opening: { amount: 0, on: house.house.today },
          },
          house.owner,
        ),
        201,
      ).id as string
    const [register, bank] = [await account('register'), await account('bank')]
    const session = done(await keyed('cash/sessions', { registerId: register, count: {} }, reception), 201).id
    const order = await house.order(gins('2'))
    expect(codeOf(await close(order.id, []))).to.deep.equal([422, 'settlement_mismatch'])
    const half = { type: 'payment', method: 'card', cashAccountId: bank, amount: 2_000 }
    expect(codeOf(await close(order.id, [half, { type: 'payment', method: 'cash', amount: 1_000 }]))).to.deep.equal([
      422,
      'settlement_mismatch',
    ])
    expect(codeOf(await close(order.id, [{ type: 'folio' }]))).to.deep.equal([422, 'not_in_house'])
    expect(codeOf(await close(order.id, [half, { type: 'house', reason: 'Friends' }]))).to.deep.equal([
      403,
      'forbidden',
    ])
    expect((await house.read(order.id)).paidAmount).to.equal(0)
    const closed = done(await close(order.id, [half, { type: 'payment', method: 'cash', cashSessionId: session }]))
    expect(closed).to.include({ status: 'closed', total: 5_500, paidAmount: 5_500 })
    expect(
      closed.settlements.map(({ type, amount }: { type: string; amount: number }) => [type, amount]),
    ).to.deep.equal([
      ['payment', 2_000],
      ['payment', 3_500],
    ])
    const stock = await house.store.of(gin)
    const voided = done(await cancel(order.id))
    expect(voided).to.include({ status: 'voided', paidAmount: 0 })
    const payments = await house.rows<{ method: string; status: string; allocatedAmount: number }>(
      `select p.method, p.status, p.allocated_amount from payment p join pos_settlement s on s.payment_id = p.id where s.order_id = ? order by p.method`,
      [order.id],
    )
    expect(payments).to.deep.equal([
      { method: 'card', status: 'reversed', allocatedAmount: 0 },
      { method: 'cash', status: 'reversed', allocatedAmount: 0 },
    ])
    expect((await house.store.of(gin))[0]).to.equal(String(Number(stock[0]) + 100))
    expect(done(await house.owner.get(`cash/accounts/${register}`)).balance).to.equal(0)
    // A payment that no session counts stays, and pays for nothing.
    const other = await house.order(gins('1'), manager)
    done(await close(other.id, [{ type: 'payment', method: 'card', cashAccountId: bank }], manager))
    done(await cancel(other.id))
    const [left] = await house.rows<{ status: string; allocatedAmount: number }>(
      `select p.status, p.allocated_amount from payment p join pos_settlement s on s.payment_id = p.id where s.order_id = ?`,
      [other.id],
    )
    expect(left).to.deep.equal({ status: 'captured', allocatedAmount: 0 })
  })

  it('takes a payment while it is open, keeps its guest, and is cancelled only without money', async () => {
    const guest = await house.stay()
    const order = await house.order({ ...gins('1'), reservationId: guest.id })
    const [bank] = await house.rows<{ id: string }>(`select id from cash_account where kind = 'bank' limit 1`)
    done(
      await house.manager.send(
        'POST',
        'payments/record',
        {
          propertyId: house.propertyId,
          method: 'pix',
          amount: 1_000,
          currency: 'BRL',
          cashAccountId: bank?.id,
          targetType: 'pos_order',
          targetId: order.id,
        },
        { idempotencyKey: randomUUID() },
      ),
      201,
    )
    expect(await house.read(order.id)).to.include({ paidAmount: 1_000, status: 'open' })
    const left = await house.reception.send('POST', `reservations/${guest.id}/check-out`, {})
    expect(JSON.stringify(left.body)).to.include('open_checks')
    expect(codeOf(await cancel(order.id))).to.deep.equal([422, 'in_use'])
    const closed = done(await close(order.id, [{ type: 'folio' }]))
    expect(
      closed.settlements.map(({ type, amount }: { type: string; amount: number }) => [type, amount]),
    ).to.deep.equal([
      ['payment', 1_000],
      ['folio', 1_750],
    ])
  })

  it('parts what the house gives from what is sold, in revenue and in cost', async () => {
    const [revenue, free, cost] = [
      await house.ledger('revenue_beverage'),
      await house.ledger('cost_complimentary'),
      await house.ledger('cost_beverage'),
    ]
    const guest = await house.stay()
    const order = await house.order({ ...gins('2'), serviceCharge: false, reservationId: guest.id })
    done(
      await close(
        order.id,
        [{ type: 'house', reason: 'A long wait', amount: 1_250 }, { type: 'folio' }],
        house.manager,
      ),
    )
    expect(await house.ledger('revenue_beverage')).to.equal(revenue + 3_750)
    const given = (await house.ledger('cost_complimentary')) - free
    const sold = (await house.ledger('cost_beverage')) - cost
    expect(given * 3).to.be.closeTo(sold, 3)
    done(await cancel(order.id, { wasted: true }))
    expect([await house.ledger('cost_complimentary'), await house.ledger('cost_beverage')]).to.deep.equal([free, cost])
    const waste = done(
      await house.manager.get(`inventory/consumptions?propertyId=${house.propertyId}&kind=waste&itemId=${gin}`),
    ).data
    expect(waste.map(({ orderId, reason }: { orderId: string; reason: string }) => [orderId, reason])).to.deep.include([
      order.id,
      'returned',
    ])
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
    const before = await house.balance(guest.folioId)
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
