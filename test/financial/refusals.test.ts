import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { raisePosting } from '../../db/financial/index.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { eraseBillFilesJob } from '../../jobs/accounts-payable.ts'
import { eraseEntryFilesJob } from '../../jobs/financial.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import type { Parsed } from '../support/client.ts'
import { impatiently } from '../support/patience.ts'
import { useWorld } from '../support/world.ts'

const payables = 'accounts-payable/payables'
const payments = 'accounts-payable/payments'
const csv = Buffer.from('month,amount\n2026-11,350000\n').toString('base64')

describe('bad input to the books, to cash and to payables', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  let expenses: string

  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(1_000_000, a.on('01-02'))
    expenses = await a.account('6.4.03')
    await world.drain()
  })
  beforeEach(() => a.calm())

  /** All that the books and the papers hold: a refusal leaves it as it was. */
  const kept = async (): Promise<unknown> =>
    a.rows(
      `select (select count(*) from journal_entry where tenant_id = :tenantId) as entries, (select count(*) from posting_event where tenant_id = :tenantId) as events,
         (select count(*) from payable where tenant_id = :tenantId) as bills, (select count(*) from payable_payment where tenant_id = :tenantId) as payments,
         (select count(*) from supplier_credit where tenant_id = :tenantId) as credits, (select count(*) from cash_movement where tenant_id = :tenantId) as movements,
         (select count(*) from cash_account where tenant_id = :tenantId) as accounts, (select sum(balance) from cash_account where tenant_id = :tenantId) as money,
         (select count(*) from purchase_order where tenant_id = :tenantId) as orders, (select sum(settled) from payable where tenant_id = :tenantId) as settled`,
    )
  const leavesAll = async (
    status: number,
    code: string,
    method: string,
    path: string,
    body?: object,
    desk = a.finance,
  ) => {
    const before = await kept()
    const [found, reply] = await a.send(desk, method, path, body)
    expect([found, reply.code], `${path} ${JSON.stringify(reply)}`).to.deep.equal([status, code])
    expect(await kept()).to.deep.equal(before)
    return reply
  }
  const draft = (supplierId: string, amount: number, more: object = {}): Promise<Parsed> =>
    a.good(a.finance, 'POST', payables, {
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('03-02'),
      lines: [{ description: 'Repairs', accountId: expenses, amount }],
      ...more,
    })
  const credit = (supplierId: string, more: object = {}) => ({
    bookId: a.bookId,
    supplierId,
    issuedOn: a.on('03-03'),
    amount: 5_000,
    accountId: expenses,
    ...more,
  })
  const paid = (installmentId: string, more: object = {}) => ({
    method: 'manual',
    cashAccountId: bankId,
    payOn: a.on('03-20'),
    items: [{ installmentId }],
    ...more,
  })

  it('suppliers: the same number twice, and bills of one that is archived', async () => {
    const document = '11222333000181'
    const { id } = await a.supplier({ document })
    await leavesAll(409, 'duplicate_supplier', 'POST', 'accounts-payable/suppliers', {
      legalName: 'The other',
      document: '11.222.333/0001-81',
    })
    await a.good(a.finance, 'POST', `accounts-payable/suppliers/${id}/archive`, {})
    await leavesAll(409, 'supplier_archived', 'POST', payables, {
      bookId: a.bookId,
      supplierId: id,
      kind: 'bill',
      issuedOn: a.on('03-02'),
      lines: [{ description: 'Repairs', accountId: expenses, amount: 100 }],
    })
  })

  it('bills: lines that come to nothing, a receipt that is missing, a payment before the approval', async () => {
    const { id: supplierId } = await a.supplier()
    const bill = { bookId: a.bookId, supplierId, kind: 'bill', issuedOn: a.on('03-02') }
    const line = (amount: number) => ({ description: 'Repairs', accountId: expenses, amount })
    await leavesAll(422, 'lines_not_equal', 'POST', payables, { ...bill, lines: [line(100), line(-100)] })
    const person = await a.good(a.finance, 'POST', payables, {
      bookId: a.bookId,
      payeeName: 'Ana Souza',
      kind: 'reimbursement',
      issuedOn: a.on('03-02'),
      lines: [line(100)],
    })
    await leavesAll(422, 'attachment_required', 'POST', `${payables}/${person.id}/submit`, {})
    const waiting = await draft(supplierId, 100)
    const [{ id: installmentId }] = waiting.installments as [Parsed]
    await leavesAll(422, 'payable_not_approved', 'POST', payments, paid(installmentId as string))
    await leavesAll(422, 'not_payable', 'POST', payments, {
      method: 'manual',
      cashAccountId: bankId,
      payOn: a.on('03-20'),
      select: { dueUntil: a.on('01-01') },
    })
  })

  it('credits: twice, for another payee, beyond what is available', async () => {
    const [{ id: one }, { id: other }] = [await a.supplier(), await a.supplier()]
    const made = await a.good(a.finance, 'POST', 'accounts-payable/credits', credit(one, { number: 'nc 1' }))
    await leavesAll(409, 'duplicate_credit', 'POST', 'accounts-payable/credits', credit(one, { number: 'NC 1' }))
    const lines = [{ description: 'Repairs', accountId: expenses, amount: 9_000 }]
    const mine = await a.bill({ supplierId: one, issuedOn: a.on('03-02'), lines })
    const theirs = await a.bill({ supplierId: other, issuedOn: a.on('03-02'), lines })
    await leavesAll(422, 'payee_mismatch', 'POST', 'accounts-payable/credits', credit(one, { payableId: theirs.id }))
    const set = (bill: Parsed, principal: number) => ({
      method: 'credit',
      creditId: made.id,
      items: [{ installmentId: bill.installments[0].id, principal }],
    })
    await leavesAll(422, 'payee_mismatch', 'POST', payments, set(theirs, 1_000))
    await leavesAll(422, 'credit_exceeded', 'POST', payments, set(mine, 5_001))
    await leavesAll(422, 'credit_exceeded', 'POST', `accounts-payable/credits/${made.id}/refund`, {
      amount: 5_001,
      cashAccountId: bankId,
      receivedOn: a.on('03-04'),
    })
    await leavesAll(
      422,
      'amount_exceeds_open',
      'POST',
      payments,
      paid(mine.installments[0].id, {
        items: [{ installmentId: mine.installments[0].id, principal: 9_001 }],
      }),
    )
  })

  it('cash: a ledger account that is no money, one that is taken, and an account that is archived', async () => {
    const given = { bookId: a.bookId, kind: 'bank', code: 'SECOND', name: 'Banco' }
    await leavesAll(422, 'ledger_account_not_cash', 'POST', 'cash/accounts', { ...given, ledgerAccountId: expenses })
    const [{ id: taken }] = (await a.rows<{ id: string }>(
      `select ledger_account_id as id from cash_account where id = :bankId`,
      {
        bankId,
      },
    )) as [{ id: string }]
    await leavesAll(422, 'ledger_account_taken', 'POST', 'cash/accounts', { ...given, ledgerAccountId: taken })
    const { id } = await a.good(a.finance, 'POST', 'cash/accounts', given)
    await a.good(a.finance, 'POST', `cash/accounts/${id}/archive`, {})
    await leavesAll(422, 'account_archived', 'POST', 'cash/movements', {
      cashAccountId: id,
      amount: -100,
      bookedOn: a.on('03-02'),
      accountId: expenses,
      description: 'Fee',
    })
  })

  it('the ledger: undone at its source, years with a gap, a property with postings, a rate that was used', async () => {
    const bill = await a.bill({
      supplierId: (await a.supplier()).id,
      issuedOn: a.on('03-02'),
      lines: [{ description: 'Repairs', accountId: expenses, amount: 800 }],
    })
    await world.drain()
    const [entry] = await a.rows<{ id: string }>(`select id from journal_entry where source_id = :id`, { id: bill.id })
    const reply = await leavesAll(422, 'reverse_at_source', 'POST', `financial/ledger-entries/${entry?.id}/reverse`, {
      reason: 'Wrong',
    })
    expect(JSON.stringify(reply.errors)).to.include(bill.id)
    await leavesAll(422, 'year_not_contiguous', 'POST', 'financial/fiscal-years', {
      bookId: a.bookId,
      startsOn: `${a.year - 3}-01-01`,
    })
    const move = { propertyId: a.house.propertyId }
    const payment = randomUUID()
    await a.house.inHouse((trx) =>
      raisePosting(trx, {
        event: 'payment.payment_captured',
        source: { id: payment },
        propertyId: a.house.propertyId,
        payload: { amounts: { amount: 100 }, documents: { payment } },
      }),
    )
    await leavesAll(422, 'property_has_postings', 'POST', `financial/books/${a.bookId}/assign-property`, move, a.owner)
    await world.drain()
    const rates = { date: a.on('03-01'), rates: [{ from: 'USD', to: 'BRL', rate: '5.10' }] }
    await a.good(a.finance, 'PUT', 'financial/exchange-rates', rates)
    await a.rows(`update exchange_rate set used_at = now() where tenant_id = :tenantId returning id`)
    await leavesAll(422, 'rate_used', 'PUT', 'financial/exchange-rates', {
      ...rates,
      rates: [{ from: 'USD', to: 'BRL', rate: '5.11' }],
    })
  })

  it('the ledger: a lock over events that wait, and a month that another request holds', async () => {
    await a.good(a.finance, 'POST', 'cash/movements', {
      cashAccountId: bankId,
      amount: -100,
      bookedOn: a.on('02-02'),
      accountId: expenses,
      description: 'Fee',
    })
    await leavesAll(
      422,
      'postings_waiting',
      'PUT',
      `financial/books/${a.bookId}/locks`,
      { lockedUntil: a.on('02-28') },
      a.owner,
    )
    await a.good(a.finance, 'POST', `financial/periods/${await a.periodOf(a.on('01-05'))}/soft-close`, {})
    await leavesAll(
      422,
      'postings_waiting',
      'POST',
      `financial/periods/${await a.periodOf(a.on('02-05'))}/soft-close`,
      {},
    )
    await world.drain()
    const period = await a.periodOf(a.on('02-05'))
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`select id from fiscal_period where id = ? for update`, [period])
      const close = () => a.send(a.finance, 'POST', `financial/periods/${period}/soft-close`, {})
      const [status, reply] = await impatiently(close)
      expect([status, reply.code]).to.deep.equal([409, 'ledger_busy'])
    })
    await a.good(a.finance, 'POST', `financial/periods/${period}/soft-close`, {})
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('files of a bill end five years after it was settled or voided, those of an entry five years after its posting', async () => {
    const attach = (module: string, entityType: string, entityId: string): Promise<Parsed> =>
      a.good(a.finance, 'POST', `${module}/attachments`, {
        entityType,
        entityId,
        fileName: 'nota.csv',
        mediaType: 'text/csv',
        content: csv,
      })
    const lines = [{ description: 'Repairs', accountId: expenses, amount: 900 }]
    const { id: supplierId } = await a.supplier()
    const bills: Parsed[] = []
    for (let at = 0; at < 3; at += 1) bills.push(await a.bill({ supplierId, issuedOn: a.on('05-02'), lines }))
    const [settled, voided, open] = bills as [Parsed, Parsed, Parsed]
    await a.good(a.finance, 'POST', payments, paid(settled.installments[0].id, { payOn: a.on('05-20') }))
    await a.good(a.owner, 'POST', `${payables}/${voided.id}/void`, { reason: 'Twice' })
    const entry = await a.entry(a.on('05-03'), [
      { accountCode: '6.1.10', debit: 300 },
      { accountCode: '1.1.3.80', credit: 300 },
    ])
    for (const { id } of bills) await attach('accounts-payable', 'payable', id)
    const { id: hidden } = await attach('accounts-payable', 'payable', settled.id)
    await a.good(a.finance, 'DELETE', `accounts-payable/attachments/${hidden}`, { reason: 'Of another bill' })
    await attach('financial', 'entry', entry.id as string)
    const files = async (): Promise<string[]> => {
      for (const job of [eraseBillFilesJob, eraseEntryFilesJob]) await inPlatform((trx) => enqueue(trx, job, {}))
      await world.drain({ kinds: [eraseBillFilesJob.name, eraseEntryFilesJob.name] })
      const rows = await a.rows<{ entityId: string }>(
        `select t.entity_id from attachment t join blob b on b.tenant_id = t.tenant_id and b.id = t.blob_id where t.tenant_id = :tenantId`,
      )
      return rows.map(({ entityId }) => entityId).toSorted()
    }
    const age = (by: string) =>
      world.database.admin.transaction(async (trx) => {
        await trx.raw(`set local session_replication_role = replica`)
        const t = a.house.tenantId
        await trx.raw(`update attachment set created_at = now() - ?::interval where tenant_id = ?`, [by, t])
        await trx.raw(`update payable_fact set created_at = now() - ?::interval where tenant_id = ?`, [by, t])
        await trx.raw(
          `update payable set voided_on = (now() - ?::interval)::date where tenant_id = ? and status = 'void'`,
          [by, t],
        )
        await trx.raw(
          `update journal_entry set posting_date = (now() - ?::interval)::date, created_at = now() - ?::interval where tenant_id = ? and id = ?`,
          [by, by, t, entry.id],
        )
      })
    const all = [settled.id, settled.id, voided.id, open.id, entry.id].map(String).toSorted()
    expect(await files()).to.deep.equal(all)
    await age('4 years 11 months')
    expect(await files()).to.deep.equal(all)
    await age('5 years 2 days')
    expect(await files()).to.deep.equal([open.id])
  })
})
