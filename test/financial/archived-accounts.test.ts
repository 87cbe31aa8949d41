import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { connectedSender, registerPixSender } from '../../db/cash/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from '../accounts-payable/desk.ts'

describe('an account that is archived after documents named it', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  before(async () => {
    a = await openPayables(world)
  })
  beforeEach(() => a.calm())
  after(() => registerPixSender(connectedSender))

  const chart = 'financial/chart-of-accounts'
  const under = async (parent: string, code: string): Promise<string> =>
    (
      await a.good(a.finance, 'POST', chart, {
        bookId: a.bookId,
        parentId: await a.account(parent),
        code,
        name: code,
        postable: true,
      })
    ).id as string
  /** Moves what stands on an account to another one, and archives it. */
  const archive = async (id: string, other: string, amount: number, day: string): Promise<void> => {
    await world.drain()
    const lines = [
      { accountId: id, ...(amount > 0 ? { debit: amount } : { credit: -amount }) },
      { accountId: other, ...(amount > 0 ? { credit: amount } : { debit: -amount }) },
    ]
    await a.entry(a.on(day), lines)
    await a.good(a.finance, 'POST', `${chart}/${id}/archive`)
  }
  const stuck = () =>
    a.rows(`select event from posting_event where book_id = :bookId and status in ('pending', 'failed', 'parked')`)

  it('takes no credit note of an invoice, which may name another one', async () => {
    const [old, other] = [await under('4.3', '4.3.77'), await a.account('4.3.08')]
    const customer = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Cliente',
      currency: 'BRL',
    })
    const invoice = await a.good(a.finance, 'POST', 'accounts-receivable/receivables', {
      bookId: a.bookId,
      customerId: customer.id,
      issuedOn: a.on('05-02'),
      lines: [{ description: 'Hall', unitAmount: 10_000, accountId: old }],
      issue: true,
    })
    await archive(old, other, 10_000, '05-10')
    const note = (more: object) =>
      a.send(a.finance, 'POST', 'accounts-receivable/credit-notes', {
        receivableId: invoice.id,
        amount: 4_000,
        reason: 'Not as agreed',
        issuedOn: a.on('05-20'),
        ...more,
      })
    for (const more of [{}, { lines: [{ accountId: old, amount: 4_000 }] }]) {
      const [status, reply] = await note(more)
      expect([status, reply.code, (reply.errors as Parsed[])[0]?.field]).to.deep.equal([
        422,
        'account_not_usable',
        'lines.0.accountId',
      ])
    }
    expect((await note({ lines: [{ accountId: other, amount: 4_000 }] }))[0]).to.equal(201)
    await world.drain()
    expect(await stuck()).to.deep.equal([])
    expect(await a.failing()).to.deep.equal([])
  })

  it('takes no credit note of a supplier, which may name another one', async () => {
    const [old, other] = [await under('6.4', '6.4.77'), await a.account('6.4.03')]
    const { id: supplierId } = await a.supplier()
    const bill = await a.bill({
      supplierId,
      issuedOn: a.on('05-02'),
      lines: [{ description: 'Work', accountId: old, amount: 10_000 }],
    })
    await archive(old, other, -10_000, '05-10')
    const credit = (more: object) =>
      a.send(a.finance, 'POST', 'accounts-payable/credits', {
        supplierId,
        payableId: bill.id,
        issuedOn: a.on('05-20'),
        amount: 1_000,
        ...more,
      })
    const [status, reply] = await credit({})
    expect([status, reply.code, (reply.errors as Parsed[])[0]?.field]).to.deep.equal([
      422,
      'account_not_usable',
      'accountId',
    ])
    expect((await credit({ accountId: other }))[0]).to.equal(201)
    await world.drain()
    expect(await stuck()).to.deep.equal([])
    expect(await a.failing()).to.deep.equal([])
  })

  it('is not archived while a transfer waits that its money is booked to', async () => {
    registerPixSender({ stateOf: () => Promise.resolve('ready'), send: () => Promise.resolve() })
    const [id, fromAccountId] = [await under('6.4', '6.4.79'), await a.bank(10_000, a.on('01-01'))]
    const transfer = await a.good(a.finance, 'POST', 'cash/transfers', {
      fromAccountId,
      payee: { keyType: 'email', key: 'contas@obra.example' },
      method: 'pix',
      amount: 1_000,
      scheduledOn: addDays(a.house.today, 90),
      purpose: 'Rent',
      accountId: id,
    })
    expect(await a.refused(a.finance, 'POST', `${chart}/${id}/archive`)).to.deep.equal([422, 'in_use'])
    await a.good(a.finance, 'POST', `cash/transfers/${transfer.id}/cancel`, { reason: 'Not now' })
    await a.good(a.finance, 'POST', `${chart}/${id}/archive`)
  })

  it('is not archived while it is that of bad debt, or of allowances', async () => {
    const id = await under('6.4', '6.4.78')
    const settings = `accounts-receivable/settings?bookId=${a.bookId}`
    const archiving = () => a.refused(a.finance, 'POST', `${chart}/${id}/archive`)
    for (const field of ['badDebtAccountId', 'allowanceAccountId']) {
      await a.good(a.owner, 'PUT', settings, { [field]: id })
      expect(await archiving()).to.deep.equal([422, 'in_use'])
      await a.good(a.owner, 'PUT', settings, { [field]: null })
    }
    await a.good(a.finance, 'POST', `${chart}/${id}/archive`)
  })
})
