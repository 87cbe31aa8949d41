import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { openPayables } from '../accounts-payable/desk.ts'
import { useWorld } from '../support/world.ts'

const payments = 'accounts-payable/payments'

describe('what the books refuse by date and by currency', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  let expenses: string

  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(1_000_000, a.on('01-02'))
    expenses = await a.account('6.4.03')
    await world.drain()
  })

  /** All that the books and the papers hold: a refusal leaves it as it was. */
  const kept = async (): Promise<unknown> =>
    a.rows(
      `select (select count(*) from journal_entry where tenant_id = :tenantId) as entries, (select count(*) from posting_event where tenant_id = :tenantId) as events,
         (select count(*) from payable_payment where tenant_id = :tenantId) as payments, (select count(*) from supplier_credit where tenant_id = :tenantId) as credits,
         (select count(*) from cash_movement where tenant_id = :tenantId) as movements, (select count(*) from cash_transfer where tenant_id = :tenantId) as transfers,
         (select count(*) from receivable where tenant_id = :tenantId) as documents, (select count(*) from receipt where tenant_id = :tenantId) as receipts,
         (select sum(exposure) from customer where tenant_id = :tenantId) as owed, (select count(*) from posting_rule where tenant_id = :tenantId) as rules`,
    )
  const refuses = async (
    status: number,
    code: string,
    method: string,
    path: string,
    body: object,
    desk = a.finance,
  ) => {
    await a.calm()
    const before = await kept()
    const [found, reply] = await a.send(desk, method, path, body)
    expect([found, reply.code], `${path} ${JSON.stringify(reply)}`).to.deep.equal([status, code])
    expect(await kept()).to.deep.equal(before)
  }

  it('a month that is closed takes nothing by any door that takes a date, and leaves the next one open', async () => {
    const shut = a.on('02-10')
    for (const month of ['01', '02']) await a.move(a.finance, await a.periodOf(a.on(`${month}-05`)), 'soft-close')
    const { id: supplierId } = await a.supplier()
    const lines = [{ description: 'Repairs', accountId: expenses, amount: 4_000 }]
    const bill = await a.bill({ supplierId, issuedOn: a.on('02-05'), postingOn: a.on('03-05'), lines })
    const paid = (payOn: string) => ({
      method: 'manual',
      cashAccountId: bankId,
      payOn,
      items: [{ installmentId: bill.installments[0].id }],
    })
    const other = await a.bank(0, a.on('01-02'))
    const customer = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Engenharia do Mar S.A.',
      currency: 'BRL',
    })
    const invoice = {
      bookId: a.bookId,
      customerId: customer.id,
      lines: [{ description: 'Hall', unitAmount: 9_000, accountId: await a.account('4.3.08') }],
    }
    const entry = await a.entry(a.on('03-03'), [
      { accountCode: '6.1.10', debit: 300 },
      { accountCode: '1.1.3.80', credit: 300 },
    ])
    const spread = await a.good(a.finance, 'POST', 'financial/accrual-schedules', {
      bookId: a.bookId,
      kind: 'prepaid',
      targetAccountId: await a.account('6.7.03'),
      amount: 24_000,
      firstMonth: `${a.year + 2}-01`,
      months: 2,
      description: 'Insurance',
    })
    await world.drain()
    const paper = { bookId: a.bookId, description: 'Entry' }
    const doors: [path: string, body: object][] = [
      [
        'financial/ledger-entries',
        {
          ...paper,
          postingDate: shut,
          lines: [
            { accountCode: '6.1.10', debit: 100 },
            { accountCode: '1.1.3.80', credit: 100 },
          ],
        },
      ],
      [`financial/accrual-schedules/${spread.id}/cancel`, { rest: 'post', postingDate: shut }],
      [
        'financial/posting-rules',
        {
          bookId: a.bookId,
          event: 'reservations.manual_charge_posted',
          line: '@revenue',
          match: { category: 'food' },
          accountId: await a.account('4.2.01'),
          validFrom: shut,
        },
      ],
      [
        'cash/movements',
        { cashAccountId: bankId, amount: -100, bookedOn: shut, accountId: expenses, description: 'Fee' },
      ],
      [
        'cash/transfers',
        {
          fromAccountId: bankId,
          toAccountId: other,
          method: 'manual',
          amount: 100,
          purpose: 'Move',
          sentOn: shut,
          receivedOn: shut,
        },
      ],
      [payments, paid(shut)],
      [
        'accounts-payable/credits',
        { bookId: a.bookId, supplierId, issuedOn: shut, amount: 5_000, accountId: expenses },
      ],
      ['accounts-receivable/receivables', { ...invoice, issuedOn: shut, issue: true }],
      [
        'accounts-receivable/receipts',
        { customerId: customer.id, cashAccountId: bankId, method: 'bank', amount: 100, receivedOn: shut },
      ],
    ]
    for (const [path, body] of doors) await refuses(422, 'period_closed', 'POST', path, body)
    await refuses(422, 'date_out_of_range', 'POST', `financial/ledger-entries/${entry.id}/reverse`, {
      reason: 'Wrong',
      postingDate: shut,
    })
    // A draft may stand there, and says what it waits for; one that is late needs no open month.
    for (const late of [false, true]) {
      const given = { ...doors[0]?.[1], late }
      const { id } = await a.good(a.finance, 'POST', 'financial/entry-drafts', given)
      const { warnings } = await a.good(a.finance, 'GET', `financial/entry-drafts/${id}`)
      expect((warnings as { code: string }[]).map(({ code }) => code)).to.deep.equal(late ? [] : ['period_closed'])
      await a.good(a.finance, 'POST', `financial/entry-drafts/${id}/submit`)
      if (!late) await refuses(422, 'period_closed', 'POST', `financial/entry-drafts/${id}/approve`, {}, a.owner)
    }
    await a.good(a.finance, 'POST', payments, paid(a.on('03-20')))
    expect(await a.failing()).to.deep.equal([])
  })

  it('money of another currency: a customer, a house and an account are of the book or refused', async () => {
    const dollars = await a.good(a.owner, 'POST', 'financial/books', {
      name: 'Dollars',
      legalName: 'Dollars Inc.',
      countryCode: 'US',
      taxRegime: 'other',
      currency: 'USD',
      timeZone: 'America/New_York',
      firstYearStartsOn: a.on('01-01'),
      template: 'hotel',
    })
    const customer = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Harbour Ltd',
      currency: 'USD',
    })
    await refuses(422, 'currency_mismatch', 'POST', 'accounts-receivable/receivables', {
      bookId: a.bookId,
      customerId: customer.id,
      lines: [{ description: 'Hall', unitAmount: 9_000, accountId: await a.account('4.3.08') }],
    })
    await refuses(422, 'currency_mismatch', 'POST', 'accounts-receivable/receipts', {
      customerId: customer.id,
      cashAccountId: bankId,
      method: 'bank',
      amount: 100,
      receivedOn: a.on('03-02'),
    })
    const house = await a.property()
    await refuses(
      422,
      'currency_mismatch',
      'POST',
      `financial/books/${dollars.id}/assign-property`,
      { propertyId: house },
      a.owner,
    )
    const abroad = await a.good(a.finance, 'POST', 'cash/accounts', {
      bookId: dollars.id,
      kind: 'bank',
      code: 'USD',
      name: 'Bank',
    })
    await refuses(
      422,
      'currency_mismatch',
      'PUT',
      `cash/accounts/${abroad.id}/pix`,
      {
        keys: [{ type: 'random', key: randomUUID() }],
      },
      a.owner,
    )
  })
})
