import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { recordReceipt, voidReceivable } from '../../db/accounts-receivable/index.ts'
import { recordMovement } from '../../db/cash/index.ts'
import type { Parsed } from '../support/client.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { openReceipts } from './receipts-desk.ts'

describe('money of customers', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceipts>>
  let bankId: string
  before(async () => {
    a = await openReceipts(world)
    bankId = await a.bank()
  })
  beforeEach(() => a.calm())

  const money = (customerId: string | undefined, amount: number, more: object = {}) => ({
    ...(customerId === undefined ? {} : { customerId }),
    cashAccountId: bankId,
    method: 'bank',
    amount,
    receivedOn: a.on('07-01'),
    ...more,
  })
  const allocate = (id: string, body: object) => a.send(a.finance, 'POST', `${a.path}/${id}/allocations`, body)
  const codes = (replies: readonly [number, Parsed][]) =>
    replies.map(([status, { code }]) => (status < 300 ? 'done' : String(code))).sort()

  it('is never allocated twice by 20 allocations of one receipt at once', async () => {
    const customerId = await a.customer()
    const { installments } = await a.plain(
      customerId,
      Array.from({ length: 20 }, () => 10_000),
    )
    const { id } = await a.receipt(money(customerId, 75_000))
    const replies = await Promise.all(
      installments.map((one) => allocate(id, { allocations: [{ installmentId: one.id, principal: 10_000 }] })),
    )
    const done = codes(replies).filter((code) => code === 'done')
    expect(done).to.have.length(7)
    for (const code of codes(replies)) expect(['done', 'amount_exceeds_available']).to.include(code)
    expect(await a.read(id)).to.include({ allocated: 70_000, available: 5_000 })
  })

  it('settles an installment never above its amount by 20 receipts at once', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [100_000])
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        a.send(
          a.finance,
          'POST',
          a.path,
          money(customerId, 30_000, {
            allocations: [{ installmentId: invoice.installments[0]?.id, principal: 30_000 }],
          }),
        ),
      ),
    )
    expect(codes(replies).filter((code) => code === 'done')).to.have.length(3)
    for (const code of codes(replies)) expect(['done', 'amount_exceeds_open']).to.include(code)
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', settled: 90_000, open: 10_000 })
  })

  it('is credited whole once, by two clerks at the same time', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [60_000, 40_000])
    await a.receipt(money(customerId, 60_000, { auto: true }))
    const body = { receivableId: invoice.id, reason: 'Never used' }
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => a.send(a.finance, 'POST', 'accounts-receivable/credit-notes', body)),
    )
    expect(codes(replies)).to.deep.equal([
      'credit_exceeds_invoice',
      'credit_exceeds_invoice',
      'credit_exceeds_invoice',
      'credit_exceeds_invoice',
      'done',
    ])
    const [, note] = replies.find(([status]) => status === 201) ?? [0, {}]
    expect(note).to.include({ amount: 100_000, applied: 40_000, excess: 60_000 })
    const excess = await a.read(note.receiptId)
    expect(excess).to.include({ sourceType: 'credit_note', method: 'credit', available: 60_000, customerId })
    expect(await a.document(invoice.id)).to.include({ open: 0, settled: 60_000, credited: 40_000, status: 'paid' })
    const other = await a.plain(customerId, [50_000])
    await a.good(a.finance, 'POST', `${a.path}/${excess.id}/allocations`, { auto: true })
    expect(await a.document(other.id)).to.include({ status: 'paid' })
    await a.good(a.finance, 'POST', `${a.path}/${excess.id}/refund`, {
      via: 'manual',
      cashAccountId: bankId,
      reason: 'Nothing else is owed',
    })
    expect(await a.read(excess.id)).to.include({ available: 0, refunded: 10_000 })
  })

  it('that a bank tells of pays no document that is voided in the same moment', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [30_000])
    const pixId = randomUUID()
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let isVoid = false
    const voiding = a.house.inHouse(async (trx) => {
      await voidReceivable(trx, invoice.id, 'Of another firm', null)
      isVoid = true
      await held
    })
    await until(() => isVoid)
    const paying = a.house.inHouse((trx) =>
      recordReceipt(trx, {
        sourceType: 'pix',
        sourceId: pixId,
        method: 'pix',
        bookId: a.bookId,
        currency: 'BRL',
        amount: 30_000,
        receivableId: invoice.id,
        book: () =>
          recordMovement(trx, {
            cashAccountId: bankId,
            amount: 30_000,
            kind: 'pix_in',
            source: { type: 'pix', id: pixId },
            description: 'Pix received',
          }),
      }),
    )
    await until(
      async () =>
        (
          await a.rows(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%from customer%'`,
          )
        ).length > 0,
    )
    commit()
    await voiding
    expect(await a.read(await paying)).to.include({ allocated: 0, available: 30_000, status: 'recorded' })
    expect(await a.document(invoice.id)).to.include({ status: 'void', settled: 0 })
  })

  it('goes back once by ten refunds of all of it at once, and two undo one allocation once', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [40_000])
    const { id, allocations } = await a.receipt(money(customerId, 90_000, { auto: true }))
    const refunds = await Promise.all(
      Array.from({ length: 10 }, () =>
        a.send(a.finance, 'POST', `${a.path}/${id}/refund`, { via: 'manual', amount: 50_000, reason: 'Paid too much' }),
      ),
    )
    expect(codes(refunds).filter((code) => code === 'done')).to.have.length(1)
    expect(codes(refunds).filter((code) => code === 'amount_exceeds_available')).to.have.length(9)
    const path = `${a.path}/${id}/allocations/${allocations[0].id}`
    const undone = await Promise.all(Array.from({ length: 5 }, () => a.send(a.finance, 'DELETE', path)))
    expect(codes(undone)).to.deep.equal(['done', 'done', 'done', 'done', 'done'])
    const after = await a.read(id)
    expect(after).to.include({ allocated: 0, available: 40_000, refunded: 50_000, refundReserved: 50_000 })
    expect(after.allocations.map(({ principal }: Parsed) => principal)).to.deep.equal([40_000, -40_000])
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 40_000 })
  })

  it('is taken or given up by 30 callers at once: no cent of an installment is both', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [60_000, 40_000])
    const [first] = invoice.installments
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 3 === 0
          ? a.send(a.owner, 'POST', `accounts-receivable/receivables/${invoice.id}/write-off`, { reason: 'Lost' })
          : a.send(
              a.finance,
              'POST',
              a.path,
              money(customerId, 7_000, { allocations: [{ installmentId: first?.id, principal: 7_000 }] }),
            ),
      ),
    )
    for (const code of codes(replies))
      expect(['done', 'amount_exceeds_open', 'invalid_transition', 'target_closed']).to.include(code)
    const received = replies.filter(([status], index) => index % 3 !== 0 && status === 201).length
    const now = await a.document(invoice.id)
    expect(now).to.include({ status: 'written_off', open: 0, settled: received * 7_000 })
    expect(now['writtenOff']).to.equal(100_000 - received * 7_000)
    const written = await a.rows(`select id from write_off where receivable_id = :id`, { id: invoice.id })
    expect(written).to.have.length(1)
    // Two reinstate at once: what was given up is open once.
    const back = await Promise.all(
      [1, 2].map(() =>
        a.send(a.owner, 'POST', `accounts-receivable/receivables/${invoice.id}/reinstate`, { reason: 'It pays' }),
      ),
    )
    expect(codes(back)).to.deep.equal(['done', 'invalid_transition'])
    expect(await a.document(invoice.id)).to.include({ writtenOff: 0, open: 100_000 - received * 7_000 })
  })

  it('leaves the ledger what the records say, and numbers without a hole', async () => {
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    const series = await a.rows<{ series: string; count: number; last: number }>(
      `select series, count(*)::int as count, max(number) as last from receipt where book_id = :bookId group by 1`,
    )
    expect(series.map((one) => one.series)).to.have.members([String(a.year), String(a.year + 1)])
    for (const { count, last } of series) expect(last).to.equal(count)
  })
})
