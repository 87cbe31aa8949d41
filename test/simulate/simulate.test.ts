import { expect } from 'chai'
import { simulate } from './run.ts'

describe('A simulated group of properties', function () {
  this.timeout(120_000)

  it('lives two days without a reply or a record that should not be', async () => {
    const { tally, marks, violations } = await simulate({ seed: 7, properties: 2, days: 2 })
    expect(violations).to.deep.equal([])
    expect(tally.wrong).to.deep.equal([])
    expect(marks.at(-1)?.bookings).to.be.above(0)
  })
})
