import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { controls } from '../../config/financial.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { storeOf } from '../inventory/support.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

describe('the nightly checks of a book', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>

  /** Walls are passed by, as a superuser of the database can. */
  const byHand = (text: string, values: Record<string, unknown> = {}) =>
    world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(text, { t: a.house.tenantId, b: a.bookId, ...values } as never)
    })

  before(async () => {
    a = await openPayables(world)
    const { bookId, finance, owner, good, on, account } = a
    const [bank, second] = [await a.bank(900_000, on('01-02')), await a.bank(0, on('01-02'))]
    const income = await account('4.3.08')
    const { id: customerId } = await good(finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Ondas Turismo',
      currency: 'BRL',
    })
    const { id: receivableId } = await good(finance, 'POST', 'accounts-receivable/receivables', {
      bookId,
      customerId,
      issuedOn: on('05-02'),
      issue: true,
      lines: [{ description: 'Hall', unitAmount: 50_000, accountId: income }],
    })
    await world.drain()
    const { installments } = await good(finance, 'GET', `accounts-receivable/receivables/${receivableId}`)
    const receipt = await good(finance, 'POST', 'accounts-receivable/receipts', {
      customerId,
      cashAccountId: bank,
      method: 'bank',
      amount: 30_000,
      receivedOn: on('05-10'),
      allocations: [{ installmentId: (installments as Parsed[])[0]?.id, principal: 20_000 }],
    })
    // A refund that another person has yet to approve keeps its money in refunds payable.
    await good(finance, 'POST', `accounts-receivable/receipts/${receipt.id}/refund`, {
      via: 'manual',
      amount: 1_000,
      cashAccountId: bank,
      reason: 'Paid twice',
    })
    const { id: supplierId } = await a.supplier()
    await a.bill({
      supplierId,
      number: '7',
      issuedOn: on('05-02'),
      lines: [{ description: 'Fruit', accountId: await account('6.1.03'), amount: 25_000 }],
    })
    await good(finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: bank,
      payOn: on('05-05'),
      items: [{ advance: { supplierId }, principal: 4_000 }],
    })
    await good(finance, 'POST', 'cash/transfers', {
      fromAccountId: bank,
      toAccountId: second,
      method: 'manual',
      amount: 5_000,
      purpose: 'Between banks',
      sentOn: on('05-06'),
    })
    const entry = await a.entry(on('05-03'), [
      { accountCode: '6.1.10', debit: 300 },
      { accountCode: '1.1.3.80', credit: 300 },
    ])
    await good(owner, 'POST', `financial/ledger-entries/${entry.id}/reverse`, {
      reason: 'Wrong',
      postingDate: on('05-04'),
    })
    // A register that is open with its float, and stock that was there at the start.
    const propertyId = await a.property()
    const register = await good(owner, 'POST', 'cash/accounts', {
      propertyId,
      kind: 'register',
      code: 'REG-1',
      name: 'Till',
      opening: { amount: 20_000, on: a.house.today },
    })
    await good(a.manager, 'POST', 'cash/sessions', { registerId: register.id, count: { '10000': 2 } })
    const store = storeOf(owner, propertyId)
    const [{ FOOD: categoryId = '' }, { MAIN: locationId = '' }] = [
      await store.categories({ code: 'FOOD', name: 'Food', expenseGroup: 'food' }),
      await store.locations({ code: 'MAIN', name: 'Store', kind: 'store' }),
    ]
    const itemId = await store.item({ sku: 'RICE', name: 'Rice', categoryId, base: 'g' })
    await store.receive(locationId, itemId, '1000', 'g', 600)
    await world.drain()
  })

  it('compare each kind of control accounts, and pass on a book that is whole', async () => {
    await a.good(a.finance, 'POST', 'financial/integrity-checks/run', { bookId: a.bookId })
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const { data } = await a.good(a.finance, 'GET', `financial/integrity-checks?bookId=${a.bookId}`)
    const names = (data as Parsed[]).map(({ check }) => check as string)
    expect(names).to.include.members([
      ...'entries_balance balances_equal_lines book_sums_to_zero closed_untouched events_posted series_without_gap'.split(
        ' ',
      ),
      ...'seals_without_gap hash_chain reversals_equal archived_zero day_frozen exposure_equals_open cash_sums session_sums match_sums z_numbers_without_gap'.split(
        ' ',
      ),
      ...'payable_sums supplier_credit_sums receivable_sums receipt_sums stock_sums gateway_days'.split(' '),
      ...controls.map((kind) => `control_${kind}`),
    ])
    expect((data as Parsed[]).filter(({ status }) => status === 'failed')).to.deep.equal([])
  })

  for (const kind of controls)
    it(`find an entry that somebody has put on an account of kind ${kind}, without a record behind it`, async () => {
      const [entry] = await a.rows<{ id: string }>(
        `select id from journal_entry where book_id = :bookId and kind = 'standard' and source_type = 'financial.manual' limit 1`,
      )
      const id = randomUUID()
      await world.database.admin.transaction(async (trx) => {
        await trx.raw(`set local session_replication_role = replica`)
        const values = { t: a.house.tenantId, b: a.bookId, entry: entry?.id, id, kind }
        const columns = async (table: string): Promise<string> => {
          const found: { rows: { list: string }[] } = await trx.raw(
            `select string_agg(quote_ident(attname), ', ') as list from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped
             and attgenerated = '' and attidentity = ''`,
            [table],
          )
          return found.rows[0]?.list ?? ''
        }
        for (const [table, key, change] of [
          ['journal_entry', 'id', `jsonb_build_object('id', cast(:id as text), 'source_id', cast(:id as text))`],
          [
            'journal_line',
            'entry_id',
            `jsonb_build_object('entry_id', cast(:id as text)) || case when x.debit > 0 then jsonb_build_object('account_id',
               (select id from account where tenant_id = :t and book_id = :b and control = :kind order by code limit 1), 'document_type', 'movement', 'document_id', cast(:id as text)) else '{}' end`,
          ],
        ] as const) {
          const list = await columns(table)
          await trx.raw(
            `insert into ${table} (${list}) select ${list} from (select (jsonb_populate_record(x, ${change})).* from ${table} x
             where x.tenant_id = :t and x.${key} = :entry) y`,
            values as never,
          )
        }
      })
      expect(await a.failing()).to.include(`control_${kind}`)
      await byHand(`delete from journal_line where tenant_id = :t and entry_id = :id`, { id })
      await byHand(`delete from journal_entry where tenant_id = :t and id = :id`, { id })
    })

  type Broken = { breaks: string; mends: string; names: string[] }
  const sums = (table: string, column: string, names: string[], where = 'true'): Broken => {
    const set = (sign: string) =>
      `update ${table} set ${column} = ${column} ${sign} 100 where tenant_id = :t and ${where}`
    return { breaks: set('+'), mends: set('-'), names }
  }
  const cases: Record<string, Broken> = {
    'a movement of money': sums('cash_movement', 'amount', ['control_cash'], `kind = 'opening'`),
    'a transfer on its way': sums('cash_transfer', 'amount', ['control_transit'], `status = 'in_transit'`),
    'the balance of an account of money': sums('cash_account', 'balance', ['cash_sums'], `kind = 'bank'`),
    'the part of it that the bank has shown': sums('cash_account', 'cleared', ['cash_sums'], `kind = 'bank'`),
    'what a session of a register expects': sums('cash_session', 'expected', ['session_sums']),
    'the matched part of a movement': sums('cash_movement', 'matched', ['match_sums', 'cash_sums'], `kind = 'opening'`),
    'the open amount of an installment of a bill': sums('payable_installment', 'settled', ['payable_sums']),
    'the open amount of an installment of an invoice': sums('receivable_installment', 'written_off', [
      'receivable_sums',
    ]),
    'what of an advance is used': sums('supplier_credit', 'applied', ['supplier_credit_sums', 'control_advance']),
    'what of a receipt goes back': sums('receipt', 'refund_reserved', ['receipt_sums']),
    'the value of stock': sums('inventory_stock', 'value', ['stock_sums']),
    'what an invoice was paid': sums('receivable', 'settled', [
      'control_receivable',
      'exposure_equals_open',
      'receivable_sums',
    ]),
    'what a customer owes in all': sums('customer', 'exposure', ['exposure_equals_open']),
    'what a receipt has left': sums('receipt', 'allocated', ['control_unallocated', 'receipt_sums']),
    'what a bill was paid': sums('payable', 'settled', ['control_supplier', 'payable_sums']),
    'an advance': sums('supplier_credit', 'amount', ['control_advance'], `kind = 'advance'`),
    'a number of a series': {
      breaks: `update receivable set number = 9 where tenant_id = :t and number = 1`,
      mends: `update receivable set number = 1 where tenant_id = :t and number = 9`,
      names: ['series_without_gap'],
    },
    'a series that cannot be read': {
      breaks: `update receivable set series = 'X' where tenant_id = :t and number = 1`,
      mends: `update receivable set series = to_char(issued_on, 'YYYY') where tenant_id = :t and number = 1`,
      names: ['series_without_gap'],
    },
    'the number of a day of a register': {
      breaks: `update cash_session set status = 'closed', counted = expected, closed_at = now(), closed_by = cashier_id, closed_xid = opened_xid, z_number = 2 where tenant_id = :t`,
      mends: `update cash_session set status = 'open', counted = null, closed_at = null, closed_by = null, closed_xid = null, z_number = null where tenant_id = :t`,
      names: ['z_numbers_without_gap'],
    },
    'the account of a reversal': {
      breaks: `update journal_line l set account_id = (select id from account where book_id = :b and code = '6.1.03')
        from journal_entry e where e.tenant_id = :t and e.id = l.entry_id and e.kind = 'reversal' and l.credit > 0`,
      mends: `update journal_line l set account_id = (select id from account where book_id = :b and code = '6.1.10')
        from journal_entry e where e.tenant_id = :t and e.id = l.entry_id and e.kind = 'reversal' and l.credit > 0`,
      names: ['reversals_equal', 'balances_equal_lines'],
    },
    'what a day had when it closed': {
      breaks: `insert into business_day (tenant_id, property_id, date, status, opened_at, closed_at, totals)
        select :t, p.id, current_date - 3, 'closed', now(), now(), '{"lineSum": 500, "lineCount": 1}' from property p where p.tenant_id = :t and p.id = :p`,
      mends: `delete from business_day where tenant_id = :t and date = current_date - 3 and property_id = :p`,
      names: ['day_frozen'],
    },
  }
  for (const [what, { breaks, mends, names }] of Object.entries(cases))
    it(`find by name what somebody has changed: ${what}`, async () => {
      const p = names.includes('day_frozen') ? await a.property() : a.house.propertyId
      await byHand(breaks, { p })
      expect(await a.failing()).to.include.members(names)
      await byHand(mends, { p })
      expect(await a.failing()).to.deep.equal([])
    })
})
