import type { AddOnBillingType, AddOnPrice, PriceTier } from '../../../config/add-ons.ts'
import { priced } from './prices.ts'

/** A period of billing, `[start, end)`, in days of the tenant's zone. */
export type Period = { start: string; end: string }

/** An add-on that the tenant held at some time of the period. Days are those of the tenant's zone. */
export type Item = {
  addOnId: string
  key: string
  name: string
  billingType: AddOnBillingType
  meter: string | null
  priceId: string
  price: AddOnPrice
  startsOn: string
  /** Null while it is held, at the end of the period or now. */
  endsOn: string | null
  /** Of the meter's day on which it began, and ended: what stood there before, and then. */
  usageBefore: number
  usageAtEnd: number | null
}

export type UsageDay = { meter: string; day: string; quantity: number }
export type Adjustment = { id: string; kind: 'adjustment' | 'carried'; amount: number; description: string }
export type BilledPlan = {
  versionId: string
  name: string
  amount: number
  /** Prices of meters in the tenant's currency. */
  meters: Readonly<Record<string, readonly PriceTier[]>>
}

export type Line = {
  kind: 'plan' | 'add_on' | 'usage' | 'adjustment' | 'carried'
  subjectId: string
  description: string
  quantity: number
  /** Null where units have several prices. */
  unitPrice: string | null
  amount: number
  priceId: string | null
}

type Billed = {
  period: Period
  plan: BilledPlan
  items: readonly Item[]
  usage: readonly UsageDay[]
  adjustments: readonly Adjustment[]
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
/** Stores are measured, not counted: what is billed is the largest day. */
export const isLevel = (meter: string): boolean => meter.startsWith('storage.')
/** The quantity of several days of a meter. */
export const together = (meter: string, quantities: readonly number[]): number =>
  isLevel(meter) ? Math.max(0, ...quantities) : sum(quantities)

/** The usage of an item's meter in the period, counted to the unit from the item's beginning to its end. */
const usedBy = ({ meter, startsOn, endsOn, usageBefore, usageAtEnd }: Item, usage: readonly UsageDay[]): number => {
  const days = usage.filter(
    (one) => one.meter === meter && one.day >= startsOn && (endsOn === null || one.day <= endsOn),
  )
  const counted = days.map(({ day, quantity }) => {
    if (isLevel(meter ?? '')) return quantity
    const upTo = day === endsOn && usageAtEnd !== null ? Math.min(quantity, usageAtEnd) : quantity
    return Math.max(0, upTo - (day === startsOn ? usageBefore : 0))
  })
  return together(meter ?? '', counted)
}

/** Items of each add-on, in the order of their beginning. */
const byKey = (items: readonly Item[]): Map<string, Item[]> => {
  const found = new Map<string, Item[]>()
  for (const item of items.toSorted((one, other) => (one.startsOn < other.startsOn ? -1 : 1)))
    found.set(item.key, [...(found.get(item.key) ?? []), item])
  return found
}

const unitPriceOf = ({ unitPrice, amount }: AddOnPrice): string | null =>
  unitPrice ?? (amount === undefined ? null : String(amount))

/**
 * Lines of a period's invoice: the plan, a line for each add-on that is held, usage by add-on and by meter, adjustments, and what was carried
 * over. An add-on that was bought, cancelled and bought again is one line. Nothing is prorated.
 */
export const linesOf = ({ period, plan, items, usage, adjustments }: Billed): Line[] => {
  const inPeriod = usage.filter(({ day }) => day >= period.start && day < period.end)
  const taken = new Map<string, number>()
  const ofAddOns = [...byKey(items)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const flat: Line[] = []
  const used: Line[] = []
  for (const [, held] of ofAddOns) {
    const last = held.at(-1)
    if (!last) continue
    const isHeld = held.some(({ endsOn }) => endsOn === null)
    const { addOnId: subjectId, name: description, priceId, price, meter } = last
    if (meter === null) {
      const amount = price.amount ?? 0
      if (isHeld)
        flat.push({ kind: 'add_on', subjectId, description, quantity: 1, unitPrice: String(amount), amount, priceId })
      continue
    }
    const quantity = together(
      meter,
      held.map((item) => usedBy(item, inPeriod)),
    )
    taken.set(meter, (taken.get(meter) ?? 0) + quantity)
    if (isHeld || quantity > 0)
      used.push({
        kind: 'usage',
        subjectId,
        description,
        quantity,
        unitPrice: unitPriceOf(price),
        amount: priced(quantity, price),
        priceId,
      })
  }
  for (const [meter, tiers] of Object.entries(plan.meters).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const all = together(
      meter,
      inPeriod.filter((one) => one.meter === meter).map(({ quantity }) => quantity),
    )
    const quantity = isLevel(meter) && taken.has(meter) ? 0 : Math.max(0, all - (taken.get(meter) ?? 0))
    if (quantity > 0)
      used.push({
        kind: 'usage',
        subjectId: meter,
        description: meter,
        quantity,
        unitPrice: null,
        amount: priced(quantity, { tiers: [...tiers] }),
        priceId: null,
      })
  }
  const others = adjustments
    .toSorted((one, other) => (one.kind === other.kind ? 0 : one.kind === 'adjustment' ? -1 : 1))
    .map(({ id, kind, amount, description }): Line => ({
      kind,
      subjectId: id,
      description,
      quantity: 1,
      unitPrice: String(amount),
      amount,
      priceId: null,
    }))
  return [
    {
      kind: 'plan',
      subjectId: plan.versionId,
      description: plan.name,
      quantity: 1,
      unitPrice: String(plan.amount),
      amount: plan.amount,
      priceId: null,
    },
    ...flat,
    ...used,
    ...others,
  ]
}

/** The sum of lines. Below 0 nothing is asked for, and the rest is carried into the next invoice. */
export const totalOf = (lines: readonly Line[]): { total: number; carried: number } => {
  const amount = sum(lines.map((line) => line.amount))
  return { total: Math.max(0, amount), carried: Math.min(0, amount) }
}
