import { expect } from 'chai'
import { shippedAddOns } from '../../config/add-ons.ts'
import { firstPlanVersions } from '../../config/plans.ts'
import { linesOf, totalOf } from '../../db/admin/rules/lines.ts'
import type { Item, UsageDay } from '../../db/admin/rules/lines.ts'
import { metered, tiered } from '../../db/admin/rules/prices.ts'
import { periodEnd } from '../../db/admin/rules/periods.ts'

const period = { start: '2026-11-05', end: '2026-12-05' }
const phone =
  firstPlanVersions.Professional.features.find(({ key }) => key === 'ocp')?.meters?.['messages.phone']?.BRL ?? []
const plan = { versionId: 'v1', name: 'Professional', amount: 29_900, meters: { 'messages.phone': phone } }

const itemOf = (key: string, given: Partial<Item> = {}): Item => {
  const addOn = shippedAddOns.find((one) => one.key === key)
  if (!addOn) throw new Error(`there is no ${key}`)
  return {
    addOnId: key,
    key,
    name: key,
    billingType: addOn.billingType,
    meter: addOn.meter ?? null,
    priceId: `${key} 1`,
    price: addOn.prices.BRL ?? {},
    startsOn: '2026-11-20',
    endsOn: null,
    usageBefore: 0,
    usageAtEnd: null,
    ...given,
  }
}
const bill = (
  given: { items?: Item[]; usage?: UsageDay[]; adjustments?: Parameters<typeof linesOf>[0]['adjustments'] } = {},
) => linesOf({ period, plan, items: [], usage: [], adjustments: [], ...given })
const amounts = (lines: ReturnType<typeof bill>) =>
  lines.map(({ kind, subjectId, amount }) => [kind, subjectId, amount])

describe('the lines of a subscription’s invoice', () => {
  it('ask for the whole month of what is held at its end, and nothing for what was cancelled', () => {
    expect(amounts(bill({ items: [itemOf('pos')] }))).to.deep.equal([
      ['plan', 'v1', 29_900],
      ['add_on', 'pos', 9_900],
    ])
    expect(amounts(bill({ items: [itemOf('pos', { endsOn: '2026-11-28' })] }))).to.deep.equal([['plan', 'v1', 29_900]])
  })

  it('are one for an add-on that was bought, cancelled and bought again', () => {
    const items = [itemOf('pos', { startsOn: '2026-11-06', endsOn: '2026-11-07' }), itemOf('pos')]
    expect(amounts(bill({ items }))).to.deep.equal([
      ['plan', 'v1', 29_900],
      ['add_on', 'pos', 9_900],
    ])
  })

  it('round once: half up, to the minor unit', () => {
    expect(metered(123_457, '0.05')).to.equal(6_173)
    expect(metered(1, '0.5')).to.equal(1)
    expect(metered(1_000_000_000, '0.000001')).to.equal(1_000)
    expect(metered(499_999, '0.000001')).to.equal(0)
    expect(metered(500_000, '0.000001')).to.equal(1)
  })

  it('take each unit at the price of its tier', () => {
    for (const [quantity, amount] of [
      [0, 0],
      [100, 0],
      [101, 45],
      [1_000, 40_500],
      [1_001, 40_539],
      [1_250, 50_250],
    ] as const)
      expect(tiered(quantity, phone), String(quantity)).to.equal(amount)
  })

  it('price usage by the add-on while it was held, to the unit, and by the plan before and after', () => {
    const meter = 'api.requests'
    const usage = [
      { meter, day: '2026-11-10', quantity: 500 },
      { meter, day: '2026-11-20', quantity: 1_000 },
      { meter, day: '2026-11-21', quantity: 2_000 },
      { meter, day: '2026-11-22', quantity: 900 },
      { meter, day: '2026-12-05', quantity: 7_000 },
    ]
    const held = itemOf('api-read', { usageBefore: 400, endsOn: '2026-11-22', usageAtEnd: 300 })
    const [, line] = bill({ items: [held], usage })
    expect(line).to.include({ kind: 'usage', subjectId: 'api-read', quantity: 600 + 2_000 + 300, amount: 145 })
  })

  it('make the invoice of the contract', () => {
    const usage = [
      { meter: 'api.requests', day: '2026-11-20', quantity: 123_457 },
      { meter: 'messages.phone', day: '2026-11-21', quantity: 1_250 },
    ]
    const adjustments = [{ id: 'a1', kind: 'adjustment' as const, amount: -5_000, description: 'Courtesy' }]
    const lines = bill({ items: [itemOf('pos'), itemOf('api-read')], usage, adjustments })
    expect(amounts(lines)).to.deep.equal([
      ['plan', 'v1', 29_900],
      ['add_on', 'pos', 9_900],
      ['usage', 'api-read', 6_173],
      ['usage', 'messages.phone', 50_250],
      ['adjustment', 'a1', -5_000],
    ])
    expect(totalOf(lines)).to.deep.equal({ total: 91_223, carried: 0 })
  })

  it('carry over what is below 0', () => {
    const adjustments = [{ id: 'a1', kind: 'adjustment' as const, amount: -50_000, description: 'Credit' }]
    expect(totalOf(bill({ adjustments }))).to.deep.equal({ total: 0, carried: -20_100 })
  })

  it('are of months from the anchor day on, or their last day', () => {
    const from = (start: string, anchor: number, months: number) => {
      let day = start
      return Array.from({ length: months }, () => (day = periodEnd(day, anchor)))
    }
    expect(from('2027-12-31', 31, 4)).to.deep.equal(['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30'])
    expect(from('2026-01-30', 30, 3)).to.deep.equal(['2026-02-28', '2026-03-30', '2026-04-30'])
  })
})
