import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import { differences } from './support.ts'

/** Figures by hand: rum at 7 a millilitre, ten limes at 333; a mojito is 50 ml and half a lime at 29.90, with 10 % service. */
describe('A day of a bar', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('leaves each cent and each ten-thousandth where it belongs, whatever is paid, voided, counted and sent back', async () => {
    const house = await openBar(world)
    const { manager, keeper, owner, propertyId, store } = house
    const { today, tenantId } = house.house
    const keyed = (path: string, body: object, by = manager) =>
      by.send('POST', path, body, { idempotencyKey: randomUUID() })
    const made = async (path: string, body: object, by = manager) => done(await keyed(path, body, by), 201)
    const rum = await store.item({ sku: 'RUM', name: 'Rum', categoryId: house.drinks, base: 'ml' })
    const lime = await store.item({ sku: 'LIME', name: 'Lime', categoryId: house.drinks, base: 'un' })
    const recipeId = await house.recipe({
      code: 'MOJITO',
      name: 'Mojito',
      kind: 'drink',
      yield: '1',
      components: [
        { itemId: rum, quantity: '5', measure: 'cl' },
        { itemId: lime, quantity: '0.5', measure: 'un' },
      ],
    })
    await house.prices(house.outletOf('BAR'), {
      code: 'MOJITO',
      name: 'Mojito',
      recipeId,
      amount: 2_990,
      revenueGroup: 'beverage',
    })
    // The first of a year has no open day before it.
    const yesterday = today.endsWith('-01-01') ? today : addDays(today, -1)
    const receipt = (occurredOn: string, lines: object[]) =>
      made('inventory/movements', { propertyId, kind: 'receipt', locationId: house.bar, occurredOn, lines }, keeper)
    await receipt(yesterday, [
      { itemId: rum, quantity: '1.4', measure: 'l', value: 9_800 },
      { itemId: lime, quantity: '10', measure: 'un', value: 333 },
    ])
    const account = async (kind: string) =>
      (
        await made(
          'cash/accounts',
          { kind, code: kind.toUpperCase(), name: kind, propertyId, opening: { amount: 0, on: today } },
          owner,
        )
      ).id as string
    const [register, bank] = [await account('register'), await account('bank')]
    const cashSessionId = (await made('cash/sessions', { registerId: register, count: {} })).id as string
    const cash = { type: 'payment', method: 'cash', cashSessionId }
    const card = { type: 'payment', method: 'card', cashAccountId: bank }
    const order = (quantity: string, more: object = {}) =>
      house.order(
        { outletId: house.outletOf('BAR'), lines: [{ priceCode: 'MOJITO', quantity }], ...more },
        house.manager,
      )
    const close = async (id: string, settlements: object[]) =>
      done(await house.keyed(manager, `orders/${id}/close`, { settlements }))
    const shelf = async () => [await store.of(rum), await store.of(lime)]
    const books = async () => {
      expect(await differences(world, tenantId)).to.deep.equal([])
      const roles = [
        'revenue_beverage',
        'gratuities_payable',
        'cost_beverage',
        'cost_complimentary',
        'pos_clearing',
      ] as const
      const found = await Promise.all(roles.map((role) => house.ledger(role)))
      return Object.fromEntries(roles.map((role, index) => [role, found[index]]))
    }

    // Part of each settlement is revenue, part service: 8,500 and 850, of which the house gives 1,000.
    const guest = await house.stay()
    const owed = await house.balance(guest.folioId)
    const first = await order('3', { reservationId: guest.id, discount: 470, discountReason: 'A long wait' })
    expect(first).to.include({ subtotal: 8_970, serviceChargeAmount: 850, total: 9_350 })
    await close(first.id, [
      { type: 'folio', amount: 4_000 },
      { ...cash, amount: 2_000 },
      { type: 'house', reason: 'A birthday', amount: 1_000 },
      card,
    ])
    const lines = await house.rows<{ category: string; amount: number }>(
      `select category, amount from folio_line where source_type = 'pos_order' and source_id = ? order by amount desc`,
      [first.id],
    )
    expect(lines).to.deep.equal([
      { category: 'beverage', amount: 3_636 },
      { category: 'service_charge', amount: 364 },
    ])
    expect(await house.balance(guest.folioId)).to.equal(owed + 4_000)
    expect(await shelf()).to.deep.equal([
      ['1250', 8_750],
      ['8.5', 283],
    ])
    const afterFirst = {
      revenue_beverage: 7_591,
      gratuities_payable: 759,
      cost_beverage: 983,
      cost_complimentary: 117,
      pos_clearing: 0,
    }
    expect(await books()).to.deep.equal(afterFirst)

    // A sale after the rum was counted is none of the loss, and neither is its void.
    const count = await made('inventory/counts', { locationId: house.bar, itemIds: [rum] }, keeper)
    const counted = { lines: [{ itemId: rum, counted: '124', measure: 'cl' }] }
    done(await keeper.send('PUT', `inventory/counts/${count.id}/lines`, counted))
    const second = await order('2')
    await close(second.id, [cash])
    expect(await books()).to.include({ revenue_beverage: 13_571, gratuities_payable: 1_357, cost_beverage: 1_716 })
    const approved = done(await manager.send('POST', `inventory/counts/${count.id}/approve`))
    expect([approved.value, approved.lines[0].difference]).to.deep.equal([-70, '-10'])
    done(await house.keyed(manager, `orders/${second.id}/cancel`, { reason: 'The wrong table' }))
    expect(await shelf()).to.deep.equal([
      ['1240', 8_680],
      ['8.5', 283],
    ])
    expect(done(await owner.get(`cash/accounts/${register}`)).balance).to.equal(2_000)
    expect(await books()).to.deep.equal(afterFirst)

    await made(
      'inventory/consumptions',
      {
        propertyId,
        kind: 'waste',
        reason: 'spoiled',
        locationId: house.bar,
        lines: [{ itemId: lime, quantity: '1', measure: 'un' }],
      },
      keeper,
    )
    const third = await order('16')
    const closed = await close(third.id, [card])
    expect(closed).to.include({ total: 52_624, paidAmount: 52_624 })
    expect(await shelf()).to.deep.equal([
      ['440', 3_080],
      ['0', 0],
    ])
    // The missing limes cost as much as those that come: 480 for a dozen.
    await receipt(today, [{ itemId: lime, quantity: '1', measure: 'dozen', value: 480 }])
    expect(await shelf()).to.deep.equal([
      ['440', 3_080],
      ['11.5', 460],
    ])
    expect(await books()).to.include({ revenue_beverage: 55_431, gratuities_payable: 5_543, cost_beverage: 6_853 })

    // Money that was sent back leaves a closed order as it was settled, and is not sent back again by its void.
    const [{ paymentId }] = closed.settlements as [{ paymentId: string }]
    await made(`payments/${paymentId}/refunds`, { amount: 2_624, reason: 'other', via: 'manual', cashAccountId: bank })
    expect((await books())['pos_clearing']).to.equal(2_624)
    done(await house.keyed(manager, `orders/${third.id}/cancel`, { reason: 'Nobody came' }))
    const [payment] = await house.rows<object>(
      `select status, captured_amount, allocated_amount, refunded_amount from payment where id = ?`,
      [paymentId],
    )
    expect(payment).to.deep.equal({
      status: 'captured',
      capturedAmount: 52_624,
      allocatedAmount: 0,
      refundedAmount: 2_624,
    })
    expect(await house.ledger('unallocated_receipts')).to.equal(50_000)
    expect(await shelf()).to.deep.equal([
      ['1240', 8_680],
      ['19.5', 730],
    ])
    expect(await books()).to.deep.equal(afterFirst)

    const controls = await inTenant(tenantId, (trx) =>
      sql<{ id: string }>(trx, `select id from account where control = 'stock'`),
    )
    const ledgerAt = async (asOf: string): Promise<number> =>
      done(await owner.get(`financial/balances?asOf=${asOf}`)).data.reduce(
        (total: number, { accountId, balance }: { accountId: string; balance: number }) =>
          controls.some(({ id }) => id === accountId) ? total + balance : total,
        0,
      )
    const stockAt = async (asOf: string): Promise<number> => (await store.stock({ asOf })).value
    for (const [day, value] of [
      [yesterday, yesterday === today ? 9_410 : 10_133],
      [today, 9_410],
    ] as const)
      expect([await stockAt(day), await ledgerAt(day)], day).to.deep.equal([value, value])
  })
})
