import { expect } from 'chai'
import { itemsToSend, paymentsToStart, sendItem, transferEnded } from '../../db/accounts-payable/index.ts'
import { connectedSender, registerPixSender } from '../../db/cash/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('what is owed', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(10_000_000, a.on('01-01'))
  })
  beforeEach(() => a.calm())
  after(() => registerPixSender(connectedSender))

  const approvedBill = async (amount: number, more: object = {}) => {
    const { id: supplierId } = await a.supplier()
    const accountId = await a.account('6.4.03')
    return a.bill({
      supplierId,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Maintenance', accountId, amount }],
      ...more,
    })
  }

  it('is settled never above its amount by 20 payments at once', async () => {
    const bill = await approvedBill(100_000)
    const body = {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('04-15'),
      items: [{ installmentId: bill.installments[0].id, principal: 30_000 }],
    }
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => a.send(a.finance, 'POST', 'accounts-payable/payments', body)),
    )
    expect(replies.filter(([status]) => status === 201)).to.have.length(3)
    for (const [status] of replies) expect([201, 409, 422]).to.include(status)
    expect(await a.read(bill.id)).to.include({ settled: 90_000, open: 10_000, status: 'partly_paid' })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('is paid once by 20 batches at once that choose the same bills, and part by part by 20 that name them', async () => {
    const bills: Parsed[] = []
    for (let at = 0; at < 6; at += 1) bills.push(await approvedBill(10_000 + at))
    await a.calm()
    const ids = bills.map(({ supplierId }) => supplierId as string)
    const money = async () => Number((await a.good(a.finance, 'GET', `cash/accounts/${bankId}`)).balance)
    const before = await money()
    const batch = {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('04-15'),
      select: { dueUntil: a.on('12-31'), supplierIds: ids.slice(0, 3) },
    }
    const part = {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('04-15'),
      items: bills.slice(3).map(({ installments }) => ({ installmentId: installments[0].id, principal: 4_000 })),
    }
    const replies = await Promise.all(
      [batch, part].flatMap((body) =>
        Array.from({ length: 20 }, () => a.send(a.finance, 'POST', 'accounts-payable/payments', body)),
      ),
    )
    const made = replies.filter(([status]) => status === 201)
    expect(made.map(([, reply]) => (reply.items as Parsed[]).length)).to.deep.equal([3, 3, 3])
    for (const [status, reply] of replies)
      if (status !== 201) expect([409, 422], JSON.stringify(reply)).to.include(status)
    await a.calm()
    const settled = await Promise.all(bills.map(async ({ id }) => (await a.read(id as string)).settled as number))
    expect(settled).to.deep.equal([10_000, 10_001, 10_002, 8_000, 8_000, 8_000])
    expect(before - (await money())).to.equal(30_003 + 24_000)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('is recorded once by two clerks at the same time, whatever the letters of its number', async () => {
    const { id: supplierId } = await a.supplier()
    const accountId = await a.account('6.4.03')
    const body = (number: string) => ({
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      number,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Maintenance', accountId, amount: 1_000 }],
    })
    const replies = await Promise.all(
      ['nf-9', 'NF-9', 'Nf-9'].map((number) => a.send(a.finance, 'POST', 'accounts-payable/payables', body(number))),
    )
    const made = replies.filter(([status]) => status === 201)
    expect(made).to.have.length(1)
    for (const [status, reply] of replies)
      if (status !== 201) {
        expect([status, reply.code]).to.deep.equal([409, 'duplicate_payable'])
        expect(JSON.stringify(reply.errors)).to.include(made[0]?.[1].id)
      }
    await a.good(a.finance, 'POST', `accounts-payable/payables/${made[0]?.[1].id}/void`, { reason: 'Entered twice' })
    await a.good(a.finance, 'POST', 'accounts-payable/payables', body('NF-9'))
  })

  it('is approved once by the same click sent ten times, and by two people where its band asks for two', async () => {
    await a.good(a.owner, 'PUT', `accounts-payable/approval-policy?bookId=${a.bookId}`, {
      bands: [
        { from: 0, approvals: 1, roles: ['owner', 'finance', 'manager'] },
        { from: 500_000, approvals: 2, roles: ['owner', 'manager'] },
      ],
      coolOffHours: 0,
      priceTolerance: 200,
    })
    const { id: supplierId } = await a.supplier()
    const made = await a.good(a.finance, 'POST', 'accounts-payable/payables', {
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Roof', accountId: await a.account('6.4.03'), amount: 500_000 }],
      submit: true,
    })
    const path = `accounts-payable/payables/${made.id}/approve`
    const replies = await Promise.all(Array.from({ length: 10 }, () => a.send(a.owner, 'POST', path, {})))
    for (const [status] of replies) expect(status).to.equal(200)
    expect(await a.read(made.id)).to.include({ status: 'awaiting_approval', approvalsGiven: 1 })
    expect(await a.good(a.manager, 'POST', path, {})).to.include({ status: 'approved', approvalsGiven: 2 })
    const [found] = await a.rows<{ count: string }>(
      `select count(*) as count from posting_event where source_id = cast(:id as uuid)`,
      { id: made.id },
    )
    expect(Number(found?.count)).to.equal(1)
  })

  it('leaves by Pix once for each item, though its job is begun again at any point', async () => {
    const sent: string[] = []
    registerPixSender({
      stateOf: () => Promise.resolve('ready'),
      send: (_, { transferId }) => {
        sent.push(transferId)
        return Promise.resolve()
      },
    })
    const { id: supplierId } = await a.supplier()
    const proposed = await a.good(a.finance, 'PATCH', `accounts-payable/suppliers/${supplierId}`, {
      bankDetails: { details: { keyType: 'email', key: 'contas@obra.example' } },
    })
    const decide = `accounts-payable/suppliers/${supplierId}/bank-details/approve`
    const decision = { version: proposed.pendingBankDetails.version, decision: 'approve' }
    expect(await a.refused(a.finance, 'POST', decide, decision)).to.deep.equal([403, 'self_approval'])
    // The wait of the default book holds for suppliers.
    const bands = [{ from: 0, approvals: 1, roles: ['owner', 'finance'] }]
    await a.good(a.owner, 'PUT', 'accounts-payable/approval-policy', { bands, coolOffHours: 0, priceTolerance: 200 })
    await a.good(a.owner, 'POST', decide, decision)
    const accountId = await a.account('6.4.03')
    const bills: Parsed[] = []
    for (const amount of [1_000, 2_000])
      bills.push(
        await a.bill({
          supplierId,
          issuedOn: a.on('03-10'),
          lines: [{ description: 'Work', accountId, amount }],
        }),
      )
    const items = bills.map((bill) => ({ installmentId: bill.installments[0].id }))
    const body = { method: 'pix', cashAccountId: bankId, items }
    const batch = await a.good(a.finance, 'POST', 'accounts-payable/payments', body)
    expect(batch.status).to.equal('awaiting_approval')
    expect(
      await a.refused(a.finance, 'POST', 'accounts-payable/payments', { ...body, method: 'manual' }),
    ).to.deep.equal([409, 'installment_in_payment'])
    const path = `accounts-payable/payments/${batch.id}`
    expect(await a.refused(a.finance, 'POST', `${path}/approve`)).to.deep.equal([403, 'self_approval'])
    await a.good(a.owner, 'POST', `${path}/approve`)
    const { tenantId } = a.house
    const toStart = async () => (await inPlatform(paymentsToStart)).filter(({ id }) => id === batch.id)
    const change = (text: string) => world.database.admin.raw(text, [tenantId])
    expect(await toStart(), 'its job is there').to.deep.equal([])
    await change(`delete from jobs where kind = 'payments.start-payment' and tenant_id = ?`)
    expect(await toStart(), 'its job was lost').to.deep.equal([{ tenantId, id: batch.id }])
    await change(`update tenant set features = array_remove(features, 'financial') where id = ?`)
    expect(await toStart(), 'takes nobody’s place without the feature').to.deep.equal([])
    await change(`update tenant set features = array_append(features, 'financial'), status = 'suspended' where id = ?`)
    expect(await toStart(), 'or while the tenant is suspended').to.deep.equal([])
    await change(`update tenant set status = 'active' where id = ?`)
    expect(await toStart()).to.have.length(1)
    const [first = '', second = ''] = await inTenant(tenantId, (trx) => itemsToSend(trx, batch.id))
    // Killed before the commit of an item, then begun again twice.
    await inTenant(tenantId, async (trx) => {
      await sendItem(trx, first)
      throw new Error('killed')
    }).catch(() => null)
    for (const id of [first, first, second, second]) await inTenant(tenantId, (trx) => sendItem(trx, id))
    const transfers = await a.rows<{ id: string; sourceId: string }>(
      `select id, source_id as "sourceId" from cash_transfer where source_type = 'payable_payment_item'`,
    )
    expect(transfers.map(({ sourceId }) => sourceId).sort()).to.deep.equal([first, second].sort())
    const outcome = (sourceId: string) => ({
      transferId: transfers.find((one) => one.sourceId === sourceId)?.id ?? '',
      sourceId,
      status: 'failed' as const,
      failure: { code: 'key_unknown', message: 'The key does not exist' },
    })
    for (const _ of [1, 2]) await inTenant(tenantId, (trx) => transferEnded(trx, outcome(second)))
    const after = await a.good(a.finance, 'GET', path)
    expect(after.items.map(({ status }: Parsed) => status)).to.deep.equal(['sending', 'failed'])
    // What failed is free to be paid again.
    await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: bankId,
      items: [items[1]],
    })
    expect(sent).to.have.length.above(1)
  })

  it('is lowered by credit notes and advances, and reopened when they are taken back', async () => {
    const bill = await approvedBill(50_000)
    const { supplierId } = bill
    const note = await a.good(a.finance, 'POST', 'accounts-payable/credits', {
      supplierId,
      payableId: bill.id,
      number: 'NC 1',
      issuedOn: a.on('03-20'),
      amount: 10_000,
    })
    const setOff = await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'credit',
      creditId: note.id,
      items: [{ installmentId: bill.installments[0].id, principal: 10_000 }],
    })
    expect(await a.read(bill.id)).to.include({ open: 40_000, status: 'partly_paid' })
    const advance = await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('03-25'),
      items: [{ advance: { supplierId }, principal: 40_000 }],
    })
    const { creditId } = advance.items[0]
    await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'credit',
      creditId,
      items: [{ installmentId: bill.installments[0].id }],
    })
    expect(await a.read(bill.id)).to.include({ open: 0, status: 'paid' })
    expect(
      await a.refused(a.finance, 'POST', `accounts-payable/payments/${advance.id}/void`, { reason: 'Taken back' }),
    ).to.deep.equal([422, 'in_use'])
    await a.good(a.finance, 'POST', `accounts-payable/payments/${setOff.id}/void`, { reason: 'Another bill' })
    expect(await a.read(bill.id)).to.include({ open: 10_000, status: 'partly_paid' })
    await a.good(a.finance, 'POST', `accounts-payable/credits/${note.id}/void`, { reason: 'Not ours' })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('is not approved by its author, nor its schedule broken, by the database alone', async () => {
    const bill = await approvedBill(9_000)
    const { tenantId } = a.house
    const refusal = (text: string) =>
      inTenant(tenantId, (trx) => sql(trx, text, [bill.id])).then(
        () => 'taken',
        (error: Error & { constraint?: string }) => error.constraint ?? error.message,
      )
    expect(
      await refusal(
        `insert into payable_approval (payable_id, round, user_id, decision) select id, 7, created_by, 'approved' from payable where id = ?`,
      ),
    ).to.equal('payable_two_people')
    expect(await refusal(`update payable_installment set amount = amount + 1 where payable_id = ?`)).to.equal(
      'installments_equal',
    )
    await a.good(a.finance, 'PATCH', `accounts-payable/payables/${bill.id}`, {
      installments: [
        { dueOn: a.on('05-01'), amount: 4_000 },
        { dueOn: a.on('06-01'), amount: 4_000 },
        { dueOn: a.on('07-01'), amount: 1_000 },
      ],
    })
    expect((await a.read(bill.id)).installments.map(({ open }: Parsed) => open)).to.deep.equal([4_000, 4_000, 1_000])
  })
})
