import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import type { World } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { differences } from './support.ts'

/** A bar with gin and tonic at 25.00, a minibar that has it too, and a shop of postcards; the books are compared after each test. */
export const useOrders = (world: World, { stocked }: { stocked: boolean }) => {
  let house: Bar
  let gin: string
  let count = 0
  before(async () => {
    house = await openBar(world)
    gin = await house.store.item({ sku: 'GIN', name: 'Gin', categoryId: house.drinks, base: 'ml' })
    const drink = await house.recipe({
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
    if (stocked) await house.store.receive(house.bar, gin, '1000', 'ml', 8_000)
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => {
    expect(await differences(world, house.house.tenantId)).to.deep.equal([])
    expect(await house.ledger('pos_clearing')).to.equal(await openMoney())
  })

  /** The clearing account holds what was paid for orders that are still open. */
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
  return { gins, close, cancel, externalId, made: () => ({ house, gin }) }
}
