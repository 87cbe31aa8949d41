import { expect } from 'chai'
import fc from 'fast-check'
import { amountsOf, automatic, cashOf } from '../../db/accounts-receivable/rules/allocations.ts'
import { sharedLines } from '../../db/accounts-receivable/rules/credit-lines.ts'

const amount = fc.integer({ min: 1, max: 10_000_000 })

describe('shares of invoices', () => {
  it('of a credit note sum to it, and take of each tax what falls on the part of its line', () => {
    const line = fc
      .tuple(amount, fc.integer({ min: 0, max: 100 }))
      .map(([whole, percent]) => ({ whole, tax: Math.floor((whole * percent) / 100) }))
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), fc.nat(1_000_000), (given, part) => {
        const lines = given.map(({ whole, tax }, index) => ({
          description: '',
          accountId: String(index),
          amount: whole,
          taxCodeId: tax > 0 ? 'iss' : null,
          taxAmount: tax,
          propertyId: null,
          costCenterId: null,
        }))
        const total = lines.reduce((sum, one) => sum + one.amount, 0)
        const wanted = 1 + (part % total)
        const shared = sharedLines(lines, wanted)
        expect(shared.reduce((sum, one) => sum + one.amount, 0)).to.equal(wanted)
        for (const { accountId, amount: credited, taxAmount } of shared) {
          const of = lines[Number(accountId)]
          expect(credited).to.be.at.most(of?.amount ?? 0)
          expect(Math.abs(taxAmount - (credited * (of?.taxAmount ?? 0)) / (of?.amount ?? 1))).to.be.at.most(0.5)
        }
        if (wanted === total) expect(shared).to.deep.equal(lines)
      }),
    )
  })

  it('of a receipt never take more than is open or there', () => {
    fc.assert(
      fc.property(amount, amount, fc.nat(5_000), fc.nat(5_000), (open, available, discount, interest) => {
        const { amounts } = amountsOf({ installmentId: 'x', discount, interest }, { open, available })
        if (!amounts) return
        expect(amounts.principal).to.be.within(1, open)
        expect(cashOf(amounts)).to.be.within(0, available)
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { maxLength: 30 }), amount, (opens, available) => {
        const parts = automatic(
          opens.map((open, index) => ({ installmentId: String(index), open })),
          available,
        )
        const total = opens.reduce((sum, open) => sum + open, 0)
        expect(parts.reduce((sum, { principal = 0 }) => sum + principal, 0)).to.equal(Math.min(total, available))
      }),
    )
  })
})
