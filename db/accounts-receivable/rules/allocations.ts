import { sum } from '../../lib/amounts.ts'

export type Withheld = { taxCodeId: string; amount: number }
/** An allocation to an installment, as it is sent. Minor units; principal is the lesser of open and available unless said. */
export type GivenAllocation = {
  installmentId: string
  principal?: number | undefined
  interest?: number | undefined
  fine?: number | undefined
  discount?: number | undefined
  fee?: number | undefined
  withheld?: readonly Withheld[] | undefined
}
export type Amounts = {
  principal: number
  interest: number
  fine: number
  discount: number
  fee: number
  withheld: readonly Withheld[]
}
export type AllocationProblem = { code: 'amount_exceeds_open' | 'amount_exceeds_available'; message: string }

export const withheldOf = (withheld: readonly Withheld[]): number => sum(withheld.map(({ amount }) => amount))

/** The amount that an allocation takes from its receipt (R9). Whatever lowers the installment without money is left out. */
export const cashOf = ({ principal, interest, fine, discount, fee, withheld }: Amounts): number =>
  principal + interest + fine - discount - fee - withheldOf(withheld)

/**
 * The amounts of an allocation of what is open and available (R9, R10). A principal that is left out is as much as both allow. Null where `cash` would be below 0,
 * or nothing is paid: a fault of the sender.
 */
export const amountsOf = (
  { principal, interest = 0, fine = 0, discount = 0, fee = 0, withheld = [] }: GivenAllocation,
  { open, available }: { open: number; available: number },
): { amounts: Amounts | null; problem: AllocationProblem | null } => {
  const without = discount + fee + withheldOf(withheld)
  const most = available - interest - fine + without
  const amounts = { principal: principal ?? Math.min(open, most), interest, fine, discount, fee, withheld }
  if (principal === undefined && (open <= 0 || most <= 0))
    return {
      amounts: null,
      problem:
        open <= 0
          ? { code: 'amount_exceeds_open', message: 'is settled' }
          : { code: 'amount_exceeds_available', message: `has ${Math.max(0, available)} left for it` },
    }
  if (amounts.principal < 1 || cashOf(amounts) < 0) return { amounts: null, problem: null }
  if (amounts.principal > open)
    return { amounts, problem: { code: 'amount_exceeds_open', message: `has ${open} open` } }
  if (cashOf(amounts) > available)
    return {
      amounts,
      problem: { code: 'amount_exceeds_available', message: `takes ${cashOf(amounts)}, ${available} is available` },
    }
  return { amounts, problem: null }
}

/** Principal alone for installments in their order, as far as the money goes: what `auto` allocates. */
export const automatic = (
  installments: readonly { installmentId: string; open: number }[],
  available: number,
): GivenAllocation[] => {
  let left = available
  return installments.flatMap(({ installmentId, open }) => {
    const principal = Math.min(left, open)
    left -= principal
    return principal > 0 ? [{ installmentId, principal }] : []
  })
}
