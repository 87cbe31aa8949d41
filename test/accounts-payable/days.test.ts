import { expect } from 'chai'
import { line } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'

describe('the day of a bill in the books', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  before(async () => {
    a = await openPayables(world)
  })

  const days = (id: string) =>
    a.rows<{ event: string; postingDate: string }>(
      `select event, posting_date from posting_event where source_id = cast(:id as uuid) order by seq`,
      { id },
    )

  it('is today where it is void, though its posting lies in a month that is closed', async () => {
    const accountId = await a.account('6.4.03')
    const { id } = await a.bill({
      payeeName: 'Padaria',
      issuedOn: a.on('01-10'),
      lines: [{ description: 'Bread', accountId, amount: 5_000 }],
    })
    await world.drain()
    await a.closeMonths(1)
    const before = await a.balances(a.on('01-01'), a.on('01-31'))
    await a.good(a.finance, 'POST', `${bills}/${id}/void`, { reason: 'Not ours' })
    await world.drain()
    const { today } = a.house
    expect(await days(id)).to.deep.equal([
      { event: 'accounts-payable.payable_approved', postingDate: a.on('01-10') },
      { event: 'accounts-payable.payable_voided', postingDate: today },
    ])
    expect(await a.balances(a.on('01-01'), a.on('01-31'))).to.deep.equal(before)
    expect((await a.balances(a.on('01-01'), today))['2.1.1.01']).to.equal(0)
  })

  it('goes along with the day of issue while it is a draft, unless another one was said', async () => {
    const lines = [{ description: 'Bread', accountId: await a.account('6.4.03'), amount: 5_000 }]
    const body = { bookId: a.bookId, payeeName: 'Padaria', kind: 'bill', issuedOn: a.on('03-10'), lines }
    const { id } = await a.good(a.finance, 'POST', bills, body)
    const changed = (more: object) => a.good(a.finance, 'PATCH', `${bills}/${id}`, more)
    // Installments follow the terms as well, once they would be due before.
    const later = await changed({ issuedOn: a.on('05-10') })
    expect(later).to.include({ postingOn: a.on('05-10') })
    expect(later.installments.map(({ dueOn }: Parsed) => dueOn)).to.deep.equal([a.on('06-09')])
    expect(await changed({ postingOn: a.on('06-01') })).to.include({ postingOn: a.on('06-01') })
    expect(await changed({ issuedOn: a.on('05-11') })).to.include({ postingOn: a.on('06-01') })
  })

  it('is not before that of its posting where it is void: the tax of a month that is not over', async () => {
    const { today } = a.house
    const payableTax = {
      bookId: a.bookId,
      kind: 'period',
      code: 'ISSX',
      name: 'ISS',
      liabilityAccountId: await a.account('2.1.3.01'),
      contraAccountId: await a.account('4.1.09'),
      sections: ['rooms_revenue'],
      payeeName: 'Prefeitura',
      dueDay: 10,
      rate: 50_000,
      validFrom: a.on('01-01'),
    }
    const { id: taxCodeId } = await a.good(a.finance, 'POST', 'financial/tax-codes', payableTax)
    await a.entry(today, [line('1.1.3.80', 100_000), line('4.1.01', -100_000)])
    const periodId = await a.periodOf(today)
    await a.good(a.finance, 'POST', 'financial/tax-assessments', {
      bookId: a.bookId,
      periodId,
      taxCodeIds: [taxCodeId],
    })
    await world.drain()
    const { data } = await a.good(a.finance, 'GET', `${bills}?bookId=${a.bookId}&kind=tax`)
    const [draft] = data as Parsed[]
    expect(draft).to.include({ status: 'draft', gross: 5_000 })
    await a.good(a.finance, 'POST', `${bills}/${draft?.id}/submit`)
    await a.good(a.owner, 'POST', `${bills}/${draft?.id}/approve`, {})
    await a.good(a.finance, 'POST', `${bills}/${draft?.id}/void`, { reason: 'Assessed again' })
    const [posted, turned] = await days(draft?.id)
    expect([posted?.event, turned?.event]).to.deep.equal([
      'accounts-payable.payable_approved',
      'accounts-payable.payable_voided',
    ])
    expect(turned?.postingDate).to.equal(draft?.postingOn)
    expect(draft?.postingOn >= today).to.equal(true)
  })
})
