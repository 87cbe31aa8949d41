import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { itemsToSend, sendItem } from '../../db/accounts-payable/index.ts'
import { beginSending, connectedSender, registerPixSender, settleTransfer } from '../../db/cash/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { unseal } from '../../db/lib/sealing/index.ts'
import { ledgerCollectWithholdings, ledgerGenerateRecurring } from '../../jobs/accounts-payable.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'
const payments = 'accounts-payable/payments'

describe('at its edges, what is owed', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(10_000_000, a.on('01-01'))
    accountId = await a.account('6.4.03')
    registerPixSender({
      stateOf: () => Promise.resolve('ready'),
      send: () => Promise.resolve(),
    })
  })
  beforeEach(() => a.calm())
  after(() => registerPixSender(connectedSender))

  const bands = [{ from: 0, approvals: 1, roles: ['owner', 'finance'] }]
  /** A supplier with bank details that can be paid to. */
  const payee = async (more: object = {}): Promise<string> => {
    await a.good(a.owner, 'PUT', 'accounts-payable/approval-policy', { bands, coolOffHours: 0, priceTolerance: 200 })
    const { id } = await a.supplier(more)
    const proposed = await a.good(a.finance, 'PATCH', `accounts-payable/suppliers/${id}`, {
      bankDetails: { details: { keyType: 'email', key: 'contas@obra.example' } },
    })
    const decision = { version: proposed.pendingBankDetails.version, decision: 'approve' }
    await a.good(a.owner, 'POST', `accounts-payable/suppliers/${id}/bank-details/approve`, decision)
    return id
  }
  const billed = (supplierId: string, amount: number, more: object = {}) =>
    a.bill({
      supplierId,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Work', accountId, amount }],
      ...more,
    })
  const pixOf = (items: object[]) => ({ method: 'pix', cashAccountId: bankId, items })
  /** Sends the items of an approved Pix payment; the bank has done all of them. */
  const sent = async (paymentId: string): Promise<void> => {
    const { tenantId } = a.house
    for (const id of await inTenant(tenantId, (trx) => itemsToSend(trx, paymentId)))
      await inTenant(tenantId, (trx) => sendItem(trx, id))
    const transfers = await a.rows<{ id: string }>(
      `select t.id from cash_transfer t join payable_payment_item x on x.id = t.source_id where x.payable_payment_id = :paymentId`,
      { paymentId },
    )
    for (const { id } of transfers)
      await inTenant(tenantId, async (trx) => {
        await beginSending(trx, id)
        await settleTransfer(trx, id, { status: 'completed', endToEndId: null, fee: 0, on: a.house.today })
      })
  }

  it('comes back to another account than it was paid from, and the books of both agree with the bank', async () => {
    const supplierId = await payee()
    const bill = await billed(supplierId, 30_000)
    const otherBank = await a.bank(0, a.on('01-01'))
    const made = await a.good(
      a.finance,
      'POST',
      payments,
      pixOf([{ installmentId: bill.installments[0].id, fine: 500 }]),
    )
    await a.good(a.owner, 'POST', `${payments}/${made.id}/approve`)
    await sent(made.id)
    expect(await a.read(bill.id)).to.include({ status: 'paid' })
    const refund = { cashAccountId: otherBank, receivedOn: a.house.today }
    await a.good(a.finance, 'POST', `${payments}/${made.id}/void`, { reason: 'Sent back', refund })
    expect(await a.read(bill.id)).to.include({ status: 'approved', open: 30_000 })
    expect(await a.good(a.finance, 'GET', `cash/accounts/${otherBank}`)).to.include({ balance: 30_500 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('is given back by money that was booked before, once, which is reversed no more', async () => {
    const supplierId = await payee()
    const bill = await billed(supplierId, 4_000)
    const made = await a.good(a.finance, 'POST', payments, pixOf([{ installmentId: bill.installments[0].id }]))
    await a.good(a.owner, 'POST', `${payments}/${made.id}/approve`)
    await sent(made.id)
    const unclear = await a.account('2.1.7.01')
    const came = (amount: number) =>
      a.good(a.finance, 'POST', 'cash/movements', {
        cashAccountId: bankId,
        amount,
        accountId: unclear,
        description: 'Money of whom?',
      })
    const [whole, less, other] = [await came(4_000), await came(3_999), await came(500)]
    const back = (refund: object) =>
      a.send(a.finance, 'POST', `${payments}/${made.id}/void`, { reason: 'Sent back', refund })
    expect((await back({ cashMovementId: whole.id, cashAccountId: bankId }))[0]).to.equal(400)
    expect((await back({ cashMovementId: less.id }))[1].code).to.equal('reference_not_found')
    const replies = await Promise.all(Array.from({ length: 20 }, () => back({ cashMovementId: whole.id })))
    expect(replies.map(([status]) => status).filter((status) => status !== 200)).to.deep.equal([])
    expect(await a.read(bill.id)).to.include({ status: 'approved', open: 4_000 })
    const reverse = (id: string) => a.refused(a.finance, 'POST', `cash/movements/${id}/reverse`, { reason: 'Wrong' })
    expect(await reverse(whole.id)).to.deep.equal([422, 'in_use'])
    const note = { supplierId, number: 'NC 5', issuedOn: a.on('04-01'), amount: 900, accountId, bookId: a.bookId }
    const { id } = await a.good(a.finance, 'POST', 'accounts-payable/credits', note)
    const path = `accounts-payable/credits/${id}/refund`
    const claim = { amount: 500, cashMovementId: other.id, receivedOn: a.house.today }
    const refunds = await Promise.all(Array.from({ length: 20 }, () => a.send(a.finance, 'POST', path, claim)))
    expect(refunds.filter(([status]) => status < 300)).to.have.length(1)
    expect(await a.refused(a.finance, 'POST', path, { ...claim, amount: 400, cashMovementId: whole.id })).to.deep.equal(
      [422, 'reference_not_found'],
    )
    expect(await reverse(other.id)).to.deep.equal([422, 'in_use'])
    await world.drain()
    const left = await a.balances(a.on('01-01'), a.house.today)
    // Money that is not claimed still belongs to no bill.
    expect(left['2.1.7.01']).to.equal(-3_999)
    expect(await a.failing()).to.deep.equal([])
  })

  it('goes to bank details of which the supplier heard at the address that was known before', async () => {
    const { id } = await a.supplier({ email: 'antigo@fornecedor.example' })
    const path = `accounts-payable/suppliers/${id}`
    const bankDetails = { details: { keyType: 'email', key: 'outro@fornecedor.example' } }
    const changed = await a.good(a.finance, 'PATCH', path, { email: 'novo@fornecedor.example', bankDetails })
    const decision = { version: changed.pendingBankDetails.version, decision: 'reject' }
    await a.good(a.owner, 'POST', `${path}/bank-details/approve`, decision)
    const sent = await a.rows<{ id: string; recipient: Buffer; step: string }>(
      `select m.id, m.recipient, split_part(m.dedupe_key, '-', 8) as step from message m where m.data ->> 'supplierId' = :id order by m.created_at`,
      { id },
    )
    expect(sent.map(({ step }) => step)).to.deep.equal(['proposed', 'decided'])
    const [first] = sent
    const { email } = await a.house.inHouse((trx) =>
      unseal<{ email: string }>(
        trx,
        'tenant',
        { table: 'message', rowId: first?.id ?? '', purpose: 'recipient' },
        first!.recipient,
      ),
    )
    expect(email).to.equal('antigo@fornecedor.example')
    await world.drain()
    const failed = await a.rows(`select status from message where data ->> 'supplierId' = :id and status = 'failed'`, {
      id,
    })
    expect(failed).to.deep.equal([])
  })

  it('goes on to the details in use while new ones wait, and to the new ones alone once their wait is over', async () => {
    const supplierId = await payee()
    const old = (await a.good(a.finance, 'GET', `accounts-payable/suppliers/${supplierId}`)).bankDetails.version
    const [first, second] = [await billed(supplierId, 4_000), await billed(supplierId, 5_000)]
    const paying = async (bill: Parsed) =>
      (await a.good(a.finance, 'POST', payments, pixOf([{ installmentId: bill.installments[0].id }]))).id as string
    const before = await paying(first)
    await a.good(a.owner, 'POST', `${payments}/${before}/approve`)
    await a.good(a.owner, 'PUT', 'accounts-payable/approval-policy', { bands, coolOffHours: 24, priceTolerance: 200 })
    const { pendingBankDetails } = await a.good(a.finance, 'PATCH', `accounts-payable/suppliers/${supplierId}`, {
      bankDetails: { details: { keyType: 'email', key: 'outra@obra.example' } },
    })
    const decision = { version: pendingBankDetails.version, decision: 'approve' }
    const shown = async () => {
      const found = await a.good(a.finance, 'GET', `accounts-payable/suppliers/${supplierId}`)
      return [found.bankDetails, found.waitingBankDetails, found.pendingBankDetails].map((one) => one?.version ?? null)
    }
    expect(await shown()).to.deep.equal([old, null, decision.version])
    await a.good(a.owner, 'POST', `accounts-payable/suppliers/${supplierId}/bank-details/approve`, decision)
    expect(await shown(), 'approved, and waiting').to.deep.equal([old, decision.version, null])
    const listed = async () => {
      const { data } = await a.good(a.finance, 'GET', `accounts-payable/installments?supplierId=${supplierId}`)
      return (data as Parsed[]).map(({ payableBy, refusals }) => [payableBy, refusals])
    }
    expect(await listed()).to.deep.equal([
      ['pix', []],
      ['pix', []],
    ])
    const advance = { ...pixOf([{ advance: { supplierId }, principal: 500 }]), dryRun: true }
    expect((await a.good(a.finance, 'POST', payments, advance)).refusals).to.deep.equal([])
    const during = await paying(second)
    await a.good(a.owner, 'POST', `${payments}/${during}/approve`)
    await sent(before)
    expect(await a.read(first.id)).to.include({ status: 'paid' })
    const [used] = await a.rows<{ number: number }>(
      `select d.number from payable_payment_item x join supplier_bank_details d on x.destination = 'bank:' || d.id
       where x.payable_payment_id = cast(:before as uuid)`,
      { before },
    )
    expect(used?.number).to.equal(old)
    // A day later the approved payment would go to other details than were approved.
    await sql(
      world.database.admin,
      `update supplier_bank_details set usable_from = now() where supplier_id = ? and number = ?`,
      [supplierId, pendingBankDetails.version],
    )
    expect(await shown(), 'in use').to.deep.equal([decision.version, null, null])
    await sent(during)
    const { items } = await a.good(a.finance, 'GET', `${payments}/${during}`)
    expect(items[0]).to.deep.include({ status: 'failed' })
    expect(items[0].failure).to.include({ code: 'payee_changed' })
    const after = await paying(second)
    await a.good(a.owner, 'POST', `${payments}/${after}/approve`)
    await sent(after)
    expect(await a.read(second.id)).to.include({ status: 'paid' })
    await a.good(a.owner, 'PUT', 'accounts-payable/approval-policy', { bands, coolOffHours: 0, priceTolerance: 200 })
  })

  it('is no Pix of nothing: an item that its discount pays whole keeps no batch from leaving', async () => {
    const supplierId = await payee()
    const bill = await billed(supplierId, 1_000)
    const item = { installmentId: bill.installments[0].id, discount: 1_000 }
    expect(await a.refused(a.finance, 'POST', payments, pixOf([item]))).to.deep.equal([422, 'not_payable'])
    const [, tried] = await a.send(a.finance, 'POST', payments, { ...pixOf([item]), dryRun: true })
    expect((tried.refusals as Parsed[]).map(({ code }) => code)).to.deep.equal(['nothing_to_send'])
    const byHand = { ...pixOf([item]), method: 'manual' }
    expect(await a.good(a.finance, 'POST', payments, byHand)).to.include({ status: 'paid', total: 0 })
  })

  it('above the price of its order waits for one approval where its band asks for none', async () => {
    const free = [{ from: 0, approvals: 0, roles: [] }]
    const policy = `accounts-payable/approval-policy?bookId=${a.bookId}`
    await a.good(a.owner, 'PUT', policy, { bands: free, coolOffHours: 0, priceTolerance: 0 })
    const { id: supplierId } = await a.supplier()
    const propertyId = await a.property()
    const paint = { description: 'Paint', accountId }
    const lines = [
      { ...paint, quantity: '10', unitPrice: 1_000 },
      { ...paint, quantity: '1', unitPrice: 1_001 },
    ]
    const { id } = await a.good(a.owner, 'POST', 'accounts-payable/purchase-orders', { supplierId, propertyId, lines })
    const order = await a.good(a.finance, 'POST', `accounts-payable/purchase-orders/${id}/approve`, { notify: false })
    const line = { description: 'Paint', purchaseOrderLineId: order.lines[0].id, quantity: '5' }
    const body = { bookId: a.bookId, supplierId, kind: 'bill', issuedOn: a.on('03-10'), submit: true }
    const asAgreed = await a.good(a.finance, 'POST', bills, { ...body, lines: [{ ...line, amount: 5_000 }] })
    expect(asAgreed).to.include({ status: 'approved' })
    const dearer = await a.good(a.finance, 'POST', bills, { ...body, lines: [{ ...line, amount: 5_001 }] })
    expect(dearer).to.include({ status: 'awaiting_approval', approvalsNeeded: 1 })
    expect(await a.good(a.owner, 'POST', `${bills}/${dearer.id}/approve`, {})).to.include({ status: 'approved' })
    // Half of 10.01 is 5.005, which is billed as 5.01.
    const half = { description: 'Paint', purchaseOrderLineId: order.lines[1].id, quantity: '0.5' }
    const rounded = await a.good(a.finance, 'POST', bills, { ...body, lines: [{ ...half, amount: 501 }] })
    expect(rounded).to.include({ status: 'approved' })
    const above = await a.good(a.finance, 'POST', bills, { ...body, lines: [{ ...half, amount: 502 }] })
    expect(above).to.include({ status: 'awaiting_approval' })
    await a.good(a.owner, 'PUT', policy, { bands, coolOffHours: 0, priceTolerance: 200 })
  })

  it('goes to no supplier whose payments are blocked: neither bills nor advances', async () => {
    const supplierId = await payee()
    const bill = await billed(supplierId, 1_000)
    const blocked = { paymentsBlocked: true, blockReason: 'Under audit' }
    await a.good(a.finance, 'PATCH', `accounts-payable/suppliers/${supplierId}`, blocked)
    for (const item of [{ installmentId: bill.installments[0].id }, { advance: { supplierId }, principal: 500 }]) {
      expect(await a.refused(a.finance, 'POST', payments, pixOf([item]))).to.deep.equal([422, 'not_payable'])
      const [, tried] = await a.send(a.finance, 'POST', payments, { ...pixOf([item]), dryRun: true })
      expect((tried.refusals as Parsed[]).map(({ code }) => code)).to.deep.equal(['payments_blocked'])
    }
  })

  it('recurs on its day less what is withheld, though another one that recurs cannot be made', async () => {
    const code = await a.good(a.finance, 'POST', 'financial/tax-codes', {
      bookId: a.bookId,
      kind: 'withheld_from_suppliers',
      code: 'INSS',
      name: 'INSS',
      liabilityAccountId: await a.account('2.1.3.07'),
      rate: 110_000,
      validFrom: a.on('01-01'),
      payeeName: 'Receita Federal',
      dueDay: 20,
    })
    const { id: supplierId } = await a.supplier({ termDays: 3 })
    const { id: gone } = await a.supplier()
    const today = a.house.today
    const firstOn = addDays(today, 8)
    const template = { supplierId, kind: 'bill', lines: [{ description: 'Cleaning', accountId, amount: 10_000 }] }
    const body = { bookId: a.bookId, unit: 'month', firstOn, leadDays: 0 }
    const path = 'accounts-payable/recurring-payables'
    await a.good(a.finance, 'POST', path, { ...body, name: 'A', template: { ...template, supplierId: gone } })
    // An archive that came before bills that recur were looked for.
    await sql(world.database.admin, `update supplier set status = 'archived' where id = ?`, [gone])
    const withholdings = [{ taxCodeId: code.id }]
    const { id } = await a.good(a.finance, 'POST', path, {
      ...body,
      name: 'B',
      template: { ...template, withholdings },
    })
    const { currencies } = await a.good(a.owner, 'GET', `cash/position?bookId=${a.bookId}&days=10`)
    const day = (currencies[0].days as Parsed[]).find(({ date }) => date === firstOn)
    expect(day?.out).to.include({ recurring: 18_900 })
    await a.house.inHouse((trx) =>
      enqueue(trx, ledgerGenerateRecurring, { tenantId: a.house.tenantId, bookId: a.bookId, date: firstOn }),
    )
    await world.drain({ kinds: ['ledger.generate-recurring'] })
    const [made] = await a.rows<{ id: string }>(
      `select id from payable where source = 'recurring' and source_key like :key`,
      {
        key: `${id}%`,
      },
    )
    const bill = await a.read(made?.id ?? '')
    expect(bill.installments.map(({ dueOn, amount }: Parsed) => [dueOn, amount])).to.deep.equal([[firstOn, 8_900]])
    expect(bill).to.include({ withheld: 1_100 })
  })

  it('is expected to leave on its day, once: installments, advances and what is overdue', async () => {
    const position = async () => {
      const { currencies } = await a.good(a.owner, 'GET', `cash/position?bookId=${a.bookId}&days=6`)
      return currencies[0]
    }
    const supplierId = await payee()
    const today = a.house.today
    const soon = addDays(today, 2)
    const before = await position()
    const on = (found: Parsed, date: string) => (found.days as Parsed[]).find((one) => one.date === date)?.out.payables
    await billed(supplierId, 3_000, {
      installments: [
        { dueOn: a.on('04-01'), amount: 1_000 },
        { dueOn: soon, amount: 2_000 },
      ],
    })
    const advance = await a.good(a.finance, 'POST', payments, {
      ...pixOf([{ advance: { supplierId }, principal: 700 }]),
      payOn: soon,
    })
    expect(on(await position(), soon)).to.equal(on(before, soon) + 2_000)
    await a.good(a.owner, 'POST', `${payments}/${advance.id}/approve`)
    const after = await position()
    expect(on(after, soon)).to.equal(on(before, soon) + 2_700)
    expect(after.overdue.out).to.equal(before.overdue.out + 1_000)
    expect(after.days.at(-1).closing).to.equal(before.days.at(-1).closing - 2_700)
    await a.good(a.finance, 'POST', `${payments}/${advance.id}/void`, { reason: 'Not now' })
  })

  it('of taxes withheld is collected again once its draft is void, and never for a bill that is void', async () => {
    const code = await a.good(a.finance, 'POST', 'financial/tax-codes', {
      bookId: a.bookId,
      kind: 'withheld_from_suppliers',
      code: 'IRRF',
      name: 'IRRF',
      liabilityAccountId: await a.account('2.1.3.07'),
      rate: 15_000,
      validFrom: a.on('01-01'),
      payeeName: 'Receita Federal',
      dueDay: 20,
    })
    const { id: supplierId } = await a.supplier()
    const withholdings = [{ taxCodeId: code.id }]
    const first = await billed(supplierId, 33_333, { number: 'W1', issuedOn: a.on('01-31'), withholdings })
    const second = await billed(supplierId, 66_667, { number: 'W2', issuedOn: a.on('01-02'), withholdings })
    const drafts = () =>
      a.rows<{ id: string; status: string; gross: string; due: string; text: string }>(
        `select p.id, p.status, p.gross, (select i.due_on::text from payable_installment i where i.payable_id = p.id) as due,
           (select l.description from payable_line l where l.payable_id = p.id) as text
         from payable p where p.book_id = :bookId and p.source = 'withholding' and p.issued_on = :on order by p.created_at`,
        { on: a.on('01-31') },
      )
    await world.drain({ kinds: ['ledger.collect-withholdings'] })
    const collected = await drafts()
    expect(collected.reduce((sum, { gross }) => sum + Number(gross), 0)).to.equal(500 + 1_000)
    for (const { id } of collected) await a.good(a.finance, 'POST', `${bills}/${id}/void`, { reason: 'Anew' })
    await a.good(a.finance, 'POST', `${bills}/${second.id}/void`, { reason: 'Not ours' })
    await a.house.inHouse((trx) =>
      enqueue(trx, ledgerCollectWithholdings, { tenantId: a.house.tenantId, bookId: a.bookId, date: a.house.today }),
    )
    await world.drain({ kinds: ['ledger.collect-withholdings'] })
    const again = (await drafts()).filter(({ status }) => status === 'draft')
    expect(again.map(({ gross }) => Number(gross))).to.deep.equal([500])
    expect(again[0]).to.include({ due: a.on('02-20') })
    expect(again[0]?.text).to.include('W1')
    expect((await a.read(first.id)).withholdings[0]).to.include({ collectedById: again[0]?.id })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('keeps the terms of its supplier when the lines of a draft change', async () => {
    const { id: supplierId } = await a.supplier({ termDays: 10 })
    const line = { description: 'Work', accountId }
    const { id } = await a.good(a.finance, 'POST', bills, {
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('03-10'),
      lines: [{ ...line, amount: 100 }],
    })
    const changed = await a.good(a.finance, 'PATCH', `${bills}/${id}`, { lines: [{ ...line, amount: 200 }] })
    expect(changed.installments[0]).to.include({ dueOn: a.on('03-20'), amount: 200 })
  })

  it('was on a past day what it was then, though it was divided anew, paid and given back since', async () => {
    const { id: supplierId } = await a.supplier()
    const parts = [
      { dueOn: a.on('04-10'), amount: 1_000 },
      { dueOn: a.on('05-10'), amount: 2_000 },
    ]
    const bill = await billed(supplierId, 3_000, { installments: parts })
    const credit = { supplierId, number: 'NC 9', issuedOn: a.on('04-01'), amount: 400, accountId, bookId: a.bookId }
    const { id: creditId } = await a.good(a.finance, 'POST', 'accounts-payable/credits', credit)
    const days = ['03-09', '04-12', '05-12', '12-31'].map(a.on)
    const aged = () =>
      Promise.all(
        days.map(async (asOf) => {
          const path = `accounts-payable/ageing?bookId=${a.bookId}&asOf=${asOf}&limit=100`
          const { data } = await a.good(a.finance, 'GET', path)
          return (data as Parsed[]).find(({ key }) => key === supplierId) ?? null
        }),
      )
    const before = await aged()
    expect(before.map((row) => [row?.total, row?.credits])).to.deep.equal([
      [undefined, undefined],
      [3_000, 400],
      [3_000, 400],
      [3_000, 400],
    ])
    const later = addDays(a.house.today, 40)
    const path = `${bills}/${bill.id}`
    await a.good(a.finance, 'PATCH', path, { installments: [{ dueOn: later, amount: 3_000 }] })
    const pay = { method: 'manual', cashAccountId: bankId, items: [{ installmentId: bill.installments[0].id }] }
    const paid = await a.good(a.finance, 'POST', payments, pay)
    expect(await aged()).to.deep.equal(before)
    await a.good(a.finance, 'POST', `${payments}/${paid.id}/void`, { reason: 'Returned' })
    const setOff = { method: 'credit', creditId, items: [{ installmentId: bill.installments[0].id, principal: 400 }] }
    await a.good(a.finance, 'POST', payments, setOff)
    expect(await aged()).to.deep.equal(before)
  })
})
