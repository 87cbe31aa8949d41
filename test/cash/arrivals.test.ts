import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { takePix } from '../../db/cash/index.ts'
import { applyPayout } from '../../db/payment/balance/payouts.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import type { GatewayAccountRow } from '../../db/rows.ts'
import { openReceipts } from '../accounts-receivable/receipts-desk.ts'
import { pay } from '../support/pay.ts'
import { makeHold } from '../support/stay.ts'
import type { Parsed } from '../support/client.ts'
import { bankAddress, startPixBank } from '../support/pix-peer.ts'
import type { PixBank } from '../support/pix-peer.ts'
import { useWorld } from '../support/world.ts'
import { ofxFile } from './statement-files.ts'

const key = '123e4567-e12b-42d1-a456-426655440000'

describe('money that arrives at the bank of a house', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceipts>>
  let bank: PixBank
  let bankId: string

  before(async () => {
    bank = await startPixBank({ keys: [key] })
    a = await openReceipts(world, { ofHouse: true })
    bankId = await a.bank(100_000)
    await a.good(a.owner, 'PUT', `cash/accounts/${bankId}/pix`, {
      keys: [{ type: 'random', key }],
      connection: { provider: 'bcb', address: bankAddress, credentials: { clientId: 'x', clientSecret: 'right' } },
    })
    await world.drain()
  })
  after(() => bank.stop())

  it('settles by Pix the installment that it was asked for, and what is more stays with the customer', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [30_000, 20_000])
    const [first, second] = invoice.installments
    const charge = await a.good(a.finance, 'POST', 'cash/pix/charges', {
      kind: 'immediate',
      cashAccountId: bankId,
      amount: 20_000,
      targetType: 'receivable',
      targetId: invoice.id,
      installmentId: second?.id,
    })
    await world.drain()
    const endToEndId = bank.pays({ txid: charge.txid, amount: '205.00' })
    const { pathname } = new URL(bank.hooks.get(key) ?? '')
    await fetch(`${world.baseUrl}${pathname}/pix`, {
      method: 'POST',
      body: JSON.stringify({ pix: [{ endToEndId, txid: charge.txid }] }),
    })
    await world.drain()
    const parts = await a.rows<{ id: string; open: number }>(
      `select id, open from receivable_installment where receivable_id = :id`,
      { id: invoice.id },
    )
    expect(parts.find(({ id }) => id === second?.id)?.open).to.equal(0)
    expect(parts.find(({ id }) => id === first?.id)?.open).to.be.within(29_500, 30_000)
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid' })
    const paid = await a.good(a.finance, 'GET', `cash/pix/charges/${charge.id}`)
    expect(paid.receipts).to.have.length(1)
    const receipt = await a.read((paid.receipts as Parsed[])[0]?.claimedById)
    expect(receipt).to.include({ customerId, amount: 20_500, sourceType: 'pix' })
    expect(await a.failing()).to.deep.equal([])
  })

  it('for a charge that is paid late pays no other installment with the fine and interest that it asked for', async () => {
    const customerId = await a.customer()
    const paid = async (amount: number, late: number) => {
      const invoice = await a.plain(customerId, [30_000, 20_000])
      const charge = await a.good(a.finance, 'POST', 'cash/pix/charges', {
        kind: 'due_date',
        cashAccountId: bankId,
        amount: 30_000,
        targetType: 'receivable',
        targetId: invoice.id,
        installmentId: invoice.installments[0]?.id,
        payer: { name: 'Ana', document: '52998224725' },
        dueOn: a.house.today,
        fineRate: 200,
        monthlyInterestRate: 100,
      })
      await world.drain()
      await a.house.inHouse((trx) =>
        takePix(trx, bankId, {
          endToEndId: `E${randomUUID().replaceAll('-', '').slice(0, 31)}`,
          txid: charge.txid,
          amount,
          at: new Date(`${a.house.day(late)}T15:00:00Z`),
          payerName: 'Ana',
          payerDocument: '52998224725',
          text: null,
          returns: [],
        }),
      )
      const { receipts } = await a.good(a.finance, 'GET', `cash/pix/charges/${charge.id}`)
      const { available } = await a.read((receipts as Parsed[])[0]?.claimedById)
      const parts = await a.rows<{ open: string }>(
        `select open from receivable_installment where receivable_id = cast(:id as uuid) order by seq`,
        { id: invoice.id },
      )
      return [...parts.map(({ open }) => Number(open)), available]
    }
    // 2 % of 300.00 and ten days of 1 % a month.
    expect(await paid(30_700, 10)).to.deep.equal([0, 20_000, 700])
    expect(await paid(31_000, 10)).to.deep.equal([0, 19_700, 700])
    expect(await paid(30_200, 10)).to.deep.equal([0, 20_000, 200])
    expect(await paid(29_000, 10)).to.deep.equal([1_000, 20_000, 0])
    expect(await paid(30_700, 0)).to.deep.equal([0, 19_300, 0])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('proves the payout of a gateway by the line of a statement, once, and gives it back when that is undone', async () => {
    await pay(a.house, await makeHold(a.house))
    await world.drain()
    const account = await a.house.inHouse((trx) =>
      sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [a.house.gatewayAccountId]),
    )
    await inTenant(a.house.tenantId, (trx) =>
      applyPayout(trx, account!, {
        externalId: 'po_1',
        amount: 9_700,
        currency: 'BRL',
        status: 'paid',
        arrivesOn: a.house.today,
        complete: false,
        failure: null,
        createdAt: new Date(),
      }),
    )
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    await a.good(a.finance, 'POST', 'cash/bank-statements', {
      cashAccountId: bankId,
      format: 'ofx',
      fileName: 'extrato.ofx',
      content: ofxFile([{ on: a.house.today, amount: '97.00', id: 'P1', memo: 'REPASSE' }], {
        balance: '97.00',
        to: a.house.today,
        account: '',
        bank: '',
      }).toString('base64'),
    })
    await world.drain()
    const lines = async (): Promise<Parsed[]> =>
      (await a.good(a.finance, 'GET', `cash/bank-statement-lines?cashAccountId=${bankId}`)).data
    const [line] = await lines()
    expect(line?.suggestions[0]).to.include({ kind: 'payout', amount: 9_700 })
    const path = `cash/bank-statement-lines/${line?.id}`
    const match = () => a.send(a.finance, 'POST', `${path}/match`, { targets: [{ payoutId: line?.suggestions[0].id }] })
    const matched = await Promise.all(Array.from({ length: 20 }, match))
    expect(matched.filter(([status]) => status === 200).length, JSON.stringify(matched)).to.be.greaterThan(0)
    await world.drain()
    const booked = () =>
      a.rows(`select amount from cash_movement where tenant_id = :tenantId and source_type = 'payout'`)
    expect(await booked()).to.deep.equal([{ amount: 9_700 }])
    expect((await lines())[0]?.status).to.equal('matched')
    expect(await a.failing()).to.deep.equal([])
    await a.good(a.finance, 'POST', `${path}/unmatch`)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    expect((await match())[0]).to.equal(200)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })
})
