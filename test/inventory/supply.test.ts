import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { createPayable } from '../../db/accounts-payable/index.ts'
import { grantEntitlement, revokeEntitlement } from '../../db/admin/index.ts'
import { verifyStockOf } from '../../db/inventory/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { statementsOf } from '../support/statements.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { codeOf, differences } from './support.ts'

describe('Purchase orders, price lists and the proof of stock over HTTP', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: Bar
  let count = 0
  before(async () => {
    house = await openBar(world)
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => expect(await differences(world, house.house.tenantId)).to.deep.equal([]))

  const item = (base = 'g', more: object = {}) =>
    house.store.item({ sku: `ITEM${(count += 1)}`, name: 'Item', categoryId: house.food, base, ...more })
  it('is owed for once, though two bills of one receipt were entered at the same moment', async () => {
    const { owner } = house
    const finance = await openDesk(world, house.house, 'finance')
    const rice = await item('g')
    const received = await house.store.receive(house.main, rice, '500', 'g', 3_000)
    const body = {
      payeeName: 'Armazém da Serra',
      kind: 'bill' as const,
      propertyId: house.propertyId,
      issuedOn: house.house.today,
      lines: [{ description: 'Rice', inventoryMovementLineId: received.lines[0].id as string, amount: 3_100 }],
    }
    const { tenantId } = house.house
    const enter = (trx: Trx) => createPayable(trx, body, { features: [] })
    // Neither sees the other.
    const ids = await inTenant(tenantId, async (trx) => [await enter(trx), await inTenant(tenantId, enter)])
    const keyed = (desk: Desk, path: string) =>
      desk.send('POST', `accounts-payable/payables/${path}`, {}, { idempotencyKey: randomUUID() })
    for (const id of ids) expect((await keyed(finance, `${id}/submit`)).status).to.equal(200)
    const replies = await Promise.all(ids.map((id) => keyed(owner, `${id}/approve`)))
    const codes = replies.map(({ status, body: said }) => (status === 200 ? 'approved' : String(said.code)))
    expect(codes.toSorted()).to.deep.equal(['approved', 'over_billed'])
  })

  it('is not taken back while it is billed, nor billed once it is taken back, also in the same moment', async () => {
    const { owner, keeper } = house
    const finance = await openDesk(world, house.house, 'finance')
    const rice = await item('g')
    const keyed = (desk: Desk, path: string, body: object = {}) =>
      desk.send('POST', `accounts-payable/payables${path}`, body, { idempotencyKey: randomUUID() })
    const submitted = async (inventoryMovementLineId: string): Promise<string> => {
      const body = {
        payeeName: 'Armazém da Serra',
        kind: 'bill',
        propertyId: house.propertyId,
        issuedOn: house.house.today,
        lines: [{ description: 'Rice', inventoryMovementLineId, amount: 3_000 }],
        submit: true,
      }
      return done(await keyed(finance, '', body), 201).id as string
    }
    const reverse = (id: string) =>
      keeper.send(
        'POST',
        `inventory/movements/${id}/reverse`,
        { reason: 'Sent back' },
        { idempotencyKey: randomUUID() },
      )
    const received = await house.store.receive(house.main, rice, '500', 'g', 3_000)
    const billId = await submitted(received.lines[0].id as string)
    done(await keyed(owner, `/${billId}/approve`))
    const back = await reverse(received.id)
    expect([...codeOf(back), back.body.errors?.[0]?.message]).to.deep.equal([422, 'in_use', billId])
    done(await keyed(finance, `/${billId}/void`, { reason: 'Sent back' }))
    done(await reverse(received.id))
    for (let round = 0; round < 5; round += 1) {
      const again = await house.store.receive(house.main, rice, '500', 'g', 3_000)
      const id = await submitted(again.lines[0].id as string)
      const codes = (await Promise.all([keyed(owner, `/${id}/approve`), reverse(again.id)])).map(({ status, body }) =>
        status === 200 ? 'done' : String(body.code),
      )
      expect([
        ['done', 'in_use'],
        ['not_received', 'done'],
      ]).to.deep.include(codes)
    }
  })

  it('receives a purchase order in its own measure, refuses more than it allows, and takes it back', async () => {
    const { owner, keeper, propertyId } = house
    const coffee = await item('g', {
      packages: [{ code: 'BAG', name: 'Bag', quantity: '1000', purchase: true }],
      levels: [{ locationId: house.main, minimum: '2000', maximum: '6000' }],
    })
    const supplierId = done(
      await owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Torrefação do Vale Ltda' }),
      201,
    ).id as string
    const named = (id: string | null) => keeper.send('PATCH', `inventory/items/${coffee}`, { supplierId: id })
    expect(codeOf(await named(randomUUID()))).to.deep.equal([422, 'reference_not_found'])
    expect(done(await named(supplierId))).to.include({ supplierId })
    const ofSupplier = done(await keeper.get(`inventory/items?supplierId=${supplierId}`)).data
    expect(ofSupplier.map(({ id }: { id: string }) => id)).to.deep.equal([coffee])
    const suggested = async () =>
      (
        done(await keeper.get(`inventory/purchase-suggestions?propertyId=${propertyId}`)).data as {
          itemId: string
          suggested: string
          onOrder: string
          package: object | null
        }[]
      ).find(({ itemId }) => itemId === coffee)
    expect(await suggested()).to.include({ suggested: '6000', onOrder: '0', minimum: '2000' })
    expect((await suggested())?.package).to.deep.equal({ code: 'BAG', count: 6 })
    const order = done(
      await keeper.send('POST', 'accounts-payable/purchase-orders', {
        supplierId,
        propertyId,
        locationId: house.main,
        lines: [{ inventoryItemId: coffee, measure: 'BAG', quantity: '3', unitPrice: 4_000 }],
      }),
      201,
    )
    done(await owner.send('POST', `accounts-payable/purchase-orders/${order.id}/approve`, { notify: false }))
    // What is on its way is above the minimum.
    expect(await suggested()).to.equal(undefined)
    const receive = (quantity: string, more: object = {}) =>
      house.store.move({
        kind: 'receipt',
        locationId: house.main,
        purchaseOrderId: order.id,
        lines: [
          { itemId: coffee, quantity, measure: 'BAG', value: 8_000, purchaseOrderLineId: order.lines[0].id, ...more },
        ],
      })
    const read = async () => done(await owner.get(`accounts-payable/purchase-orders/${order.id}`))
    expect(codeOf(await receive('2', { purchaseOrderLineId: undefined }))).to.deep.equal([400, 'validation_failed'])
    expect(codeOf(await receive('2', { purchaseOrderLineId: randomUUID() }))).to.deep.equal([
      422,
      'reference_not_found',
    ])
    const two = done(await receive('2'), 201)
    expect(two).to.include({ supplierId, purchaseOrderId: order.id })
    expect(await read()).to.include({ status: 'partly_received' })
    expect(codeOf(await receive('2'))).to.deep.equal([422, 'over_receipt'])
    expect(await house.store.of(coffee)).to.deep.equal(['2000', 8_000])
    const back = () => house.keyed(keeper, `movements/${two.id}/reverse`, { reason: 'Sent back' })
    expect((await Promise.all([back(), back()])).map(({ status }) => status)).to.deep.equal([200, 200])
    expect((await read()).lines[0]).to.include({ received: '0' })
    expect(await house.store.of(coffee)).to.deep.equal(['0', 0])
    // A receipt that is billed is owed for by the bill.
    done(await receive('2'), 201)
    const bill = done(
      await keeper.send('POST', 'accounts-payable/payables', {
        bookId: house.house.bookId,
        supplierId,
        kind: 'bill',
        issuedOn: house.house.today,
        lines: [{ description: 'Coffee', purchaseOrderLineId: order.lines[0].id, quantity: '2', amount: 8_100 }],
        submit: true,
      }),
      201,
    )
    expect(done(await owner.send('POST', `accounts-payable/payables/${bill.id}/approve`))).to.include({
      status: 'approved',
    })
    // The third bag has not come: its bill waits, and an order of what is no measure of the item is none.
    const early = done(
      await keeper.send('POST', 'accounts-payable/payables', {
        bookId: house.house.bookId,
        supplierId,
        kind: 'bill',
        issuedOn: house.house.today,
        lines: [{ description: 'Coffee', purchaseOrderLineId: order.lines[0].id, quantity: '1', amount: 4_000 }],
        submit: true,
      }),
      201,
    )
    expect(codeOf(await owner.send('POST', `accounts-payable/payables/${early.id}/approve`))).to.deep.equal([
      422,
      'not_received',
    ])
    expect(done(await owner.get(`accounts-payable/payables/${early.id}`))).to.include({ status: 'awaiting_approval' })
    for (const strange of [
      { inventoryItemId: coffee, measure: 'CASK' },
      { inventoryItemId: randomUUID(), measure: 'BAG' },
    ])
      expect(
        codeOf(
          await keeper.send('POST', 'accounts-payable/purchase-orders', {
            supplierId,
            propertyId,
            locationId: house.main,
            lines: [{ ...strange, quantity: '1', unitPrice: 100 }],
          }),
        ),
      ).to.deep.equal([422, 'measure_unknown'])
  })

  it('keeps the place of an order of stock when the place alone is changed', async () => {
    const { owner, keeper, propertyId } = house
    const coffee = await item('g', { packages: [{ code: 'BAG', name: 'Bag', quantity: '1000', purchase: true }] })
    const supplier = await owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Torrefação da Praia Ltda' })
    const order = done(
      await keeper.send('POST', 'accounts-payable/purchase-orders', {
        supplierId: done(supplier, 201).id,
        propertyId,
        locationId: house.main,
        lines: [{ inventoryItemId: coffee, measure: 'BAG', quantity: '3', unitPrice: 4_000 }],
      }),
      201,
    )
    const change = async (locationId: string | null) =>
      codeOf(await keeper.send('PATCH', `accounts-payable/purchase-orders/${order.id}`, { locationId }))
    expect(await change(null)).to.deep.equal([400, 'validation_failed'])
    expect(await change(randomUUID())).to.deep.equal([422, 'reference_not_found'])
    expect(done(await keeper.get(`accounts-payable/purchase-orders/${order.id}`)).locationId).to.equal(house.main)
  })

  it('asks for the measures of a long order in as many statements as for those of a short one', async () => {
    const { owner, keeper, propertyId } = house
    const supplier = await owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Moinho do Vale Ltda' })
    const bag = { packages: [{ code: 'BAG', name: 'Bag', quantity: '1000', purchase: true }] }
    const items = [await item('g', bag), await item('g', bag), await item('g', bag), await item('g', bag)]
    const ordered = async (lines: number) => {
      const body = {
        supplierId: done(supplier, 201).id,
        propertyId,
        locationId: house.main,
        lines: items
          .slice(0, lines)
          .map((inventoryItemId) => ({ inventoryItemId, measure: 'BAG', quantity: '1', unitPrice: 100 })),
      }
      let id = ''
      const made = await statementsOf(async () => {
        id = done(await keeper.send('POST', 'accounts-payable/purchase-orders', body), 201).id
      })
      const path = `accounts-payable/purchase-orders/${id}/approve`
      const approved = await statementsOf(async () => void done(await owner.send('POST', path, { notify: false })))
      return [made.length, approved.length]
    }
    await ordered(1)
    expect(await ordered(4)).to.deep.equal(await ordered(1))
  })

  it('fixes the measures of an order when it is approved', async () => {
    const { owner, keeper, propertyId } = house
    const bag = (quantity: string) => ({ packages: [{ code: 'BAG', name: 'Bag', quantity, purchase: true }] })
    const flour = await item('g', bag('1000'))
    const supplier = await owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Moinho da Serra Ltda' })
    const order = done(
      await keeper.send('POST', 'accounts-payable/purchase-orders', {
        supplierId: done(supplier, 201).id,
        propertyId,
        locationId: house.main,
        lines: [{ inventoryItemId: flour, measure: 'BAG', quantity: '3', unitPrice: 4_000 }],
      }),
      201,
    )
    const expected = async () =>
      (
        await house.rows<{ quantity: string }>(
          `select cast(trim_scale(quantity) as text) as quantity from purchase_order_line where purchase_order_id = ?`,
          [order.id],
        )
      )[0]?.quantity
    const approve = () => owner.send('POST', `accounts-payable/purchase-orders/${order.id}/approve`, { notify: false })
    done(await keeper.send('PATCH', `inventory/items/${flour}`, { packages: [] }))
    expect(codeOf(await approve())).to.deep.equal([422, 'measure_unknown'])
    done(await keeper.send('PATCH', `inventory/items/${flour}`, bag('500')))
    expect(await expected()).to.equal('3000')
    expect(done(await approve()).lines[0]).to.include({ quantity: '3' })
    expect(await expected()).to.equal('1500')
  })

  it('sells by the hour, over midnight too, and refuses two prices at the same time', async () => {
    const outletId = house.outletOf('SHOP')
    const price = { name: 'Beer', amount: 1_000, revenueGroup: 'beverage' }
    const put = (...prices: object[]) => house.keeper.send('PUT', `inventory/outlets/${outletId}/prices`, { prices })
    const twice = await put({ code: 'BEER', ...price }, { code: 'BEER', ...price, weekDays: [1] })
    expect(codeOf(twice)).to.deep.equal([422, 'price_overlap'])
    const night = { timeFrom: '22:00', timeTo: '02:00' }
    const touching = await put(
      { code: 'BEER', ...price, ...night },
      { code: 'BEER', ...price, timeFrom: '02:00', timeTo: '22:00' },
      { code: 'BEER', ...price },
    )
    expect(done(touching).data).to.have.length(3)
    expect(
      codeOf(
        await put({ code: 'BEER', ...price, ...night }, { code: 'BEER', ...price, timeFrom: '01:00', timeTo: '03:00' }),
      ),
    ).to.deep.equal([422, 'price_overlap'])
    const copy = await house.keeper.send('PUT', `inventory/outlets/${house.outletOf('MINI')}/prices`, {
      copyFromOutletId: outletId,
    })
    expect(done(copy).data).to.have.length(3)
    const far = await put({ code: 'BEER', ...price, validFrom: addDays(house.house.today, 40) })
    expect(far.status).to.equal(200)
    expect(
      codeOf(await house.keyed(house.reception, 'orders', { outletId, lines: [{ priceCode: 'BEER', quantity: '1' }] })),
    ).to.deep.equal([422, 'price_unknown'])
  })

  it('tells of stock that its lines do not make, and of nothing else', async () => {
    const { tenantId } = house.house
    await world.drain({ kinds: ['ledger.post'], starts: 5_000 })
    const check = () => inTenant(tenantId, (trx) => verifyStockOf(trx, house.propertyId))
    expect(await check()).to.equal(0)
    const tea = await item()
    await house.store.receive(house.main, tea, '10', 'g', 100)
    await world.drain({ kinds: ['ledger.post'], starts: 5_000 })
    await sql(world.database.admin, `update inventory_stock set quantity = quantity + 5 where item_id = ?`, [tea])
    expect(await check()).to.equal(1)
    await sql(world.database.admin, `update inventory_stock set quantity = quantity - 5 where item_id = ?`, [tea])
    const told = await house.rows<{ data: object }>(`select data from event where type = 'stock.drift_found'`)
    expect(told.map(({ data }) => data)).to.deep.equal([
      { inventoryItemId: tea, inventoryLocationId: house.main, quantity: '0.0005', unit: 'g' },
    ])
  })

  it('bills what came of an order before it was closed, and nothing beyond', async () => {
    const { owner, keeper, propertyId } = house
    const tea = await item('g')
    const supplierId = done(await owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Chá da Serra' }), 201)
      .id as string
    const order = done(
      await keeper.send('POST', 'accounts-payable/purchase-orders', {
        supplierId,
        propertyId,
        locationId: house.main,
        lines: [{ inventoryItemId: tea, measure: 'g', quantity: '100', unitPrice: 10 }],
      }),
      201,
    )
    const path = `accounts-payable/purchase-orders/${order.id}`
    done(await owner.send('POST', `${path}/approve`, { notify: false }))
    const purchaseOrderLineId = order.lines[0].id as string
    const receive = (quantity: string) =>
      house.store.move({
        kind: 'receipt',
        locationId: house.main,
        purchaseOrderId: order.id,
        lines: [{ itemId: tea, quantity, measure: 'g', value: 600, purchaseOrderLineId }],
      })
    done(await receive('60'), 201)
    const bill = (quantity: string, amount: number) =>
      keeper.send('POST', 'accounts-payable/payables', {
        bookId: house.house.bookId,
        supplierId,
        kind: 'bill',
        issuedOn: house.house.today,
        lines: [{ description: 'Tea', purchaseOrderLineId, quantity, amount }],
        submit: true,
      })
    const approve = async (id: string) => owner.send('POST', `accounts-payable/payables/${id}/approve`)
    const before = done(await bill('90', 900), 201)
    expect(done(await owner.send('POST', `${path}/close`, { reason: 'The rest is sold out' }))).to.include({
      status: 'closed',
    })
    // Goods on their way come without an order; what came is owed for.
    expect(codeOf(await receive('10'))).to.deep.equal([422, 'order_closed'])
    expect(codeOf(await approve(before.id))).to.deep.equal([422, 'not_received'])
    expect(codeOf(await bill('61', 610))).to.deep.equal([422, 'order_closed'])
    const came = done(await bill('60', 600), 201)
    expect(done(await approve(came.id))).to.include({ status: 'approved' })
    expect(codeOf(await bill('1', 10))).to.deep.equal([422, 'order_closed'])
    const after = done(await owner.get(path))
    expect(after).to.include({ status: 'closed' })
    expect(after.lines[0]).to.include({ received: '60', billed: '60' })
  })

  it('names suppliers and their orders with the feature alone, and goes without them', async () => {
    const { tenantId } = house.house
    const tea = await item()
    const supplierId = done(
      await house.owner.send('POST', 'accounts-payable/suppliers', { legalName: 'Casa do Chá Ltda' }),
      201,
    ).id as string
    await inPlatform((trx) => revokeEntitlement(trx, { tenantId, key: 'suppliers', reason: 'not paid' }))
    const line = { itemId: tea, quantity: '1', measure: 'kg', value: 100 }
    const receive = (more: object, ofLine: object = {}) =>
      house.store.move({ kind: 'receipt', locationId: house.main, lines: [{ ...line, ...ofLine }], ...more })
    const order = { purchaseOrderId: randomUUID() }
    for (const refused of [
      await house.keeper.send('PATCH', `inventory/items/${tea}`, { supplierId }),
      await receive({ supplierId }),
      await receive(order, { purchaseOrderLineId: randomUUID() }),
    ])
      expect(codeOf(refused)).to.deep.equal([403, 'feature_not_enabled'])
    done(await receive({}), 201)
    await inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'suppliers', reason: 'paid' }))
    expect(done(await receive({ supplierId }), 201)).to.include({ supplierId })
    expect(await house.store.of(tea)).to.deep.equal(['2000', 200])
  })
})
