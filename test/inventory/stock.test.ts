import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { deskOf, openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { balanceOf, codeOf, differences, storeOf } from './support.ts'

describe('Stock of a house', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let keeper: Desk
  let desk: Desk
  let store: ReturnType<typeof storeOf>
  let food: string
  let bar: string
  let main: string
  let count = 0
  before(async () => {
    house = await makeHouse({ units: 2 })
    owner = await openDesk(world, house, 'owner')
    keeper = await openDesk(world, house, 'stock')
    desk = await openDesk(world, house, 'receptionist')
    store = storeOf(keeper, house.propertyId)
    food = (await store.categories({ code: 'FOOD', name: 'Food', expenseGroup: 'food' }))['FOOD'] ?? ''
    const places = await store.locations(
      { code: 'BAR', name: 'Bar', kind: 'bar' },
      { code: 'MAIN', name: 'Main store', kind: 'store' },
    )
    bar = places['BAR'] ?? ''
    main = places['MAIN'] ?? ''
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => expect(await differences(world, house.tenantId)).to.deep.equal([]))

  const newItem = (more: object = {}) =>
    store.item({ sku: `ITEM${(count += 1)}`, name: 'Flour', categoryId: food, base: 'g', ...more })
  const transfer = (itemId: string, quantity: string, measure = 'g', [from, to] = [main, bar]) =>
    store.move({ kind: 'transfer', fromLocationId: from, toLocationId: to, lines: [{ itemId, quantity, measure }] })

  it('leaves at the moving average to the cent, and takes all of its value with the last', async () => {
    const flour = await newItem()
    await store.receive(main, flour, '3', 'kg', 1_000)
    const values = []
    for (let time = 0; time < 3; time += 1)
      values.push(done(await transfer(flour, '1', 'kg'), 201).lines[1].value as number)
    expect(values).to.deep.equal([333, 334, 333])
    expect((await store.stock({ locationId: main, itemId: flour })).rows).to.deep.equal([])
    expect(await store.of(flour)).to.deep.equal(['3000', 1_000])
  })

  it('is kept exactly in pounds, ounces and packages, and refuses what does not convert', async () => {
    const sugar = await newItem({ packages: [{ code: 'SACK', name: 'Sack', quantity: '25000', purchase: true }] })
    await store.receive(main, sugar, '2', 'lb', 700)
    expect(await store.of(sugar)).to.deep.equal(['907.1847', 700])
    await store.receive(main, sugar, '0.5', 'SACK', 5_000)
    expect(await store.of(sugar)).to.deep.equal(['13407.1847', 5_700])
    const [line] = [{ itemId: sugar, quantity: '1', measure: 'l', value: 1 }]
    const receive = (lines: object[]) => store.move({ kind: 'receipt', locationId: main, lines })
    expect(codeOf(await receive([line]))).to.deep.equal([400, 'validation_failed'])
    expect(codeOf(await receive([{ ...line, measure: 'g', quantity: '-1' }]))).to.deep.equal([400, 'validation_failed'])
    expect(codeOf(await receive([{ ...line, measure: 'mg', quantity: '0.0001' }]))).to.deep.equal([
      422,
      'quantity_too_small',
    ])
    expect(codeOf(await receive([{ ...line, measure: 't', quantity: '99999999' }]))).to.deep.equal([
      400,
      'validation_failed',
    ])
    const change = (body: object) => keeper.send('PATCH', `inventory/items/${sugar}`, body)
    expect(codeOf(await change({ base: 'ml' }))).to.deep.equal([422, 'locked_field'])
    const sack = { code: 'SACK', name: 'Sack', quantity: '20000', purchase: true }
    expect(codeOf(await change({ packages: [sack] }))).to.deep.equal([422, 'locked_field'])
    expect(codeOf(await change({ packages: [] }))).to.deep.equal([422, 'locked_field'])
    expect(done(await change({ packages: [{ ...sack, quantity: '25000', name: 'Big sack' }] }))).to.include({
      quantity: '13407.1847',
    })
  })

  it('never goes below nothing, and names each line that would', async () => {
    const [a, b] = [await newItem(), await newItem()]
    await store.receive(main, a, '10', 'g', 100)
    const lines = [a, b].map((itemId) => ({ itemId, quantity: '11', measure: 'g' }))
    const refused = await store.move({ kind: 'transfer', fromLocationId: main, toLocationId: bar, lines })
    expect(codeOf(refused)).to.deep.equal([422, 'insufficient_stock'])
    expect(refused.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal([
      'lines.0.quantity',
      'lines.1.quantity',
    ])
    const all = await Promise.all(Array.from({ length: 8 }, () => transfer(a, '3')))
    expect(all.filter(({ status }) => status === 201)).to.have.length(3)
    expect(all.filter(({ status }) => status !== 201).map(codeOf)).to.deep.equal(
      Array.from({ length: 5 }, () => [422, 'insufficient_stock']),
    )
    expect((await store.stock({ itemId: a, groupBy: 'item' })).rows[0]).to.include({ quantity: '10', value: 100 })
  })

  it('takes a receipt once for its key, and back at its value once', async () => {
    const item = await newItem()
    const key = randomUUID()
    const body = {
      kind: 'receipt',
      locationId: main,
      lines: [{ itemId: item, quantity: '10', measure: 'g', value: 99 }],
    }
    const twice = [done(await store.move(body, key), 201), done(await store.move(body, key), 201)]
    expect(twice[0].id).to.equal(twice[1].id)
    expect(
      codeOf(await keeper.send('POST', 'inventory/movements', { propertyId: house.propertyId, ...body })),
    ).to.deep.equal([400, 'idempotency_key_required'])
    await store.receive(main, item, '10', 'g', 51)
    const back = () => store.keyed(`movements/${twice[0].id}/reverse`, { reason: 'Not ours' })
    const many = await Promise.all(Array.from({ length: 5 }, back))
    expect(many.map(({ status, body: { status: state } }) => [status, state])).to.deep.equal(
      many.map(() => [200, 'reversed']),
    )
    expect(await store.of(item)).to.deep.equal(['10', 51])
    const reversal = many[0]?.body.reversedById as string
    expect(codeOf(await store.keyed(`movements/${reversal}/reverse`, { reason: 'Ours after all' }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('comes back to no item that is archived', async () => {
    const item = await newItem()
    await store.receive(main, item, '5', 'g', 100)
    const waste = {
      kind: 'waste',
      reason: 'expired',
      locationId: main,
      lines: [{ itemId: item, quantity: '5', measure: 'g' }],
    }
    const { movementId } = done(await store.keyed('consumptions', { propertyId: house.propertyId, ...waste }), 201)
    done(await keeper.send('POST', `inventory/items/${item}/archive`))
    const back = await store.keyed(`movements/${movementId}/reverse`, { reason: 'It was another box' })
    expect([...codeOf(back), back.body.errors?.[0]?.message]).to.deep.equal([422, 'in_use', `ITEM${count} is archived`])
    expect(await store.of(item)).to.deep.equal(['0', 0])
  })

  it('posts what a reversal cannot take at its own value as price variance', async () => {
    const item = await newItem()
    const dear = await store.receive(main, item, '10', 'g', 1_000)
    await store.receive(main, item, '10', 'g', 0)
    done(await transfer(item, '10'), 201)
    // 10 g worth 500 are left in the store.
    done(await store.keyed(`movements/${dear.id}/reverse`, { reason: 'Sent back' }))
    expect(await store.of(item)).to.deep.equal(['10', 500])
    await world.drain({ kinds: ['ledger.post'] })
    expect(await balanceOf(house.tenantId, 'price_variance')).to.equal(-500)
    const gone = await store.receive(main, item, '5', 'g', 50)
    done(await transfer(item, '5'), 201)
    expect(codeOf(await store.keyed(`movements/${gone.id}/reverse`, { reason: 'Sent back' }))).to.deep.equal([
      422,
      'insufficient_stock',
    ])
  })

  it('is dated within 35 days, in open periods, and not before its count', async () => {
    const item = await newItem()
    const receive = (occurredOn: string) =>
      store.move({
        kind: 'receipt',
        occurredOn,
        locationId: main,
        lines: [{ itemId: item, quantity: '1', measure: 'g', value: 10 }],
      })
    const { asOf: today } = await store.stock()
    expect(codeOf(await receive(addDays(today, -36)))).to.deep.equal([422, 'date_out_of_range'])
    expect(codeOf(await receive(addDays(today, 1)))).to.deep.equal([422, 'date_out_of_range'])
    const back = await receive(addDays(today, -1))
    expect(back.status).to.be.oneOf([201, 422])
    done(await receive(today), 201)
    const past = await store.stock({ asOf: addDays(today, -1), itemId: item })
    expect(past.value).to.equal(back.status === 201 ? 10 : 0)
    const started = done(await keeper.send('POST', 'inventory/counts', { locationId: main, itemIds: [item] }), 201)
    const lines = [{ itemId: item, counted: '1', measure: 'g' }]
    done(await keeper.send('PUT', `inventory/counts/${started.id}/lines`, { lines }))
    // Of a month that closes, the counts that are still open are told.
    const month = done(await owner.get(`financial/periods?kind=regular&from=${today}&to=${today}`)).data[0].id as string
    const told = async () =>
      (done(await owner.get(`financial/periods/${month}`)).checklist as { code: string }[]).find(
        ({ code }) => code === 'counts_open',
      )
    expect(await told()).to.deep.include({ blocking: false, passed: false, sample: [started.id] })
    done(await owner.send('POST', `inventory/counts/${started.id}/approve`))
    expect(await told()).to.include({ passed: true, count: 0 })
    expect(codeOf(await receive(addDays(today, -1)))).to.be.deep.oneOf([
      [422, 'before_count'],
      [422, 'period_missing'],
    ])
  })

  it('goes to another house at its value, posted on both sides, and to none of another currency', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const there = storeOf(keeper, other.propertyId)
    const { DEPOT: depot = '' } = await there.locations({ code: 'DEPOT', name: 'Depot', kind: 'store' })
    const item = await newItem()
    await store.receive(main, item, '3', 'kg', 1_000)
    const sent = done(await transfer(item, '1', 'kg', [main, depot]), 201)
    expect((await there.stock({ itemId: item })).rows[0]).to.include({ quantity: '1000', value: 333 })
    const events = () =>
      house.inHouse((trx) =>
        sql<{ propertyId: string; amount: number }>(
          trx,
          `select e.property_id, (select sum((x ->> 'amount')::bigint) from jsonb_each(e.payload -> 'amounts') a, jsonb_array_elements(a.value) x)::bigint as amount
           from posting_event e where e.event = 'inventory.stock_transferred' order by 1`,
        ),
      )
    expect(await events()).to.deep.equal(
      [house.propertyId, other.propertyId].toSorted().map((propertyId) => ({ propertyId, amount: 333 })),
    )
    const back = await store.keyed(`movements/${sent.id}/reverse`, { reason: 'Sent to the wrong house' })
    expect(done(back)).to.include({ status: 'reversed' })
    expect(await store.of(item)).to.deep.equal(['3000', 1_000])
    expect(await events()).to.have.length(4)
    const inCurrency = (currency: string) =>
      world.database.admin.transaction(async (trx) => {
        await sql(trx, `set local session_replication_role = replica`)
        await sql(trx, `update property set currency = ? where id = ?`, [currency, other.propertyId])
      })
    await inCurrency('EUR')
    expect(codeOf(await transfer(item, '1', 'kg', [main, depot]))).to.deep.equal([422, 'currency_mismatch'])
    await inCurrency('BRL')
  })

  it('opens once, where nothing has moved yet', async () => {
    const item = await newItem()
    const open = () =>
      store.move({
        kind: 'opening',
        locationId: main,
        lines: [{ itemId: item, quantity: '4', measure: 'g', value: 40 }],
      })
    const made = done(await open(), 201)
    expect(codeOf(await open())).to.deep.equal([422, 'rule_violated'])
    done(await store.keyed(`movements/${made.id}/reverse`, { reason: 'Counted wrong' }))
    expect(await store.of(item)).to.deep.equal(['0', 0])
  })

  it('is counted by some and approved by another, on the stock of the moment of each entry', async () => {
    const [a, b, c] = [
      await newItem(),
      await newItem(),
      await newItem({ referenceCost: { amount: 200, quantity: '100' } }),
    ]
    await store.receive(bar, a, '10', 'g', 100)
    await store.receive(bar, b, '10', 'g', 100)
    const start = () => keeper.send('POST', 'inventory/counts', { locationId: bar, itemIds: [a, b] })
    const started = await Promise.all(Array.from({ length: 4 }, start))
    expect(started.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([201, 409, 409, 409])
    expect(codeOf(started.find(({ status }) => status === 409)!)).to.deep.equal([409, 'item_being_counted'])
    const { id } = started.find(({ status }) => status === 201)!.body
    const approve = (by: Desk) => by.send('POST', `inventory/counts/${id}/approve`)
    const enter = (...lines: object[]) => keeper.send('PUT', `inventory/counts/${id}/lines`, { lines })
    expect(codeOf(await enter({ itemId: a, counted: '-1', measure: 'g' }))).to.deep.equal([400, 'validation_failed'])
    const blind = done(await enter({ itemId: a, counted: '8', measure: 'g' }))
    expect(
      blind.lines.map(({ expected, difference }: object & Record<string, unknown>) => [expected, difference]),
    ).to.deep.equal([
      [null, null],
      [null, null],
    ])
    expect(codeOf(await approve(owner))).to.deep.equal([422, 'count_incomplete'])
    // It moves after it was counted: the difference is that of the moment of the entry.
    await store.receive(bar, a, '5', 'g', 50)
    done(await enter({ itemId: b, counted: '10', measure: 'g' }, { itemId: c, counted: '3', measure: 'g' }))
    expect(codeOf(await approve(keeper))).to.deep.equal([403, 'self_approval'])
    const approved = await Promise.all([approve(owner), approve(owner), approve(owner)])
    expect(approved.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    const lines = approved[0]?.body.lines as { itemId: string; difference: string; value: number }[]
    expect(lines.find(({ itemId }) => itemId === a)).to.include({ difference: '-2', value: -20 })
    expect(lines.find(({ itemId }) => itemId === c)).to.include({ difference: '3', value: 6 })
    expect(await store.of(a)).to.deep.equal(['13', 130])
    expect(codeOf(await enter({ itemId: a, counted: '1', measure: 'g' }))).to.deep.equal([409, 'invalid_transition'])
    expect(codeOf(await keeper.send('POST', `inventory/counts/${id}/cancel`))).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('asks for another count where more is missing than there is, and for a cost of what nobody bought', async () => {
    const [a, b] = [await newItem(), await newItem()]
    await store.receive(bar, a, '10', 'g', 100)
    const { id } = done(await keeper.send('POST', 'inventory/counts', { locationId: bar, itemIds: [a] }), 201)
    const enter = (...lines: object[]) => keeper.send('PUT', `inventory/counts/${id}/lines`, { lines })
    done(await enter({ itemId: a, counted: '0', measure: 'g' }))
    done(await transfer(a, '4', 'g', [bar, main]), 201)
    const approve = () => owner.send('POST', `inventory/counts/${id}/approve`)
    expect(codeOf(await approve())).to.deep.equal([409, 'recount_needed'])
    done(await enter({ itemId: a, counted: '6', measure: 'g' }, { itemId: b, counted: '1', measure: 'g' }))
    expect(codeOf(await approve())).to.deep.equal([422, 'cost_unknown'])
    done(await keeper.send('PATCH', `inventory/items/${b}`, { referenceCost: { amount: 7, quantity: '1' } }))
    expect(done(await approve())).to.include({ status: 'approved', value: 7 })
  })

  it('tells once that an item runs low, and shows its value to those who may see it', async () => {
    const item = await newItem({ levels: [{ locationId: bar, minimum: '5', maximum: '20' }] })
    await store.receive(bar, item, '10', 'g', 100)
    done(await transfer(item, '6', 'g', [bar, main]), 201)
    done(await transfer(item, '1', 'g', [bar, main]), 201)
    const { data } = done(await keeper.get(`inventory/items?low=true&locationId=${bar}&limit=100`))
    expect(data.map(({ id }: { id: string }) => id)).to.include(item)
    const seen = done(await desk.get(`inventory/items/${item}`))
    expect(seen).to.include({ quantity: '10', value: null, unitCost: null })
    expect(codeOf(await desk.get('inventory/movements'))).to.deep.equal([403, 'forbidden'])
    expect(
      (done(await desk.get(`inventory/stock?propertyId=${house.propertyId}`)) as { value: unknown }).value,
    ).to.equal(null)
    const events = await house.inHouse((trx) =>
      trx.raw(`select count(*)::int as count from event where type = 'stock.run_low' and entity ->> 'id' = ?`, [item]),
    )
    expect((events as { rows: { count: number }[] }).rows[0]?.count).to.equal(1)
  })

  it('keeps sets whole: used entries stay, versions are compared, trees have three levels', async () => {
    const list = done(await keeper.get('inventory/categories'))
    const put = (categories: object[], version = list.version) =>
      keeper.send('PUT', 'inventory/categories', { categories }, { headers: { 'if-match': `"${version}"` } })
    expect(codeOf(await put(list.data, list.version + 1))).to.deep.equal([409, 'version_conflict'])
    expect(codeOf(await put([]))).to.deep.equal([422, 'in_use'])
    const child = (code: string, parentCode: string) => ({ code, parentCode, name: code, expenseGroup: 'food' })
    const deep = [...list.data, child('A', 'FOOD'), child('B', 'A'), child('C', 'B')]
    expect(codeOf(await put(deep))).to.deep.equal([400, 'validation_failed'])
    expect(codeOf(await put([...list.data, child('A', 'B'), child('B', 'A')]))).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(done(await put(deep.slice(0, -1))).data).to.have.length(list.data.length + 2)
    const locations = { propertyId: house.propertyId, locations: [] }
    expect(codeOf(await keeper.send('PUT', 'inventory/locations', locations))).to.deep.equal([422, 'in_use'])
  })

  it('does not say what a blind count expected that was never approved', async () => {
    const item = await newItem()
    await store.receive(bar, item, '10', 'g', 100)
    const { id } = done(await keeper.send('POST', 'inventory/counts', { locationId: bar, itemIds: [item] }), 201)
    const lines = [{ itemId: item, counted: '4', measure: 'g' }]
    done(await keeper.send('PUT', `inventory/counts/${id}/lines`, { lines }))
    done(await keeper.send('POST', `inventory/counts/${id}/cancel`))
    const told = done(await keeper.get(`inventory/counts/${id}`))
    expect(told.status).to.equal('cancelled')
    expect(told.lines[0]).to.include({ counted: '4', expected: null, difference: null })
  })

  it('is told of the houses that a member sees, and has no value over several currencies', async () => {
    const item = await newItem()
    await store.receive(bar, item, '10', 'g', 100)
    const other = await makeHouse({ units: 1, tenantId: house.tenantId })
    const person = await makeUser()
    await house.inHouse((trx) =>
      addMembership(trx, { userId: person.userId, role: 'stock', propertyIds: [other.propertyId] }),
    )
    const part = deskOf(world, house.tenantId, (await signIn(world, person)).token)
    const there = storeOf(part, other.propertyId)
    const { SHOP: shop = '' } = await there.locations({ code: 'SHOP', name: 'Shop', kind: 'shop' })
    const told = async (by: Desk) => {
      const { sku, quantity, value, unitCost, lastCost, stock } = done(await by.get(`inventory/items/${item}`))
      const [listed] = done(await by.get(`inventory/items?q=${sku}`)).data
      const { id, quantity: amount, value: worth, unitCost: cost, lastCost: last } = listed
      expect([id, amount, worth, cost, last]).to.deep.equal([item, quantity, value, unitCost, lastCost])
      return { quantity, value, unitCost, last: lastCost?.value ?? null, places: stock.length }
    }
    const all = { quantity: '10', value: 100, unitCost: '10', last: 100, places: 1 }
    expect(await told(keeper)).to.deep.equal(all)
    expect(await told(part)).to.deep.equal({ quantity: '0', value: 0, unitCost: null, last: null, places: 0 })
    await there.receive(shop, item, '5', 'g', 900)
    expect(await told(part)).to.deep.equal({ quantity: '5', value: 900, unitCost: '180', last: 900, places: 1 })
    expect(await told(keeper)).to.deep.equal({
      ...all,
      quantity: '15',
      value: 1_000,
      unitCost: '66.6667',
      last: 900,
      places: 2,
    })
    const currency = (text: string) =>
      world.database.admin.transaction(async (trx) => {
        await sql(trx, `set local session_replication_role = replica`)
        await sql(trx, `update property set currency = ? where id = ?`, [text, other.propertyId])
      })
    await currency('USD')
    expect(await told(keeper)).to.deep.equal({ quantity: '15', value: null, unitCost: null, last: 900, places: 2 })
    expect(await told(part)).to.include({ quantity: '5', value: 900 })
    await currency('BRL')
  })
})
