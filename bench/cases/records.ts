import { inTenant, preparedOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { model } from '../../db/lib/models.ts'
import { insertRow, readRow } from '../../db/lib/records.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { judge } from '../report.ts'
import { quick } from '../size.ts'

const reads = quick ? 2_000 : 10_000
const rounds = 5

const Promo = model('promo_code')
const byHand = `select tenant_id, id, property_id, code, type, value, rate_plan_ids, unit_type_ids, bookable_from, bookable_until, stay_from, stay_until, min_nights,
  max_redemptions, max_per_booker, redeemed, status, version, created_at, updated_at from promo_code where id = ?`

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

export const bench: Bench = async () => {
  const house = await makeHouse()
  const { id } = await house.inHouse((trx) =>
    insertRow(trx, Promo, { propertyId: house.propertyId, code: 'BENCH', type: 'percent', value: 500 }),
  )
  /** Processor time of this process for one read, in ms; one after the other in one transaction. */
  const cost = (read: (trx: Trx) => Promise<unknown>): Promise<number> =>
    inTenant(house.tenantId, async (trx) => {
      const before = process.cpuUsage()
      for (let index = 0; index < reads; index += 1) await read(trx)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000 / reads
    })
  const named = (trx: Trx) => readRow(trx, Promo, id)
  const plain = (trx: Trx) => preparedOne(trx, byHand, [id])
  await cost(named)
  await cost(plain)
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await cost(named))
    theirs.push(await cost(plain))
  }
  const [own, hand] = [median(ours), median(theirs)]
  return {
    results: [
      judge({ name: 'a record read by name, processor time', unit: 'ms', ours: own, reference: hand }, null),
      judge({ name: 'more than by hand', unit: 'ms', ours: Math.max(0, own - hand), reference: null }, { most: 0.1 }),
    ],
    notes: [
      `Ours: readRow of a promo code, all of its 20 columns. Reference: the same statement by hand, prepared on the same connection. Medians of ${rounds} rounds of ${reads} reads in turn.`,
    ],
  }
}
