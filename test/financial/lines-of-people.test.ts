import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { openPayables } from '../accounts-payable/desk.ts'

describe('lines that a person writes', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  const most = 10_000_000_000_000
  before(async () => {
    a = await openPayables(world)
  })
  beforeEach(() => a.calm())

  it('name suppliers and customers of the tenant, as those of documents do', async () => {
    const other = await openPayables(world)
    const customer = (desk: typeof a) =>
      desk.good(desk.finance, 'POST', 'accounts-receivable/customers', {
        kind: 'company',
        legalName: 'Firma Ltda',
        currency: 'BRL',
      })
    const parties = { supplier: (await a.supplier()).id as string, customer: (await customer(a)).id as string }
    const strange = { supplier: (await other.supplier()).id as string, customer: (await customer(other)).id as string }
    const lines = (partyType: string, partyId: string) => [
      { accountCode: '6.4.03', debit: 500, partyType, partyId },
      { accountCode: '1.1.7.01', credit: 500 },
    ]
    const post = (partyType: string, partyId: string) =>
      a.send(a.finance, 'POST', 'financial/ledger-entries', {
        bookId: a.bookId,
        postingDate: a.on('03-10'),
        description: 'Accrual',
        lines: lines(partyType, partyId),
      })
    for (const type of ['supplier', 'customer'] as const) {
      const [status, entry] = await post(type, parties[type])
      expect([status, entry.lines?.[0].partyType, entry.lines?.[0].partyId], JSON.stringify(entry)).to.deep.equal([
        201,
        type,
        parties[type],
      ])
      const [refused, reply] = await post(type, strange[type])
      expect([refused, reply.code, reply.errors[0].field]).to.deep.equal([
        422,
        'reference_not_found',
        'lines.0.partyId',
      ])
    }
  })

  it('are refused where a budget, a template or an accrual would make them too large, or of no day', async () => {
    const [accountId, prepaid] = [await a.account('6.4.03'), await a.account('1.1.7.01')]
    const { data } = await a.good(a.finance, 'GET', `financial/fiscal-years?bookId=${a.bookId}`)
    const fiscalYearId = data[0].id as string
    const budget = await a.good(a.finance, 'POST', 'financial/budgets', { fiscalYearId, name: 'Plan' })
    await a.good(a.finance, 'PUT', `financial/budgets/${budget.id}/lines`, {
      lines: [{ accountId, periodNumber: 1, amount: most }],
    })
    const first = async (path: string, body: object) => {
      const [status, reply] = await a.send(a.finance, 'POST', `financial/${path}`, body)
      return [status, reply.code, reply.errors?.[0]?.field]
    }
    const copied = { fiscalYearId, name: 'Copy', copy: { budgetId: budget.id, rate: 1 } }
    expect(await first('budgets', copied)).to.deep.equal([400, 'validation_failed', 'copy.rate'])
    const template = {
      bookId: a.bookId,
      name: 'Rent',
      description: 'Rent',
      variables: [{ name: 'rent', default: most }],
      lines: [
        { accountId, side: 'debit', amount: { variable: 'rent', rate: 10_001 } },
        { accountId: prepaid, side: 'credit', amount: 'rest' },
      ],
    }
    const schedule = { every: 1, unit: 'month', day: 31, firstOn: a.on('01-31'), mode: 'post' }
    const tooLarge = [400, 'validation_failed', 'lines']
    expect(await first('entry-templates', { ...template, schedule })).to.deep.equal(tooLarge)
    const { id } = await a.good(a.finance, 'POST', 'financial/entry-templates', template)
    expect(await first(`entry-templates/${id}/apply`, { postingDate: a.on('03-10') })).to.deep.equal(tooLarge)
    const accrual = { bookId: a.bookId, kind: 'prepaid', amount: 100, targetAccountId: accountId, description: 'Rent' }
    for (const [months, field] of [
      [{ firstMonth: '1899-12', months: 3 }, 'firstMonth'],
      [{ firstMonth: '2200-11', months: 3 }, 'months'],
    ] as const)
      expect(await first('accrual-schedules', { ...accrual, ...months })).to.deep.equal([
        400,
        'validation_failed',
        field,
      ])
    await a.good(a.finance, 'POST', 'financial/accrual-schedules', { ...accrual, firstMonth: '2200-10', months: 3 })
  })
})
