import { sum } from '../../lib/amounts.ts'

export type Due = { dueAt: Date; amount: number; waivedAmount: number }

/** What of the installments that are due by an instant the money does not cover; money fills them in order of `dueAt` (R26). */
export const uncovered = (installments: readonly Due[], money: number, by: Date): number => {
  const due = sum(installments.filter((one) => one.dueAt <= by).map((one) => one.amount - one.waivedAmount))
  return Math.max(0, due - money)
}

/**
 * Shares money out among stays: first what each still owes by its installments, then what it will owe in all. Answers a part for
 * each stay, in order; their sum is at most the money.
 */
export const shareOut = (money: number, stays: readonly { due: number; payable: number }[]): number[] => {
  let left = money
  const take = (wanted: number) => {
    const taken = Math.max(0, Math.min(left, wanted))
    left -= taken
    return taken
  }
  const first = stays.map((stay) => take(Math.min(stay.due, stay.payable)))
  return stays.map((stay, index) => (first[index] ?? 0) + take(stay.payable - (first[index] ?? 0)))
}
