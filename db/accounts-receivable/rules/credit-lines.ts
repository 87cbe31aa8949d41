import { halfUp, split } from '../../lib/amounts.ts'

/** A line of an invoice, or of a note that credits a part of it. Minor units; the tax is included in the amount. */
export type CreditedLine = {
  description: string
  accountId: string
  amount: number
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
}

/** The tax of a part of a line, in proportion, half-up. */
const taxOf = ({ amount, taxAmount }: CreditedLine, part: number): number =>
  Number(halfUp(BigInt(taxAmount) * BigInt(part), BigInt(amount)))

const partOf = (line: CreditedLine, amount: number): CreditedLine => {
  const taxAmount = taxOf(line, amount)
  return { ...line, amount, taxAmount, taxCodeId: taxAmount === 0 ? null : line.taxCodeId }
}

/** An amount shared over the lines of an invoice by largest remainder; lines below 0 take no share (R14). */
export const sharedLines = (lines: readonly CreditedLine[], amount: number): CreditedLine[] => {
  const positive = lines.filter((line) => line.amount > 0)
  const parts = split(
    amount,
    positive.map((line) => line.amount),
  )
  return positive.map((line, index) => partOf(line, parts[index] ?? 0)).filter((line) => line.amount > 0)
}

/** Lines that name their accounts: those of an account of the invoice carry the tax, place and cost centre of its line there. */
export const namedLines = (
  lines: readonly CreditedLine[],
  wanted: readonly { accountId: string; amount: number }[],
): CreditedLine[] =>
  wanted.map(({ accountId, amount }) => {
    const found = lines.find((line) => line.accountId === accountId && line.amount > 0)
    return found
      ? partOf(found, amount)
      : {
          description: '',
          accountId,
          amount,
          taxCodeId: null,
          taxAmount: 0,
          propertyId: null,
          costCenterId: null,
        }
  })
