import type { Side } from '../../../config/financial.ts'
import { shareOf, sum } from '../../lib/amounts.ts'
import type { DraftLine } from '../line-check.ts'

/** Minor units; a share of a variable in basis points, half-up; or what the other lines leave. */
export type TemplateAmount = number | { variable: string; rate: number } | 'rest'
export type TemplateLine = {
  accountId: string
  side: Side
  amount: TemplateAmount
  propertyId?: string | null
  costCenterId?: string | null
  memo?: string
}
export type TemplateVariable = { name: string; default?: number }

const signed = ({ side }: TemplateLine, amount: number) => (side === 'debit' ? amount : -amount)

/** Tells whether the lines balance whatever the variables are: by their fixed amounts, or by exactly one line that takes the rest (R20). */
export const canBalance = (lines: readonly TemplateLine[]): boolean => {
  const rests = lines.filter(({ amount }) => amount === 'rest').length
  if (rests !== 0) return rests === 1
  return (
    lines.every(({ amount }) => typeof amount === 'number') &&
    sum(lines.map((line) => signed(line, typeof line.amount === 'number' ? line.amount : 0))) === 0
  )
}

/** The lines of an entry with the values of the variables; those of 0 are left out. Null where the rest would be below 0. */
export const filled = (
  lines: readonly TemplateLine[],
  values: Readonly<Record<string, number>>,
): DraftLine[] | null => {
  const amountOf = ({ amount }: TemplateLine): number => {
    if (amount === 'rest') return 0
    return typeof amount === 'number' ? amount : shareOf(values[amount.variable] ?? 0, amount.rate)
  }
  const others = sum(lines.map((line) => signed(line, amountOf(line))))
  const restLine = lines.find(({ amount }) => amount === 'rest')
  const rest = restLine?.side === 'debit' ? -others : others
  if (restLine && rest < 0) return null
  return lines.flatMap((line): DraftLine[] => {
    const amount = line.amount === 'rest' ? rest : amountOf(line)
    if (amount === 0) return []
    return [
      {
        accountId: line.accountId,
        ...(line.side === 'debit' ? { debit: amount } : { credit: amount }),
        propertyId: line.propertyId ?? null,
        costCenterId: line.costCenterId ?? null,
        ...(line.memo ? { memo: line.memo } : {}),
      },
    ]
  })
}
