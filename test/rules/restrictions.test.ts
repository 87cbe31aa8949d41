import { expect } from 'chai'
import fc from 'fast-check'
import { combine, sentenceOf, stayChecks, unrestricted } from '../../db/properties/rules/restrictions.ts'
import type { Check, PlanLimits, Restriction } from '../../db/properties/rules/restrictions.ts'

const free: PlanLimits = {
  bookableFrom: null,
  bookableUntil: null,
  stayFrom: null,
  stayUntil: null,
  minAdvanceDays: null,
  maxAdvanceDays: null,
  minNights: null,
  maxNights: null,
}
type Days = Record<string, Partial<Restriction>>
const failed = (
  days: Days,
  {
    arrival = '2028-02-27',
    departure = '2028-03-01',
    today = '2028-02-20',
    plan = {},
  }: Partial<{ arrival: string; departure: string; today: string; plan: Partial<PlanLimits> }> = {},
) =>
  stayChecks({
    arrival,
    departure,
    today,
    on: (date) => ({ ...unrestricted, ...days[date] }),
    plan: { ...free, ...plan },
  })
    .filter((check) => !check.passed)
    .map((check) => (check.date ? `${check.code} ${check.date}` : check.code))

describe('Restrictions of a stay over the end of a leap February, three nights', () => {
  const nights = ['2028-02-27', '2028-02-28', '2028-02-29']

  for (const date of nights)
    it(`a stop of sales on ${date} refuses it`, () => {
      expect(failed({ [date]: { stopSell: true } })).to.deep.equal([`stop_sell ${date}`])
    })

  it('of the day of departure only closedToDeparture counts', () => {
    const all: Restriction = {
      stopSell: true,
      closedToArrival: true,
      closedToDeparture: true,
      minStayArrival: 30,
      maxStayArrival: 1,
      minStayThrough: 30,
      maxStayThrough: 1,
      minAdvanceDays: 700,
      maxAdvanceDays: 0,
    }
    expect(failed({ '2028-03-01': all })).to.deep.equal(['closed_to_departure 2028-03-01'])
  })

  for (const { kind, code, value } of [
    { kind: 'closedToArrival', code: 'closed_to_arrival', value: true },
    { kind: 'minStayArrival', code: 'min_stay_arrival', value: 4 },
    { kind: 'maxStayArrival', code: 'max_stay_arrival', value: 2 },
    { kind: 'minAdvanceDays', code: 'min_advance', value: 8 },
    { kind: 'maxAdvanceDays', code: 'max_advance', value: 6 },
  ])
    it(`${kind} counts on the day of arrival alone`, () => {
      expect(failed({ '2028-02-27': { [kind]: value } })).to.deep.equal([`${code} 2028-02-27`])
      expect(failed({ '2028-02-28': { [kind]: value }, '2028-02-29': { [kind]: value } })).to.deep.equal([])
    })

  for (const { kind, code, value } of [
    { kind: 'minStayThrough', code: 'min_stay_through', value: 4 },
    { kind: 'maxStayThrough', code: 'max_stay_through', value: 2 },
  ])
    it(`${kind} counts on every night`, () => {
      for (const date of nights) expect(failed({ [date]: { [kind]: value } })).to.deep.equal([`${code} ${date}`])
    })

  it('limits that are just met pass', () => {
    const exact = {
      minStayArrival: 3,
      maxStayArrival: 3,
      minStayThrough: 3,
      maxStayThrough: 3,
      minAdvanceDays: 7,
      maxAdvanceDays: 7,
    }
    expect(failed({ '2028-02-27': exact, '2028-02-28': exact, '2028-02-29': exact })).to.deep.equal([])
  })

  for (const { plan, code } of [
    { plan: { bookableFrom: '2028-02-21' }, code: 'plan_bookable_from' },
    { plan: { bookableUntil: '2028-02-19' }, code: 'plan_bookable_until' },
    { plan: { stayFrom: '2028-02-28' }, code: 'plan_stay_from' },
    { plan: { stayUntil: '2028-02-28' }, code: 'plan_stay_until' },
    { plan: { minAdvanceDays: 8 }, code: 'plan_min_advance' },
    { plan: { maxAdvanceDays: 6 }, code: 'plan_max_advance' },
    { plan: { minNights: 4 }, code: 'plan_min_nights' },
    { plan: { maxNights: 2 }, code: 'plan_max_nights' },
  ])
    it(`the plan's own limit ${code} refuses it`, () => {
      expect(failed({}, { plan })).to.deep.equal([code])
    })
})

describe('Levels of restrictions', () => {
  const level = fc.record({
    stopSell: fc.option(fc.boolean()),
    closedToArrival: fc.option(fc.boolean()),
    closedToDeparture: fc.option(fc.boolean()),
    minStayArrival: fc.option(fc.integer({ min: 1, max: 9 })),
    maxStayArrival: fc.option(fc.integer({ min: 1, max: 9 })),
    minStayThrough: fc.option(fc.integer({ min: 1, max: 9 })),
    maxStayThrough: fc.option(fc.integer({ min: 1, max: 9 })),
    minAdvanceDays: fc.option(fc.integer({ min: 0, max: 9 })),
    maxAdvanceDays: fc.option(fc.integer({ min: 0, max: 9 })),
  })

  it('combine to a stay that passes exactly where it passes each of them', () => {
    fc.assert(
      fc.property(
        fc.array(level, { maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 9 }),
        (levels, nights, ahead) => {
          const passes = (restriction: Restriction) =>
            stayChecks({
              arrival: `2026-06-${10 + ahead}`,
              departure: `2026-06-${10 + ahead + nights}`,
              today: '2026-06-10',
              on: () => restriction,
              plan: free,
            }).every((check) => check.passed)
          expect(passes(combine(levels))).to.equal(levels.every(passes))
        },
      ),
    )
  })
})

describe('what a restriction says to people', () => {
  const says = (code: Check['code'], limit: Check['limit'], passed = false) =>
    sentenceOf({ code, passed, actual: 0, limit })

  it('is a sentence with its limit in units that they use, and never the code', () => {
    expect(says('portal_max_advance', 365)).to.equal('is booked online at most 365 days ahead')
    expect(says('portal_min_advance', 120)).to.equal('is booked online at least 2 hours before arrival')
    expect(says('portal_min_advance', 90)).to.equal('is booked online at least 90 minutes before arrival')
    expect(says('portal_min_advance', 60)).to.equal('is booked online at least 1 hour before arrival')
    expect(says('min_stay_through', 1)).to.equal('a stay over this night takes at least 1 night')
    expect(says('plan_max_advance', 1)).to.equal('the rate is booked at most 1 day ahead')
  })

  it('is true of a stay that keeps it, too', () => {
    expect(says('stop_sell', false)).to.equal('is not for sale')
    expect(says('stop_sell', false, true)).to.equal('is for sale')
    expect(says('closed_to_arrival', false, true)).to.equal('arrival is possible on this day')
  })
})
