import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'

describe('a tax withheld has the rate of the day on which its bill is issued', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let supplierId: string
  let line: { description: string; accountId: string }
  before(async () => {
    a = await openPayables(world)
    const { id } = await a.supplier({ termDays: 10 })
    supplierId = id
    line = { description: 'Work', accountId: await a.account('6.4.03') }
  })
  beforeEach(() => a.calm())

  /** A tax with rates, in millionths, each from a day on. */
  const taxOf = async (name: string, ...[first, ...later]: [number, string][]): Promise<string> => {
    const { id } = await a.good(a.finance, 'POST', 'financial/tax-codes', {
      bookId: a.bookId,
      kind: 'withheld_from_suppliers',
      code: name,
      name,
      liabilityAccountId: await a.account('2.1.3.07'),
      rate: first?.[0],
      validFrom: first?.[1],
    })
    for (const [rate, validFrom] of later)
      await a.good(a.finance, 'POST', `financial/tax-codes/${id}/rates`, { rate, validFrom })
    return id
  }
  const draft = (withholdings: object[], more: object = {}) =>
    a.good(a.finance, 'POST', bills, {
      bookId: a.bookId,
      supplierId,
      kind: 'bill',
      issuedOn: a.on('02-10'),
      lines: [{ ...line, amount: 10_000 }],
      withholdings,
      ...more,
    })
  const change = (id: string, body: object) => a.good(a.finance, 'PATCH', `${bills}/${id}`, body)
  const withheld = ({ withholdings }: Parsed, taxCodeId: string) => {
    const one = (withholdings as Parsed[]).find((row) => row.taxCodeId === taxCodeId)
    return [one?.base, one?.rate, one?.amount]
  }

  it('also where the day of a draft changes, but for a rate that a person gave', async () => {
    const moved = await taxOf('MOVED', [15_000, a.on('01-01')], [20_000, a.on('03-01')])
    const given = await taxOf('GIVEN', [10_000, a.on('01-01')], [30_000, a.on('03-01')])
    const made = await draft([{ taxCodeId: moved }, { taxCodeId: given, rate: 10_000 }])
    expect(withheld(made, moved)).to.deep.equal([10_000, 15_000, 150])
    expect(made.withholdings[0]).to.have.all.keys('taxCodeId', 'code', 'base', 'rate', 'amount', 'collectedById')
    const later = await change(made.id, { issuedOn: a.on('03-10') })
    expect(withheld(later, moved)).to.deep.equal([10_000, 20_000, 200])
    expect(withheld(later, given)).to.deep.equal([10_000, 10_000, 100])
    expect(later).to.include({ withheld: 300, net: 9_700 })
    expect(later.installments.map(({ dueOn, amount }: Parsed) => [dueOn, amount])).to.deep.equal([
      [a.on('03-20'), 9_700],
    ])
    const lined = await change(made.id, { lines: [{ ...line, amount: 20_000 }], issuedOn: a.on('02-20') })
    expect(withheld(lined, moved)).to.deep.equal([20_000, 15_000, 300])
    expect(withheld(lined, given)).to.deep.equal([20_000, 10_000, 200])
  })

  it('and keeps its base, and an amount that differs by 1 while the rate is the same', async () => {
    const same = await taxOf('SAME', [15_000, a.on('01-01')], [20_000, a.on('03-01')])
    const made = await draft([{ taxCodeId: same, base: 5_000, amount: 76 }])
    expect(withheld(made, same)).to.deep.equal([5_000, 15_000, 76])
    expect(withheld(await change(made.id, { issuedOn: a.on('02-11') }), same)).to.deep.equal([5_000, 15_000, 76])
    expect(withheld(await change(made.id, { notes: 'Read' }), same)).to.deep.equal([5_000, 15_000, 76])
    expect(withheld(await change(made.id, { issuedOn: a.on('03-11') }), same)).to.deep.equal([5_000, 20_000, 100])
  })

  it('and of a base that a person gave, which stays where the lines change', async () => {
    const part = await taxOf('PART', [110_000, a.on('01-01')])
    const whole = await taxOf('WHOLE', [10_000, a.on('01-01')])
    const made = await draft([{ taxCodeId: part, base: 5_000, amount: 551 }, { taxCodeId: whole }])
    const lines = (amount: number) => ({ lines: [{ ...line, description: 'Labour and goods', amount }] })
    const of = async (amount: number) => {
      const now = await change(made.id, lines(amount))
      return [withheld(now, part), withheld(now, whole)]
    }
    expect(await of(10_000)).to.deep.equal([
      [5_000, 110_000, 551],
      [10_000, 10_000, 100],
    ])
    expect(await of(20_000)).to.deep.equal([
      [5_000, 110_000, 551],
      [20_000, 10_000, 200],
    ])
    // No more is withheld of than the bill has.
    expect(await of(4_000)).to.deep.equal([
      [4_000, 110_000, 440],
      [4_000, 10_000, 40],
    ])
  })

  it('and a day without a rate is refused', async () => {
    const young = await taxOf('YOUNG', [15_000, a.on('02-01')])
    const made = await draft([{ taxCodeId: young }])
    const [status, reply] = await a.send(a.finance, 'PATCH', `${bills}/${made.id}`, { issuedOn: a.on('01-31') })
    expect([status, (reply.errors as Parsed[])[0]?.field]).to.deep.equal([400, 'withholdings.0.rate'])
    expect(await a.read(made.id)).to.include({ issuedOn: a.on('02-10') })
  })

  it('and the forecast counts bills that recur at what will be paid on their days', async () => {
    const today = a.house.today
    const dues = [addDays(today, 10), addDays(today, 17)]
    // The bill of the second day is issued two days before it is due, when the new rate is in force.
    const rising = await taxOf('RISING', [15_000, a.on('01-01')], [50_000, addDays(today, 15)])
    const fixed = await taxOf('FIXED', [10_000, a.on('01-01')])
    const gone = await taxOf('GONE', [10_000, a.on('01-01')])
    const day = async (date: string) => {
      const { currencies } = await a.good(a.owner, 'GET', `cash/position?bookId=${a.bookId}&days=30`)
      return (currencies[0].days as Parsed[]).find((one) => one.date === date)?.out.recurring
    }
    await a.bank(100, a.on('01-01'))
    const before = await Promise.all(dues.map(day))
    await a.good(a.finance, 'POST', 'accounts-payable/recurring-payables', {
      bookId: a.bookId,
      name: 'Weekly',
      unit: 'week',
      firstOn: dues[0],
      leadDays: 2,
      template: {
        supplierId,
        kind: 'bill',
        lines: [
          { ...line, amount: 11_000 },
          { ...line, amount: -1_000 },
        ],
        withholdings: [
          { taxCodeId: rising },
          { taxCodeId: fixed, base: 4_000, rate: 20_000, amount: 81 },
          { taxCodeId: gone },
        ],
      },
    })
    await a.good(a.finance, 'PATCH', `financial/tax-codes/${gone}`, { active: false })
    const after = await Promise.all(dues.map(day))
    expect(after.map((sum, index) => sum - before[index])).to.deep.equal([10_000 - 150 - 81, 10_000 - 500 - 81])
  })
})
