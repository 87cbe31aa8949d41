import { expect } from 'chai'
import fc from 'fast-check'
import type { CancellationRules, DepositRules, Fee } from '../../config/policy-rules.ts'
import { addDays, daysBetween, localInstant, todayIn } from '../../config/time.ts'
import { sum } from '../../db/lib/amounts.ts'
import { depositSchedule, dueNow } from '../../db/properties/rules/deposits.ts'
import { cancellationText, depositText } from '../../db/properties/rules/policy-text.ts'
import {
  feeAmount,
  feeAt,
  feeTiers,
  freeUntil,
  nextDeadline,
  refundability,
} from '../../db/properties/rules/policies.ts'

const none: Fee = { type: 'none', value: 0, of: 'total' }
const full: Fee = { type: 'full', value: 0, of: 'total' }
const half: Fee = { type: 'percent', value: 5000, of: 'total' }
const rules: CancellationRules = {
  tiers: [
    { hoursBeforeArrival: 168, fee: none },
    { hoursBeforeArrival: 48, fee: half },
  ],
  after: full,
  graceHoursAfterBooking: 0,
  earlyDeparture: none,
}
const base = { nights: [20_000, 20_000, 30_000], roomTotal: 70_000, total: 77_001 }
const arrivalAt = new Date('2026-12-24T17:00:00Z')
const bookedAt = new Date('2026-10-01T12:00:00Z')
const at = (now: string, change: Partial<CancellationRules> = {}, booked = bookedAt) =>
  feeAt({ ...rules, ...change }, base, { arrivalAt, bookedAt: booked, now: new Date(now) })

describe('The fee of a cancellation', () => {
  it('holds its tier up to the deadline itself, and not a millisecond longer', () => {
    expect(at('2026-12-17T16:59:59.000Z')).to.equal(0)
    expect(at('2026-12-17T17:00:00.000Z')).to.equal(0)
    expect(at('2026-12-17T17:00:00.001Z')).to.equal(38_501)
    expect(at('2026-12-22T17:00:00.000Z')).to.equal(38_501)
    expect(at('2026-12-22T17:00:01.000Z')).to.equal(77_001)
    expect(at('2026-12-26T00:00:00.000Z')).to.equal(77_001)
  })

  it('is nothing in the grace after booking, before arrival', () => {
    const booked = new Date('2026-12-23T12:00:00Z')
    const grace = { graceHoursAfterBooking: 24 }
    expect(at('2026-12-24T12:00:00.000Z', grace, booked)).to.equal(0)
    expect(at('2026-12-24T12:00:00.001Z', grace, booked)).to.equal(77_001)
    expect(at('2026-12-24T17:00:00.000Z', { graceHoursAfterBooking: 48 }, booked)).to.equal(77_001)
  })

  for (const { fee, amount } of [
    { fee: { type: 'nights', value: 2, of: 'room' } as const, amount: 40_000 },
    { fee: { type: 'nights', value: 9, of: 'room' } as const, amount: 70_000 },
    { fee: { type: 'nights', value: 1, of: 'total' } as const, amount: 22_000 },
    { fee: { type: 'amount', value: 90_000, of: 'room' } as const, amount: 70_000 },
    { fee: { type: 'amount', value: 500, of: 'total' } as const, amount: 500 },
    { fee: { type: 'percent', value: 3333, of: 'room' } as const, amount: 23_331 },
    { fee: { type: 'percent', value: 20_000, of: 'total' } as const, amount: 77_001 },
  ])
    it(`${fee.type} ${fee.value} of ${fee.of} is ${amount}`, () => {
      expect(feeAmount(fee, base)).to.equal(amount)
    })

  it('never exceeds its base', () => {
    const fee = fc.record({
      type: fc.constantFrom('none', 'amount', 'percent', 'nights', 'full'),
      value: fc.nat(1_000_000),
      of: fc.constantFrom('room', 'total'),
    })
    fc.assert(
      fc.property(
        fee,
        fc.array(fc.nat(100_000), { minLength: 1, maxLength: 30 }),
        fc.nat(100_000),
        (one, nights, more) => {
          const roomTotal = sum(nights)
          const amount = feeAmount(one, { nights, roomTotal, total: roomTotal + more })
          expect(amount).to.be.within(0, one.of === 'room' ? roomTotal : roomTotal + more)
        },
      ),
    )
  })

  it('counts hours as they pass, over a change of the clocks', () => {
    // New York sets its clocks back on 2026-11-01: arrival at 15:00 is 20:00Z, 48 hours before it 16:00 on 30 October.
    const arrival = localInstant('2026-11-01', '15:00', 'America/New_York')
    expect(arrival.toISOString()).to.equal('2026-11-01T20:00:00.000Z')
    const late = {
      tiers: [{ hoursBeforeArrival: 48, fee: none }],
      after: full,
      graceHoursAfterBooking: 0,
      earlyDeparture: none,
    }
    const fee = (now: Date) => feeAt(late, base, { arrivalAt: arrival, bookedAt, now })
    expect(fee(localInstant('2026-10-30', '16:00', 'America/New_York'))).to.equal(0)
    expect(fee(new Date('2026-10-30T20:00:00.001Z'))).to.equal(77_001)
  })

  it('is shown with the instants at which it changes, as feeAt says it', () => {
    const now = new Date('2026-12-18T00:00:00Z')
    const tiers = feeTiers(rules, base, { arrivalAt, now })
    expect(tiers).to.deep.equal([
      { until: new Date('2026-12-22T17:00:00Z'), fee: 38_501 },
      { until: null, fee: 77_001 },
    ])
    expect(freeUntil(rules, base, { arrivalAt, now })).to.equal(null)
    expect(freeUntil(rules, base, { arrivalAt, now: bookedAt })).to.deep.equal(new Date('2026-12-17T17:00:00Z'))
    expect(nextDeadline(rules, base, { arrivalAt, bookedAt, now })).to.deep.equal(new Date('2026-12-22T17:00:00Z'))
    expect(nextDeadline(rules, base, { arrivalAt, bookedAt, now: new Date('2026-12-23T00:00:00Z') })).to.equal(null)
  })

  it('sums up as full, partial or none', () => {
    expect(refundability(rules)).to.equal('full')
    expect(refundability({ ...rules, tiers: [{ hoursBeforeArrival: 24, fee: half }] })).to.equal('partial')
    expect(refundability({ ...rules, tiers: [] })).to.equal('none')
  })

  it('is worded for people in their language', () => {
    expect(cancellationText(rules, { locale: 'en', currency: 'BRL' })).to.equal(
      'Cancellation up to 7 days before arrival: free of charge. Cancellation up to 2 days before arrival: 50% of the total. After that: 100% of the total.',
    )
    expect(cancellationText({ ...rules, tiers: [] }, { locale: 'pt-BR', currency: 'BRL' })).to.equal(
      'Cancelamento: 100% do total.',
    )
    const deposit: DepositRules = {
      installments: [
        { due: 'booking', type: 'amount', value: 15_000 },
        { due: { daysBeforeArrival: 7 }, type: 'remaining', value: 0 },
      ],
      graceHours: 24,
      ifUnpaid: 'warn',
    }
    expect(depositText(deposit, { locale: 'en', currency: 'BRL' })).to.equal(
      'R$150.00 is due at booking. The rest is due 7 days before arrival.',
    )
  })
})

describe('A deposit', () => {
  const stay = {
    arrival: '2026-12-24',
    checkInFrom: '14:00',
    timeZone: 'America/Sao_Paulo',
    nights: [20_000, 30_000],
    total: 53_000,
    now: bookedAt,
  }
  const of = (installments: DepositRules['installments'], change: Partial<typeof stay> = {}) =>
    depositSchedule({ installments, graceHours: 24, ifUnpaid: 'warn' }, { ...stay, ...change })

  it('is due at booking and on its days, by the local time of check-in', () => {
    const schedule = of([
      { due: 'booking', type: 'percent', value: 3000 },
      { due: { daysBeforeArrival: 7 }, type: 'nights', value: 1 },
      { due: { daysBeforeArrival: 0 }, type: 'remaining', value: 0 },
    ])
    expect(schedule).to.deep.equal([
      { dueAt: null, amount: 15_900 },
      { dueAt: new Date('2026-12-17T17:00:00Z'), amount: 20_000 },
      { dueAt: new Date('2026-12-24T17:00:00Z'), amount: 17_100 },
    ])
    expect(dueNow(schedule)).to.equal(15_900)
  })

  it('whose day is past is due at booking', () => {
    expect(
      of([{ due: { daysBeforeArrival: 30 }, type: 'remaining', value: 0 }], { now: new Date('2026-12-01T00:00:00Z') }),
    ).to.deep.equal([{ dueAt: null, amount: 53_000 }])
  })

  it('is never more than the total', () => {
    const installment = fc.record({
      due: fc.oneof(fc.constant('booking' as const), fc.record({ daysBeforeArrival: fc.nat(60) })),
      type: fc.constantFrom('percent' as const, 'amount' as const, 'nights' as const),
      value: fc.nat(100_000),
    })
    fc.assert(
      fc.property(fc.array(installment, { minLength: 1, maxLength: 6 }), (installments) => {
        const schedule = of(installments)
        expect(sum(schedule.map((line) => line.amount))).to.be.at.most(stay.total)
        expect(schedule.every((line) => line.amount > 0)).to.equal(true)
      }),
    )
  })

  it('is nothing without a policy', () => {
    expect(depositSchedule(null, stay)).to.deep.equal([])
  })
})

describe('Local time', () => {
  it('that a clock change skips is the first instant after the gap', () => {
    expect(localInstant('2026-03-08', '02:30', 'America/New_York').toISOString()).to.equal('2026-03-08T07:00:00.000Z')
    expect(localInstant('2018-11-04', '00:00', 'America/Sao_Paulo').toISOString()).to.equal('2018-11-04T03:00:00.000Z')
    expect(localInstant('2018-11-04', '00:59', 'America/Sao_Paulo').toISOString()).to.equal('2018-11-04T03:00:00.000Z')
  })

  it('that comes twice is the first', () => {
    expect(localInstant('2026-11-01', '01:30', 'America/New_York').toISOString()).to.equal('2026-11-01T05:30:00.000Z')
  })

  it('names the day in a zone, and counts days over months and leap years', () => {
    expect(todayIn('America/Sao_Paulo', new Date('2026-03-01T02:59:59Z'))).to.equal('2026-02-28')
    expect(todayIn('Pacific/Kiritimati', new Date('2026-02-28T10:00:00Z'))).to.equal('2026-03-01')
    expect(addDays('2028-02-28', 2)).to.equal('2028-03-01')
    expect(daysBetween('2027-12-31', '2028-12-31')).to.equal(366)
  })
})
