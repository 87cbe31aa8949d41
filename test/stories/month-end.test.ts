import { expect } from 'chai'
import { openPayables } from '../accounts-payable/desk.ts'
import { line } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

type Row = { key: string; amount: number; columns?: { amount: number }[] }

/** S2 of the stories of the books: what an accountant adds at the end of a month, over HTTP and to the cent. */
describe('the story of the end of months', function () {
  this.timeout(60_000)
  const world = useWorld()

  it('reverses, repeats, spreads and depreciates, and ends in the figures of three months', async () => {
    const a = await openPayables(world)
    const { bookId, finance, good, account, on } = a
    const bank = await good(finance, 'POST', 'cash/accounts', {
      bookId,
      kind: 'bank',
      code: 'BANCO',
      name: 'Banco',
      opening: { amount: 500_000, on: on('01-01') },
    })
    await good(finance, 'POST', 'cash/movements', {
      cashAccountId: bank.id,
      amount: -100_000,
      bookedOn: on('01-05'),
      accountId: await account('1.1.7.01'),
      description: 'Insurance of three months',
    })
    const accrued = await a.entry(on('01-31'), [line('6.5.01', 123_456), line('2.1.7.01', -123_456)], {
      reverseOn: on('02-01'),
    })
    await good(finance, 'POST', 'financial/entry-templates', {
      bookId,
      name: 'Wages',
      description: 'Wages of the month',
      variables: [{ name: 'gross', default: 1_000_001 }],
      lines: [
        { accountId: await account('5.1.01'), side: 'debit', amount: { variable: 'gross', rate: 6_000 } },
        { accountId: await account('6.1.01'), side: 'debit', amount: { variable: 'gross', rate: 4_000 } },
        { accountId: await account('2.1.2.01'), side: 'credit', amount: 'rest' },
      ],
      schedule: { every: 1, unit: 'month', day: 31, firstOn: on('01-31'), endsOn: on('04-30'), mode: 'post' },
    })
    await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'prepaid',
      amount: 100_000,
      firstMonth: on('01'),
      months: 3,
      targetAccountId: await account('6.7.03'),
      description: 'Insurance',
    })
    await good(finance, 'POST', 'financial/accrual-schedules', {
      bookId,
      kind: 'depreciation',
      amount: 5_000_000,
      firstMonth: on('01'),
      months: 48,
      asset: { number: 'CAMA-01', accountId: await account('1.2.3.03'), cost: 6_000_000, residual: 1_000_000 },
      description: 'Beds',
    })
    await world.drain()

    const reversed = await good(finance, 'GET', `financial/ledger-entries/${accrued.id}`)
    const reversal = await good(finance, 'GET', `financial/ledger-entries/${reversed.reversedByEntryId}`)
    expect(reversal).to.include({ postingDate: on('02-01'), kind: 'reversal', total: 123_456 })
    const { data: templates } = await good(finance, 'GET', `financial/entry-templates?bookId=${bookId}`)
    expect(templates[0]).to.include({ nextOn: null, runs: 4 })
    const entries = await a.rows<{ postingDate: string; total: number }>(
      `select posting_date::text as posting_date, total from journal_entry where book_id = :bookId and source_type = 'financial.template' order by 1`,
    )
    expect(entries.map((one) => [one.postingDate, Number(one.total)])).to.deep.equal(
      // The last day of February of the year before today.
      ['01-31', a.year % 4 === 0 ? '02-29' : '02-28', '03-31', '04-30'].map((day) => [on(day), 1_000_001]),
    )
    const accruals = await a.rows<{ kind: string; amounts: number[] }>(
      `select s.kind, array_agg(e.total order by e.posting_date) as amounts from accrual_schedule s
       join journal_entry e on e.tenant_id = s.tenant_id and e.source_id = s.id where s.book_id = :bookId and e.posting_date < cast(:until as date) group by 1 order by 1`,
      { until: `${a.year + 1}-01-01` },
    )
    const [depreciation, prepaid] = accruals.map(({ amounts }) => amounts.map(Number))
    expect(prepaid).to.deep.equal([33_333, 33_333, 33_334])
    expect(depreciation?.slice(0, 3)).to.deep.equal([104_166, 104_167, 104_167])
    expect(depreciation?.reduce((sum, amount) => sum + amount, 0)).to.equal(1_250_000)

    expect(await a.moved(on('01-01'), on('03-31'))).to.deep.equal([4_259_415, 4_259_415])
    expect(await a.balances(on('01-01'), on('03-31'))).to.deep.equal({
      '1.1.2.01': 400_000,
      '1.1.7.01': 0,
      '1.2.9.01': -312_500,
      '2.1.2.01': -3_000_003,
      '2.1.7.01': 0,
      '3.9.01': -500_000,
      '5.1.01': 1_800_003,
      '6.1.01': 1_200_000,
      '6.5.01': 0,
      '6.7.03': 100_000,
      '6.8.01': 312_500,
    })
    const statement = async (by: string): Promise<Map<string, number[]>> => {
      await a.calm()
      const range = `bookId=${bookId}&startDate=${on('01-01')}&endDate=${on('03-31')}`
      const { data } = await good(finance, 'GET', `reports/income-statement?${range}&by=${by}`)
      return new Map(
        (data as Row[]).map(({ key, amount, columns }) => [key, columns?.map((one) => one.amount) ?? [amount]]),
      )
    }
    const months = await statement('month')
    expect(
      ['department_costs', 'undistributed', 'ebitda', 'result'].map((key) => [key, months.get(key)]),
    ).to.deep.equal([
      ['department_costs', [600_001, 600_001, 600_001]],
      ['undistributed', [523_456, 276_544, 400_000]],
      ['ebitda', [-1_156_790, -909_878, -1_033_335]],
      ['result', [-1_260_956, -1_014_045, -1_137_502]],
    ])
    const total = await statement('total')
    expect([total.get('result'), total.get('gross_operating_profit')]).to.deep.equal([[-3_412_503], [-3_000_003]])

    const { data, totals } = await good(
      finance,
      'GET',
      `reports/trial-balance?bookId=${bookId}&startDate=${on('01-01')}&endDate=${on('03-31')}`,
    )
    expect(data).not.to.deep.equal([])
    expect(totals).to.include({ debit: 4_259_415, credit: 4_259_415, closing: 0 })
    expect(await a.failing()).to.deep.equal([])
    const left: Parsed = await good(finance, 'GET', `financial/posting-events?bookId=${bookId}&status=parked`)
    expect(left.data).to.deep.equal([])
  })
})
