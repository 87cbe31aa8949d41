import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { randomOf } from '../chaos/random.ts'
import { look } from '../race/checker.ts'
import { stockActsOn, stockWeights } from '../race/stock-acts.ts'
import { furnishStock } from '../race/stock-ground.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { differences } from './support.ts'

/** Movements on days before today among others; what they are worth on each day is compared with the books of that day. */
const moves = 70

describe('Any history of stock', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  before(async () => {
    house = await makeHouse({ units: 2, deposit: null })
  })

  it('leaves stock that its lines make, and control accounts that equal it on each day', async () => {
    const random = randomOf(7, 'histories')
    const stock = await furnishStock(house)
    const one = async (text: string, values: unknown[] = []) => {
      const rows = await house.inHouse((trx) => sql<{ id: string }>(trx, text, values))
      return rows.length === 0 ? null : random.pick(rows).id
    }
    const on = async (found: Promise<string | null>, work: (id: string) => Promise<unknown>) => {
      const id = await found
      if (id !== null) await work(id)
      return id !== null
    }
    const acts = stockActsOn({ house, stock }, random, { one, on })
    const done = new Map<string, number>()
    for (let move = 0; move < moves; move += 1) {
      const act = random.weighted(stockWeights)
      try {
        if (await acts[act]()) done.set(act, (done.get(act) ?? 0) + 1)
      } catch (error) {
        if (!(error instanceof ApiError) || ![409, 422].includes(error.status)) throw error
      }
    }
    expect(done.get('closeOrder') ?? 0, JSON.stringify([...done])).to.be.above(5)
    expect(await look(house)).to.deep.equal([])
    expect(await differences(world, house.tenantId)).to.deep.equal([])
    const days = await inTenant(house.tenantId, (trx) =>
      sql<{ day: string; stock: number; ledger: number }>(
        trx,
        `select d.day, (select coalesce(sum(l.value), 0) from inventory_movement_line l where l.occurred_on <= d.day)::bigint as stock,
           (select coalesce(sum(j.debit - j.credit), 0) from journal_line j join account a on a.tenant_id = j.tenant_id and a.id = j.account_id
            where a.control = 'stock' and j.posting_date <= d.day)::bigint as ledger
         from (select distinct occurred_on as day from inventory_movement_line) d order by 1`,
      ),
    )
    expect(days).to.have.length.above(1)
    expect(days.filter((day) => day.stock !== day.ledger)).to.deep.equal([])
  })
})
