import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { readsOf, rowsVisited } from '../lib/rows-visited.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeBook, postPlain } from '../reports/support.ts'
import type { BookOfYears } from '../reports/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('words of the diary', () => {
  const world = useWorld()
  let house: House
  let finance: Desk
  let book: BookOfYears

  const entry = (on: string, description: string) => ({
    on,
    description,
    lines: [
      { code: '5.1.09', debit: 500 },
      { code: '1.1.2.01', credit: 500 },
    ],
  })

  before(async () => {
    house = await makeHouse({ units: 1 })
    finance = await openDesk(world, house, 'finance')
    book = await makeBook(house.tenantId)
    await postPlain(book, [
      entry('2025-03-01', 'Aluguel de março'),
      entry('2025-03-02', 'Tarifa do banco, conta 12'),
      entry('2025-03-03', 'Estorno: tarifa do banco'),
      entry('2025-03-04', '100% de um sinal_x'),
    ])
  })
  beforeEach(() => forgetLimits(world))

  const ask = async (path: string) => {
    const { status, body } = await finance.get(path)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as { data: Record<string, unknown>[]; meta: { total: number } }
  }
  const days = 'startDate=2025-01-01&endDate=2025-12-31'
  const found = async (q: string, more = '') => {
    const asked = `bookId=${book.bookId}&q=${encodeURIComponent(q)}`
    const list = await ask(`financial/ledger-entries?${asked}&${more}`)
    const report = await ask(`reports/journal?${asked}&${days}`)
    const lines = await ask(`financial/ledger-lines?${asked}&from=2025-01-01&${more}`)
    const told = list.data.map(({ description }) => description as string)
    expect(list.meta.total).to.equal(told.length)
    if (more === '') expect(report.data.map(({ description }) => description as string).reverse()).to.deep.equal(told)
    expect(lines.meta.total).to.equal(2 * told.length)
    expect([...new Set(lines.data.map(({ description }) => description as string))]).to.deep.equal(told)
    return told
  }

  it('find entries, lines and the report, whatever their case, accents and order', async () => {
    expect(await found('MARCO')).to.deep.equal(['Aluguel de março'])
    expect(await found('banco tarifa')).to.deep.equal(['Estorno: tarifa do banco', 'Tarifa do banco, conta 12'])
    expect(await found('tarifa', 'to=2025-03-02')).to.deep.equal(['Tarifa do banco, conta 12'])
    expect(await found('estorno: tar')).to.deep.equal(['Estorno: tarifa do banco'])
    expect(await found('%')).to.deep.equal(['100% de um sinal_x'])
    expect(await found('banco aluguel')).to.deep.equal([])
  })

  it('are numbers, too: that of the diary', async () => {
    const [{ id } = { id: '' }] = await sql<{ id: string }>(
      world.database.admin,
      `select id from journal_entry where book_id = ? and description like 'Aluguel%'`,
      [book.bookId],
    )
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(
        `insert into journal_seal (tenant_id, book_id, year, number, position, entry_id, previous_hash, hash)
         values (?, ?, 2025, 12, 12, ?, sha256('a'), sha256('b'))`,
        [house.tenantId, book.bookId, id],
      )
    })
    expect(await found('12')).to.have.members(['Tarifa do banco, conta 12', 'Aluguel de março'])
    expect(await found('13')).to.deep.equal([])
    expect(await found('99999999999999999')).to.deep.equal([])
  })

  it('stand in memos of lines, which are found by themselves', async () => {
    const { status, body } = await finance.send('POST', 'financial/ledger-entries', {
      bookId: house.bookId,
      description: 'Bank fees',
      lines: [
        { accountCode: '5.1.09', debit: 70, memo: 'Contrato 77/A' },
        { accountCode: '1.1.3.80', credit: 70 },
      ],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    const lines = (q: string) => ask(`financial/ledger-lines?bookId=${house.bookId}&q=${q}`)
    expect((await lines('contrato')).data.map(({ memo }) => memo)).to.deep.equal(['Contrato 77/A'])
    expect((await lines('fees')).meta.total).to.equal(2)
    const entries = await ask(`financial/ledger-entries?bookId=${house.bookId}&q=contrato`)
    expect(entries.meta.total).to.equal(0)
  })

  it('and kind, total and late narrow lines as they narrow entries', async () => {
    const all = `bookId=${book.bookId}&from=2025-01-01`
    for (const [query, total] of [
      ['kind=standard', 8],
      ['kind=reversal', 0],
      ['minTotal=500&maxTotal=500', 8],
      ['minTotal=501', 0],
      ['maxTotal=499', 0],
      ['late=false', 8],
      ['late=true', 0],
    ] as const)
      expect((await ask(`financial/ledger-lines?${all}&${query}`)).meta.total, query).to.equal(total)
  })

  it('are looked up, however many entries there are', async () => {
    const large = await makeBook(house.tenantId)
    const on = (index: number) => `2025-0${1 + (index % 9)}-15`
    await postPlain(large, [
      ...Array.from({ length: 900 }, (_, index) => entry(on(index), `Diária ${index % 7}`)),
      entry('2025-01-10', 'Seguro predial'),
    ])
    await sql(world.database.admin, `analyze`)
    const visits = await rowsVisited(world.database)
    try {
      for (const path of [
        'financial/ledger-entries?',
        'financial/ledger-lines?from=2025-01-01&',
        `reports/journal?${days}&`,
      ]) {
        const asked = await readsOf(async () => {
          expect((await ask(`${path}bookId=${large.bookId}&q=seguro`)).data).to.have.length.within(1, 2)
        })
        const ofWords = asked.filter(
          (one) => /journal_(entry|line)/.test(one.sql) && !/max\(e\.sequence\)/.test(one.sql),
        )
        expect(ofWords).to.have.length.above(0)
        expect(await visits.of(house.tenantId, ofWords), path).to.be.below(60)
      }
    } finally {
      await visits.end()
    }
  })

  it('that thousands of entries have fill pages of the first 10,000', async () => {
    const many = await makeBook(house.tenantId)
    await postPlain(many, [entry('2025-03-01', 'Diária')])
    // Copies without lines, which these lists do not read.
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(
        `insert into journal_entry (tenant_id, book_id, journal_id, period_id, posting_date, currency, source_type, source_id, total, description, created_xid, sequence)
         select tenant_id, book_id, journal_id, period_id, posting_date, currency, source_type, gen_random_uuid(), total, description, created_xid, sequence + copy
         from journal_entry, generate_series(1, 10000) copy where book_id = ?`,
        [many.bookId],
      )
    })
    const path = `financial/ledger-entries?bookId=${many.bookId}&q=diaria&limit=100`
    const { data, meta } = await ask(path)
    expect([data.length, meta.total]).to.deep.equal([100, 10_000])
    expect((await ask(`${path}&page=100`)).data).to.have.length(100)
    expect((await finance.get(`${path}&page=101`)).status).to.equal(400)
    expect((await ask(`reports/journal?bookId=${many.bookId}&q=diaria&${days}&limit=1`)).meta.total).to.equal(10_001)
  })
})
