import { expect } from 'chai'
import { ledgerCloseYear } from '../../jobs/financial.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'
import type { Accountant } from './accountant.ts'

describe('a year that ends', function () {
  this.timeout(120_000)
  const world = useWorld()

  const yearOf = async (a: Accountant): Promise<string> => {
    const [year] = await a.rows<{ id: string }>(`select id from fiscal_year where book_id = :bookId and year = :year`, {
      year: a.year,
    })
    return year?.id ?? ''
  }
  const statusOf = async (a: Accountant, id: string) => {
    const [year] = await a.rows<{ status: string; closeRun: number }>(
      `select status, close_run from fiscal_year where id = :id`,
      { id },
    )
    return year
  }
  const result = async (a: Accountant): Promise<[number, number]> => {
    const [found] = await a.rows<{ left: string; equity: string }>(
      `select coalesce(sum(b.debit - b.credit) filter (where a.class in ('revenue', 'expense')), 0) as left,
         coalesce(sum(b.credit - b.debit) filter (where a.role = 'retained_earnings'), 0) as equity
       from account_balance b join account a on a.id = b.account_id where b.book_id = :bookId`,
    )
    return [Number(found?.left), Number(found?.equity)]
  }

  it('carries the result of each property to equity once, and again after it was reopened', async () => {
    const a = await openBook(world)
    const { owner, finance, good, refused, on } = a
    const [first, second] = [await a.property(), await a.property()]
    const center = await good(finance, 'POST', 'financial/cost-centers', { bookId: a.bookId, code: 'SPA', name: 'Spa' })
    const at = (propertyId: string) => ({ propertyId })
    await a.entry(on('03-10'), [line('1.1.3.80', 90_000, at(first)), line('4.1.01', -90_000, at(first))])
    await a.entry(on('05-10'), [
      line('5.1.09', 30_000, { ...at(second), costCenterId: center.id }),
      line('1.1.3.80', -30_000, at(second)),
    ])
    await a.entry(on('12-31'), [line('6.5.01', 1_234), line('1.1.3.80', -1_234)])
    // An account whose years sum to zero is archived; its year is not zero.
    const spare = await good(finance, 'POST', 'financial/chart-of-accounts', {
      bookId: a.bookId,
      code: '6.5.77',
      name: 'Spare',
      parentCode: '6.5',
    })
    await a.entry(on('06-01'), [line('6.5.77', 500), line('1.1.3.80', -500)])
    await a.entry(`${a.year + 1}-01-01`, [line('1.1.3.80', 500), line('6.5.77', -500)])
    await good(finance, 'POST', `financial/chart-of-accounts/${spare.id as string}/archive`)
    const id = await yearOf(a)
    expect(await refused(finance, 'POST', `financial/fiscal-years/${id}/close`)).to.deep.equal([422, 'period_order'])
    await a.calm()
    await a.closeMonths()
    await a.calm()
    // Dates of a year that is over are locked, as accountants do.
    await good(owner, 'PUT', `financial/books/${a.bookId}/locks`, { lockedUntil: on('12-31') })

    const closing = await Promise.all([
      finance.send('POST', `financial/fiscal-years/${id}/close`),
      owner.send('POST', `financial/fiscal-years/${id}/close`),
    ])
    expect(closing.map(({ status }) => status)).to.deep.equal([200, 200])
    await world.drain()
    expect(await statusOf(a, id)).to.deep.equal({ status: 'closed', closeRun: 1 })
    const profit = 90_000 - 30_000 - 1_234
    expect(await result(a)).to.deep.equal([-500, profit - 500])
    const entries = await a.rows<{ n: number }>(
      `select count(*) as n from journal_entry where book_id = :bookId and source_type = 'financial.year_closed'`,
    )
    expect(Number(entries[0]?.n)).to.equal(3)
    // A run that comes again, or late, changes nothing.
    for (const closeRun of [1, 2])
      await inTenant(a.house.tenantId, (trx) =>
        enqueue(trx, ledgerCloseYear, { tenantId: a.house.tenantId, fiscalYearId: id, closeRun }),
      )
    await world.drain()
    expect(await result(a)).to.deep.equal([-500, profit - 500])
    const december = await a.periodOf(on('12-31'))
    expect(await refused(owner, 'POST', `financial/periods/${december}/reopen`, { reason: 'x' })).to.deep.equal([
      422,
      'period_order',
    ])

    await a.calm()
    const reopen = (desk: typeof owner) =>
      desk.send('POST', `financial/fiscal-years/${id}/reopen`, { reason: 'A correction' })
    const both = await Promise.all([reopen(owner), reopen(finance)])
    expect(both.filter(({ status }) => status === 200)).to.have.length(1)
    expect(await result(a)).to.deep.equal([-500 + 500 - profit, 0])
    await good(finance, 'POST', `financial/fiscal-years/${id}/close`)
    await world.drain()
    expect(await statusOf(a, id)).to.deep.equal({ status: 'closed', closeRun: 2 })
    expect(await result(a)).to.deep.equal([-500, profit - 500])
    expect(await a.failing()).to.deep.equal([])
    const numbers = await a.rows<{ n: number; most: number }>(
      `select count(*) as n, max(number) as most from journal_seal where book_id = :bookId and year = :year`,
      { year: a.year },
    )
    expect(Number(numbers[0]?.n)).to.equal(Number(numbers[0]?.most))
  })
})
