import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'
import { rowsOf } from './contract-tables.ts'

describe('entries that the ledger posts itself', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('have the accounts and sides of the table: what recurs, is spread, taxed, closed and turned', async () => {
    const a = await openBook(world, { taxRegime: 'presumed_profit' })
    const { owner, finance, good, on, bookId } = a
    const schedule = (body: object) =>
      good(finance, 'POST', 'financial/accrual-schedules', {
        bookId,
        amount: 1_000,
        firstMonth: `${a.year}-01`,
        months: 1,
        description: 'Once',
        ...body,
      })
    await schedule({ kind: 'prepaid', targetAccountId: await a.account('6.7.03') })
    await schedule({ kind: 'deferred', targetAccountId: await a.account('4.2.01') })
    await schedule({
      kind: 'depreciation',
      asset: { number: 'A', accountId: await a.account('1.2.3.03'), cost: 1_000, residual: 0 },
    })
    await good(finance, 'POST', 'financial/entry-templates', {
      bookId,
      name: 'Rent',
      description: 'Rent',
      lines: [
        { accountId: await a.account('6.7.03'), side: 'debit', amount: 700 },
        { accountId: await a.account('1.1.3.80'), side: 'credit', amount: 700 },
      ],
      schedule: { every: 1, unit: 'month', day: 5, firstOn: on('01-05'), endsOn: on('01-05'), mode: 'post' },
    })
    const { data: codes } = await good(finance, 'GET', `financial/tax-codes?bookId=${bookId}&limit=100`)
    const iss = (codes as { id: string; code: string }[]).find(({ code }) => code === 'ISS')?.id ?? ''
    await good(finance, 'POST', `financial/tax-codes/${iss}/rates`, { rate: 50_000, validFrom: on('01-01') })
    const manual = await a.entry(on('01-10'), [line('1.1.3.80', 100_000), line('4.1.01', -100_000)])
    const wrong = await a.entry(on('01-11'), [line('6.7.03', 300), line('1.1.3.80', -300)])
    await good(owner, 'POST', `financial/ledger-entries/${wrong.id as string}/reverse`, {
      reason: 'Wrong',
      postingDate: on('01-12'),
    })
    await world.drain()
    await a.closeMonths()
    const [year] = await a.rows<{ id: string }>(`select id from fiscal_year where book_id = :bookId and year = :year`, {
      year: a.year,
    })
    await good(finance, 'POST', `financial/fiscal-years/${year?.id ?? ''}/close`)
    await world.drain()

    const posted = await a.rows<{ type: string; lines: string[] }>(
      `select e.source_type as type, array_agg(a.code || case when l.debit > 0 then ' D ' || l.debit else ' C ' || l.credit end order by l.line_no) as lines
       from journal_entry e join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
       where e.book_id = :bookId group by e.id, e.source_type, e.sequence order by e.sequence`,
    )
    const of = (type: string) => posted.filter((one) => one.type === `financial.${type}`).map(({ lines }) => lines)
    const roles = await a.rows<{ role: string; code: string }>(
      `select role, code from account where book_id = :bookId and role is not null`,
    )
    const codeOf = (role: string) => roles.find((one) => one.role === role)?.code ?? role
    expect(of('accrual_prepaid')).to.have.deep.members([
      ['6.7.03 D 1000', `${codeOf('prepaid_expenses')} C 1000`],
      [`${codeOf('depreciation')} D 1000`, `${codeOf('accumulated_depreciation')} C 1000`],
    ])
    expect(of('accrual_deferred')).to.deep.equal([[`${codeOf('deferred_income')} D 1000`, '4.2.01 C 1000']])
    expect(of('template')).to.deep.equal([['6.7.03 D 700', '1.1.3.80 C 700']])
    expect(of('manual')).to.deep.include.members([['1.1.3.80 D 100000', '4.1.01 C 100000']])
    expect(manual.sourceType).to.equal('financial.manual')
    expect(of('reversal')).to.deep.equal([['6.7.03 C 300', '1.1.3.80 D 300']])
    const [tax] = await a.rows<{ liability: string; contra: string }>(
      `select l.code as liability, c.code as contra from tax_code t join account l on l.id = t.liability_account_id join account c on c.id = t.contra_account_id
       where t.book_id = :bookId and t.code = 'ISS'`,
    )
    const [[debit = '', credit = ''] = []] = of('tax_assessed')
    expect([debit.split(' ').slice(0, 2), credit.split(' ').slice(0, 2)]).to.deep.equal([
      [tax?.contra, 'D'],
      [tax?.liability, 'C'],
    ])
    // Each revenue and expense to zero, the profit to equity.
    const [closing = []] = of('year_closed')
    expect(closing).to.include.members([
      '4.1.01 D 100000',
      '4.2.01 D 1000',
      '6.7.03 C 1700',
      `${codeOf('depreciation')} C 1000`,
    ])
    expect(closing.filter((text) => text.startsWith(`${codeOf('retained_earnings')} C `))).to.have.length(1)
  })

  it('stand in a chart that is the table’s, account by account', async () => {
    const a = await openBook(world)
    const accounts = await a.rows<Record<string, string | boolean | null>>(
      `select a.code, a.name, a.class, a.side, a.postable, a.control, a.role, a.section, a.cash_flow, p.code as parent
       from account a left join account p on p.tenant_id = a.tenant_id and p.id = a.parent_id where a.book_id = :bookId order by a.code collate "C"`,
    )
    const written = rowsOf('financial-chart.tsv').map((row) => ({
      code: row['code'],
      name: row['name_pt'],
      class: row['class'],
      side: row['side'] || (row['class'] === 'asset' || row['class'] === 'expense' ? 'debit' : 'credit'),
      postable: row['type'] === 'account',
      control: row['control'] || null,
      role: row['role'] || null,
      section: row['section'] || null,
      cashFlow: row['cash_flow'] || null,
      parent: row['code']?.includes('.') ? row['code'].slice(0, row['code'].lastIndexOf('.')) : null,
    }))
    expect(accounts).to.deep.equal(written.toSorted((one, other) => ((one.code ?? '') < (other.code ?? '') ? -1 : 1)))
  })
})
