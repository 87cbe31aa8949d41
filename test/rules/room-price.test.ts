import { expect } from 'chai'
import fc from 'fast-check'
import { settingsOf } from '../../config/property-settings.ts'
import { claimedRoom, extraBases, roomsOfQuote } from '../../config/quote.ts'
import type { QuotedRoom, QuotedTax } from '../../config/quote.ts'
import { addDays } from '../../config/time.ts'
import type { Catalogue, SalePlan, SaleProperty, SaleType } from '../../db/properties/sale/catalogue.ts'
import { countParty } from '../../db/properties/rules/party.ts'
import { localTaxRules, priceRoom } from '../../db/properties/rules/stay-price.ts'
import { sum } from '../../db/lib/amounts.ts'

const now = new Date('2026-10-01T12:00:00Z')
const property = {
  id: 'property',
  timezone: 'America/Sao_Paulo',
  currency: 'BRL',
  locales: ['en'],
  checkInFrom: '14:00',
  settings: settingsOf({}),
} as unknown as SaleProperty

const type = {
  id: 'type',
  baseOccupancy: 2,
  maxAdults: 4,
  maxChildren: 4,
  maxOccupancy: 8,
  pools: [],
} as unknown as SaleType
const none = { type: 'none', value: 0, of: 'total' } as const
const plan = {
  id: 'plan',
  parentId: null,
  derivation: null,
  includedExtras: [{ extraId: 'breakfast', quantity: 1 }],
  losDiscounts: [{ minNights: 4, rate: 750 }],
  cancellation: {
    policyId: 'c',
    versionId: 'c1',
    rules: { tiers: [], after: none, graceHoursAfterBooking: 0, earlyDeparture: none },
    hash: '',
  },
  noShow: { policyId: 'n', versionId: 'n1', rules: { fee: none, releaseRemaining: true }, hash: '' },
  deposit: {
    policyId: 'd',
    versionId: 'd1',
    rules: { installments: [{ due: 'booking', type: 'percent', value: 3333 }], graceHours: 1, ifUnpaid: 'warn' },
    hash: '',
  },
  unitTypes: [
    {
      unitTypeId: 'type',
      standardAmount: null,
      adults: { 1: { type: 'percent', value: -1234 } },
      extraAdultAmount: 5_555,
      children: [],
    },
  ],
} as unknown as SalePlan

const taxRule = fc.record({
  basis: fc.constantFrom(
    'percent' as const,
    'percent' as const,
    'per_night' as const,
    'per_stay' as const,
    'per_person_per_night' as const,
  ),
  value: fc.integer({ min: 0, max: 3000 }),
  included: fc.boolean(),
  appliesTo: fc.constantFrom('room' as const, 'extras' as const, 'both' as const),
  from: fc.integer({ min: 0, max: 4 }),
})
const extra = fc.record({
  basis: fc.constantFrom(...extraBases),
  amount: fc.nat(20_000),
  mandatory: fc.boolean(),
  quantity: fc.integer({ min: 0, max: 3 }),
})

const scenario = fc.record({
  amounts: fc.array(fc.nat(200_000), { minLength: 1, maxLength: 12 }),
  adults: fc.integer({ min: 1, max: 4 }),
  childrenAges: fc.array(fc.integer({ min: 0, max: 17 }), { maxLength: 3 }),
  taxes: fc.array(taxRule, { maxLength: 4 }),
  extras: fc.array(extra, { maxLength: 4 }),
  promo: fc.option(
    fc.record({
      type: fc.constantFrom('percent' as const, 'amount' as const),
      value: fc.integer({ min: 1, max: 10_000 }),
    }),
  ),
})

/** A quote keeps every tax, though not the order in which a line names them. */
const inOrder = (room: QuotedRoom): QuotedRoom => {
  const ordered = <L extends { taxes: QuotedTax[] }>(lines: L[]) =>
    lines.map((line) => ({ ...line, taxes: line.taxes.toSorted((a, b) => (a.code < b.code ? -1 : 1)) }))
  return { ...room, nights: ordered(room.nights), extras: ordered(room.extras) }
}

describe('The price of a room', () => {
  it('is the sum of its lines exactly, in 10,000 random stays', () => {
    fc.assert(
      fc.property(scenario, ({ amounts, adults, childrenAges, taxes, extras, promo }) => {
        const arrival = '2026-12-28'
        const stay = { arrival, departure: addDays(arrival, amounts.length) }
        const catalogue = {
          unitTypes: [type],
          ratePlans: [plan],
          ageCategories: [
            { id: 'i', minAge: 0, maxAge: 2, kind: 'infant', countsInOccupancy: false, code: 'I', name: {} },
            { id: 'c', minAge: 3, maxAge: 12, kind: 'child', countsInOccupancy: true, code: 'C', name: {} },
            { id: 'a', minAge: 13, maxAge: null, kind: 'adult', countsInOccupancy: true, code: 'A', name: {} },
          ],
          taxRules: taxes.map((tax, index) => ({
            id: `t${index}`,
            code: `T${index}`,
            name: { en: `Tax ${index}` },
            basis: tax.basis,
            rate: tax.basis === 'percent' ? tax.value : null,
            amount: tax.basis === 'percent' ? null : tax.value,
            included: tax.basis === 'percent' && tax.included,
            appliesTo: tax.appliesTo,
            exemptAgeCategoryIds: ['i'],
            maxNights: null,
            validFrom: addDays(arrival, tax.from),
            validTo: null,
          })),
          extras: [
            {
              id: 'breakfast',
              name: { en: 'Breakfast' },
              amount: 3_000,
              basis: 'per_person_per_night',
              mandatory: false,
              unitTypeIds: [],
              poolId: null,
            },
            ...extras.map((one, index) => ({
              id: `e${index}`,
              name: { en: `Extra ${index}` },
              unitTypeIds: [],
              poolId: null,
              ...one,
            })),
          ],
        } as unknown as Catalogue
        const party = { adults, childrenAges }
        const room = priceRoom(
          {
            property,
            catalogue,
            priceOf: () => (date) => amounts[Math.round((Date.parse(date) - Date.parse(arrival)) / 86_400_000)] ?? null,
            taxRules: localTaxRules(catalogue, property, 'en'),
            promo: promo && { id: 'p', ...promo },
            locale: 'en',
            now,
          },
          {
            plan,
            type,
            party,
            counted: countParty(catalogue, party),
            extras: extras.flatMap((one, index) =>
              one.quantity > 0 ? [{ extraId: `e${index}`, quantity: one.quantity }] : [],
            ),
          },
          stay,
        )
        if (!room) throw new Error('every night has a price')
        const lines = [...room.nights, ...room.extras]
        const top = sum(lines.flatMap((line) => line.taxes.filter((tax) => !tax.included).map((tax) => tax.amount)))
        expect(room.nights).to.have.length(amounts.length)
        expect(room.roomTotal).to.equal(sum(room.nights.map((night) => night.amount)))
        expect(room.extrasTotal).to.equal(sum(room.extras.map((one) => one.amount)))
        expect(room.taxTotal).to.equal(top)
        expect(room.total).to.equal(room.roomTotal + room.extrasTotal + room.taxTotal)
        for (const line of lines) {
          expect(line.amount).to.be.at.least(0)
          expect(sum(line.taxes.filter((tax) => tax.included).map((tax) => tax.amount))).to.be.at.most(line.amount)
        }
        for (const night of room.nights)
          expect(sum(night.components.map((part) => part.amount))).to.be.at.most(night.amount)
        expect(sum(room.deposits.map((line) => line.amount))).to.be.at.most(room.total)
        const claims = {
          jti: '',
          tenantId: '',
          propertyId: '',
          ...stay,
          currency: 'BRL',
          locale: 'en',
          promoCode: null,
          promoCodeId: null,
          total: room.total,
          dueNow: 0,
        }
        expect(roomsOfQuote({ ...claims, rooms: [claimedRoom(room)] }).map(inOrder)).to.deep.equal([inOrder(room)])
      }),
      { numRuns: 10_000 },
    )
  }).timeout(60_000)
})
