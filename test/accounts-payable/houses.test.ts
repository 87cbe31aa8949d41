import { expect } from 'chai'
import { openDesk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('figures of what is owed, for a person of one house', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('are of that house and of the whole book, in ageing and statements of both sides', async () => {
    const a = await openPayables(world)
    const [own, other] = [await a.property(), await a.property()]
    const manager = await openDesk(world, a.house, 'manager', [own])
    const [accountId, incomeId] = [await a.account('6.4.03'), await a.account('4.3.08')]
    const { id: supplierId } = await a.supplier()
    const customer = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Firma Ltda',
      currency: 'BRL',
    })
    const issuedOn = a.on('03-10')
    for (const [propertyId, amount, credited] of [
      [own, 1_000, 30],
      [other, 2_000, 300],
      [null, 4_000, 0],
    ] as const) {
      const lines = [{ description: 'Work', accountId, amount }]
      const bill = await a.bill({ supplierId, propertyId, issuedOn, lines })
      if (credited > 0)
        await a.good(a.finance, 'POST', 'accounts-payable/credits', {
          bookId: a.bookId,
          supplierId,
          payableId: bill.id,
          issuedOn,
          amount: credited,
        })
      await a.good(a.finance, 'POST', 'accounts-receivable/receivables', {
        bookId: a.bookId,
        propertyId,
        customerId: customer.id,
        issuedOn,
        lines: [{ description: 'Hall', unitAmount: amount / 10, accountId: incomeId }],
        issue: true,
      })
    }
    await world.drain()
    const aged = async (desk: typeof manager, side: string) => {
      const { totals, data } = await a.good(desk, 'GET', `${side}/ageing?bookId=${a.bookId}`)
      return [totals.total, totals.credits ?? null, (data as Parsed[]).map(({ total }) => total)]
    }
    expect(await aged(manager, 'accounts-payable')).to.deep.equal([5_000, 30, [5_000]])
    expect(await aged(a.finance, 'accounts-payable')).to.deep.equal([7_000, 330, [7_000]])
    expect(await aged(manager, 'accounts-receivable')).to.deep.equal([500, null, [500]])
    expect(await aged(a.finance, 'accounts-receivable')).to.deep.equal([700, null, [700]])
    const told = async (desk: typeof manager, party: string) => {
      const path = `${party}/statement?bookId=${a.bookId}&from=${a.on('03-01')}&to=${a.on('03-31')}`
      const { closing, entries, open } = await a.good(desk, 'GET', path)
      const sum = (open as Parsed[]).reduce((all, one) => all + Number(one.open), 0)
      return [closing, entries.length, sum]
    }
    const supplier = `accounts-payable/suppliers/${supplierId}`
    expect(await told(manager, supplier)).to.deep.equal([4_970, 3, 5_000])
    expect(await told(a.finance, supplier)).to.deep.equal([6_670, 5, 7_000])
    const client = `accounts-receivable/customers/${customer.id}`
    expect(await told(manager, client)).to.deep.equal([500, 2, 500])
    expect(await told(a.finance, client)).to.deep.equal([700, 3, 700])
  })
})
