import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { billMonth } from '../../db/accounts-receivable/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('stays that customers pay', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
  })
  beforeEach(() => a.calm())

  it('become an invoice with a number, within limit and hold, and the guest ledger is even', async () => {
    const { id: customerId } = await a.customer({ creditLimit: 10_000, termDays: 15 })
    const folioId = await a.folio(customerId, 10_000)
    const strange = await a.folio(null, 500)
    expect(await a.bill(strange)).to.have.nested.property('[1].code', 'direct_billing_not_allowed')
    const [status, closed] = await a.bill(folioId, { note: 'Order 77' }, a.reception)
    expect(status, JSON.stringify(closed)).to.equal(200)
    expect(closed).to.include({ status: 'closed', balance: 0 })
    const receivableId = closed.receivableId as string
    expect(await a.read(receivableId)).to.include({ kind: 'stay', status: 'issuing', total: 10_000, notes: 'Order 77' })
    // Repeated, it changes nothing.
    expect(await a.bill(folioId)).to.have.nested.property('[1].receivableId', receivableId)
    const next = await a.folio(customerId, 1)
    expect(await a.bill(next, {}, a.reception)).to.have.nested.property('[1].code', 'credit_limit_exceeded')
    expect(await a.bill(next, { override: { reason: 'The chief said so' } }, a.reception)).to.have.nested.property(
      '[0]',
      403,
    )
    const [done] = await a.bill(next, { override: { reason: 'The chief said so' } })
    expect(done).to.equal(200)
    expect(await a.refused(a.owner, 'POST', `folios/${folioId}/reopen`, {})).to.deep.equal([422, 'folio_invoiced'])
    await world.drain()
    const issued = await a.read(receivableId)
    expect(issued.number).to.be.a('number')
    expect(issued.installments[0]).to.include({ amount: 10_000, dueOn: a.house.day(15) })
    expect(await a.customerNow(customerId)).to.include({ exposure: 10_001 })
    expect(await a.ageing(a.house.today, customerId, a.house.bookId)).to.deep.equal({ notDue: 10_001 })
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
    // Voided, the folio is open and owes again.
    const voided = await a.good(a.finance, 'POST', `${a.path}/receivables/${receivableId}/void`, {
      reason: 'Wrong firm',
    })
    expect(voided).to.include({ status: 'void', number: issued.number })
    expect(await a.folioNow(folioId)).to.include({ status: 'open', balance: 10_000, receivableId: null })
    expect(
      await a.good(a.finance, 'POST', `${a.path}/receivables/${receivableId}/void`, { reason: 'Wrong firm' }),
    ).to.include({ status: 'void' })
    const [again, billed] = await a.bill(folioId)
    expect([again, billed.receivableId === receivableId]).to.deep.equal([422, false])
    await world.drain()
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
  })

  it('wait as unbilled where the customer is billed by the month, and become one invoice on the day', async () => {
    const { id: customerId } = await a.customer({ billing: 'monthly', billingDay: 28, creditLimit: 100_000 })
    const folios = [
      await a.folio(customerId, 1_000),
      await a.folio(customerId, 2_000),
      await a.folio(customerId, 4_000),
    ]
    const stays: string[] = []
    for (const folioId of folios) {
      const [status, closed] = await a.bill(folioId)
      expect(status, JSON.stringify(closed)).to.equal(200)
      stays.push(closed.receivableId)
    }
    const [first = '', second = '', third = ''] = stays
    expect(await a.read(first)).to.include({ status: 'unbilled', number: null, total: 1_000 })
    expect(await a.customerNow(customerId)).to.include({ exposure: 7_000, unbilled: 7_000 })
    await world.drain()
    const totals = await a.good(a.finance, 'GET', `${a.path}/ageing?bookId=${a.house.bookId}&by=customer`)
    expect(totals.totals.unbilled).to.equal(7_000)
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
    // One of them is given back before the day.
    await a.good(a.finance, 'POST', `${a.path}/receivables/${third}/void`, { reason: 'The guest pays himself' })
    expect(await a.folioNow(folios[2] ?? '')).to.include({ status: 'open', balance: 4_000 })
    // Switched to bills of each stay, what waits is billed on the day all the same.
    await a.good(a.finance, 'PATCH', `${a.path}/customers/${customerId}`, { billing: 'per_stay' })
    const month = { customerId, bookId: a.house.bookId, date: a.house.today }
    await a.house.inHouse((trx) => billMonth(trx, month))
    expect(await a.read(first), 'that day is not over').to.include({ status: 'unbilled' })
    const tomorrow = { ...month, date: a.house.day(1) }
    await Promise.all([1, 2].map(() => a.house.inHouse((trx) => billMonth(trx, tomorrow)).catch(() => null)))
    const one = await a.read(first)
    expect(one).to.include({ status: 'consolidated' })
    const invoice = await a.read(one.consolidatedIntoId)
    expect(invoice).to.include({ kind: 'invoice', total: 3_000, status: 'issuing' })
    expect(invoice.consolidates.map(({ id }: Parsed) => id).toSorted()).to.deep.equal([first, second].toSorted())
    expect(await a.customerNow(customerId)).to.include({ exposure: 3_000, unbilled: 0 })
    await world.drain()
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
    // A voided invoice lets its parts wait again, and they are billed anew.
    await a.good(a.finance, 'POST', `${a.path}/receivables/${invoice.id}/void`, { reason: 'A stay is missing' })
    expect(await a.read(second)).to.include({ status: 'unbilled', consolidatedIntoId: null })
    expect(await a.customerNow(customerId)).to.include({ exposure: 3_000 })
    const [made, all] = await a.fromFolios({ customerId, unbilledUntil: a.house.today, folioIds: [folios[2]] })
    expect([made, all.total, all.lines?.length], JSON.stringify(all)).to.deep.equal([201, 7_000, 3])
    expect(await a.fromFolios({ customerId, folioIds: [folios[2]] })).to.have.nested.property(
      '[1].code',
      'folio_already_billed',
    )
    expect(await a.fromFolios({ customerId, receivableIds: [first] })).to.have.nested.property(
      '[1].code',
      'folio_already_billed',
    )
    expect(await a.fromFolios({ customerId, unbilledUntil: a.house.today })).to.have.nested.property(
      '[1].code',
      'reference_not_found',
    )
    await world.drain()
    expect(await a.failingIn(a.house.bookId)).to.deep.equal([])
  })

  it('become their invoice on the day though the limit is below what they owe by then', async () => {
    const { id: customerId } = await a.customer({ billing: 'monthly', billingDay: 28, creditLimit: 10_000 })
    const [, closed] = await a.bill(await a.folio(customerId, 9_000))
    await a.good(a.finance, 'PATCH', `${a.path}/customers/${customerId}`, { creditLimit: 5_000 })
    const [status, reply] = await a.bill(await a.folio(customerId, 1))
    expect([status, reply.code]).to.deep.equal([422, 'credit_limit_exceeded'])
    await a.house.inHouse((trx) => billMonth(trx, { customerId, bookId: a.house.bookId, date: a.house.day(1) }))
    expect(await a.read(closed.receivableId)).to.include({ status: 'consolidated' })
    expect(await a.customerNow(customerId)).to.include({ exposure: 9_000, unbilled: 0 })
  })

  it('of another tenant are not found', async () => {
    const other = await openReceivables(world)
    const { id: customerId } = await a.customer()
    const folioId = await a.folio(customerId, 100)
    expect(await other.refused(other.finance, 'POST', `folios/${folioId}/invoice`, {})).to.deep.equal([
      404,
      'not_found',
    ])
    const [status, reply] = await other.fromFolios({ customerId, folioIds: [folioId] })
    expect([status, reply.code]).to.deep.equal([422, 'reference_not_found'])
    expect(await other.refused(other.finance, 'GET', `${a.path}/customers/${customerId}`)).to.deep.equal([
      404,
      'not_found',
    ])
    const rows = await a.house.inHouse((trx) =>
      sql<{ receivableId: string | null }>(trx, `select receivable_id from folio where id = ?`, [folioId]),
    )
    expect(rows[0]?.receivableId).to.equal(null)
  })
})
