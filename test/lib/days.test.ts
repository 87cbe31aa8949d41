import { expect } from 'chai'
import { overDays, wholeFrom, wholeMonths, wholeUntil } from '../../db/lib/days.ts'

describe('Months of days', () => {
  it('are whole from their first day or moment on', () => {
    const firsts: Record<string, string> = {
      '2026-03-01': '2026-03-01',
      '2026-03-02': '2026-04-01',
      '2026-12-31': '2027-01-01',
      '2028-02-29': '2028-03-01',
      '2026-03-01T00:00:00Z': '2026-03-01',
      '2026-03-01T00:00:00.000Z': '2026-03-01',
      '2026-03-01T00:00:00.0001Z': '2026-04-01',
      '2026-02-28T22:00:00-03:00': '2026-04-01',
      '2026-02-28T21:00:00-04:00': '2026-04-01',
    }
    for (const [given, month] of Object.entries(firsts)) expect(wholeFrom(given), given).to.equal(month)
  })

  it('are whole until their last day, and until a moment behind them', () => {
    const ends: Record<string, string> = {
      '2026-03-31': '2026-04-01',
      '2026-03-30': '2026-03-01',
      '2026-12-31': '2027-01-01',
      '2028-02-28': '2028-02-01',
      '2026-04-01T00:00:00Z': '2026-04-01',
      '2026-03-31T23:59:59.999Z': '2026-03-01',
      '2026-03-31T22:00:00-03:00': '2026-04-01',
    }
    for (const [given, month] of Object.entries(ends)) expect(wholeUntil(given), given).to.equal(month)
  })

  it('are none within one month, and each row of it is in the first cut alone', () => {
    expect(wholeMonths({ from: '2026-03-05', to: '2026-03-20' })).to.deep.equal({
      from: '2026-04-01',
      to: '2026-04-01',
    })
    expect(wholeMonths({ from: '2026-03-05', to: '2026-05-20' })).to.deep.equal({
      from: '2026-04-01',
      to: '2026-05-01',
    })
    expect(wholeMonths({})).to.deep.equal({ from: undefined, to: undefined })
  })

  it('do not tell rows over days that end before they begin', () => {
    const range = { first: 'g.arrival', end: 'g.departure', mostDays: 366 }
    expect(overDays(range, { after: '2026-03-05', before: '2026-03-05' }).terms).to.equal(null)
    expect(overDays(range, { after: '2026-03-05', before: '2026-03-06' }).terms).to.have.length(2)
  })
})
