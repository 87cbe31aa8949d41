import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { bankReturned, recordReceipt, receiptRefundByPix } from '../../db/accounts-receivable/index.ts'
import { recordMovement, registerPixReturns } from '../../db/cash/index.ts'
import { registerModules } from '../../db/register.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceipts } from './receipts-desk.ts'

describe('a receipt of which more goes back than came', function () {
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

  /** A receipt of a Pix, with what the bank takes back of it by itself. */
  const ofPix = async (amount: number, receivableId?: string) => {
    const pixId = randomUUID()
    const id = await a.house.inHouse((trx) =>
      recordReceipt(trx, {
        sourceType: 'pix',
        sourceId: pixId,
        method: 'pix',
        bookId: a.bookId,
        currency: 'BRL',
        amount,
        receivableId: receivableId ?? null,
        book: () =>
          recordMovement(trx, {
            cashAccountId: bankId,
            amount,
            kind: 'pix_in',
            source: { type: 'pix', id: pixId },
            description: 'Pix received',
          }),
      }),
    )
    const takenBack = (part: number) =>
      a.house.inHouse((trx) =>
        bankReturned(trx, {
          sourceType: 'pix',
          sourceId: pixId,
          amount: part,
          reason: 'Special return',
          book: () =>
            recordMovement(trx, {
              cashAccountId: bankId,
              amount: -part,
              kind: 'pix_return',
              source: { type: 'pix_return', id: randomUUID() },
              description: 'Returned by the bank',
            }),
        }),
      )
    return { id, takenBack }
  }
  const exceptionOf = async (id: string): Promise<Parsed> => {
    const { data } = await a.good(a.finance, 'GET', 'payments/exceptions?kind=over_returned')
    return (data as Parsed[]).find(({ subjectId }) => subjectId === id)
  }

  it('that the bank takes back although a part had gone back is owed again, and the rest is a claim that a person books', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [6_000])
    const { id, takenBack } = await ofPix(10_000, invoice.id)
    await a.good(a.finance, 'POST', at(id, 'refund'), { via: 'manual', amount: 4_000, reason: 'Paid too much' })
    expect(await a.read(id)).to.include({ allocated: 6_000, refunded: 4_000, available: 0 })
    await takenBack(10_000)
    expect(await a.read(id)).to.include({ allocated: 0, refunded: 14_000, available: -4_000, overReturned: 4_000 })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 6_000 })
    expect(await a.failing()).to.deep.equal([])
    const opened = await exceptionOf(id)
    expect(opened).to.include({ status: 'open', subjectType: 'receipt', amount: 4_000, currency: 'BRL' })
    const settle = `payments/exceptions/${opened?.id}/resolve`
    expect(await a.refused(a.finance, 'POST', settle, { resolution: 'accepted', reason: 'It is so' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const claims = await a.account('1.1.3.80')
    const control = await a.account('2.1.5.04')
    const body = { resolution: 'written_off', reason: 'The customer pays it back' }
    expect(await a.refused(a.finance, 'POST', settle, { ...body, accountId: control })).to.deep.equal([
      422,
      'account_not_usable',
    ])
    await a.good(a.finance, 'POST', settle, { ...body, accountId: claims })
    expect(await exceptionOf(id)).to.include({ status: 'resolved', resolution: 'written_off' })
    expect(await a.failing()).to.deep.equal([])
  })

  it('that the bank takes back whole while a refund is under way is over-returned until that fails', async () => {
    const { id, takenBack } = await ofPix(9_000)
    const asked: { source: { id: string } }[] = []
    registerPixReturns((_, request) => {
      asked.push(request)
      return Promise.resolve({ pixReturnId: randomUUID() })
    })
    try {
      await a.good(a.finance, 'POST', at(id, 'refund'), { via: 'pix_return', amount: 5_000, reason: 'Too much' })
      await takenBack(9_000)
      expect(await a.read(id)).to.include({ refundReserved: 14_000, available: -5_000 })
      const opened = await exceptionOf(id)
      const accountId = await a.account('1.1.3.80')
      expect(
        await a.refused(a.finance, 'POST', `payments/exceptions/${opened?.id}/resolve`, {
          resolution: 'written_off',
          reason: 'Lost',
          accountId,
        }),
      ).to.deep.equal([409, 'invalid_transition'])
      const end = { status: 'failed' as const, failure: { code: 'refused', message: 'returned before' } }
      await a.house.inHouse((trx) => receiptRefundByPix.end(trx, asked[0]?.source.id ?? '', end))
    } finally {
      registerPixReturns(null)
      registerModules()
    }
    expect(await a.read(id)).to.include({ refundReserved: 9_000, refunded: 9_000, available: 0, overReturned: 0 })
    expect(await exceptionOf(id)).to.include({ status: 'resolved', automatic: true })
    expect(await a.failing()).to.deep.equal([])
  })

  it('by cheque that bounces after a part was given back leaves that part to be claimed', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [7_000])
    const { id } = await a.receipt(
      money(8_000, { method: 'cheque', customerId, allocations: [{ installmentId: invoice.installments[0]?.id }] }),
    )
    await a.good(a.finance, 'POST', at(id, 'refund'), { via: 'manual', amount: 1_000, reason: 'Paid too much' })
    await a.good(a.finance, 'POST', at(id, 'reverse'), { reason: 'The cheque bounced' })
    expect(await a.read(id)).to.include({ status: 'reversed', allocated: 0, refunded: 1_000, overReturned: 1_000 })
    expect(await a.document(invoice.id)).to.include({ status: 'issued', open: 7_000 })
    expect(await a.failing()).to.deep.equal([])
    const opened = await exceptionOf(id)
    const accountId = await a.account('1.1.3.80')
    const body = { resolution: 'written_off', reason: 'Claimed', accountId }
    await a.good(a.finance, 'POST', `payments/exceptions/${opened?.id}/resolve`, body)
    expect(await a.failing()).to.deep.equal([])
  })
})
