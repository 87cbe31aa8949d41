import { expect } from 'chai'
import { registerPixReturns } from '../../db/cash/index.ts'
import { bankReturned, recordReceipt, receiptRefundByPix } from '../../db/accounts-receivable/index.ts'
import { recordMovement } from '../../db/cash/index.ts'
import { registerModules } from '../../db/register.ts'
import { installmentsIn, rescheduled, storeSchedule } from '../../db/documents/index.ts'
import { randomUUID } from 'node:crypto'
import { addDays } from '../../config/time.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { ofxFile } from '../cash/statement-files.ts'
import { openReceipts } from './receipts-desk.ts'

const side = { document: 'receivable' } as const

describe('a receipt', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceipts>>
  let bankId: string
  before(async () => {
    a = await openReceipts(world)
    bankId = await a.bank()
  })
  beforeEach(() => a.calm())

  const money = (amount: number, more: object = {}) => ({
    cashAccountId: bankId,
    method: 'bank',
    amount,
    receivedOn: a.on('07-01'),
    ...more,
  })
  const at = (id: string, verb: string) => `${a.path}/${id}/${verb}`

  it('of nobody known is listed first, is identified, and pays no other customer unless a third party does', async () => {
    const [first, second] = [await a.customer(), await a.customer()]
    const [one, two] = [await a.plain(first, [10_000]), await a.plain(second, [10_000])]
    const { id } = await a.receipt(
      money(30_000, { reference: 'PIX 77', payerName: 'Ana', payerDocument: '529.982.247-25' }),
    )
    const { data } = await a.good(a.finance, 'GET', `${a.path}?bookId=${a.bookId}&unidentified=true&q=pix 77`)
    expect(data.map((row: Parsed) => row.id)).to.deep.equal([id])
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), { auto: true })).to.deep.equal([
      400,
      'validation_failed',
    ])
    const both = [one, two].map(({ installments }) => ({ installmentId: installments[0]?.id }))
    const wanted = { allocations: both }
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), wanted)).to.deep.equal([422, 'other_customer'])
    const tried = await a.good(a.finance, 'POST', `${at(id, 'allocations')}?dryRun=true`, {
      ...wanted,
      thirdParty: true,
    })
    expect(tried).to.include({ customerId: first, cash: 20_000, available: 10_000 })
    expect((await a.read(id)).allocations).to.deep.equal([])
    const named = await a.good(a.finance, 'POST', at(id, 'allocations'), { customerId: first })
    expect(named).to.include({ customerId: first, available: 30_000 })
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), { customerId: second })).to.deep.equal([
      422,
      'other_customer',
    ])
    await a.good(a.finance, 'POST', at(id, 'allocations'), { ...wanted, thirdParty: true })
    expect(await a.document(two.id)).to.include({ status: 'paid' })
  })

  it('pays no cent more than is open or there, and may take no cash at all', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [10_000])
    const installmentId = invoice.installments[0]?.id
    const { id } = await a.receipt(money(9_000, { customerId }))
    const pay = (body: object) =>
      a.refused(a.finance, 'POST', at(id, 'allocations'), { allocations: [{ installmentId, ...body }] })
    expect(await pay({ principal: 10_001, discount: 2_000 })).to.deep.equal([422, 'amount_exceeds_open'])
    expect(await pay({ principal: 9_001 })).to.deep.equal([422, 'amount_exceeds_available'])
    expect(await pay({ principal: 5_000, discount: 5_001 })).to.deep.equal([400, 'validation_failed'])
    expect(await pay({ principal: 5_000, on: undefined, interest: 5_000 })).to.deep.equal([
      422,
      'amount_exceeds_available',
    ])
    const irrf = await a.taxCode('withheld_by_customers', 'IRRF', {
      rate: 15_000,
      liabilityAccountId: await a.account('1.1.5.03'),
    })
    await a.good(a.finance, 'POST', at(id, 'allocations'), {
      allocations: [{ installmentId, principal: 1_000, discount: 400, withheld: [{ taxCodeId: irrf, amount: 600 }] }],
    })
    expect(await a.read(id)).to.include({ allocated: 0, available: 9_000 })
    await a.good(a.finance, 'POST', at(id, 'allocations'), { allocations: [{ installmentId }] })
    expect(await a.read(id)).to.include({ available: 0 })
    expect(await a.document(invoice.id)).to.include({ status: 'paid', settled: 10_000 })
    expect(await a.refused(a.finance, 'POST', a.path, money(10, { allocations: [{ installmentId }] }))).to.deep.equal([
      422,
      'amount_exceeds_open',
    ])
    const book = { on: a.on('05-01'), allocations: [{ installmentId }] }
    const rest = await a.receipt(money(10, { customerId, receivedOn: a.on('04-01') }))
    const early = await a.plain(customerId, [500])
    expect(
      await a.refused(a.finance, 'POST', at(rest.id, 'allocations'), {
        ...book,
        allocations: [{ installmentId: early.installments[0]?.id }],
      }),
    ).to.deep.equal([422, 'date_out_of_range'])
  })

  it('is undone with an own date, also where its installment was rescheduled since', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [40_000, 60_000])
    const { id, allocations } = await a.receipt(money(30_000, { customerId, auto: true }))
    await a.house.inHouse(async (trx) => {
      const current = await installmentsIn(trx, side, [invoice.id])
      const wanted = [
        { dueOn: a.on('11-01'), amount: 50_000 },
        { dueOn: a.on('12-01'), amount: 20_000 },
      ]
      await storeSchedule(trx, side, invoice.id, rescheduled(current, wanted, a.house.today))
    })
    const after = await a.good(a.finance, 'DELETE', `${at(id, 'allocations')}/${allocations[0].id}`)
    expect(after).to.include({ allocated: 0, available: 30_000 })
    const [there, back] = after.allocations as Parsed[]
    expect([there?.reversedById, back?.reversesId, back?.principal]).to.deep.equal([back?.id, there?.id, -30_000])
    expect(back?.on >= a.on('12-31')).to.equal(true)
    expect(await a.document(invoice.id)).to.include({ status: 'issued', settled: 0, open: 100_000 })
    await a.good(a.finance, 'POST', at(id, 'allocations'), { auto: true })
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', settled: 30_000 })
    expect(await a.refused(a.finance, 'DELETE', `${at(id, 'allocations')}/${randomUUID()}`)).to.deep.equal([
      404,
      'not_found',
    ])
  })

  it('that bounced is reversed with all that it paid', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [20_000])
    const { id } = await a.receipt(money(20_000, { customerId, auto: true, method: 'cheque' }))
    expect(
      await a.refused(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced', on: a.on('06-30') }),
    ).to.deep.equal([422, 'date_out_of_range'])
    const gone = await a.good(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced', on: a.on('07-05') })
    expect(gone).to.include({ status: 'reversed', allocated: 0, reversedOn: a.on('07-05') })
    expect(await a.good(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced' })).to.include({
      version: gone.version,
    })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 20_000 })
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), { auto: true })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const other = await a.receipt(money(5_000, { customerId }))
    await a.good(a.finance, 'POST', at(other.id, 'refund'), { via: 'manual', amount: 1, reason: 'Too much' })
    expect(
      await a.refused(a.finance, 'POST', at(other.id, 'refund'), { via: 'pix_return', reason: 'Wrong' }),
    ).to.deep.equal([422, 'not_refundable'])
    expect(
      await a.refused(a.finance, 'POST', at(other.id, 'refund'), {
        via: 'transfer',
        payee: { keyType: 'email', key: 'ana@clientes.example' },
        reason: 'Wrong',
      }),
    ).to.deep.equal([422, 'pix_send_unsupported'])
    expect(await a.read(other.id)).to.include({ refundReserved: 1, refunded: 1 })
  })

  it('of a Pix pays what it was asked for, goes back by the bank, twice failed or by its own, and is posted so', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [30_000, 30_000])
    const pixId = randomUUID()
    const id = await a.house.inHouse((trx) =>
      recordReceipt(trx, {
        sourceType: 'pix',
        sourceId: pixId,
        method: 'pix',
        bookId: a.bookId,
        currency: 'BRL',
        amount: 50_000,
        receivableId: invoice.id,
        installmentId: invoice.installments[1]?.id ?? null,
        book: () =>
          recordMovement(trx, {
            cashAccountId: bankId,
            amount: 50_000,
            kind: 'pix_in',
            source: { type: 'pix', id: pixId },
            description: 'Pix received',
          }),
      }),
    )
    expect(await a.read(id)).to.include({ customerId, allocated: 50_000, sourceType: 'pix' })
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', open: 10_000 })
    const [first, second] = (await a.read(id)).allocations as Parsed[]
    expect([first?.installmentId, first?.principal, second?.principal]).to.deep.equal([
      invoice.installments[1]?.id,
      30_000,
      20_000,
    ])
    await a.good(a.finance, 'DELETE', `${at(id, 'allocations')}/${second?.id}`)
    expect(await a.refused(a.finance, 'POST', at(id, 'reverse'), { reason: 'Wrong' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const asked: { source: { id: string }; amount: number }[] = []
    registerPixReturns((_, request) => {
      asked.push(request)
      return Promise.resolve({ pixReturnId: randomUUID() })
    })
    try {
      for (const _ of [1, 2]) {
        await a.good(a.finance, 'POST', at(id, 'refund'), { via: 'pix_return', amount: 15_000, reason: 'Too much' })
        expect(await a.read(id)).to.include({ refundReserved: 15_000, available: 5_000 })
        const end = { status: 'failed' as const, failure: { code: 'refused', message: 'closed account' } }
        for (const __ of [1, 2])
          await a.house.inHouse((trx) => receiptRefundByPix.end(trx, asked.at(-1)?.source.id ?? '', end))
        expect(await a.read(id)).to.include({ refundReserved: 0, available: 20_000 })
      }
    } finally {
      registerPixReturns(null)
      registerModules()
    }
    await a.house.inHouse((trx) =>
      bankReturned(trx, {
        sourceType: 'pix',
        sourceId: pixId,
        amount: 35_000,
        reason: 'Special return',
        book: () =>
          recordMovement(trx, {
            cashAccountId: bankId,
            amount: -35_000,
            kind: 'pix_return',
            source: { type: 'pix_return', id: randomUUID() },
            description: 'Returned by the bank',
          }),
      }),
    )
    expect(await a.read(id)).to.include({ refunded: 35_000, allocated: 0, available: 15_000 })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 60_000 })
  })

  it('of a Pix older than 90 days goes back another way', async () => {
    const pixId = randomUUID()
    const id = await a.house.inHouse((trx) =>
      recordReceipt(trx, {
        sourceType: 'pix',
        sourceId: pixId,
        method: 'pix',
        bookId: a.bookId,
        currency: 'BRL',
        amount: 500,
        book: () =>
          recordMovement(trx, {
            cashAccountId: bankId,
            amount: 500,
            kind: 'pix_in',
            source: { type: 'pix', id: pixId },
            description: 'Pix received',
            bookedOn: addDays(a.house.today, -91),
          }),
      }),
    )
    const refund = (via: string) => a.refused(a.finance, 'POST', at(id, 'refund'), { via, reason: 'Too much' })
    expect(await refund('pix_return')).to.deep.equal([422, 'return_window_passed'])
    expect((await refund('manual'))[0]).to.equal(200)
  })

  it('is made by a line of the statement that pays installments, and is gone when the match is undone', async () => {
    const { on, finance, good } = a
    const { id: cashAccountId } = await good(finance, 'POST', 'cash/accounts', {
      bookId: a.bookId,
      kind: 'bank',
      code: 'LINHAS',
      name: 'Banco',
      bankCode: '341',
      number: '12345-6',
      opening: { amount: 0, on: on('09-01') },
    })
    const [first, second] = [await a.customer(), await a.customer()]
    const [one, two] = [await a.plain(first, [30_000, 20_000]), await a.plain(second, [15_000])]
    const lines = [{ on: on('09-18'), amount: '439,00', id: 'P', memo: 'TED ONDAS TURISMO' }]
    const { id: statementId } = await good(finance, 'POST', 'cash/bank-statements', {
      cashAccountId,
      format: 'ofx',
      fileName: 'extrato.ofx',
      content: ofxFile(lines, { balance: '439,00', to: on('09-18') }).toString('base64'),
    })
    await world.drain()
    const { data } = await good(finance, 'GET', `cash/bank-statement-lines?bankStatementId=${statementId}`)
    const line = `cash/bank-statement-lines/${data[0].id}`
    const targets = [
      { receivableInstallmentId: one.installments[0]?.id, discount: 1_000, fee: 100 },
      { receivableInstallmentId: two.installments[0]?.id },
    ]
    const [wrong] = targets
    expect(await a.refused(finance, 'POST', `${line}/match`, { targets: [wrong] })).to.deep.equal([
      422,
      'match_not_equal',
    ])
    const nothing = { receivableInstallmentId: two.installments[0]?.id, discount: 15_000 }
    expect(await a.refused(finance, 'POST', `${line}/match`, { targets: [nothing] })).to.deep.equal([
      400,
      'validation_failed',
    ])
    const matched = await good(finance, 'POST', `${line}/match`, { targets })
    expect(matched).to.include({ status: 'matched' })
    expect(await a.document(one.id)).to.include({ status: 'partly_paid', open: 20_000 })
    expect(await a.document(two.id)).to.include({ status: 'paid' })
    const { data: made } = await good(finance, 'GET', `${a.path}?cashAccountId=${cashAccountId}`)
    expect(made.map((row: Parsed) => [row.sourceType, row.amount, row.customerId, row.available])).to.deep.equal([
      ['bank_line', 43_900, first, 0],
    ])
    expect(await a.refused(finance, 'POST', at(made[0].id, 'reverse'), { reason: 'Wrong' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    expect(await good(finance, 'POST', `${line}/unmatch`, { reason: 'Another invoice' })).to.include({
      status: 'unmatched',
    })
    expect(await a.document(one.id)).to.include({ status: 'issued', open: 50_000 })
    expect(await a.read(made[0].id)).to.include({ status: 'reversed' })
    await good(finance, 'POST', `${line}/match`, { targets })
    expect(await a.document(two.id)).to.include({ status: 'paid' })
  })

  it('of an agency pays 40 installments gross, and keeps the commission', async () => {
    const customerId = await a.customer('agency')
    const invoice = await a.plain(
      customerId,
      Array.from({ length: 40 }, (_, index) => 10_000 + index),
    )
    const allocations = invoice.installments.map(({ id: installmentId }, index) => ({
      installmentId,
      principal: 10_000 + index,
      fee: 1_200,
    }))
    const gross = 40 * 10_000 + 780
    const paid = await a.receipt(money(gross - 40 * 1_200, { customerId, allocations }))
    expect(paid).to.include({ available: 0, allocated: gross - 48_000 })
    expect(await a.document(invoice.id)).to.include({ status: 'paid', settled: gross })
    await world.drain()
    const [fees] = await a.rows<{ fees: number }>(
      `select cast(sum(l.debit - l.credit) as bigint) as fees from journal_line l join account x on x.id = l.account_id
       where l.book_id = :bookId and x.role = 'commissions_payable'`,
    )
    expect(Number(fees?.fees)).to.equal(48_000)
    expect(await a.failing()).to.deep.equal([])
  })

  it('that bounces after the rest was written off leaves a document that is written off whole, once', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [6_000, 4_000])
    const { id } = await a.receipt(money(6_000, { customerId, auto: true, method: 'cheque' }))
    const one = `accounts-receivable/receivables/${invoice.id}`
    await a.good(a.owner, 'POST', `${one}/write-off`, { reason: 'Bankrupt' })
    expect(await a.document(invoice.id)).to.include({ status: 'written_off', settled: 6_000, writtenOff: 4_000 })
    await a.good(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced' })
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', open: 6_000, writtenOff: 4_000 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => a.send(a.owner, 'POST', `${one}/write-off`, { reason: 'All of it' })),
    )
    expect(replies.map(([status]) => status).filter((status) => status !== 200)).to.deep.equal([])
    expect(await a.document(invoice.id)).to.include({ status: 'written_off', open: 0, writtenOff: 10_000 })
    const { writeOffs } = await a.good(a.finance, 'GET', one)
    expect((writeOffs as Parsed[]).map(({ amount, reinstatedOn }) => [amount, reinstatedOn === null])).to.deep.equal([
      [4_000, false],
      [10_000, true],
    ])
    await a.good(a.finance, 'POST', `${one}/reinstate`, { reason: 'Paid after all' })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 10_000, writtenOff: 0 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('that is reversed after its document was credited leaves that document to its credit note', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [8_000])
    const { id } = await a.receipt(money(8_000, { customerId, auto: true }))
    const one = `accounts-receivable/receivables/${invoice.id}`
    const { id: noteId } = await a.good(a.finance, 'POST', 'accounts-receivable/credit-notes', {
      receivableId: invoice.id,
      reason: 'Event cancelled',
    })
    await a.good(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced' })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 8_000 })
    expect(await a.refused(a.owner, 'POST', `${one}/void`, { reason: 'Twice' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    // The money of the note pays the document that it credits.
    const { receiptId } = await a.good(a.finance, 'GET', `accounts-receivable/credit-notes/${noteId}`)
    await a.good(a.finance, 'POST', at(receiptId, 'allocations'), { auto: true })
    expect(await a.document(invoice.id)).to.include({ status: 'paid', open: 0 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('still to come is expected on its day, and what is late apart', async () => {
    const position = async () => {
      const { currencies } = await a.good(a.owner, 'GET', `cash/position?bookId=${a.bookId}&days=5`)
      return currencies[0]
    }
    const before = await position()
    const soon = addDays(a.house.today, 3)
    const more = { installments: [a.on('08-01'), soon].map((dueOn, index) => ({ dueOn, amount: 1_000 + index })) }
    await a.plain(await a.customer(), [1_000, 1_001], more)
    const after = await position()
    const on = (found: Parsed) => (found.days as Parsed[]).find(({ date }) => date === soon)?.in.receivables
    expect(on(after)).to.equal(on(before) + 1_001)
    expect(after.overdue.in).to.equal(before.overdue.in + 1_000)
    expect(after.days.at(-1).closing).to.equal(before.days.at(-1).closing + 1_001)
  })
})
