import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('a bill that is paid out of a drawer', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('is paid on the business day of its house, and never with more than there is', async () => {
    const a = await openPayables(world)
    const propertyId = await a.property()
    const { id: cashAccountId } = await a.good(a.finance, 'POST', 'cash/accounts', {
      bookId: a.bookId,
      propertyId,
      kind: 'register',
      code: 'REG-1',
      name: 'Caixa',
      opening: { amount: 10_000, on: a.house.today },
    })
    await a.good(a.manager, 'POST', 'cash/sessions', { registerId: cashAccountId, count: { '10000': 1 } })
    // The audit of the house is late: its day is that of yesterday.
    const yesterday = a.house.day(-1)
    await a.rows(
      `insert into business_day (tenant_id, property_id, date) values (:tenantId, :propertyId, :yesterday)`,
      {
        propertyId,
        yesterday,
      },
    )
    const bill = await a.bill({
      supplierId: (await a.supplier()).id,
      issuedOn: yesterday,
      lines: [{ description: 'Flowers', accountId: await a.account('6.4.03'), amount: 500 }],
    })
    const pay = (installments: Parsed[], more: object = {}) =>
      a.send(a.finance, 'POST', 'accounts-payable/payments', {
        method: 'manual',
        cashAccountId,
        items: installments.map(({ id }) => ({ installmentId: id })),
        ...more,
      })
    const [status, reply] = await pay(bill.installments, { payOn: a.house.today })
    expect([status, reply.code, reply.errors?.[0]?.message]).to.deep.equal([
      422,
      'date_out_of_range',
      `must be ${yesterday}`,
    ])
    const [made, payment] = await pay(bill.installments)
    expect([made, payment.payOn, payment.items[0].paidOn]).to.deep.equal([201, yesterday, yesterday])
    const large = await a.bill({
      supplierId: (await a.supplier()).id,
      issuedOn: yesterday,
      lines: [{ description: 'Works', accountId: await a.account('6.4.03'), amount: 9_501 }],
    })
    expect((await pay(large.installments))[1].code).to.equal('cash_short')
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })
})
