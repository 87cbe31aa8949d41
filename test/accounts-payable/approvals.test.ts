import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { brCodeOf } from '../../config/br-code.ts'
import { connectedSender, registerPixSender } from '../../db/cash/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'
const payments = 'accounts-payable/payments'
const everybody = ['owner', 'admin', 'finance', 'manager']

describe('approvals', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let admin: Desk
  let supplierId: string
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    admin = await openDesk(world, a.house, 'admin')
    supplierId = (await a.supplier()).id
    accountId = await a.account('6.4.03')
    registerPixSender({ stateOf: () => Promise.resolve('ready'), send: () => Promise.resolve() })
  })
  beforeEach(async () => {
    await a.calm()
    await policy([
      { from: 0, approvals: 1, roles: everybody },
      { from: 100_000, approvals: 2, roles: ['owner', 'admin', 'manager'] },
      { from: 1_000_000, approvals: 3, roles: ['owner', 'admin', 'manager'] },
    ])
  })
  after(() => registerPixSender(connectedSender))

  const policy = (bands: object[]) =>
    a.good(a.owner, 'PUT', `accounts-payable/approval-policy?bookId=${a.bookId}`, {
      bands,
      coolOffHours: 0,
      priceTolerance: 200,
    })
  const linesOf = (amount: number, account = accountId) => [{ description: 'Roof', accountId: account, amount }]
  const entered = (amount: number, more: object = {}, desk = a.finance): Promise<Parsed> =>
    a.good(desk, 'POST', bills, {
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('03-10'),
      lines: linesOf(amount),
      submit: true,
      ...more,
    })
  const approve = (desk: Desk, id: string) => a.send(desk, 'POST', `${bills}/${id}/approve`, {})
  const approved = async (desk: Desk, id: string): Promise<Parsed> => {
    const [status, reply] = await approve(desk, id)
    expect(status, JSON.stringify(reply)).to.equal(200)
    return reply
  }
  const refusedTo = async (desk: Desk, id: string): Promise<[number, string]> => {
    const [status, reply] = await approve(desk, id)
    return [status, String(reply.code)]
  }
  const posted = async (id: string): Promise<number> =>
    (await a.rows(`select 1 from posting_event where source_id = cast(:id as uuid)`, { id })).length
  /** A member with a role, and their id. */
  const member = async (role: string): Promise<{ desk: Desk; userId: string }> => {
    const desk = await openDesk(world, a.house, role)
    const [found] = await a.rows<{ userId: string }>(
      `select user_id from membership where tenant_id = :tenantId order by created_at desc, id desc limit 1`,
    )
    return { desk, userId: found?.userId ?? '' }
  }

  it('are as many as the band of the amount says, to the cent, and of its roles alone', async () => {
    const [small, large, huge] = [await entered(99_999), await entered(100_000), await entered(1_000_000)]
    expect([small, large, huge].map(({ approvalsNeeded }) => approvalsNeeded)).to.deep.equal([1, 2, 3])
    expect(await approved(a.manager, small.id)).to.include({ status: 'approved', approvalsGiven: 1 })
    const other = await member('finance')
    expect(await refusedTo(other.desk, large.id)).to.deep.equal([403, 'forbidden'])
    expect(await approved(a.manager, large.id)).to.include({ status: 'awaiting_approval', approvalsGiven: 1 })
    expect(await approved(a.manager, large.id)).to.include({ status: 'awaiting_approval', approvalsGiven: 1 })
    expect(await posted(large.id)).to.equal(0)
    expect(await approved(admin, large.id)).to.include({ status: 'approved', approvalsGiven: 2 })
    expect(await posted(large.id)).to.equal(1)
    for (const desk of [a.owner, admin])
      expect(await approved(desk, huge.id)).to.include({ status: 'awaiting_approval' })
    expect(await approved(a.manager, huge.id)).to.include({ status: 'approved', approvalsGiven: 3 })
  })

  it('of two people at once both count, and the bill is posted once', async () => {
    const { id } = await entered(500_000)
    const replies = await Promise.all([a.owner, admin, a.owner, admin].map((desk) => approve(desk, id)))
    expect(replies.map(([status]) => status)).to.deep.equal([200, 200, 200, 200])
    expect(await a.read(id)).to.include({ status: 'approved', approvalsGiven: 2 })
    expect(await posted(id)).to.equal(1)
  })

  it('end with a rejection: the round begins anew, under the policy of that day', async () => {
    const { id } = await entered(100_000)
    await approved(a.owner, id)
    await a.good(admin, 'POST', `${bills}/${id}/reject`, { reason: 'The price is not ours' })
    expect(await a.read(id)).to.include({ status: 'draft', approvalsGiven: 0 })
    await a.good(a.finance, 'PATCH', `${bills}/${id}`, { lines: linesOf(100_001) })
    await a.good(a.finance, 'POST', `${bills}/${id}/submit`)
    // The approval of the first round was for another amount.
    expect(await approved(admin, id)).to.include({ status: 'awaiting_approval', approvalsGiven: 1 })
    // A policy that is set now leaves what was submitted before it.
    await policy([{ from: 0, approvals: 1, roles: ['manager'] }])
    expect(await approved(a.owner, id)).to.include({ status: 'approved', approvalsGiven: 2 })
  })

  it('are not given by those whose access or role was taken away meanwhile', async () => {
    const { id } = await entered(1_000_000)
    const [gone, moved] = [await member('admin'), await member('manager')]
    await approved(gone.desk, id)
    await a.good(a.owner, 'POST', `users/${gone.userId}/deactivate`)
    await a.good(a.owner, 'PATCH', `users/${moved.userId}`, { role: 'receptionist' })
    const other = await entered(1_000_000)
    expect((await refusedTo(gone.desk, other.id))[0]).to.be.oneOf([401, 403])
    expect(await refusedTo(moved.desk, id)).to.deep.equal([403, 'forbidden'])
    expect(await a.read(id)).to.include({ status: 'awaiting_approval', approvalsGiven: 1 })
    expect(await a.read(other.id)).to.include({ approvalsGiven: 0 })
  })

  it('stand for what was submitted: a bill that waits takes no change, one that is approved none of its money', async () => {
    const { id } = await entered(5_000)
    const change = { lines: linesOf(9_000) }
    expect(await a.refused(a.finance, 'PATCH', `${bills}/${id}`, change)).to.deep.equal([409, 'invalid_transition'])
    expect(await a.refused(a.finance, 'PATCH', `${bills}/${id}`, { notes: 'Seen' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    await approved(a.owner, id)
    const fields = [
      change,
      { payeeName: 'Someone else' },
      { number: 'X-1' },
      { withholdings: [] },
      { postingOn: a.on('04-01') },
      { issuedOn: a.on('03-11') },
      { propertyId: null },
    ]
    for (const body of fields)
      expect(await a.refused(a.finance, 'PATCH', `${bills}/${id}`, body)).to.deep.equal([409, 'invalid_transition'])
    expect(await a.read(id)).to.include({ gross: 5_000, status: 'approved' })
  })

  it('are refused for a bill whose account was archived while it waited', async () => {
    const [parent] = await a.rows<{ id: string }>(
      `select parent_id as id from account where id = cast(:accountId as uuid)`,
      {
        accountId,
      },
    )
    const made = await a.good(a.finance, 'POST', 'financial/chart-of-accounts', {
      bookId: a.bookId,
      code: `Z${randomUUID().slice(0, 6).toUpperCase()}`,
      name: 'Roof of the annex',
      parentId: parent?.id,
    })
    const { id } = await entered(5_000, { lines: linesOf(5_000, made.id) })
    await a.good(a.owner, 'POST', `financial/chart-of-accounts/${made.id}/archive`)
    const [status, reply] = await approve(a.owner, id)
    expect([status, reply.code, reply.errors?.[0]?.field]).to.deep.equal([
      422,
      'account_not_usable',
      'lines.0.accountId',
    ])
    expect(await a.read(id)).to.include({ status: 'awaiting_approval', approvalsGiven: 0 })
    await a.good(a.owner, 'POST', `financial/chart-of-accounts/${made.id}/restore`)
    expect(await approved(a.owner, id)).to.include({ status: 'approved' })
  })

  it('are refused for a reimbursement whose receipt was hidden while it waited', async () => {
    const spent = { kind: 'reimbursement', supplierId: undefined, payeeName: 'Ana', submit: false }
    const { id } = await entered(5_000, spent)
    const attach = () =>
      a.good(a.finance, 'POST', 'accounts-payable/attachments', {
        entityType: 'payable',
        entityId: id,
        fileName: 'taxi.csv',
        mediaType: 'text/csv',
        content: Buffer.from('month,amount\n2026-11,5000\n').toString('base64'),
      })
    const file = await attach()
    await a.good(a.finance, 'POST', `${bills}/${id}/submit`)
    await a.good(a.finance, 'DELETE', `accounts-payable/attachments/${file.id}`, { reason: 'Unreadable' })
    expect(await refusedTo(a.owner, id)).to.deep.equal([422, 'attachment_required'])
    await attach()
    expect(await approved(a.owner, id)).to.include({ status: 'approved' })
  })

  it('of a bill that recurs are not given by those who planned it', async () => {
    const planned = (amount: number) => ({
      supplierId,
      kind: 'bill',
      lines: [{ description: 'Rent', accountId, amount }],
    })
    const body = { bookId: a.bookId, unit: 'month', firstOn: a.house.today, leadDays: 0 }
    const path = 'accounts-payable/recurring-payables'
    const { id } = await a.good(a.finance, 'POST', path, {
      ...body,
      name: 'Rent',
      template: planned(7_000),
      submit: true,
    })
    // No bill is made before its job runs.
    await a.good(a.manager, 'PATCH', `${path}/${id}`, { template: planned(8_000) })
    await world.drain({ kinds: ['ledger.generate-recurring'] })
    const [made] = await a.rows<{ id: string }>(
      `select id from payable where source = 'recurring' and source_key like :key`,
      { key: `${id}%` },
    )
    const billId = made?.id ?? ''
    expect(await a.read(billId)).to.include({ status: 'awaiting_approval', gross: 8_000, createdBy: null })
    for (const desk of [a.finance, a.manager])
      expect(await refusedTo(desk, billId)).to.deep.equal([403, 'self_approval'])
    const { data } = await a.good(a.finance, 'GET', `${bills}?awaitingMe=true&limit=100`)
    expect((data as Parsed[]).map((one) => one.id)).not.to.include(billId)
    expect(await approved(a.owner, billId)).to.include({ status: 'approved' })
  })

  describe('of payments', () => {
    const place = { name: 'Companhia de Luz', city: 'SAO PAULO', amount: null }
    const codeOf = () => brCodeOf({ ...place, pix: { key: randomUUID(), text: '' }, txid: '***' })
    let bankId: string
    before(async () => {
      bankId = await a.bank(10_000_000, a.on('01-01'))
    })
    const coded = async (amount: number): Promise<Parsed> => {
      const { id } = await entered(amount, {
        installments: [{ dueOn: a.on('04-10'), amount, pixCode: codeOf() }],
      })
      return approved(a.owner, id)
    }
    const batch = (desk: Desk, made: Parsed[]): Promise<Parsed> =>
      a.good(desk, 'POST', payments, {
        method: 'pix',
        cashAccountId: bankId,
        items: made.map(({ installments }) => ({ installmentId: installments[0].id })),
      })
    const approvedPayment = (desk: Desk, id: string) => a.send(desk, 'POST', `${payments}/${id}/approve`)

    it('are given by another person than who prepared the run, once', async () => {
      const run = await batch(a.finance, [await coded(1_000), await coded(2_000)])
      const [status, reply] = await approvedPayment(a.finance, run.id)
      expect([status, reply.code]).to.deep.equal([403, 'self_approval'])
      const replies = await Promise.all([a.owner, admin].map((desk) => approvedPayment(desk, run.id)))
      expect(replies.map(([code]) => code)).to.deep.equal([200, 200])
      const jobs = await a.rows(
        `select 1 from jobs where kind = 'payments.start-payment' and payload->>'payablePaymentId' = :id`,
        {
          id: run.id,
        },
      )
      expect(jobs).to.have.length(1)
    })

    it('are refused while a bill of the run is held, and the run keeps the bill from being void', async () => {
      const made = [await coded(1_000), await coded(2_000)]
      const run = await batch(a.finance, made)
      const second = made[1]?.id
      expect(await a.refused(a.owner, 'POST', `${bills}/${second}/void`, { reason: 'Not ours' })).to.deep.equal([
        422,
        'in_use',
      ])
      await a.good(a.finance, 'PATCH', `${bills}/${second}`, { onHold: true, holdReason: 'Disputed' })
      const [status, reply] = await approvedPayment(a.owner, run.id)
      expect([status, reply.code, (reply.errors as Parsed[]).map(({ field }) => field)]).to.deep.equal([
        422,
        'not_payable',
        ['items.1'],
      ])
      const [item] = (await a.good(a.finance, 'GET', `${payments}/${run.id}`)).items.slice(1)
      await a.good(a.finance, 'POST', `${payments}/${run.id}/void`, { reason: 'Disputed', itemIds: [item.id] })
      await a.good(a.owner, 'POST', `${bills}/${second}/void`, { reason: 'Not ours' })
      expect((await approvedPayment(a.owner, run.id))[1]).to.include({ status: 'approved' })
    })

    it('to a Pix code are not given by who put it into a bill that others had approved', async () => {
      const bill = await coded(3_000)
      const plan = (pixCode: string) => ({ installments: [{ dueOn: a.on('05-10'), amount: 3_000, pixCode }] })
      const changed = await a.good(admin, 'PATCH', `${bills}/${bill.id}`, plan(codeOf()))
      const run = await batch(a.finance, [changed])
      const [status, reply] = await approvedPayment(admin, run.id)
      expect([status, reply.code]).to.deep.equal([403, 'self_approval'])
      // By the database alone as well.
      const [author] = await a.rows<{ userId: string }>(
        `select code_authors[1] as user_id from payable where id = cast(:id as uuid)`,
        { id: bill.id },
      )
      const written = inTenant(a.house.tenantId, (trx) =>
        sql(trx, `update payable_payment set status = 'approved', approved_by = ? where id = ?`, [
          author?.userId,
          run.id,
        ]),
      )
      const refusal = await written.then(
        () => 'taken',
        (error: Error & { constraint?: string }) => error.constraint ?? error.message,
      )
      expect(refusal).to.equal('payable_payment_two_people')
      expect((await approvedPayment(a.owner, run.id))[1]).to.include({ status: 'approved' })
    })

    it('to a Pix code that a bill had when it was approved may be given by who only dated it anew', async () => {
      const bill = await coded(3_000)
      const { pixCode } = bill.installments[0]
      const plan = { installments: [{ dueOn: a.on('05-10'), amount: 3_000, pixCode }] }
      const changed = await a.good(admin, 'PATCH', `${bills}/${bill.id}`, plan)
      const run = await batch(a.finance, [changed])
      expect((await approvedPayment(admin, run.id))[1]).to.include({ status: 'approved' })
    })
  })
})
