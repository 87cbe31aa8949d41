import { expect } from 'chai'
import { line, openBook } from '../financial/accountant.ts'
import type { Accountant } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

type Row = { key: string; amount: number; columns?: { key: string; amount: number }[] }
type Range = { from: string; to: string }

/**
 * A controller's first quarter in a fiscal year that begins in April: two houses, costs shared in parts that do not divide, an asset that is sold, a
 * tax of four decimals. Figures were worked out by hand, and every statement is held against every other.
 */
describe('the story of a controller', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Accountant
  // The whole of its first fiscal year is over, whatever day it is.
  const year = new Date().getUTCFullYear() - 2
  const on = (day: string) => `${day < '04' ? year + 1 : year}-${day}`

  const report = async (path: string, query: object): Promise<Parsed> => {
    await a.calm()
    const text = new URLSearchParams({ bookId: a.bookId, ...query } as Record<string, string>)
    return a.good(a.finance, 'GET', `reports/${path}?${text.toString()}`)
  }
  const rowsOf = (statement: Parsed) => new Map((statement.data as Row[]).map((row) => [row.key, row]))
  const amountOf = (statement: Parsed, key: string) => rowsOf(statement).get(key)?.amount ?? 0
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

  /** Holds the statements of a range against one another, to the cent. */
  const agree = async ({ from, to }: Range): Promise<void> => {
    const range = { startDate: from, endDate: to }
    const trial = await report('trial-balance', { ...range, includeClosing: 'true' })
    expect(trial.totals).to.include({ closing: 0 })
    expect(trial.totals.debit).to.equal(trial.totals.credit)
    const accounts = trial.data as Parsed[]
    const closing = new Map(accounts.map((row) => [row.code as string, row.closing as number]))

    const ledger = await report('general-ledger', { ...range, limit: '1' })
    expect([ledger.totals.debit, ledger.totals.credit]).to.deep.equal([trial.totals.debit, trial.totals.credit])
    const chart = await a.rows<{ id: string; side: string }>(`select id, side from account where book_id = :bookId`)
    const sign = new Map(chart.map(({ id, side }) => [id, side === 'debit' ? 1 : -1]))
    for (const account of ledger.totals.accounts as Parsed[])
      expect(account.closing * (sign.get(account.accountId as string) ?? 1) + 0, account.code).to.equal(
        closing.get(account.code) ?? 0,
      )
    const journal = await report('journal', { ...range, limit: '1' })
    expect(journal.totals.debit).to.equal(trial.totals.debit)

    const income = await report('income-statement', range)
    const { result } = income.totals
    for (const by of ['month', 'property', 'cost_center']) {
      const split = await report('income-statement', { ...range, by })
      for (const row of split.data as Row[])
        expect(sum((row.columns ?? []).map(({ amount }) => amount)), `${by} ${row.key}`).to.equal(row.amount)
      expect(split.totals.result).to.equal(result)
    }
    for (const view of ['accounts', 'departments', 'cost_centers'])
      expect((await report('income-statement', { ...range, view })).totals.result, view).to.equal(result)
    const consolidated = await report('consolidated-statements', { ...range, statement: 'income_statement' })
    expect(consolidated.totals.result).to.equal(result)

    const sheet = await report('balance-sheet', { asOf: to })
    const { assets, liabilities, equity, resultNotClosed, otherProperties } = sheet.totals
    expect([assets, otherProperties]).to.deep.equal([liabilities + equity + resultNotClosed, 0])
    const classes = (name: string) =>
      sum(accounts.filter((row) => row.class === name).map((row) => row.closing as number))
    expect([classes('asset'), classes('liability'), classes('equity')]).to.deep.equal([
      assets,
      0 - liabilities,
      0 - equity,
    ])

    const balances = await a.good(a.finance, 'GET', `financial/balances?bookId=${a.bookId}&asOf=${to}`)
    for (const { code, debit, credit } of balances.data as { code: string; debit: number; credit: number }[])
      if (code < '4') expect(debit - credit, code).to.equal(closing.get(code) ?? 0)

    const cash = closing.get('1.1.2.01') ?? 0
    const flows = []
    for (const method of ['direct', 'indirect'])
      for (const by of ['total', 'month']) {
        const flow = await report('cash-flow', { ...range, method, by })
        const { opening, operating, investing, financing } = flow.totals
        expect(flow.totals.closing, method).to.equal(cash)
        expect(opening + operating + investing + financing, method).to.equal(cash)
        flows.push(flow.totals)
      }
    expect(flows[0]).to.deep.equal(flows[1])
    expect(flows[2]).to.deep.equal(flows[3])
  }

  it('keeps a quarter and closes a year, and every statement agrees with every other', async () => {
    a = await openBook(world, { taxRegime: 'presumed_profit', firstYearStartsOn: `${year}-04-01` })
    const { bookId, finance, owner, good, account } = a
    const [first, second] = [await a.property(), await a.property()]
    const [p, q] = [{ propertyId: first }, { propertyId: second }]
    const spa = await good(finance, 'POST', 'financial/cost-centers', { bookId, code: 'SPA', name: 'Spa' })
    const codes = (await good(finance, 'GET', `financial/tax-codes?bookId=${bookId}&limit=100`)).data as Parsed[]
    const iss = codes.find(({ code }) => code === 'ISS')?.id as string
    await good(finance, 'POST', `financial/tax-codes/${iss}/rates`, { rate: 21_234, validFrom: on('04-01') })

    // The opening balances: a bank, machines with what they have lost, capital, and the rest in equity.
    const bank = await good(finance, 'POST', 'cash/accounts', {
      bookId,
      kind: 'bank',
      code: 'BANCO',
      name: 'Banco',
      opening: { amount: 1_000_000, on: on('04-01') },
    })
    const stood = [line('1.2.3.04', 2_400_000), line('1.2.9.01', -400_000), line('3.1.01', -2_500_000)]
    await a.entry(on('04-01'), stood, { kind: 'opening' })
    await world.drain()
    await a.entry(on('04-01'), [line('3.9.01', 500_000), line('3.2.01', -500_000)])

    // Revenue of two houses on one bill, and an allowance of one that is above its revenue.
    await a.entry(on('04-02'), [line('1.1.3.80', 100_000, p), line('2.1.8.01', -100_000, p)])
    await a.entry(on('04-15'), [line('1.1.3.80', 700_003, p), line('4.1.01', -400_001, p), line('4.2.01', -300_002, q)])
    await a.entry(on('04-20'), [line('4.2.09', 350_000, q), line('1.1.3.80', -350_000, q)])
    // Laundry in three parts that do not divide, on the last day of each month.
    const laundry = { accountId: await account('5.1.02'), side: 'debit' }
    await good(finance, 'POST', 'financial/entry-templates', {
      bookId,
      name: 'Laundry',
      description: 'Laundry of both houses',
      variables: [{ name: 'bill', default: 10_001 }],
      lines: [
        { ...laundry, ...p, amount: { variable: 'bill', rate: 3_333 } },
        { ...laundry, ...q, amount: { variable: 'bill', rate: 3_333 } },
        { ...laundry, amount: 'rest' },
        { accountId: await account('1.1.3.80'), side: 'credit', amount: { variable: 'bill', rate: 10_000 } },
      ],
      schedule: { every: 1, unit: 'month', day: 31, firstOn: on('04-30'), endsOn: on('06-30'), mode: 'post' },
    })
    await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'deferred',
      amount: 100_000,
      firstMonth: `${year}-04`,
      months: 7,
      sourceAccountId: await account('2.1.8.01'),
      targetAccountId: await account('4.4.09'),
      ...p,
      costCenterId: spa.id,
      description: 'Passes of the spa',
    })
    await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'depreciation',
      amount: 1_999_999,
      firstMonth: `${year}-04`,
      months: 60,
      asset: { number: 'M-1', accountId: await account('1.2.3.04'), cost: 2_400_000, residual: 400_001 },
      ...q,
      description: 'Machines',
    })
    for (const [bookedOn, amount, code] of [
      [on('05-10'), -250_000, '2.2.1.02'],
      [on('05-12'), -60_000, '1.2.3.05'],
      [on('06-15'), 90_010, '1.1.3.80'],
    ] as const) {
      const booked = await finance.send(
        'POST',
        'cash/movements',
        { cashAccountId: bank.id, amount, bookedOn, accountId: await account(code), description: 'By the bank' },
        { idempotencyKey: bookedOn },
      )
      expect(booked.status, JSON.stringify(booked.body)).to.equal(201)
    }
    await a.entry(on('05-31'), [line('6.5.01', 12_345), line('2.1.7.01', -12_345)], { reverseOn: on('06-01') })
    await world.drain()
    await a.calm()

    // April closes; a bill of it comes late, and its tax with it.
    await a.move(finance, await a.periodOf(on('04-01')), 'soft-close')
    await world.drain()
    const late = await good(finance, 'POST', 'financial/entry-drafts', {
      bookId,
      postingDate: on('04-28'),
      description: 'Late',
      late: true,
      lines: [line('1.1.3.80', 50_000, p), line('4.1.01', -50_000, p)],
    })
    await good(finance, 'POST', `financial/entry-drafts/${late.id as string}/submit`)
    await good(owner, 'POST', `financial/entry-drafts/${late.id as string}/approve`, {})
    await world.drain()

    const quarter = { from: on('04-01'), to: on('06-30') }
    const moved = await a.balances(quarter.from, quarter.to)
    expect(Object.fromEntries(Object.entries(moved).filter(([, amount]) => amount !== 0))).to.deep.equal({
      '1.1.2.01': 780_010,
      '1.1.3.80': 379_990,
      '1.2.3.04': 2_400_000,
      '1.2.3.05': 60_000,
      '1.2.9.01': -499_999,
      '2.1.3.01': -9_555,
      '2.1.8.01': -57_143,
      '2.2.1.02': 250_000,
      '3.1.01': -2_500_000,
      '3.2.01': -500_000,
      '4.1.01': -450_001,
      '4.2.01': -300_002,
      '4.2.09': 350_000,
      '4.4.09': -42_857,
      '4.8.01': 9_555,
      '5.1.02': 30_003,
      '6.8.01': 99_999,
    })
    const shown = await report('income-statement', { startDate: quarter.from, endDate: quarter.to, by: 'property' })
    expect(
      ['gross_revenue', 'deductions', 'department_costs', 'depreciation', 'result'].map((key) => amountOf(shown, key)),
    ).to.deep.equal([792_860, 359_555, 30_003, 99_999, 303_303])
    const houses = new Map(
      rowsOf(shown)
        .get('result')
        ?.columns?.map(({ key, amount }) => [key, amount]),
    )
    expect([houses.get(first), houses.get(second), houses.get('no_property')]).to.deep.equal([
      473_304, -159_996, -10_005,
    ])
    const flow = await report('cash-flow', { startDate: quarter.from, endDate: quarter.to })
    expect(flow.totals).to.deep.equal({
      opening: 0,
      operating: 1_090_010,
      investing: -60_000,
      financing: -250_000,
      closing: 780_010,
    })
    const taxes = await report('taxes', { startDate: quarter.from, endDate: quarter.to, by: 'property' })
    expect((taxes.data as Parsed[]).filter(({ tax }) => tax !== 0)).to.have.length(1)
    expect((taxes.data as Parsed[]).find(({ propertyId }) => propertyId === first)).to.include({
      base: 450_001,
      tax: 9_555,
      payable: 9_555,
    })
    const whole = { from: on('04-01'), to: on('03-31') }
    for (const range of [quarter, { from: on('04-10'), to: on('05-20') }]) await agree(range)

    // The year closes: what each house earned goes to equity, and the statements agree before, over and after its end.
    for (const verb of ['soft-close', 'close'])
      for (let month = 4; month <= 15; month += 1) {
        if (verb === 'soft-close' && month === 4) continue
        if (verb === 'close' && month === 4) {
          await world.drain()
          expect(await a.failing()).to.deep.equal([])
          await a.calm()
        }
        const day = `${String(month > 12 ? month - 12 : month).padStart(2, '0')}-01`
        await a.move(finance, await a.periodOf(on(day)), verb)
      }
    const [found] = await a.rows<{ id: string }>(
      `select id from fiscal_year where book_id = :bookId and starts_on = cast(:day as date)`,
      { day: on('04-01') },
    )
    await good(finance, 'POST', `financial/fiscal-years/${found?.id ?? ''}/close`)
    await world.drain()
    const carried = await a.rows<{ propertyId: string | null; amount: string }>(
      `select l.property_id, l.credit - l.debit as amount from journal_line l join journal_entry e on e.id = l.entry_id
       join account a on a.id = l.account_id and a.role = 'retained_earnings' where e.book_id = :bookId and e.kind = 'closing'`,
    )
    const results = new Map(carried.map(({ propertyId, amount }) => [propertyId, Number(amount)]))
    expect([results.get(first), results.get(second), results.get(null)]).to.deep.equal([530_447, -459_996, -10_005])
    const sheet = await report('balance-sheet', { asOf: whole.to })
    expect(sheet.totals).to.include({ resultNotClosed: 0, equity: 3_060_446 })
    for (const range of [whole, { from: on('02-10'), to: `${year + 1}-05-15` }]) await agree(range)
    expect(await a.failing()).to.deep.equal([])
  })
})
