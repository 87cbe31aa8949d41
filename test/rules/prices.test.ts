import { expect } from 'chai'
import fc from 'fast-check'
import { halfUp, shareOf, split, sum } from '../../db/lib/amounts.ts'
import { derive, losRate, nightPrice, takePromo } from '../../db/properties/rules/prices.ts'
import type { NightPricing, PriceStep } from '../../db/properties/rules/prices.ts'

const plain: NightPricing = {
  derivations: [],
  occupancy: {
    baseOccupancy: 2,
    adults: { 1: { type: 'percent', value: -1000 } },
    extraAdultAmount: 5_000,
    children: [
      { ageCategoryId: 'infant', type: 'free', value: 0 },
      { ageCategoryId: 'child', type: 'amount', value: 3_000 },
      { ageCategoryId: 'teen', type: 'percent', value: 2500 },
    ],
  },
  party: { adults: 2, children: [] },
  losRate: 0,
  promo: null,
}

describe('Splitting an amount', () => {
  const weights = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 90 })

  it('gives parts that sum to it exactly, each within one unit of its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), weights, (amount, parts) => {
        const result = split(amount, parts)
        expect(sum(result)).to.equal(amount)
        const all = sum(parts)
        if (all > 0)
          for (const [index, part] of result.entries())
            expect(Math.abs(part - (amount * (parts[index] ?? 0)) / all)).to.be.below(1.000_001)
      }),
    )
  })

  it('rounds halves up, below zero too', () => {
    expect([5n, 15n, 14n, -5n, -15n, -14n, -16n].map((value) => Number(halfUp(value, 10n)))).to.deep.equal(
      [1, 2, 1, -0, -1, -1, -2].map((n) => n + 0),
    )
  })
})

describe('The price of a night', () => {
  it('is the base price for the base occupancy', () => {
    expect(nightPrice(20_000, plain)).to.equal(20_000)
  })

  for (const { name, party, price } of [
    { name: 'one adult pays by the entry for one', party: { adults: 1, children: [] }, price: 18_000 },
    { name: 'a third adult pays the extra amount', party: { adults: 3, children: [] }, price: 25_000 },
    { name: 'an infant is free', party: { adults: 2, children: ['infant'] }, price: 20_000 },
    { name: 'a child pays its amount', party: { adults: 2, children: ['child'] }, price: 23_000 },
    {
      name: 'a percentage for a child is one of the base price',
      party: { adults: 1, children: ['teen'] },
      price: 23_000,
    },
    {
      name: 'a child without an entry pays as an extra adult',
      party: { adults: 2, children: ['other', null] },
      price: 30_000,
    },
  ])
    it(name, () => {
      expect(nightPrice(20_000, { ...plain, party })).to.equal(price)
    })

  it('derives over three levels, each rounded by itself', () => {
    const derivations: NightPricing['derivations'] = [
      { planId: 'a', derivation: { type: 'percent', value: -1250, roundTo: 100, mode: 'nearest' } },
      { planId: 'b', derivation: { type: 'amount', value: 333, roundTo: 50, mode: 'up' } },
      { planId: 'c', derivation: { type: 'percent', value: 700, roundTo: 1, mode: 'down' } },
    ]
    // 19,999 × 0.875 = 17,499.125 → 17,500; + 333 → 17,850; × 1.07 = 19,099.5 → 19,099
    const trace: PriceStep[] = []
    expect(nightPrice(19_999, { ...plain, derivations, trace })).to.equal(19_099)
    expect(trace.map((step) => step.after)).to.deep.equal([17_500, 17_850, 19_099])
  })

  it('rounds a derivation to its unit, in its direction', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000_000 }),
        fc.integer({ min: -10_000, max: 20_000 }),
        fc.constantFrom(1, 10, 50, 100, 500),
        fc.constantFrom('nearest' as const, 'up' as const, 'down' as const),
        (amount, value, roundTo, mode) => {
          const result = derive(amount, { type: 'percent', value, roundTo, mode })
          const exact = amount + (amount * value) / 10_000
          expect(Math.abs(result % roundTo)).to.equal(0)
          expect(Math.abs(result - exact)).to.be.at.most(mode === 'nearest' ? roundTo / 2 + 1e-6 : roundTo)
          if (mode === 'up') expect(result).to.be.at.least(exact - 1e-6)
          if (mode === 'down') expect(result).to.be.at.most(exact + 1e-6)
        },
      ),
    )
  })

  it('derives and shares exactly, however large the amount', () => {
    const floor = (numerator: bigint, denominator: bigint) => {
      const rest = ((numerator % denominator) + denominator) % denominator
      return (numerator - rest) / denominator
    }
    const sign = fc.integer({ min: -2_000_000_000_000, max: 9_000_000_000_000 })
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: -5_000, max: 2_000_000 }), sign),
        fc.integer({ min: -10_000, max: 20_000 }),
        fc.constantFrom(1, 7, 50, 500),
        (amount, value, roundTo) => {
          const numerator = BigInt(amount) * BigInt(10_000 + value)
          const step = 10_000n * BigInt(roundTo)
          const by = { type: 'percent' as const, value, roundTo }
          const units = (mode: 'nearest' | 'up' | 'down') => BigInt(derive(amount, { ...by, mode })) / BigInt(roundTo)
          expect(units('down')).to.equal(floor(numerator, step))
          expect(units('up')).to.equal(-floor(-numerator, step))
          expect(units('nearest')).to.equal(floor(2n * numerator + step, 2n * step))
          expect(BigInt(shareOf(amount, value))).to.equal(floor(2n * BigInt(amount) * BigInt(value) + 10_000n, 20_000n))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('takes the discount of the longest stay that was reached', () => {
    const discounts = [
      { minNights: 3, rate: 500 },
      { minNights: 7, rate: 1500 },
    ]
    expect([1, 2, 3, 6, 7, 30].map((nights) => losRate(discounts, nights))).to.deep.equal([0, 0, 500, 500, 1500, 1500])
    expect(nightPrice(20_000, { ...plain, losRate: 1500 })).to.equal(17_000)
  })

  it('rounds once, half-up, after all percentages', () => {
    // 19,999 × 0.9 × 0.95 × 0.93 = 15,902.20485; rounded at each step it would be 15,903
    const party = { adults: 1, children: [] }
    expect(
      nightPrice(19_999, { ...plain, party, losRate: 500, promo: { id: 'p', type: 'percent', value: 700 } }),
    ).to.equal(15_902)
  })

  it('is the same by small numbers as by large ones, whatever the amounts', () => {
    const adjustment = fc.record({
      type: fc.constantFrom('percent' as const, 'amount' as const),
      value: fc.integer({ min: -9_999, max: 30_000 }),
    })
    const derivation = fc.record({
      planId: fc.constant('a'),
      derivation: fc
        .tuple(
          adjustment,
          fc.constantFrom(1, 10, 50, 99, 500),
          fc.constantFrom('nearest' as const, 'up' as const, 'down' as const),
        )
        .map(([by, roundTo, mode]) => ({ ...by, roundTo, mode })),
    })
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 4_000_000_000_000 })),
        fc.array(derivation, { maxLength: 3 }),
        fc.option(adjustment),
        fc.subarray<string | null>(['infant', 'child', 'teen', 'other']),
        fc.constantFrom(0, 1, 777, 10_000),
        fc.option(fc.record({ id: fc.constant('p'), type: fc.constant('percent' as const), value: fc.nat(10_000) })),
        (base, derivations, adults, children, rate, promo) => {
          const pricing = {
            ...plain,
            derivations,
            occupancy: {
              ...plain.occupancy,
              adults: (adults ? { 2: adults } : {}) as NightPricing['occupancy']['adults'],
            },
            party: { adults: 2, children },
            losRate: rate,
            promo,
          }
          const trace: PriceStep[] = []
          const traced = nightPrice(base, { ...pricing, trace })
          expect(nightPrice(base, pricing)).to.equal(traced)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('never falls below 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: -200_000, max: 0 }), (base, value) => {
        const derivations: NightPricing['derivations'] = [
          { planId: 'a', derivation: { type: 'amount', value, roundTo: 1, mode: 'nearest' } },
        ]
        expect(nightPrice(base, { ...plain, derivations })).to.be.at.least(0)
      }),
    )
  })

  it('takes a fixed promo off the stay exactly, and no night below 0', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 0, max: 500_000 }),
        (nights, amount) => {
          const result = takePromo(nights, amount)
          expect(sum(result)).to.equal(sum(nights) - Math.min(amount, sum(nights)))
          expect(Math.min(...result)).to.be.at.least(0)
        },
      ),
    )
  })
})
