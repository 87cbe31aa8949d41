import { expect } from 'chai'
import fc from 'fast-check'
import { amountsOf, automatic, cashOf } from '../../db/accounts-receivable/rules/allocations.ts'
import { namedLines, sharedLines } from '../../db/accounts-receivable/rules/credit-lines.ts'

const amount = fc.integer({ min: 1, max: 10_000_000 })

const line = fc
  .tuple(amount, fc.integer({ min: 0, max: 100 }))
  .map(([whole, percent]) => ({ whole, tax: Math.floor((whole * percent) / 100) }))
const linesOf = (given: readonly { whole: number; tax: number }[], accountOf: (index: number) => string = String) =>
  given.map(({ whole, tax }, index) => ({
    description: '',
    accountId: accountOf(index),
    amount: whole,
    taxCodeId: tax > 0 ? 'iss' : null,
    taxAmount: tax,
    propertyId: null,
    costCenterId: null,
    receivableLineNo: index + 1,
    credited: 0,
    taxCredited: 0,
  }))
type Lines = ReturnType<typeof linesOf>
/** Writes to lines of an invoice what a note gives back of each. */
const credit = (lines: Lines, note: ReturnType<typeof sharedLines>) => {
  for (const one of note) {
    const of = lines.find(({ receivableLineNo }) => receivableLineNo === one.receivableLineNo)
    if (!of) throw new Error('a line of a note lowers no line of its invoice')
    of.credited += one.amount
    of.taxCredited += one.taxAmount
  }
}
const total = (lines: readonly { amount: number }[]) => lines.reduce((sum, one) => sum + one.amount, 0)

describe('shares of invoices', () => {
  it('of a credit note sum to it, and take of each tax what falls on the part of its line', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), fc.nat(1_000_000), (given, part) => {
        const lines = linesOf(given)
        const wanted = 1 + (part % total(lines))
        const shared = sharedLines(lines, wanted)
        expect(total(shared)).to.equal(wanted)
        for (const { accountId, amount: credited, taxAmount } of shared) {
          const of = lines[Number(accountId)]
          expect(credited).to.be.at.most(of?.amount ?? 0)
          expect(Math.abs(taxAmount - (credited * (of?.taxAmount ?? 0)) / (of?.amount ?? 1))).to.be.at.most(0.5)
        }
        if (wanted === total(lines))
          expect(shared.map((one) => ({ ...one, credited: 0, taxCredited: 0 }))).to.deep.equal(lines)
      }),
    )
  })

  it('of any number of credit notes never give back more than a line had, and of a whole invoice all of its taxes', () => {
    const notes = fc.array(fc.record({ part: fc.nat(40), account: fc.option(fc.nat(2)) }), { maxLength: 40 })
    const small = fc
      .record({ whole: fc.integer({ min: 1, max: 200 }), percent: fc.nat(100) })
      .map(({ whole, percent }) => ({ whole, tax: Math.round((whole * percent) / 100) }))
    fc.assert(
      fc.property(fc.array(small, { minLength: 1, maxLength: 6 }), notes, (given, asked) => {
        const lines = linesOf(given, (index) => String(index % 2))
        const left = () => lines.reduce((sum, one) => sum + one.amount - one.credited, 0)
        for (const { part, account } of asked) {
          const wanted = Math.min(1 + part, left())
          if (wanted === 0) break
          const note =
            account === null
              ? sharedLines(lines, wanted)
              : namedLines(lines, [{ accountId: String(account), amount: wanted }])
          expect(total(note)).to.equal(wanted)
          if (account !== null) expect(note.map(({ accountId }) => accountId)).to.include(String(account))
          for (const one of note) expect(one.taxAmount).to.be.within(0, one.amount)
          credit(lines, note)
          for (const one of lines) {
            expect(one.credited).to.be.at.most(one.amount)
            expect(Math.abs(one.taxCredited - (one.credited * one.taxAmount) / one.amount)).to.be.at.most(0.5)
          }
        }
        if (left() > 0) credit(lines, sharedLines(lines, left()))
        for (const one of lines) expect([one.credited, one.taxCredited]).to.deep.equal([one.amount, one.taxAmount])
      }),
    )
  })

  it('of credit notes that name many accounts are cut no smaller than both sides need, and lose no tax', () => {
    const some = fc.array(fc.record({ account: fc.nat(4), amount: fc.integer({ min: 1, max: 60 }) }), { minLength: 1 })
    const small = fc.record({ whole: fc.integer({ min: 1, max: 90 }), tax: fc.constant(1) })
    fc.assert(
      fc.property(fc.array(small, { minLength: 1, maxLength: 9 }), some, (given, asked) => {
        const lines = linesOf(given, (index) => String(index % 3))
        const wanted: { accountId: string; amount: number }[] = []
        for (const { account, amount: most } of asked) {
          const left = total(lines) - total(wanted)
          if (left > 0) wanted.push({ accountId: String(account), amount: Math.min(most, left) })
        }
        const note = namedLines(lines, wanted)
        expect(note.length).to.be.at.most(2 * (wanted.length + lines.length))
        const of = (all: readonly { accountId: string; amount: number }[], id: string) =>
          total(all.filter(({ accountId }) => accountId === id))
        for (let id = 0; id < 5; id += 1) expect(of(note, String(id))).to.equal(of(wanted, String(id)))
        credit(lines, note)
        for (const one of lines) expect(one.credited).to.be.at.most(one.amount)
        if (total(wanted) === total(lines)) for (const one of lines) expect(one.taxCredited).to.equal(one.taxAmount)
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
        const open = opens.reduce((sum, one) => sum + one, 0)
        expect(parts.reduce((sum, { principal = 0 }) => sum + principal, 0)).to.equal(Math.min(open, available))
      }),
    )
  })
})
