import { expect } from 'chai'
import fc from 'fast-check'
import { sum } from '../../db/lib/amounts.ts'
import { addTaxes, extraTaxes, nightTaxes, onTop } from '../../db/properties/rules/taxes.ts'
import type { TaxRule } from '../../db/properties/rules/taxes.ts'

const rule = (change: Partial<TaxRule>): TaxRule => ({
  id: change.code ?? 'T',
  code: 'T',
  name: 'T',
  basis: 'percent',
  rate: 500,
  amount: null,
  included: true,
  appliesTo: 'both',
  exemptAgeCategoryIds: [],
  maxNights: null,
  validFrom: '2020-01-01',
  validTo: null,
  ...change,
})
const night = { date: '2026-12-24', index: 0, amount: 45_000, persons: ['adult', 'adult', 'child'] }
const amounts = (rules: TaxRule[], change: Partial<typeof night> = {}) =>
  nightTaxes(rules, { ...night, ...change }).map((tax) => [tax.code, tax.amount])

describe('Taxes', () => {
  it('are extracted from a price that includes them', () => {
    expect(amounts([rule({ code: 'ISS' })])).to.deep.equal([['ISS', 2143]])
  })

  it('of several included rules are extracted together and split', () => {
    // 45,000 − 45,000 ÷ 1.08 = 3,333.33 → 3,333; by 500 and 300: 2,083.1 and 1,249.9
    expect(amounts([rule({ code: 'A' }), rule({ code: 'B', rate: 300 })])).to.deep.equal([
      ['A', 2083],
      ['B', 1250],
    ])
  })

  it('on top are each taken of the price, never of each other', () => {
    expect(
      amounts([rule({ code: 'A', included: false }), rule({ code: 'B', included: false, rate: 1000 })]),
    ).to.deep.equal([
      ['A', 2250],
      ['B', 4500],
    ])
  })

  it('per person leave out the exempt and end after so many nights', () => {
    const perPerson = rule({
      code: 'P',
      basis: 'per_person_per_night',
      rate: null,
      amount: 300,
      included: false,
      appliesTo: 'room',
      exemptAgeCategoryIds: ['child'],
      maxNights: 2,
    })
    expect(amounts([perPerson])).to.deep.equal([['P', 600]])
    expect(amounts([perPerson], { index: 1 })).to.deep.equal([['P', 600]])
    expect(amounts([perPerson], { index: 2 })).to.deep.equal([])
  })

  it('per stay come with the first night, per night with each', () => {
    const perStay = rule({ code: 'S', basis: 'per_stay', rate: null, amount: 700, included: false, appliesTo: 'room' })
    const perNight = rule({ code: 'N', basis: 'per_night', rate: null, amount: 90, included: false, appliesTo: 'room' })
    expect(amounts([perStay, perNight])).to.deep.equal([
      ['S', 700],
      ['N', 90],
    ])
    expect(amounts([perStay, perNight], { index: 1 })).to.deep.equal([['N', 90]])
  })

  it('follow the rule that is valid on the day', () => {
    const rules = [rule({ code: 'A', validTo: '2026-12-24' }), rule({ code: 'B', rate: 600, validFrom: '2026-12-25' })]
    expect(amounts(rules)).to.deep.equal([['A', 2143]])
    expect(amounts(rules, { date: '2026-12-25' })).to.deep.equal([['B', 2547]])
  })

  it('of the room alone spare extras, and the other way round', () => {
    const rules = [rule({ code: 'R', appliesTo: 'room' }), rule({ code: 'E', appliesTo: 'extras', included: false })]
    expect(amounts(rules).map(([code]) => code)).to.deep.equal(['R'])
    expect(extraTaxes(rules, { date: night.date, amount: 8_000 }).map((tax) => [tax.code, tax.amount])).to.deep.equal([
      ['E', 400],
    ])
  })

  it('that are included never exceed what the price holds, whatever the rates', () => {
    const rates = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 1_000_000_000 }), (list, amount) => {
        const taxes = nightTaxes(
          list.map((rate, index) => rule({ code: `R${index}`, rate })),
          { ...night, amount },
        )
        const all = list.reduce((total, rate) => total + rate, 0)
        const exact = amount - amount / (1 + all / 10_000)
        expect(Math.abs(sum(taxes.map((tax) => tax.amount)) - exact)).to.be.at.most(0.501)
        expect(onTop(taxes)).to.equal(0)
      }),
    )
  })

  it('added up are the sum of their lines', () => {
    const lines = fc.array(
      fc.record({ id: fc.constantFrom('A', 'B', 'C'), amount: fc.integer({ min: 1, max: 10_000 }) }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(lines, (list) => {
        const taxes = list.map(({ id, amount }) => ({ taxRuleId: id, code: id, name: id, included: false, amount }))
        expect(sum(addTaxes(taxes).map((tax) => tax.amount))).to.equal(sum(list.map((line) => line.amount)))
      }),
    )
  })
})
