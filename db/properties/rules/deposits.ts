import type { DepositRules } from '../../../config/policy-rules.ts'
import { addDays, localInstant } from '../../../config/time.ts'
import { shareOf, sum } from '../../lib/amounts.ts'

export type DepositBase = {
  arrival: string
  checkInFrom: string
  timeZone: string
  nights: readonly number[]
  total: number
  now: Date
}

/** `dueAt` null is due at booking. */
export type Installment = { dueAt: Date | null; amount: number }

/** Installments due before arrival. They never exceed the total; a day that is past is due at booking. */
export const depositSchedule = (rules: DepositRules | null, base: DepositBase): Installment[] => {
  let left = base.total
  const lines: Installment[] = []
  for (const entry of rules?.installments ?? []) {
    const asked =
      entry.type === 'percent'
        ? shareOf(base.total, entry.value)
        : entry.type === 'nights'
          ? sum(base.nights.slice(0, entry.value))
          : entry.type === 'remaining'
            ? left
            : entry.value
    const amount = Math.min(asked, left)
    left -= amount
    if (amount === 0) continue
    const at =
      entry.due === 'booking'
        ? null
        : localInstant(addDays(base.arrival, -entry.due.daysBeforeArrival), base.checkInFrom, base.timeZone)
    const dueAt = at !== null && at > base.now ? at : null
    const same = lines.find((known) => known.dueAt?.getTime() === dueAt?.getTime())
    if (same) same.amount += amount
    else lines.push({ dueAt, amount })
  }
  return lines.sort((a, b) => (a.dueAt?.getTime() ?? 0) - (b.dueAt?.getTime() ?? 0))
}

export const dueNow = (schedule: readonly { dueAt: Date | string | null; amount: number }[]) =>
  sum(schedule.filter((line) => line.dueAt === null).map((line) => line.amount))
