import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { readBoleto } from '../../db/accounts-payable/rules/codes.ts'
import { ledgerGenerateRecurring } from '../../jobs/accounts-payable.ts'
import { sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const orders = 'accounts-payable/purchase-orders'
const bills = 'accounts-payable/payables'

describe('what is ordered and what recurs', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let propertyId: string
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    propertyId = await a.property()
    accountId = await a.account('6.4.03')
  })
  beforeEach(() => a.calm())

  const approved = async (supplierId: string, lines: object[]): Promise<Parsed> => {
    const { id } = await a.good(a.owner, 'POST', orders, { supplierId, propertyId, lines })
    return a.good(a.finance, 'POST', `${orders}/${id}/approve`, { notify: false })
  }
  const paint = (quantity: string, unitPrice: number) => ({ description: 'Paint', accountId, quantity, unitPrice })
  const billOf = (supplierId: string, line: Parsed, quantity: string, amount: number, more: object = {}) => ({
    bookId: a.bookId,
    supplierId,
    kind: 'bill',
    issuedOn: a.on('03-10'),
    lines: [{ description: 'Paint', purchaseOrderLineId: line.id, quantity, amount }],
    ...more,
  })

  it('an order is approved by another, numbered, and counts what is billed of it as received', async () => {
    const { id: supplierId } = await a.supplier()
    const { id } = await a.good(a.owner, 'POST', orders, { supplierId, propertyId, lines: [paint('12', 4_500)] })
    expect(await a.refused(a.owner, 'POST', `${orders}/${id}/approve`, {})).to.deep.equal([403, 'self_approval'])
    const order = await a.good(a.finance, 'POST', `${orders}/${id}/approve`, { notify: false })
    expect(order).to.include({ status: 'approved', total: 54_000 })
    expect(order.number).to.be.a('number')
    const [line] = order.lines as Parsed[]
    const part = await a.bill(billOf(supplierId, line, '5', 22_500))
    expect(part).to.include({ status: 'approved', gross: 22_500 })
    const after = await a.good(a.finance, 'GET', `${orders}/${id}`)
    expect(after).to.include({ status: 'partly_received' })
    expect(after.lines[0]).to.include({ received: '5', billed: '5' })
    // More than what is left.
    expect(await a.refused(a.finance, 'POST', bills, billOf(supplierId, line, '7.0001', 31_500))).to.deep.equal([
      422,
      'over_billed',
    ])
    await a.bill(billOf(supplierId, line, '7', 31_500))
    expect(await a.good(a.finance, 'GET', `${orders}/${id}`)).to.include({ status: 'closed' })
    expect(await a.refused(a.finance, 'POST', bills, billOf(supplierId, line, '1', 4_500))).to.deep.equal([
      422,
      'order_closed',
    ])
    // A bill that is voided gives its quantities back.
    await a.good(a.finance, 'POST', `${bills}/${part.id}/void`, { reason: 'Of another house' })
    const open = await a.good(a.finance, 'GET', `${orders}/${id}`)
    expect(open.lines[0]).to.include({ received: '7', billed: '7' })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('a bill above the price of its order needs one approval more; within the tolerance it does not', async () => {
    const { id: supplierId } = await a.supplier()
    const order = await approved(supplierId, [paint('100', 1_000), paint('100', 1_000)])
    const [first, second] = order.lines as Parsed[]
    const within = await a.good(a.finance, 'POST', bills, {
      ...billOf(supplierId, first, '100', 102_000),
      submit: true,
    })
    expect(within).to.include({ approvalsNeeded: 1 })
    expect(within.matchExceptions).to.deep.equal([])
    const above = await a.good(a.finance, 'POST', bills, {
      ...billOf(supplierId, second, '100', 102_010),
      submit: true,
    })
    expect(above).to.include({ approvalsNeeded: 2 })
    expect(above.matchExceptions).to.have.length(1)
    expect(above.matchExceptions[0]).to.include({ lineNo: 1, code: 'price_above_order' })
    expect(await a.good(a.owner, 'POST', `${bills}/${above.id}/approve`, {})).to.include({
      status: 'awaiting_approval',
    })
    expect(await a.good(a.manager, 'POST', `${bills}/${above.id}/approve`, {})).to.include({ status: 'approved' })
  })

  it('an order is not billed beyond its quantity by ten bills that are approved at once', async () => {
    const { id: supplierId } = await a.supplier()
    const order = await approved(supplierId, [paint('10', 1_000)])
    const [line] = order.lines as Parsed[]
    const made: Parsed[] = []
    for (let index = 0; index < 6; index += 1)
      made.push(
        await a.good(a.finance, 'POST', bills, {
          ...billOf(supplierId, line, '3', 3_000, { number: `R${index}` }),
          submit: true,
        }),
      )
    const replies = await Promise.all(
      made.map(({ id }) => a.send(a.owner, 'POST', `${bills}/${id as string}/approve`, {})),
    )
    expect(replies.filter(([status]) => status === 200)).to.have.length(3)
    for (const [status, body] of replies.filter(([code]) => code !== 200))
      expect([status, body.code]).to.deep.equal([422, 'over_billed'])
    expect((await a.good(a.finance, 'GET', `${orders}/${order.id}`)).lines[0]).to.include({ billed: '9' })
  })

  it('an order beyond what can be booked at once is refused, in one line or in all', async () => {
    const { id: supplierId } = await a.supplier()
    const order = (...lines: object[]) => a.refused(a.owner, 'POST', orders, { supplierId, propertyId, lines })
    const refused = [422, 'total_too_large']
    expect(await order(paint('10000', 10_000_000_000_000))).to.deep.equal(refused)
    expect(await order(paint('99999999999.9999', 10_000_000_000_000))).to.deep.equal(refused)
    expect(await order(paint('1', 10_000_000_000_000), paint('1', 1))).to.deep.equal(refused)
    const { id } = await a.good(a.owner, 'POST', orders, {
      supplierId,
      propertyId,
      lines: [paint('1', 10_000_000_000_000)],
    })
    expect(
      await a.refused(a.owner, 'PATCH', `${orders}/${id}`, { lines: [paint('2', 10_000_000_000_000)] }),
    ).to.deep.equal(refused)
  })

  it('is cancelled while nothing came, and closed after', async () => {
    const { id: supplierId } = await a.supplier()
    const [one, other] = [await approved(supplierId, [paint('2', 100)]), await approved(supplierId, [paint('2', 100)])]
    expect(await a.good(a.owner, 'POST', `${orders}/${one.id}/close`, { reason: 'Sold out' })).to.include({
      status: 'cancelled',
    })
    await a.bill(billOf(supplierId, other.lines[0], '1', 100))
    expect(await a.good(a.owner, 'POST', `${orders}/${other.id}/close`, { reason: 'Sold out' })).to.include({
      status: 'closed',
    })
    expect(await a.refused(a.owner, 'PATCH', `${orders}/${other.id}`, { lines: [paint('3', 100)] })).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('a bill that recurs on the 31st comes on the last days of short months, and skips a pause', async () => {
    const made = await a.good(a.finance, 'POST', 'accounts-payable/recurring-payables', {
      bookId: a.bookId,
      name: 'Rent',
      template: {
        payeeName: 'Imobiliária do Porto',
        kind: 'bill',
        lines: [{ description: 'Rent', accountId, amount: 350_000 }],
      },
      unit: 'month',
      day: 31,
      firstOn: a.on('01-31'),
      endsOn: a.on('06-30'),
      submit: true,
    })
    const paths = 'accounts-payable/recurring-payables'
    await a.good(a.finance, 'PATCH', `${paths}/${made.id}`, { pausedUntil: a.on('04-30') })
    // The clock asks again, more often than it needs.
    for (let times = 0; times < 2; times += 1) {
      await a.house.inHouse((trx) =>
        enqueue(trx, ledgerGenerateRecurring, { tenantId: a.house.tenantId, bookId: a.bookId, date: a.house.today }),
      )
      await world.drain()
    }
    const { data } = await a.good(a.finance, 'GET', `${bills}?bookId=${a.bookId}&q=Imobili&sort=issuedOn&limit=100`)
    expect((data as Parsed[]).map(({ dueOn, status }) => [dueOn, status])).to.deep.equal([
      [a.on('05-31'), 'awaiting_approval'],
      [a.on('06-30'), 'awaiting_approval'],
    ])
    const { data: rows } = await a.good(a.finance, 'GET', `${paths}?bookId=${a.bookId}&ended=true`)
    expect((rows as Parsed[]).map(({ id, nextOn }) => [id, nextOn])).to.deep.equal([[made.id, null]])
  })

  it('one that cannot be made keeps no other that recurs from its bills, and none goes on without a tax that it withholds', async () => {
    const path = 'accounts-payable/recurring-payables'
    const { id: supplierId } = await a.supplier()
    const { id: taxCodeId } = await a.good(a.finance, 'POST', 'financial/tax-codes', {
      bookId: a.bookId,
      kind: 'withheld_from_suppliers',
      code: 'IRREC',
      name: 'IRREC',
      liabilityAccountId: await a.account('2.1.3.07'),
      rate: 15_000,
      validFrom: a.on('01-01'),
      payeeName: 'Receita Federal',
      dueDay: 20,
    })
    const recurs = (name: string, template: object) => ({
      bookId: a.bookId,
      name,
      template: {
        payeeName: name,
        kind: 'bill',
        lines: [{ description: name, accountId, amount: 100_000 }],
        ...template,
      },
      unit: 'month',
      firstOn: a.on('02-10'),
      endsOn: a.on('02-28'),
      submit: true,
    })
    const foreign = { lines: [{ description: 'Rent', accountId: randomUUID(), amount: 100_000 }] }
    const [status, refused] = await a.send(a.finance, 'POST', path, recurs('Rent of no account', foreign))
    expect([status, refused.errors[0].field]).to.deep.equal([422, 'template.lines.0.accountId'])
    await a.good(a.finance, 'POST', path, recurs('Cloud', { payeeName: undefined, supplierId }))
    await a.good(a.finance, 'POST', path, recurs('Lawyer', { withholdings: [{ taxCodeId }] }))
    await a.good(a.finance, 'POST', path, recurs('Water', {}))
    expect(await a.refused(a.owner, 'POST', `accounts-payable/suppliers/${supplierId}/archive`, {})).to.deep.equal([
      422,
      'in_use',
    ])
    await sql(world.database.admin, `update supplier set status = 'archived' where id = ?`, [supplierId])
    await a.good(a.finance, 'PATCH', `financial/tax-codes/${taxCodeId}`, { active: false })
    await world.drain()
    const { data } = await a.good(a.finance, 'GET', `${bills}?bookId=${a.bookId}&sort=issuedOn&limit=100`)
    const made = (data as Parsed[]).filter(({ dueOn }) => dueOn === a.on('02-10'))
    expect(made.map(({ payee, status: stands, onHold }) => [payee.name, stands, onHold])).to.have.deep.members([
      ['Lawyer', 'draft', true],
      ['Water', 'awaiting_approval', false],
    ])
    const failing = await sql<{ error: string }>(
      world.database.admin,
      `select last_error as error from jobs where kind = 'ledger.generate-recurring' and status <> 'done' and tenant_id = ?`,
      [a.house.tenantId],
    )
    expect(failing.map(({ error }) => error)).to.have.length.above(0)
    await sql(world.database.admin, `update supplier set status = 'active' where id = ?`, [supplierId])
  })

  it('a slip with a wrong digit is refused, and one that says otherwise is told', async () => {
    const line = '00190500954014481606906809350314337370000000100'
    const found = readBoleto(line, '2021-01-01')
    const { id: supplierId } = await a.supplier()
    const bill = (boletoLine: string) => ({
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Energy', accountId, amount: 12_345 }],
      installments: [{ dueOn: a.on('04-10'), amount: 12_345, boletoLine }],
    })
    const wrong = line.replace(/^0/, '1')
    expect(readBoleto(wrong, '2021-01-01')).to.equal(null)
    const [status, refused] = await a.send(a.finance, 'POST', bills, bill(wrong))
    expect([status, refused.errors[0].field]).to.deep.equal([400, 'installments.0.boletoLine'])
    if (found === null) throw new Error('the slip of the test is wrong')
    expect(found.amount).to.equal(100)
    const kept = await a.good(a.finance, 'POST', bills, bill(line))
    expect((kept.warnings as Parsed[]).map(({ code }) => code)).to.deep.equal(['boleto_differs'])
  })

  it('a batch of 500 pays each bill once, and is told of those it cannot pay', async () => {
    const { id: supplierId } = await a.supplier()
    const bankId = await a.bank(100_000_000, a.on('01-01'))
    const installments = Array.from({ length: 100 }, (_, index) => ({
      dueOn: a.on(index < 50 ? '04-10' : '05-10'),
      amount: 1_000 + index,
    }))
    const made: Parsed[] = []
    for (let index = 0; index < 5; index += 1)
      made.push(
        await a.bill({
          supplierId,
          issuedOn: a.on('03-10'),
          lines: [{ description: 'Linen', accountId, amount: installments.reduce((sum, one) => sum + one.amount, 0) }],
          installments,
        }),
      )
    const select = { dueUntil: a.on('12-31'), supplierIds: [supplierId] }
    const body = { method: 'manual', cashAccountId: bankId, payOn: a.on('06-01'), select }
    const dry = await a.good(a.finance, 'POST', 'accounts-payable/payments', { ...body, dryRun: true })
    expect(dry.items).to.have.length(500)
    const paid = await a.good(a.finance, 'POST', 'accounts-payable/payments', body)
    expect(paid).to.include({ status: 'paid', total: made.reduce((sum, { net }) => sum + (net as number), 0) })
    for (const { id } of made) expect(await a.read(id as string)).to.include({ status: 'paid', open: 0 })
    const [again, refused] = await a.send(a.finance, 'POST', 'accounts-payable/payments', body)
    expect(again, JSON.stringify(refused)).to.be.within(400, 422)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })
})
