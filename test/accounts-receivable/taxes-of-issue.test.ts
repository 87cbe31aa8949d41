import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('the tax of an invoice', function () {
  this.timeout(60_000)
  const world = useWorld()

  it('has the rate of the day of issue, also where that was set after the draft was written', async () => {
    const a = await openReceivables(world)
    const code = await a.good(a.finance, 'POST', 'financial/tax-codes', {
      bookId: a.bookId,
      kind: 'document',
      code: 'ISS',
      name: 'ISS',
      liabilityAccountId: await a.account('2.1.3.01'),
      contraAccountId: await a.account('4.8.01'),
      rate: 50_000,
      validFrom: a.on('01-01'),
    })
    const customer = await a.customer()
    const drafted = (day: string) =>
      a.line(10_010).then((line) =>
        a.invoice({
          customerId: customer.id,
          issuedOn: a.on(day),
          issue: false,
          lines: [{ ...line, taxCodeId: code.id }, line],
        }),
      )
    const [before, after] = [await drafted('02-20'), await drafted('03-10')]
    const taxesOf = ({ lines }: Parsed) => (lines as Parsed[]).map(({ taxAmount }) => taxAmount)
    expect([taxesOf(before), taxesOf(after)]).to.deep.equal([
      [501, 0],
      [501, 0],
    ])
    const rate = { rate: 25_000, validFrom: a.on('03-01') }
    await a.good(a.finance, 'POST', `financial/tax-codes/${code.id}/rates`, rate)
    for (const { id } of [before, after]) await a.good(a.finance, 'POST', `${a.path}/receivables/${id}/issue`, {})
    await world.drain()
    expect([taxesOf(await a.read(before.id)), taxesOf(await a.read(after.id))]).to.deep.equal([
      [501, 0],
      [250, 0],
    ])
    expect((await a.balances(a.on('01-01'), a.on('12-31')))['2.1.3.01']).to.equal(-751)
    expect(await a.failing()).to.deep.equal([])
  })
})
