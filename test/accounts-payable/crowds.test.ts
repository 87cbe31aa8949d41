import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('many callers at once', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(10_000_000, a.on('01-01'))
    accountId = await a.account('6.4.03')
  })
  beforeEach(() => a.calm())

  const billOf = (supplierId: string, amount: number) => ({
    supplierId,
    issuedOn: a.on('03-10'),
    lines: [{ description: 'Works', accountId, amount }],
  })
  const codes = (replies: readonly [number, Parsed][]) =>
    replies.map(([status, { code }]) => (status < 300 ? 'done' : String(code)))
  const consistent = async () => {
    await world.drain()
    await a.calm()
    expect(await a.failing()).to.deep.equal([])
  }

  it('use a credit up to its amount: 20 set it off, and 10 have it paid back', async () => {
    const { id: supplierId } = await a.supplier()
    const bill = await a.bill(billOf(supplierId, 500_000))
    const note = await a.good(a.finance, 'POST', 'accounts-payable/credits', {
      bookId: a.bookId,
      supplierId,
      number: 'NC 9',
      issuedOn: a.on('03-20'),
      amount: 35_000,
      accountId,
    })
    const setOff = {
      method: 'credit',
      creditId: note.id,
      items: [{ installmentId: bill.installments[0].id, principal: 10_000 }],
    }
    const back = { amount: 10_000, cashAccountId: bankId, receivedOn: a.on('04-01') }
    const replies = await Promise.all([
      ...Array.from({ length: 20 }, () => a.send(a.finance, 'POST', 'accounts-payable/payments', setOff)),
      ...Array.from({ length: 10 }, () =>
        a.send(a.finance, 'POST', `accounts-payable/credits/${note.id}/refund`, back),
      ),
    ])
    const said = codes(replies)
    expect(said.filter((code) => code === 'done')).to.have.length(3)
    expect(new Set(said.filter((code) => code !== 'done'))).to.deep.equal(new Set(['credit_exceeded']))
    const setOffs = said.slice(0, 20).filter((code) => code === 'done').length
    const now = await a.good(a.finance, 'GET', `accounts-payable/credits/${note.id}`)
    expect(now).to.include({ applied: setOffs * 10_000, refunded: (3 - setOffs) * 10_000 })
    expect(await a.read(bill.id)).to.include({ settled: setOffs * 10_000 })
    await consistent()
  })

  it('pay a bill, or void it: never both', async () => {
    const { id: supplierId } = await a.supplier()
    const bill = await a.bill(billOf(supplierId, 20_000))
    const payment = {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('04-15'),
      items: [{ installmentId: bill.installments[0].id }],
    }
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        index % 2 === 0
          ? a.send(a.owner, 'POST', `accounts-payable/payables/${bill.id}/void`, { reason: 'A mistake' })
          : a.send(a.finance, 'POST', 'accounts-payable/payments', payment),
      ),
    )
    const done = (from: number) => codes(replies).filter((code, index) => index % 2 === from && code === 'done').length
    const now = await a.read(bill.id)
    if (now.status === 'void') expect([now.settled, done(1)]).to.deep.equal([0, 0])
    else {
      expect(now).to.include({ status: 'paid', settled: 20_000 })
      expect([done(0), done(1)]).to.deep.equal([0, 1])
    }
    await consistent()
  })

  it('approve a bill, or give it back: a bill that is given back is owed to nobody', async () => {
    const { id: supplierId } = await a.supplier()
    const body = { bookId: a.bookId, kind: 'bill', submit: true, ...billOf(supplierId, 7_000) }
    const made = await a.good(a.finance, 'POST', 'accounts-payable/payables', body)
    const path = `accounts-payable/payables/${made.id}`
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0
          ? a.send(a.owner, 'POST', `${path}/approve`, {})
          : a.send(a.finance, 'POST', `${path}/reject`, { reason: 'Not yet' }),
      ),
    )
    for (const code of codes(replies)) expect(['done', 'invalid_transition']).to.include(code)
    const { status } = await a.read(made.id)
    expect(['approved', 'draft']).to.include(status)
    const [posted] = await a.rows<{ count: number }>(
      `select count(*)::int as count from posting_event where source_id = cast(:id as uuid)`,
      { id: made.id },
    )
    expect(posted?.count).to.equal(status === 'approved' ? 1 : 0)
    await consistent()
  })
})
