import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { ledgerRunDue } from '../../jobs/financial.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { dueFrom, duesBetween } from '../../db/financial/rules/schedule.ts'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'
import type { Accountant } from './accountant.ts'

describe('the dates of an entry that recurs', () => {
  const monthly = { every: 1, unit: 'month' as const, firstOn: '2028-01-31', mode: 'post' as const }

  it('are the last day of a shorter month, and do not drift', () => {
    expect(duesBetween(monthly, '', '2028-05-01')).to.deep.equal([
      '2028-01-31',
      '2028-02-29',
      '2028-03-31',
      '2028-04-30',
    ])
    expect(dueFrom({ ...monthly, day: 15 }, '')).to.equal('2028-02-15')
    expect(dueFrom({ ...monthly, endsOn: '2028-02-01' }, '2028-02-01')).to.equal(null)
    expect(duesBetween({ ...monthly, unit: 'week', every: 2 }, '', '2028-03-01')).to.deep.equal([
      '2028-01-31',
      '2028-02-14',
      '2028-02-28',
    ])
    expect(dueFrom({ ...monthly, unit: 'year', firstOn: '2028-02-29' }, '2029-01-01')).to.equal('2029-02-28')
  })
})

describe('adjustments of a month (story S2)', function () {
  this.timeout(120_000)
  const world = useWorld()

  const runAgain = async (a: Accountant) => {
    await inTenant(a.house.tenantId, (trx) =>
      enqueue(trx, ledgerRunDue, { tenantId: a.house.tenantId, bookId: a.bookId, date: a.house.today }),
    )
    await world.drain()
  }

  it('post what recurs, what is spread and what is reversed, to the cent and once', async () => {
    const a = await openBook(world)
    const { finance, good, on, bookId } = a
    const accrued = await a.entry(on('01-31'), [line('6.5.01', 123_456), line('2.1.7.01', -123_456)], {
      reverseOn: on('02-01'),
    })
    const template = await good(finance, 'POST', 'financial/entry-templates', {
      bookId,
      name: 'Payroll',
      description: 'Payroll',
      variables: [{ name: 'gross', default: 1_000_001 }],
      lines: [
        { accountId: await a.account('5.1.01'), side: 'debit', amount: { variable: 'gross', rate: 6000 } },
        { accountId: await a.account('6.1.01'), side: 'debit', amount: { variable: 'gross', rate: 4000 } },
        { accountId: await a.account('2.1.2.01'), side: 'credit', amount: 'rest' },
      ],
      schedule: { every: 1, unit: 'month', day: 31, firstOn: on('01-31'), endsOn: on('04-30'), mode: 'post' },
    })
    const prepaid = await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'prepaid',
      targetAccountId: await a.account('6.7.03'),
      amount: 100_000,
      firstMonth: `${a.year}-01`,
      months: 3,
      description: 'Insurance',
    })
    const asset = { number: 'CAMA-01', accountId: await a.account('1.2.3.03'), cost: 6_000_000, residual: 1_000_000 }
    const depreciation = await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'depreciation',
      amount: 5_000_000,
      firstMonth: `${a.year}-01`,
      months: 48,
      asset,
      description: 'Beds',
    })
    await world.drain()
    await runAgain(a)
    const quarter = await a.balances(on('01-01'), on('03-31'))
    expect(quarter).to.deep.include({
      '1.2.9.01': -312_500,
      '2.1.2.01': -3_000_003,
      '2.1.7.01': 0,
      '5.1.01': 1_800_003,
      '6.1.01': 1_200_000,
      '6.5.01': 0,
      '6.7.03': 100_000,
      '6.8.01': 312_500,
    })
    expect((await a.balances(on('01-01'), on('12-31')))['6.8.01']).to.equal(1_250_000)
    expect(
      (await good(finance, 'GET', `financial/ledger-entries/${accrued.id as string}`)).reversedByEntryId,
    ).not.to.equal(null)
    const read = await good(finance, 'GET', `financial/entry-templates/${template.id as string}`)
    expect(read).to.include({ nextOn: null, runs: 4 })
    expect((read.pastRuns as { on: string }[]).map((run) => run.on).toReversed()).to.deep.equal([
      on('01-31'),
      addDays(on('03-01'), -1),
      on('03-31'),
      on('04-30'),
    ])
    const spread = await good(finance, 'GET', `financial/accrual-schedules/${prepaid.id as string}`)
    expect(spread).to.include({ status: 'completed', posted: 100_000 })
    expect((spread.schedule as { amount: number }[]).map(({ amount }) => amount)).to.deep.equal([
      33_333, 33_333, 33_334,
    ])
    const worn = await good(finance, 'GET', `financial/accrual-schedules/${depreciation.id as string}`)
    expect(worn.bookValue).to.equal(6_000_000 - (worn.posted as number))
    expect((worn.schedule as { amount: number }[]).slice(0, 3).map(({ amount }) => amount)).to.deep.equal([
      104_166, 104_167, 104_167,
    ])
    const stopped = await good(finance, 'POST', `financial/accrual-schedules/${depreciation.id as string}/cancel`, {
      rest: 'post',
    })
    expect(stopped).to.include({ status: 'cancelled', posted: 5_000_000, bookValue: 1_000_000 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('make drafts of what cannot be posted by itself, and leave out what a pause passed over', async () => {
    const a = await openBook(world)
    const { finance, owner, good, on, bookId } = a
    const lines = [
      { accountId: await a.account('5.1.09'), side: 'debit', amount: 5_000 },
      { accountId: await a.account('1.1.3.80'), side: 'credit', amount: 5_000 },
    ]
    const given = { bookId, name: 'Rent', description: 'Rent', lines }
    const bad = (body: object) => a.refused(finance, 'POST', 'financial/entry-templates', { ...given, ...body })
    expect(await bad({ lines: [lines[0], { ...lines[1], amount: 4_999 }] })).to.deep.equal([
      422,
      'template_not_balanced',
    ])
    expect(await bad({ lines: [lines[0], { ...lines[1], amount: { variable: 'x', rate: 1 } }] })).to.deep.equal([
      400,
      'validation_failed',
    ])
    // A template that recurs by itself balances with its defaults, now and after every change.
    const schedule = { every: 1, unit: 'month', firstOn: a.house.day(1), mode: 'post' }
    const share = [{ ...lines[0], amount: { variable: 'x', rate: 10_000 } }, { ...lines[1], amount: 'rest' }, lines[1]]
    const varied = { lines: share, variables: [{ name: 'x', default: 4_999 }], schedule }
    expect(await bad(varied)).to.deep.equal([422, 'template_not_balanced'])
    const whole = { ...given, ...varied, variables: [{ name: 'x', default: 5_000 }] }
    const kept = `financial/entry-templates/${(await good(finance, 'POST', 'financial/entry-templates', whole)).id as string}`
    for (const [variables, code] of [
      [[{ name: 'x', default: 4_999 }], 'template_not_balanced'],
      [[{ name: 'x' }], 'validation_failed'],
    ] as const)
      expect((await a.refused(finance, 'PATCH', kept, { variables }))[1]).to.equal(code)
    await good(owner, 'PATCH', `financial/books/${bookId}`, { approvalThreshold: 4_000 })
    await good(finance, 'POST', 'financial/entry-templates', {
      ...given,
      schedule: { every: 1, unit: 'month', firstOn: on('01-10'), endsOn: on('02-10'), mode: 'post' },
    })
    await world.drain()
    const { data } = await good(finance, 'GET', `financial/entry-drafts?bookId=${bookId}&status=submitted`)
    expect((data as { postingDate: string }[]).map(({ postingDate }) => postingDate).toSorted()).to.deep.equal([
      on('01-10'),
      on('02-10'),
    ])
    const paused = await good(finance, 'POST', 'financial/entry-templates', {
      ...given,
      schedule: { every: 1, unit: 'year', firstOn: a.house.day(1), mode: 'draft' },
    })
    const id = paused.id as string
    await good(finance, 'POST', `financial/entry-templates/${id}/pause`)
    expect((await good(finance, 'POST', `financial/entry-templates/${id}/resume`, {})).nextOn).to.equal(a.house.day(1))
    const draft = await good(finance, 'POST', `financial/entry-templates/${id}/apply`, { postingDate: a.house.today })
    expect(draft).to.include({ total: 5_000, templateId: id, status: 'draft' })
    await good(finance, 'DELETE', `financial/entry-templates/${id}`)
    expect((await finance.get(`financial/entry-templates/${id}`)).status).to.equal(404)
  })

  it('that are cancelled before the nightly run post the months that are over on their own days', async () => {
    const a = await openBook(world)
    const monthsOver = 12 + Number(addDays(a.house.today, 1).slice(5, 7)) - 1
    const cancelled = async (rest: 'leave' | 'post') => {
      const made = await a.good(a.finance, 'POST', 'financial/accrual-schedules', {
        bookId: a.bookId,
        kind: 'prepaid',
        targetAccountId: await a.account('6.7.03'),
        amount: 48_000,
        firstMonth: `${a.year}-01`,
        months: 48,
        description: 'Insurance',
      })
      const stopped = await a.good(a.finance, 'POST', `financial/accrual-schedules/${made.id as string}/cancel`, {
        rest,
      })
      // The run that the schedule asked for as it was made comes too late: it finds nothing.
      await world.drain()
      const entries = await a.rows<{ on: string; total: string }>(
        `select posting_date as on, total from journal_entry where source_id = :id order by posting_date, sequence`,
        { id: made.id },
      )
      return { stopped, entries: entries.map(({ on, total }) => [on, Number(total)]) }
    }
    const left = await cancelled('leave')
    expect(left.stopped).to.include({ status: 'cancelled', posted: monthsOver * 1_000 })
    expect(left.entries).to.have.length(monthsOver)
    expect(left.entries.slice(0, 2)).to.deep.equal([
      [a.on('01-31'), 1_000],
      [addDays(a.on('03-01'), -1), 1_000],
    ])
    const posted = await cancelled('post')
    expect(posted.stopped).to.include({ status: 'cancelled', posted: 48_000 })
    expect(posted.entries).to.deep.equal([...left.entries, [a.house.today, (48 - monthsOver) * 1_000]])
    expect(await a.failing()).to.deep.equal([])
  })

  it('spread months of closed periods in one sum on the first open day', async () => {
    const a = await openBook(world)
    for (const month of ['01', '02']) await a.move(a.finance, await a.periodOf(a.on(`${month}-01`)), 'soft-close')
    const targetAccountId = await a.account('6.7.03')
    const spread = (amount: number, months: number) =>
      a.good(a.finance, 'POST', 'financial/accrual-schedules', {
        bookId: a.bookId,
        kind: 'prepaid',
        targetAccountId,
        amount,
        firstMonth: `${a.year}-01`,
        months,
        description: 'Licences',
      })
    const made = await spread(10_000, 3)
    await world.drain()
    const posted = await a.rows<{ on: string; total: number }>(
      `select posting_date as on, total from journal_entry where source_id = :id order by posting_date`,
      { id: made.id },
    )
    expect(posted.map((one) => [one.on, Number(one.total)])).to.deep.equal([
      [a.on('03-01'), 6_666],
      [a.on('03-31'), 3_334],
    ])
    // A cent over twelve months falls on the last of them alone.
    const cent = await spread(1, 12)
    await world.drain()
    const { schedule } = await a.good(a.finance, 'GET', `financial/accrual-schedules/${cent.id as string}`)
    expect(
      (schedule as { amount: number; entryId: string | null }[]).map((one) => [one.amount, one.entryId !== null]),
    ).to.deep.equal([...Array.from({ length: 11 }, () => [0, false]), [1, true]])
  })

  it('plan a year in versions that another person approves', async () => {
    const a = await openBook(world)
    const { finance, owner, good, refused } = a
    const [year] = await a.rows<{ id: string }>(`select id from fiscal_year where book_id = :bookId and year = :year`, {
      year: a.year,
    })
    await a.entry(a.on('02-10'), [line('5.1.09', 1_001), line('1.1.3.80', -1_001)])
    const plan = await good(finance, 'POST', 'financial/budgets', {
      fiscalYearId: year?.id,
      name: 'Plan',
      copy: { fiscalYearId: year?.id, rate: 1_050 },
    })
    const linesOf = async (id: string) =>
      ((await good(finance, 'GET', `financial/budgets/${id}/lines?limit=100`)).data as Record<string, unknown>[]).map(
        ({ accountCode, periodNumber, amount }) => [accountCode, periodNumber, amount],
      )
    expect(await linesOf(plan.id as string)).to.deep.equal([['5.1.09', 2, 1_106]])
    const put = (id: string, lines: object[]) => finance.send('PUT', `financial/budgets/${id}/lines`, { lines })
    const accountId = await a.account('4.1.01')
    const set = await put(plan.id as string, [
      { accountId, periodNumber: 1, amount: 5_000 },
      { accountId: await a.account('5.1.09'), periodNumber: 2, amount: 0 },
    ])
    expect(set.body.months, JSON.stringify(set.body)).to.deep.equal([{ periodNumber: 1, revenue: 5_000, expense: 0 }])
    expect(
      (await put(plan.id as string, [{ accountId: await a.account('1.1.3.80'), periodNumber: 1, amount: 1 }])).body
        .code,
    ).to.equal('account_not_usable')
    expect(await refused(finance, 'POST', `financial/budgets/${plan.id as string}/approve`)).to.deep.equal([
      403,
      'self_approval',
    ])
    const second = await good(finance, 'POST', 'financial/budgets', {
      fiscalYearId: year?.id,
      name: 'Plan, again',
      copy: { budgetId: plan.id, rate: 0 },
    })
    const approved = await Promise.all(
      [plan, second].map(({ id }) => owner.send('POST', `financial/budgets/${id as string}/approve`)),
    )
    expect(approved.map(({ status }) => status)).to.deep.equal([200, 200])
    const { data } = await good(finance, 'GET', `financial/budgets?fiscalYearId=${year?.id ?? ''}`)
    expect((data as { status: string }[]).map(({ status }) => status).toSorted()).to.deep.equal([
      'approved',
      'superseded',
    ])
    expect((await put(plan.id as string, [{ accountId, periodNumber: 1, amount: 1 }])).body.code).to.equal(
      'invalid_transition',
    )
    expect(await refused(finance, 'DELETE', `financial/budgets/${plan.id as string}`)).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })
})
