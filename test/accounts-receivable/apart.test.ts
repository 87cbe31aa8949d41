import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('what stands apart from debts', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
  })
  beforeEach(() => a.calm())

  it('has rows of its own in the ageing: stays that wait, and money of customers who owe nothing', async () => {
    const { bookId } = a.house
    const [waits, pays, owes] = [
      await a.customer({ billing: 'monthly', billingDay: 28 }),
      await a.customer(),
      await a.customer(),
    ]
    await a.bill(await a.folio(waits.id, 3_000))
    await a.bill(await a.folio(owes.id, 500))
    const cash = await a.good(a.finance, 'POST', 'cash/accounts', { bookId, kind: 'bank', code: 'B1', name: 'Banco' })
    const received = (amount: number, more: object) =>
      a.good(a.finance, 'POST', `${a.path}/receipts`, {
        cashAccountId: cash.id,
        method: 'bank',
        amount,
        receivedOn: a.house.today,
        ...more,
      })
    await received(700, { customerId: pays.id })
    await received(90, {})
    await world.drain()
    const aged = async (by: string, more = '') => {
      const { data, totals, meta } = await a.good(a.finance, 'GET', `${a.path}/ageing?bookId=${bookId}&by=${by}${more}`)
      const of = ({ total, unbilled, availableReceipts }: Parsed) => [total, unbilled, availableReceipts]
      const rows = (data as Parsed[]).map((row) => [row.key, row.name, ...of(row)])
      return { rows, totals: of(totals), count: meta.total }
    }
    const byCustomer = await aged('customer')
    expect(byCustomer.rows[0]).to.deep.equal([owes.id, owes.legalName, 500, 0, 0])
    expect(byCustomer.rows).to.have.deep.members([
      [owes.id, owes.legalName, 500, 0, 0],
      [waits.id, waits.legalName, 0, 3_000, 0],
      [pays.id, pays.legalName, 0, 0, 700],
      [null, null, 0, 0, 90],
    ])
    expect([byCustomer.totals, byCustomer.count]).to.deep.equal([[500, 3_000, 790], 4])
    expect(await aged('customer', '&limit=1')).to.deep.include({ rows: [byCustomer.rows[0]], count: 4 })
    expect((await aged('kind')).rows).to.have.deep.members([
      ['company', 'company', 500, 3_000, 700],
      [null, null, 0, 0, 90],
    ])
    const yesterday = `&asOf=${a.house.day(-1)}`
    expect(await aged('customer', yesterday)).to.deep.equal({ rows: [], totals: [0, 0, 0], count: 0 })
  })

  it('is billed on the day on which it came to be owed, or later', async () => {
    const { id: customerId } = await a.customer({ billing: 'monthly', billingDay: 28 })
    const [waiting, closed] = await a.bill(await a.folio(customerId, 1_000))
    expect(waiting).to.equal(200)
    const folioId = await a.folio(customerId, 2_000)
    const yesterday = a.house.day(-1)
    for (const bills of [
      { folioIds: [folioId] },
      { receivableIds: [closed.receivableId] },
      { unbilledUntil: a.house.today },
    ]) {
      const [status, reply] = await a.fromFolios({ customerId, ...bills, issuedOn: yesterday })
      expect([status, reply.code, reply.errors?.[0]?.field]).to.deep.equal([422, 'date_out_of_range', 'issuedOn'])
    }
    expect(await a.read(closed.receivableId)).to.include({ status: 'unbilled' })
    // Of a stay that ended yesterday, it is as good as today's.
    await a.rows(`update receivable set departed_on = cast(:yesterday as date) where id = cast(:id as uuid)`, {
      id: closed.receivableId,
      yesterday,
    })
    const [status, made] = await a.fromFolios({
      customerId,
      receivableIds: [closed.receivableId],
      issuedOn: yesterday,
    })
    expect([status, made.issuedOn], JSON.stringify(made)).to.deep.equal([201, yesterday])
  })
})
