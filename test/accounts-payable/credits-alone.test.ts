import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

describe('ageing of payables', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('has rows for payees with nothing but credits, who count among the pages', async () => {
    const a = await openPayables(world)
    const accountId = await a.account('6.4.03')
    const [owed, credited] = [await a.supplier(), await a.supplier()]
    await a.bill({
      supplierId: owed.id,
      issuedOn: a.on('03-10'),
      lines: [{ description: 'Work', accountId, amount: 4_000 }],
      installments: [{ dueOn: a.on('04-10'), amount: 4_000 }],
    })
    const credit = (payee: object, issuedOn: string, amount: number) =>
      a.good(a.finance, 'POST', 'accounts-payable/credits', {
        bookId: a.bookId,
        ...payee,
        number: `NC ${amount}`,
        issuedOn,
        amount,
        accountId,
      })
    await credit({ supplierId: credited.id }, a.on('03-20'), 700)
    await credit({ supplierId: owed.id }, a.on('03-20'), 50)
    const named = await credit({ payeeName: 'Feira' }, a.on('03-25'), 90)
    const aged = async (asOf: string, more = '') => {
      const path = `accounts-payable/ageing?bookId=${a.bookId}&asOf=${asOf}${more}`
      const { data, totals, meta } = await a.good(a.finance, 'GET', path)
      return {
        rows: (data as Parsed[]).map(({ key, name, total, credits }) => [key, name, total, credits]),
        totals: [totals.total, totals.credits],
        count: meta.total,
      }
    }
    const [first, second] = [
      [owed.id, owed.legalName, 4_000, 50],
      [credited.id, credited.legalName, 0, 700],
    ]
    expect(await aged(a.on('03-20'))).to.deep.equal({ rows: [first, second], totals: [4_000, 750], count: 2 })
    const all = await aged(a.on('03-31'))
    expect(all.rows).to.have.deep.members([first, second, [null, 'Feira', 0, 90]])
    expect([all.totals, all.count]).to.deep.equal([[4_000, 840], 3])
    // The debt stands before those who are owed nothing.
    expect(await aged(a.on('03-31'), '&limit=1')).to.deep.include({ rows: [first], count: 3 })
    const rest = await aged(a.on('03-31'), '&limit=2&page=2')
    expect([rest.rows.length, rest.count]).to.deep.equal([1, 3])
    // Neither a house nor a cost centre stands on them.
    for (const by of ['property', 'costCenter'])
      expect((await aged(a.on('03-31'), `&by=${by}`)).rows).to.deep.equal([[null, null, 4_000, 840]])
    await a.good(a.finance, 'POST', `accounts-payable/credits/${named.id}/void`, { reason: 'Never came' })
    expect((await aged(a.house.today)).rows).to.have.deep.members([first, second])
    expect((await aged(a.on('03-31'))).rows).to.have.deep.members(all.rows)
  })
})
