import { expect } from 'chai'
import { closeOrder } from '../../db/inventory/index.ts'
import { database, inTenant } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import type { Bar } from './bar.ts'
import { useOrders } from './orders-support.ts'

/** Statements of a piece of work by round trip: those of one are told in one turn. */
const roundsOf = async (work: () => Promise<unknown>): Promise<string[][]> => {
  const rounds: string[][] = []
  let round: string[] | null = null
  const hear = ({ sql }: { sql: string }) => {
    if (round === null) {
      rounds.push((round = []))
      queueMicrotask(() => {
        round = null
      })
    }
    round.push(sql)
  }
  database().on('query', hear)
  try {
    await work()
  } finally {
    database().off('query', hear)
  }
  return rounds
}

describe('Orders of an outlet, many at once', function () {
  this.timeout(120_000)
  const world = useWorld()
  const { gins, close, cancel, externalId, made } = useOrders(world, { stocked: true })
  let house: Bar
  before(() => {
    ;({ house } = made())
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

  it('holds the stock of others for one round trip and the commit: all that it reads it reads before', async () => {
    const { userId } = await makeUser({ [house.house.tenantId]: 'manager' })
    // Others of this process may ask in between, so the least of some counts.
    const tries: { locking: number; after: string[][] }[] = []
    for (let n = 0; n < 4; n += 1) {
      const { id } = await house.order(gins('1'))
      const rounds = await roundsOf(() =>
        inTenant(house.house.tenantId, (trx) => closeOrder(trx, id, [{ type: 'house', reason: 'On the house' }]), {
          actor: { type: 'user', id: userId },
        }),
      )
      done(await cancel(id))
      const locking = rounds.findIndex((round) => round.some((text) => text.includes('hold_stock(')))
      tries.push({ locking, after: rounds.slice(locking + 1) })
    }
    const { locking, after } = tries.reduce((least, one) => (one.after.length < least.after.length ? one : least))
    expect(locking).to.be.greaterThan(0)
    expect(after.flat().filter((text) => /^\s*select/.test(text))).to.deep.equal([])
    expect(after, after.flat().join('\n')).to.have.length(2)
    expect(after[1]?.at(-1)).to.equal('commit')
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

  it('ends shortages with a count that has seen them, and settles later ones with what it found', async () => {
    const cachaca = await house.store.item({ sku: 'CACHACA', name: 'Cachaça', categoryId: house.drinks, base: 'ml' })
    const shop = house.outletOf('SHOP')
    const price = { code: 'CACHACA', name: 'Cachaça', quantity: '100', amount: 900, revenueGroup: 'beverage' }
    await house.prices(shop, { ...price, itemId: cachaca })
    const sell = () =>
      house.keyed(house.manager, 'orders', {
        outletId: shop,
        lines: [{ priceCode: 'CACHACA', quantity: '1' }],
        close: { settlements: [{ type: 'house', reason: 'Tasting' }] },
      })
    const shortages = () =>
      house.rows<{ status: string; settledValue: number }>(
        `select status, settled_value from inventory_shortage where item_id = ? order by position`,
        [cachaca],
      )
    await house.keeper.send('PATCH', `inventory/items/${cachaca}`, { referenceCost: { amount: 100, quantity: '100' } })
    done(await sell(), 201)
    const count = done(await house.keyed(house.keeper, 'counts', { locationId: house.bar, itemIds: [cachaca] }), 201).id
    const lines = [{ itemId: cachaca, counted: '1', measure: 'l' }]
    done(await house.keeper.send('PUT', `inventory/counts/${count}/lines`, { lines }))
    done(await sell(), 201)
    done(await house.keyed(house.manager, `counts/${count}/approve`, {}))
    // One was sold before the litre was counted, one after.
    expect(await shortages()).to.deep.equal([
      { status: 'absorbed', settledValue: 0 },
      { status: 'settled', settledValue: 100 },
    ])
    expect(await house.store.of(cachaca)).to.deep.equal(['900', 900])
  })

  it('pays with what comes for no shortage that an open count has seen, unless the count is cancelled', async () => {
    const shop = house.outletOf('SHOP')
    const counting = async (sku: string) => {
      const itemId = await house.store.item({ sku, name: sku, categoryId: house.drinks, base: 'ml' })
      const reference = { referenceCost: { amount: 100, quantity: '100' } }
      done(await house.keeper.send('PATCH', `inventory/items/${itemId}`, reference))
      const price = { code: sku, name: sku, itemId, quantity: '300', amount: 900, revenueGroup: 'beverage' }
      await house.prices(shop, price)
      const order = {
        outletId: shop,
        lines: [{ priceCode: sku, quantity: '1' }],
        close: { settlements: [{ type: 'house', reason: 'Tasting' }] },
      }
      // Sold out of goods that the books do not know, of which 500 are left.
      done(await house.keyed(house.manager, 'orders', order), 201)
      const body = { locationId: house.bar, itemIds: [itemId] }
      const count = done(await house.keyed(house.keeper, 'counts', body), 201).id as string
      const lines = [{ itemId, counted: '500', measure: 'ml' }]
      done(await house.keeper.send('PUT', `inventory/counts/${count}/lines`, { lines }))
      await house.store.receive(house.bar, itemId, '1000', 'ml', 1_000)
      expect(await house.store.of(itemId)).to.deep.equal(['1000', 1_000])
      // A sale after the line was counted is paid for at once.
      done(await house.keyed(house.manager, 'orders', order), 201)
      expect(await house.store.of(itemId)).to.deep.equal(['700', 700])
      return { itemId, count }
    }
    const approved = await counting('PISCO')
    done(await house.keyed(house.manager, `counts/${approved.count}/approve`, {}))
    // 500 that were counted and 1,000 that came, less 300.
    expect(await house.store.of(approved.itemId)).to.deep.equal(['1200', 1_200])
    const cancelled = await counting('GRAPPA')
    done(await house.keyed(house.manager, `counts/${cancelled.count}/cancel`, {}))
    await world.drain({ kinds: ['inventory.settle-shortages'] })
    expect(await house.store.of(cancelled.itemId)).to.deep.equal(['400', 400])
  })

  it('settles 500 shortages with what comes, and the rest by a job', async () => {
    const wine = await house.store.item({ sku: 'WINE', name: 'Wine', categoryId: house.drinks, base: 'ml' })
    const shop = house.outletOf('SHOP')
    await house.prices(shop, {
      code: 'WINE',
      name: 'Wine',
      itemId: wine,
      quantity: '1',
      amount: 100,
      revenueGroup: 'beverage',
    })
    const close = { settlements: [{ type: 'house', reason: 'Tasting' }] }
    done(
      await house.keyed(house.manager, 'orders', {
        outletId: shop,
        lines: [{ priceCode: 'WINE', quantity: '1' }],
        close,
      }),
      201,
    )
    // As many sales more, which all have gone short by the same.
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(
        `with lines as (insert into inventory_consumption_line select c.* from inventory_consumption_line one, generate_series(1, 500) n,
             lateral jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'position', n)) c where one.item_id = ? returning *)
         insert into inventory_shortage (tenant_id, consumption_id, consumption_line_id, item_id, location_id, quantity)
         select tenant_id, consumption_id, id, item_id, location_id, short_quantity from lines`,
        [wine],
      )
    })
    await house.store.receive(house.bar, wine, '1', 'l', 1_000)
    const open = () => house.rows(`select 1 from inventory_shortage where item_id = ? and status = 'open'`, [wine])
    expect(await open()).to.have.length(1)
    expect(await house.store.of(wine)).to.deep.equal(['500', 500])
    await world.drain({ kinds: ['inventory.settle-shortages'] })
    expect(await open()).to.have.length(0)
    expect(await house.store.of(wine)).to.deep.equal(['499', 499])
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

  it('closes fifty orders at once that share three items in another order: no lock is lost, and stock is exact', async () => {
    const items = []
    for (const sku of ['LIME', 'MINT', 'SUGAR'])
      items.push(await house.store.item({ sku, name: sku, categoryId: house.food, base: 'g' }))
    for (const itemId of items) await house.store.receive(house.bar, itemId, '1000', 'g', 10_000)
    const shop = house.outletOf('SHOP')
    await house.prices(
      shop,
      ...items.map((itemId, index) => ({
        code: `P${index}`,
        name: 'Part',
        itemId,
        quantity: '10',
        amount: 100,
        revenueGroup: 'food',
      })),
    )
    const turned = (index: number) =>
      [0, 1, 2].map((place) => ({ priceCode: `P${(index + place) % 3}`, quantity: '1' }))
    const sale = (index: number) =>
      house.keyed(house.manager, 'orders', {
        outletId: shop,
        lines: index % 2 ? turned(index) : turned(index).toReversed(),
        close: { settlements: [{ type: 'house', reason: 'Tasting' }] },
      })
    const sold = await Promise.all(Array.from({ length: 50 }, (_, index) => sale(index)))
    expect(sold.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim())).to.deep.equal(sold.map(() => '201'))
    for (const itemId of items) expect(await house.store.of(itemId)).to.deep.equal(['500', 5_000])
    expect(new Set(sold.map(({ body: { number } }) => number)).size).to.equal(50)
  })
})
