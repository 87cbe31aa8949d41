import { expect } from 'chai'
import fc from 'fast-check'
import { addDays } from '../../config/time.ts'
import { extraCharges } from '../../db/reservations/charge-extras.ts'
import { nightCharges } from '../../db/reservations/charge-nights.ts'
import type { Charge } from '../../db/reservations/folio/write.ts'

const stay = { id: 'stay', propertyId: 'house', primaryGuestId: null, marketSegment: 'transient' }
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
const amounts = (charges: readonly Charge[]) => sum(charges.map((one) => one.amount))
const taxes = (charges: readonly Charge[]) => sum(charges.flatMap((one) => one.taxes.map((tax) => tax.amount)))
const keys = (charges: readonly Charge[]) =>
  charges.map((one) => `${one.source.type} ${one.source.id} ${one.source.key}`)

const money = fc.integer({ min: 0, max: 1_000_000_000 })
const tax = fc.record({ taxRuleId: fc.uuid(), code: fc.constant('TAX'), included: fc.boolean(), amount: money })

describe('The charges of a stay', () => {
  it('of a night are its price and its taxes, whatever part of it belongs to extras', () => {
    const night = fc
      .record({
        room: money,
        parts: fc.uniqueArray(fc.record({ extraId: fc.uuid(), amount: money }), {
          maxLength: 4,
          selector: (one) => one.extraId,
        }),
        taxes: fc.array(tax, { maxLength: 4 }),
      })
      .map(({ room, parts, taxes: due }) => ({
        reservationId: 'stay',
        date: '2026-11-21',
        amount: room + sum(parts.map((one) => one.amount)),
        unitTypeId: 'type',
        ratePlanId: 'plan',
        taxes: due,
        components: parts,
        commission: null,
        channelConnectionId: null,
      }))
    fc.assert(
      fc.property(night, (one) => {
        const charges = nightCharges(stay, one, new Map())
        expect(amounts(charges)).to.equal(one.amount)
        expect(taxes(charges)).to.equal(sum(one.taxes.map((each) => each.amount)))
        expect(new Set(keys(charges)).size).to.equal(charges.length)
        // A tax inside a price stands with a charge that has one.
        const inside = charges.filter((each) => each.taxes.some((due) => due.included))
        if (one.amount > 0) expect(inside.every((each) => each.amount > 0)).to.equal(true)
      }),
    )
  })

  it('of an extra are the whole of it, on whichever days somebody looked', () => {
    const extra = fc.record({
      days: fc.integer({ min: 1, max: 30 }),
      amount: money,
      taxes: fc.array(tax, { maxLength: 3 }),
      basis: fc.constantFrom(
        'per_night' as const,
        'per_person_per_night' as const,
        'per_stay' as const,
        'per_unit' as const,
      ),
      looks: fc.array(fc.integer({ min: -3, max: 33 }), { maxLength: 8 }),
    })
    fc.assert(
      fc.property(extra, ({ days, amount, taxes: due, basis, looks }) => {
        const from = '2026-11-21'
        const until = addDays(from, days - 1)
        const charged: Charge[] = []
        let chargedUntil: string | null = null
        for (const look of [...looks.toSorted((a, b) => a - b), days]) {
          const through = addDays(from, look)
          const found = extraCharges(
            stay,
            {
              id: 'extra',
              reservationId: 'stay',
              name: 'Parking',
              basis,
              from,
              until,
              amount,
              chargedUntil,
              revenueGroup: 'parking',
              taxes: due,
            },
            through,
          )
          charged.push(...found)
          if (through < from) continue
          const last = basis === 'per_stay' || basis === 'per_unit' ? until : [through, until].sort()[0]
          if (chargedUntil === null || (last ?? '') > chargedUntil) chargedUntil = last ?? null
        }
        expect(amounts(charged)).to.equal(amount)
        expect(taxes(charged)).to.equal(sum(due.map((one) => one.amount)))
        expect(new Set(keys(charged)).size).to.equal(charged.length)
      }),
    )
  })
})
