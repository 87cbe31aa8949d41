import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'
const payments = 'accounts-payable/payments'
const credits = 'accounts-payable/credits'
const suppliers = 'accounts-payable/suppliers'

describe('payables refuse', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    accountId = await a.account('6.4.03')
  })
  beforeEach(() => a.calm())

  const billOf = (more: object) => ({
    bookId: a.bookId,
    kind: 'bill',
    issuedOn: a.on('03-10'),
    lines: [{ description: 'Works', accountId, amount: 9_000 }],
    ...more,
  })
  const creditOf = (supplierId: string, number: string) => ({
    bookId: a.bookId,
    supplierId,
    number,
    issuedOn: a.on('03-20'),
    amount: 5_000,
    accountId,
  })

  it('a second supplier of a tax number, and bills of one that is archived', async () => {
    const document = '11.222.333/0001-81'
    const { id } = await a.supplier({ document })
    expect(
      await a.refused(a.finance, 'POST', suppliers, { legalName: 'Another', document: '11222333000181' }),
    ).to.deep.equal([409, 'duplicate_supplier'])
    await a.good(a.finance, 'POST', `${suppliers}/${id}/archive`)
    expect(await a.refused(a.finance, 'POST', bills, billOf({ supplierId: id }))).to.deep.equal([
      409,
      'supplier_archived',
    ])
    await a.good(a.finance, 'POST', `${suppliers}/${id}/restore`)
    expect(await a.good(a.finance, 'POST', bills, billOf({ supplierId: id }))).to.include({ status: 'draft' })
  })

  it('a credit note of one number twice, and one set off against the bill of another payee', async () => {
    const [mine, other] = [await a.supplier(), await a.supplier()]
    const note = await a.good(a.finance, 'POST', credits, creditOf(mine.id, 'nc 7'))
    expect(await a.refused(a.finance, 'POST', credits, creditOf(mine.id, 'NC 7'))).to.deep.equal([
      409,
      'duplicate_credit',
    ])
    await a.good(a.finance, 'POST', credits, creditOf(other.id, 'NC 7'))
    const bill = await a.bill(billOf({ supplierId: other.id }))
    const setOff = { method: 'credit', creditId: note.id, items: [{ installmentId: bill.installments[0].id }] }
    expect(await a.refused(a.finance, 'POST', payments, setOff)).to.deep.equal([422, 'payee_mismatch'])
    expect(await a.read(bill.id)).to.include({ settled: 0 })
    await a.good(a.finance, 'POST', `${credits}/${note.id}/void`, { reason: 'Wrong number' })
    await a.good(a.finance, 'POST', credits, creditOf(mine.id, 'NC 7'))
  })

  it('the payment of a bill that is not approved, also by hand', async () => {
    const { id: supplierId } = await a.supplier()
    const made = await a.good(a.finance, 'POST', bills, billOf({ supplierId, submit: true }))
    const payment = {
      method: 'manual',
      cashAccountId: await a.bank(100_000, a.on('01-01')),
      payOn: a.on('04-15'),
      items: [{ installmentId: made.installments[0].id }],
    }
    expect(await a.refused(a.finance, 'POST', payments, payment)).to.deep.equal([422, 'payable_not_approved'])
    await a.good(a.owner, 'POST', `${bills}/${made.id}/approve`, {})
    await a.good(a.finance, 'POST', payments, payment)
    expect(await a.read(made.id)).to.include({ status: 'paid', open: 0 })
  })

  it('a reimbursement without its receipt, and a statement of more than a year', async () => {
    const body = billOf({ kind: 'reimbursement', payeeName: 'Ana', submit: true })
    expect(await a.refused(a.finance, 'POST', bills, body)).to.deep.equal([422, 'attachment_required'])
    const { id } = await a.supplier()
    const path = `${suppliers}/${id}/statement?bookId=${a.bookId}&from=${a.year - 1}-01-01&to=`
    expect(await a.refused(a.finance, 'GET', `${path}${a.on('06-01')}`)).to.deep.equal([400, 'range_too_long'])
    await a.good(a.finance, 'GET', `${path}${a.year - 1}-12-31`)
  })
})
