import { expect } from 'chai'
import fc from 'fast-check'
import { halfUp, halfUpSmall, ofFirst, raisedBy, scaled, shareOf, split, spread, sum } from '../../db/lib/amounts.ts'

/** The sum of a folio, or of a year of a house: of either sign, and past the products that a double holds exactly. */
const amounts = fc.integer({ min: -10_000_000_000_000, max: 10_000_000_000_000 })
const weights = fc.array(fc.integer({ min: 0, max: 1_000_000_000 }), { minLength: 1, maxLength: 60 })
const parts = fc.integer({ min: 1, max: 400 })

/** The quotient rounded half-up by comparing remainders, as on paper. */
const onPaper = (numerator: bigint, denominator: bigint): bigint => {
  const rest = ((numerator % denominator) + denominator) % denominator
  const floor = (numerator - rest) / denominator
  return rest * 2n >= denominator ? floor + 1n : floor
}

describe('Exact amounts', () => {
  it('round a half up, below zero too', () => {
    for (const [numerator, rounded] of [
      [4, 0],
      [5, 1],
      [14, 1],
      [15, 2],
      [-4, 0],
      [-5, 0],
      [-6, -1],
      [-15, -1],
      [-16, -2],
    ] as const) {
      expect(halfUp(BigInt(numerator), 10n), `${numerator} / 10`).to.equal(BigInt(rounded))
      expect(halfUpSmall(numerator, 10) + 0, `${numerator} / 10`).to.equal(rounded)
    }
  })

  it('are the same on doubles and on integers of any size', () => {
    fc.assert(
      fc.property(
        amounts,
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (a, n, d) => {
          const exact = onPaper(BigInt(a) * BigInt(n), BigInt(d))
          fc.pre(Number.isSafeInteger(Number(exact)))
          expect(BigInt(scaled(a, n, d))).to.equal(exact)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('lose nothing between a share and what is left of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000_000_000_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        (amount, bps) => {
          expect(BigInt(shareOf(amount, bps))).to.equal(onPaper(BigInt(amount) * BigInt(bps), 10_000n))
          expect(raisedBy(amount, bps)).to.equal(amount + shareOf(amount, bps))
        },
      ),
    )
  })

  it('split by weights into parts that sum to them, none off by a whole unit', () => {
    fc.assert(
      fc.property(amounts, weights, (amount, by) => {
        const result = split(amount, by)
        const all = BigInt(sum(by))
        expect(sum(result)).to.equal(amount)
        if (all === 0n) return
        for (const [index, part] of result.entries()) {
          const off = BigInt(part) * all - BigInt(amount) * BigInt(by[index] ?? 0)
          expect(off < all && off > -all, `part ${index} of ${amount} by ${by.join()} is ${part}`).to.equal(true)
        }
      }),
    )
  })

  it('split by weights of which some are below 0 into parts that sum to them, as long as the weights together are not', () => {
    fc.assert(
      fc.property(amounts, weights, fc.nat({ max: 1_000_000 }), (amount, by, less) => {
        fc.pre(sum(by) > less)
        const result = split(amount, [...by, -less])
        expect(sum(result)).to.equal(amount)
        const all = BigInt(sum(by) - less)
        for (const [index, part] of result.entries()) {
          const off = BigInt(part) * all - BigInt(amount) * BigInt([...by, -less][index] ?? 0)
          expect(off < all && off > -all, `part ${index} of ${amount} by ${by.join()}, -${less} is ${part}`).to.equal(
            true,
          )
        }
      }),
    )
    expect(split(10_000, [30_000, -10_000])).to.deep.equal([15_000, -5_000])
  })

  it('spread over equal parts, of which any first ones are known without the others', () => {
    fc.assert(
      fc.property(amounts, parts, (amount, count) => {
        const result = spread(amount, count)
        expect(sum(result)).to.equal(amount)
        expect(Math.max(...result) - Math.min(...result)).to.be.at.most(1)
        const half = Math.floor(count / 2)
        expect(sum(result.slice(0, half))).to.equal(ofFirst(amount, half, count))
      }),
    )
  })

  it('come to nothing over no parts', () => {
    expect([spread(700, 0), split(700, []), split(700, [0, 0, 0])]).to.deep.equal([[], [], [234, 233, 233]])
  })
})
