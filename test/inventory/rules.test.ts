import { expect } from 'chai'
import fc from 'fast-check'
import { clockIn, todayIn } from '../../config/time.ts'
import { put, take } from '../../db/inventory/rules/average.ts'
import { faultOf, explode } from '../../db/inventory/rules/explode.ts'
import type { RecipeFacts } from '../../db/inventory/rules/explode.ts'
import { holdsAt, overlap, priceAt } from '../../db/inventory/rules/price-times.ts'
import type { PriceTimes } from '../../db/inventory/rules/price-times.ts'
import { suggestionOf } from '../../db/inventory/rules/suggestion.ts'
import { takeShare, totalsOf } from '../../db/inventory/rules/totals.ts'
import { randomOf } from '../chaos/random.ts'

const always: PriceTimes = { validFrom: null, validTo: null, weekDays: null, timeFrom: null, timeTo: null }
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

describe('The average', () => {
  it('leaves no value without quantity, nothing below zero and no cent, in 20,000 histories of 30 moves', () => {
    const random = randomOf(1, 'average')
    for (let history = 0; history < 20_000; history += 1) {
      const level = { quantity: 0, value: 0 }
      const largest = random.pick([10, 10_000, 999_999_999_999])
      const moved = { in: 0, out: 0 }
      for (let move = 0; move < 30; move += 1) {
        if (level.quantity === 0 || random.chance(0.5)) {
          const quantity = random.between(1, Math.max(1, Math.floor(largest / 30)))
          const value = random.between(0, random.pick([0, 9, 1_000_000, 100_000_000_000]))
          put(level, quantity, value)
          moved.in += value
        } else {
          const quantity = random.chance(0.2) ? level.quantity : random.between(1, level.quantity)
          const [had, worth] = [level.quantity, level.value]
          const value = take(level, quantity)
          moved.out += value
          // Half-up of the part, in whole numbers.
          if (
            quantity < had &&
            Math.abs(Number(BigInt(value) * BigInt(had) * 2n - BigInt(worth) * BigInt(quantity) * 2n)) > had
          )
            throw new Error(`${value} of ${worth} left with ${quantity} of ${had}`)
        }
        if (level.quantity < 0 || level.value < 0 || (level.quantity === 0 && level.value !== 0))
          throw new Error(`${level.value} for ${level.quantity}`)
      }
      if (moved.in - moved.out !== level.value) throw new Error(`${moved.in - moved.out} is not ${level.value}`)
    }
  })
})

describe('Rules of outlets', () => {
  // 2026-11-23 is a Monday.
  it('hold from the first minute of an hour until before the last, over midnight by the day they begin on', () => {
    const happy = { ...always, timeFrom: '17:00', timeTo: '19:00', weekDays: [1] }
    const at = (day: string, clock: string) => holdsAt(happy, day, clock)
    expect([at('2026-11-23', '16:59'), at('2026-11-23', '17:00'), at('2026-11-23', '18:59')]).to.deep.equal([
      false,
      true,
      true,
    ])
    expect([at('2026-11-23', '19:00'), at('2026-11-24', '17:00')]).to.deep.equal([false, false])
    const night = { ...always, timeFrom: '22:00', timeTo: '02:00', weekDays: [1], validTo: '2026-11-23' }
    expect(holdsAt(night, '2026-11-24', '01:59')).to.equal(true)
    expect(holdsAt(night, '2026-11-24', '02:00')).to.equal(false)
    expect(holdsAt(night, '2026-11-23', '01:00')).to.equal(false)
    expect(priceAt([always, night], '2026-11-24', '00:30')).to.equal(night)
    expect(priceAt([always, night], '2026-11-24', '12:00')).to.equal(always)
  })

  it('hold by the clock on the wall where it is put back or forward', () => {
    const zone = 'America/New_York'
    const holds = (times: PriceTimes, at: string) =>
      holdsAt(times, todayIn(zone, new Date(at)), clockIn(zone, new Date(at)))
    const hours = (timeFrom: string, timeTo: string) => ({ ...always, timeFrom, timeTo })
    // 2026-11-01: the hour from one to two comes twice, at 05:00 and 06:00 UTC.
    const early = { ...hours('01:00', '02:00'), weekDays: [7] }
    const back = ['04:59', '05:00', '05:59', '06:00', '06:59', '07:00'].map((at) =>
      holds(early, `2026-11-01T${at}:00Z`),
    )
    expect(back).to.deep.equal([false, true, true, true, true, false])
    // 2026-03-08: there is no hour from two to three. The clock goes from 06:59 to 07:00 UTC over it.
    const skipped = hours('02:00', '03:00')
    const instants = ['06:30', '06:59', '07:00', '07:30', '08:00']
    expect(instants.some((at) => holds(skipped, `2026-03-08T${at}:00Z`))).to.equal(false)
    const over = instants.map((at) => holds(hours('22:00', '03:00'), `2026-03-08T${at}:00Z`))
    expect(over).to.deep.equal([true, true, false, false, false])
  })

  it('find no two prices at one moment where they say that none overlap', () => {
    const clock = fc.nat(47).map((half) => `${String(half >> 1).padStart(2, '0')}:${half % 2 ? '30' : '00'}`)
    const day = fc.constantFrom(null, '2026-11-20', '2026-11-23', '2026-11-25', '2026-11-30')
    const times = fc
      .record({
        validFrom: day,
        validTo: day,
        weekDays: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), { nil: null }),
        hours: fc.option(fc.tuple(clock, clock), { nil: null }),
      })
      .filter(
        ({ validFrom, validTo, hours }) =>
          (!(validFrom && validTo && validTo < validFrom) && hours?.[0] !== hours?.[1]) || hours === null,
      )
      .map(({ hours, ...rest }): PriceTimes => ({ ...rest, timeFrom: hours?.[0] ?? null, timeTo: hours?.[1] ?? null }))
      .filter(({ validFrom, validTo }) => validFrom === null || validTo === null || validFrom <= validTo)
    const moment = fc.tuple(
      fc.constantFrom('2026-11-19', '2026-11-23', '2026-11-24', '2026-11-26', '2026-12-01'),
      clock,
    )
    fc.assert(
      fc.property(times, times, fc.array(moment, { minLength: 20, maxLength: 40 }), (a, b, moments) => {
        if (overlap(a, b) || (a.timeFrom === null) !== (b.timeFrom === null)) return
        for (const [on, now] of moments) expect(holdsAt(a, on, now) && holdsAt(b, on, now)).to.equal(false)
      }),
      { numRuns: 2_000 },
    )
  })

  it('split discounts and settlements to the cent', () => {
    const amount = fc.integer({ min: 0, max: 10_000_000 })
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1, maxLength: 12 }),
        fc.nat(10_000),
        fc.nat(2_000),
        (amounts, part, rate) => {
          const discount = Math.floor((sum(amounts) * part) / 10_000)
          const totals = totalsOf(amounts, { discount, serviceChargeRate: rate, serviceCharge: true })
          expect(sum(totals.discountShares)).to.equal(discount)
          totals.discountShares.forEach((share, index) => expect(share).to.be.within(0, amounts[index] ?? 0))
          const parts = amounts.map((one, index) => ({ category: `c${index}`, amount: one }))
          const first = takeShare(parts, discount)
          expect(sum(first.map((one) => one.amount))).to.equal(discount)
          const rest = takeShare(parts, sum(amounts) - discount)
          expect(sum(rest.map((one) => one.amount))).to.equal(sum(amounts) - discount)
          expect(parts.every((one) => one.amount === 0)).to.equal(true)
        },
      ),
    )
  })

  it('take portions apart without losing a ten-thousandth over the whole', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 97 }),
        fc.integer({ min: 1, max: 99_999 }),
        fc.integer({ min: 0, max: 9_000 }),
        (portions, quantity, lossRate) => {
          const recipe: RecipeFacts = {
            id: 'r',
            kind: 'dish',
            outputItemId: null,
            versionId: 'v',
            yield: portions * 10_000,
            components: [{ itemId: 'i', recipeId: null, baseQuantity: quantity, lossRate }],
          }
          const one = { recipeId: 'r', locationId: 'l', amount: [10_000n, 1n] as const }
          const [used] = explode(
            Array.from({ length: portions }, () => one),
            new Map([['r', recipe]]),
          )
          expect(used?.quantity).to.equal(
            Number((BigInt(quantity) * 20_000n + BigInt(10_000 - lossRate)) / (2n * BigInt(10_000 - lossRate))),
          )
        },
      ),
    )
  })

  it('see circles through preparations, and count no level for what is taken from stock', () => {
    const edge = (fromId: string, toId: string, isTaken = false) => ({ fromId, toId, isTaken })
    const chain = ['a', 'b', 'c', 'd', 'e'].map((id, index, all) => edge(id, all[index + 1] ?? 'f'))
    expect(faultOf(chain.slice(0, 4), 5)).to.equal(null)
    expect(faultOf(chain, 5)).to.equal('recipe_too_deep')
    expect(faultOf([...chain.slice(0, 4), edge('e', 'p', true), edge('p', 'q')], 5)).to.equal(null)
    expect(faultOf([edge('a', 'p', true), edge('p', 'a')], 5)).to.equal('recipe_cycle')
  })

  it('suggest what brings stock back over its minimum, in whole packages', () => {
    const need = { onHand: 100, onOrder: 0, minimum: 80, maximum: 300, expectedUse: 20, package: null }
    expect(suggestionOf(need)).to.equal(null)
    expect(suggestionOf({ ...need, expectedUse: 21 })).to.deep.equal({ quantity: 200, count: null })
    expect(suggestionOf({ ...need, expectedUse: 21, package: 70 })).to.deep.equal({ quantity: 210, count: 3 })
    expect(suggestionOf({ ...need, expectedUse: 400, onOrder: 50 })).to.deep.equal({ quantity: 330, count: null })
  })
})
