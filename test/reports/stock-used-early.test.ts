import { expect } from 'chai'
import { recordArrival, reverseMovement } from '../../db/inventory/index.ts'
import { consume } from '../../db/inventory/consumption/consume.ts'
import { holdItems } from '../../db/inventory/items/facts.ts'
import { holdStock } from '../../db/inventory/stock/hold.ts'
import { sql } from '../../db/lib/connection.ts'
import { report } from '../../db/reports/index.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeStore } from '../support/stock.ts'
import type { Store } from '../support/stock.ts'
import { useDatabase } from '../support/database.ts'

type Row = Record<string, number | null> & { key: string }

describe('the cost of stock that is used before it has come', () => {
  useDatabase()
  let house: House
  let store: Store
  let consumptionId: string

  const told = async (by: string) =>
    house.inHouse(async (trx) => {
      const asked = { propertyId: [house.propertyId], startDate: house.today, endDate: house.today, by }
      const { rows } = await report('inventory_cost').open(trx, asked, { propertyIds: null }, null)
      return [...(rows as Iterable<Row>)].map(
        ({ key, opening, receipts, adjustments, used, closing, theoretical, actual, variance }) =>
          by === 'outlet'
            ? { key, used, theoretical, actual, variance }
            : { opening, receipts, adjustments, used, closing, theoretical, actual, variance },
      )
    })

  before(async () => {
    house = await makeHouse({ units: 1, deposit: null })
    // A hundred litres for 500.00.
    store = await makeStore(house)
    const { itemId, locationId, outletId } = store
    consumptionId = await house.inHouse(async (trx) => {
      const items = await holdItems(trx, [itemId])
      const shelf = await holdStock(trx, [{ itemId, locationId }])
      return consume(
        trx,
        {
          kind: 'sale',
          propertyId: house.propertyId,
          bookId: house.bookId,
          businessDate: house.today,
          locationId,
          outletId,
        },
        [{ itemId, locationId, quantity: 150_000 * 10_000, recipeVersionId: null, field: 'lines' }],
        { shelf, items },
      )
    })
  })

  it('is that of its sale once it comes, and no variance', async () => {
    const { itemId, locationId, outletId } = store
    const sold = { used: 50_000, theoretical: 50_000, actual: 50_000, variance: 0 }
    expect(await told('outlet')).to.deep.equal([{ key: outletId, ...sold }])
    await house.inHouse((trx) =>
      recordArrival(trx, {
        kind: 'receipt',
        propertyId: house.propertyId,
        locationId,
        lines: [{ itemId, quantity: '80', measure: 'l', value: 48_000 }],
      }),
    )
    const all = { used: 80_000, theoretical: 80_000, actual: 80_000, variance: 0 }
    expect(await told('outlet')).to.deep.equal([{ key: outletId, ...all }])
    const moved = { opening: 0, receipts: 98_000, adjustments: 0, closing: 18_000 }
    for (const by of ['group', 'location']) expect(await told(by), by).to.deep.equal([{ ...moved, ...all }])
  })

  it('goes back whole with its sale', async () => {
    await house.inHouse(async (trx) => {
      const [use] = await sql<{ movementId: string }>(
        trx,
        `select movement_id from inventory_consumption where id = ?`,
        [consumptionId],
      )
      await reverseMovement(trx, use?.movementId ?? '', { reason: 'error' })
    })
    const none = { used: 0, theoretical: 0, actual: 0, variance: 0 }
    expect(await told('group')).to.deep.equal([
      { opening: 0, receipts: 98_000, adjustments: 0, closing: 98_000, ...none },
    ])
    expect(await told('outlet')).to.deep.equal([{ key: store.outletId, ...none }])
  })
})
