import { expect } from 'chai'
import { distributed, installmentsOf, rescheduled } from '../../db/documents/index.ts'

const first = { since: '2026-01-05', dueOn: '2026-02-05', amount: 500 }
const schedule = [
  { id: 'a', seq: 1, dueOn: '2026-02-05', amount: 500, open: 200, versions: [first] },
  { id: 'b', seq: 2, dueOn: '2026-03-05', amount: 500, open: 500, versions: [{ ...first, dueOn: '2026-03-05' }] },
]

describe('documents: schedules', () => {
  it('makes one installment of a total by the terms, and refuses others that do not add up or are due too early', () => {
    const issued = { total: 1000, issuedOn: '2028-02-01', termDays: 30 }
    expect(installmentsOf(issued, undefined)).to.deep.equal([{ dueOn: '2028-03-02', amount: 1000 }])
    expect(() => installmentsOf(issued, [{ dueOn: '2028-02-01', amount: 999 }])).to.throw('999')
    expect(() => installmentsOf(issued, [{ dueOn: '2028-01-31', amount: 1000 }])).to.throw('before')
  })

  it('dates what is unpaid anew, and keeps what was paid and how it stood before', () => {
    const made = rescheduled(
      schedule,
      [
        { dueOn: '2026-05-05', amount: 300 },
        { dueOn: '2026-06-05', amount: 400 },
      ],
      '2026-03-10',
    )
    expect(made.map(({ id, seq, dueOn, amount }) => [id, seq, dueOn, amount])).to.deep.equal([
      ['a', 1, '2026-02-05', 300],
      ['b', 2, '2026-05-05', 300],
      [null, 3, '2026-06-05', 400],
    ])
    expect(made[0]?.versions).to.deep.equal([first, { since: '2026-03-10', dueOn: '2026-02-05', amount: 300 }])
  })

  it('changes nothing where the wanted schedule is the one that stands', () => {
    const made = rescheduled(
      schedule,
      [
        { dueOn: '2026-02-05', amount: 200 },
        { dueOn: '2026-03-05', amount: 500 },
      ],
      '2026-03-10',
    )
    expect(made.map(({ versions }) => versions)).to.deep.equal(schedule.map(({ versions }) => versions))
  })

  it('keeps an installment that is not wanted any more with an amount of 0, and refuses another sum', () => {
    const made = rescheduled(schedule, [{ dueOn: '2026-02-05', amount: 700 }], '2026-03-10')
    expect(made.map(({ amount }) => amount)).to.deep.equal([1000, 0])
    expect(() => rescheduled(schedule, [{ dueOn: '2026-02-05', amount: 701 }], '2026-03-10')).to.throw('700 is open')
  })

  it('gives an amount to installments in their order, and no more than is open of each', () => {
    expect(distributed(schedule, 450).map(({ installment, amount }) => [installment.id, amount])).to.deep.equal([
      ['a', 200],
      ['b', 250],
    ])
  })
})
