import { expect } from 'chai'
import { always, never } from '../../db/lib/conditions.ts'
import { database, sql } from '../../db/lib/connection.ts'
import { contains, equal, from, matching, oneOf, pageOf, prefix, until } from '../../db/lib/lists.ts'
import { insertRows } from '../../db/lib/records.ts'
import { model } from '../../db/lib/models.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'

const Promo = model('promo_code')
const list = pageOf(Promo, {
  order: ['code', 'id'],
  filters: {
    propertyId: equal('propertyId'),
    status: equal('status'),
    codes: oneOf('code'),
    least: from('value'),
    most: until('value'),
    q: contains('code', 'type'),
    begins: prefix('type'),
    bookableOn: matching<string>(
      `? between coalesce(bookable_from, '-infinity') and coalesce(bookable_until, 'infinity')`,
    ),
  },
  defaults: { status: 'active' },
  scope: { propertyId: 'propertyId', ownerId: null },
  sorts: { value: 'value', code: 'code' },
  fields: ['code', 'value'],
})
const latest = pageOf(Promo, { order: ['createdAt desc', 'id desc'], only: `code <> 'C-5' and redeemed = 0` })

describe('Lists of one table', () => {
  const held = useDatabase()
  let house: House
  type Asked = Partial<Parameters<typeof list>[1]>
  const page = (asked: Asked) =>
    house.inHouse((trx) => list(trx, { page: 1, limit: 10, scope: always, propertyId: house.propertyId, ...asked }))
  const codes = async (asked: Asked) => (await page(asked)).rows.map((row) => row.code).join(' ')

  before(async () => {
    house = await makeHouse()
    const rows = [1, 2, 3, 4, 5, 6].map((n) => ({
      propertyId: house.propertyId,
      code: n === 6 ? 'SUMMER-1' : `C-${n}`,
      type: n % 2 === 0 ? 'amount' : 'percent',
      value: n === 3 ? 200 : n * 100,
      status: n === 4 ? ('archived' as const) : ('active' as const),
      bookableFrom: n === 1 ? '2030-01-10' : null,
      bookableUntil: n === 2 ? '2030-01-01' : null,
    }))
    await house.inHouse((trx) => insertRows(trx, Promo, rows))
  })

  it('filter by what is given, and by the defaults of what is not', async () => {
    expect(await codes({})).to.equal('C-1 C-2 C-3 C-5 SUMMER-1')
    expect(await codes({ status: 'archived' })).to.equal('C-4')
    expect(await codes({ codes: ['C-5', 'C-4', 'C-1'] })).to.equal('C-1 C-5')
    expect(await codes({ codes: [] })).to.equal('')
    expect(await codes({ least: 200, most: 500 })).to.equal('C-2 C-3 C-5')
    expect(await codes({ q: 'm' })).to.equal('C-2 SUMMER-1')
    expect(await codes({ q: 'summer' })).to.equal('SUMMER-1')
    expect(await codes({ q: '%' })).to.equal('')
    expect(await codes({ begins: 'PERC' })).to.equal('C-1 C-3 C-5')
    expect(await codes({ begins: 'amount' })).to.equal('C-2 SUMMER-1')
    expect(await codes({ begins: 'ercent' })).to.equal('')
    expect(await codes({ begins: 'p_' })).to.equal('')
    expect(await codes({ bookableOn: '2030-01-05' })).to.equal('C-3 C-5 SUMMER-1')
  })

  it('find what begins with some letters by an index, though row-level security hides rows', async () => {
    await held.database.admin.raw(`create index promo_code_begins on promo_code (tenant_id, type collate "C")`)
    const { text } = prefix('type')
    const condition = text.replaceAll('??', 'type').replaceAll('?', `'perc'`)
    const plan = await house.inHouse(async (trx) => {
      await sql(trx, 'set local enable_seqscan = off')
      return sql<{ 'QUERY PLAN': string }>(trx, `explain select id from promo_code where ${condition}`)
    })
    expect(plan.map((line) => line['QUERY PLAN']).join(' ')).to.match(/Index Cond: .*type >= /)
  })

  it('show what a role is for, and nothing else', async () => {
    const mine = { operator: 'in', field: 'propertyId', value: [house.propertyId] }
    const own = { operator: 'eq', field: 'ownerId', value: house.tenantId }
    expect((await page({ scope: mine })).total).to.equal(5)
    expect((await page({ scope: { ...mine, value: [house.tenantId] } })).total).to.equal(0)
    expect((await page({ scope: own })).total).to.equal(0)
    expect((await page({ scope: { operator: 'or', value: [own, mine] } })).total).to.equal(5)
    expect((await page({ scope: never })).total).to.equal(0)
  })

  it('sort by the wish, then by their own order, and leave out nothing between pages', async () => {
    const sort = [{ field: 'value', descending: true }] as const
    expect(await codes({ sort: [...sort] })).to.equal('SUMMER-1 C-5 C-2 C-3 C-1')
    const pages = await Promise.all([1, 2, 3, 4].map((number) => page({ page: number, limit: 2, sort: [...sort] })))
    expect(pages.map(({ rows }) => rows.map((row) => row.code))).to.deep.equal([
      ['SUMMER-1', 'C-5'],
      ['C-2', 'C-3'],
      ['C-1'],
      [],
    ])
    expect(pages.map(({ total }) => total)).to.deep.equal([5, 5, 5, 5])
    expect(pages[0]?.rows[0]).to.have.all.keys('code', 'value')
  })

  it('have an order and a condition of their own', async () => {
    const { rows, total } = await house.inHouse((trx) => latest(trx, { page: 1, limit: 10 }))
    expect(total).to.equal(5)
    expect(rows.map((row) => row.code)).to.not.include('C-5')
    expect(rows[0]).to.include.all.keys('tenantId', 'id', 'bookableFrom', 'version')
  })

  it('have one text for each set of filters, whatever is looked for', async () => {
    const texts = new Set<string>()
    const note = ({ sql }: { sql: string }) => {
      if (sql.includes('promo_code')) texts.add(sql)
    }
    database().on('query', note)
    try {
      for (const q of ['a', 'b', `'; drop table promo_code; --`])
        for (const wanted of [['x'], ['x', q, 'z']]) await page({ q, codes: wanted })
    } finally {
      database().off('query', note)
    }
    expect(texts.size).to.equal(2)
    expect([...texts].join()).to.not.include('drop')
  })
})
