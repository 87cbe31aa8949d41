import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { gapsText, readSeries, setSeries, takeNumber } from '../../db/documents/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { makeHouse, refusal } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'

const user = { actor: { type: 'user' as const, id: randomUUID() } }

describe('documents: numbers', () => {
  useDatabase()

  it('gives 40 transactions at once 1 to 40, and gives back the number of one that rolls back', async () => {
    const { tenantId, bookId } = await makeHouse({ open: false })
    const series = { bookId, kind: 'invoice' as const, year: 2026 }
    const taken = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        inTenant(tenantId, async (trx) => {
          const { number } = await takeNumber(trx, series)
          if (index % 4 === 0) throw new Error('rolled back')
          return number
        }).catch(() => null),
      ),
    )
    const kept = taken.filter((number) => number !== null)
    expect(kept.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 30 }, (_, index) => index + 1))
  })

  it('carries the prefix into the next year, grows only, and jumps only with a reason', async () => {
    const { tenantId, bookId } = await makeHouse({ open: false })
    const series = { bookId, kind: 'invoice' as const, year: 2026 }
    const set = (next: number, reason: string | null) =>
      inTenant(tenantId, (trx) => setSeries(trx, series, { prefix: 'FT', next, reason }), user)
    expect(await refusal(set(100, null))).to.equal('number_not_growing')
    await set(100, 'continues the old books')
    expect(await refusal(set(99, 'back'))).to.equal('number_not_growing')
    const first = await inTenant(tenantId, (trx) => takeNumber(trx, series))
    expect(first).to.deep.equal({ number: 100, prefix: 'FT', year: 2026 })
    expect(await inTenant(tenantId, (trx) => takeNumber(trx, { ...series, year: 2027 }))).to.deep.equal({
      number: 1,
      prefix: 'FT',
      year: 2027,
    })
    const stands = await inTenant(tenantId, (trx) => readSeries(trx, bookId))
    expect(stands.map(({ year, next }) => [year, next])).to.deep.equal([
      [2027, 2],
      [2026, 101],
    ])
    const gaps = await inTenant(tenantId, (trx) => sql(trx, gapsText(), { tenantId, bookId }))
    expect(gaps).to.be.an('array')
  })
})
