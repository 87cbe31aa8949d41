import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceipts } from './receipts-desk.ts'

describe('credit notes of an invoice', function () {
  this.timeout(60_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceipts>>
  let iss: string
  const notes = 'accounts-receivable/credit-notes'
  const codes = { rent: '4.2.04', rooms: '4.3.08' }

  before(async () => {
    a = await openReceipts(world)
    iss = await a.taxCode('document', 'ISS', {
      rate: 50_000,
      liabilityAccountId: await a.account('2.1.3.01'),
      contraAccountId: await a.account('4.8.01'),
    })
  })

  const invoiceOf = async (...lines: [number, keyof typeof codes, boolean][]) =>
    a.invoice({
      customerId: await a.customer(),
      issuedOn: a.on('05-02'),
      installments: [{ dueOn: a.on('06-01'), amount: lines.reduce((sum, [amount]) => sum + amount, 0) }],
      lines: await Promise.all(
        lines.map(async ([unitAmount, code, taxed], index) => ({
          description: `Line ${index + 1}`,
          unitAmount,
          accountId: await a.account(codes[code]),
          ...(taxed ? { taxCodeId: iss, tax: Math.round(unitAmount * 0.05) } : {}),
        })),
      ),
    })
  const credit = (receivableId: string, more: object = {}): Promise<Parsed> =>
    a.good(a.finance, 'POST', notes, { receivableId, reason: 'Not as agreed', issuedOn: a.on('05-10'), ...more })
  const taxOf = (note: Parsed): number => note.lines.reduce((sum: number, one: Parsed) => sum + one.taxAmount, 0)

  it('give back the tax of the invoice together, to the cent, however many they are', async () => {
    // 5 % of 10.30 is 0.52. Of a note of 0.10 alone it is 0.01, though of all ten it is 0.05.
    const made = await invoiceOf([1_030, 'rent', true])
    const given: number[] = []
    for (let at = 0; at < 10; at += 1) given.push(taxOf(await credit(made.id, { amount: 10 })))
    expect(given.reduce((sum, tax) => sum + tax, 0)).to.equal(5)
    given.push(taxOf(await credit(made.id, { amount: 500 })), taxOf(await credit(made.id)))
    expect(given.reduce((sum, tax) => sum + tax, 0)).to.equal(52)
    await world.drain()
    const [books] = await a.rows(
      `select sum(case when a.code = '2.1.3.01' then l.debit - l.credit else 0 end)::int as tax, sum(case when a.code = '4.2.04' then l.debit - l.credit else 0 end)::int as rent
       from journal_line l join account a on a.id = l.account_id where a.book_id = :bookId`,
      { bookId: a.bookId },
    )
    expect(books).to.deep.equal({ tax: 0, rent: 0 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('take from each line what is left of it, and end all lines with the last', async () => {
    const made = await invoiceOf([100, 'rent', true], [100, 'rooms', false])
    const lines: Parsed[] = []
    for (let at = 0; at < 9; at += 1) lines.push(...(await credit(made.id, { amount: 1 })).lines)
    lines.push(...(await credit(made.id)).lines)
    const of = async (code: keyof typeof codes, field: string) => {
      const accountId = await a.account(codes[code])
      return lines.filter((one) => one.accountId === accountId).reduce((sum, one) => sum + one[field], 0)
    }
    expect([await of('rent', 'amount'), await of('rooms', 'amount')]).to.deep.equal([100, 100])
    expect([await of('rent', 'taxAmount'), await of('rooms', 'taxAmount')]).to.deep.equal([5, 0])
  })

  it('that name an account give back no more tax than its lines had', async () => {
    const made = await invoiceOf([2_000, 'rent', true], [2_000, 'rent', false], [6_000, 'rooms', false])
    const note = await credit(made.id, { lines: [{ accountId: await a.account(codes.rent), amount: 9_000 }] })
    expect(note.lines.map(({ amount, taxAmount }: Parsed) => [amount, taxAmount])).to.deep.equal([
      [2_000, 100],
      [2_000, 0],
      [5_000, 0],
    ])
    const rest = await credit(made.id)
    expect(rest.lines.map(({ amount, taxAmount }: Parsed) => [amount, taxAmount])).to.deep.equal([[1_000, 0]])
  })

  it('that name an account of their own give back the tax of what they lower, and all of it together', async () => {
    const made = await invoiceOf([1_000, 'rent', true], [3_000, 'rooms', false])
    const allowance = await a.account('4.2.09')
    const taken = (note: Parsed) =>
      note.lines.map(({ accountId, amount, taxAmount }: Parsed) => [accountId === allowance, amount, taxAmount])
    // A line of the invoice goes before what is shared, wherever it stands.
    const own = { accountId: await a.account(codes.rent), amount: 200 }
    const first = await credit(made.id, { lines: [{ accountId: allowance, amount: 1_900 }, own] })
    expect(taken(first)).to.have.deep.members([
      [true, 475, 24],
      [true, 1_425, 0],
      [false, 200, 10],
    ])
    expect(taken(await credit(made.id, { lines: [{ accountId: allowance, amount: 1_900 }] }))).to.deep.equal([
      [true, 325, 16],
      [true, 1_575, 0],
    ])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('of two clerks in the same moment give back what the invoice had', async () => {
    const made = await invoiceOf([1_030, 'rent', true])
    const both = await Promise.all(
      Array.from({ length: 6 }, () =>
        a.send(a.finance, 'POST', notes, {
          receivableId: made.id,
          amount: 206,
          reason: 'Twice',
          issuedOn: a.on('05-10'),
        }),
      ),
    )
    const good = both.filter(([status]) => status === 201).map(([, note]) => note)
    let tax = good.reduce((sum, note) => sum + taxOf(note), 0)
    for (let at = good.length; at < 5; at += 1) tax += taxOf(await credit(made.id, { amount: 206 }))
    expect(tax).to.equal(52)
    expect(await a.refused(a.finance, 'POST', notes, { receivableId: made.id, reason: 'More' })).to.deep.equal([
      422,
      'credit_exceeds_invoice',
    ])
  })
})
