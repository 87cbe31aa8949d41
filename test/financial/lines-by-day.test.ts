import { expect } from 'chai'
import { wrongTotals } from '../support/counts.ts'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'
import type { Accountant } from './accountant.ts'

/** Days of entries: at the ends of months, and within one. */
const days = ['01-31', '02-01', '02-14', '02-28', '03-01', '04-30']

describe('lines and entries of days', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Accountant
  let propertyId: string
  let accountId: string

  before(async () => {
    a = await openBook(world)
    propertyId = await a.property()
    accountId = await a.account('5.1.09')
    for (const day of days) {
      await a.entry(a.on(day), [line('5.1.09', 300), line('1.1.3.80', -300)])
      await a.entry(a.on(day), [
        line('5.1.09', 100, { propertyId }),
        line('5.1.09', 100, { propertyId }),
        line('1.1.3.80', -200, { propertyId }),
      ])
    }
  })

  const totalOf = async (path: string): Promise<number> => {
    const { meta } = await a.good(a.finance, 'GET', `financial/${path}&limit=1`)
    return (meta as { total: number }).total
  }

  it('are as many as the whole periods and those that days cut have', async () => {
    const ranges = days.flatMap((from, at) => [
      { query: `from=${a.on(from)}`, entries: days.length - at },
      { query: `from=${a.year}-01-01&to=${a.on(from)}`, entries: at + 1 },
      ...days.slice(at).map((to, more) => ({ query: `from=${a.on(from)}&to=${a.on(to)}`, entries: more + 1 })),
    ])
    for (const { query, entries } of ranges) {
      await a.calm()
      const lines = (more: string) => totalOf(`ledger-lines?bookId=${a.bookId}&${query}${more}`)
      const found = {
        all: await lines(''),
        account: await lines(`&accountId=${accountId}`),
        house: await lines(`&propertyId=${propertyId}`),
        kind: await lines('&kind=standard'),
        late: await lines(`&late=true&propertyId=${propertyId}`),
        chart: await totalOf(`chart-of-accounts/${accountId}/lines?${query}`),
        chartOfHouse: await totalOf(`chart-of-accounts/${accountId}/lines?propertyId=${propertyId}&${query}`),
        entries: await totalOf(`ledger-entries?bookId=${a.bookId}&${query}`),
        entriesOfHouse: await totalOf(`ledger-entries?bookId=${a.bookId}&propertyId=${propertyId}&${query}`),
      }
      expect(found, query).to.deep.equal({
        all: 5 * entries,
        account: 3 * entries,
        house: 3 * entries,
        kind: 5 * entries,
        late: 0,
        chart: 3 * entries,
        chartOfHouse: 2 * entries,
        entries: 2 * entries,
        entriesOfHouse: entries,
      })
    }
    expect(await a.rows(wrongTotals)).to.deep.equal([])
  })
})
