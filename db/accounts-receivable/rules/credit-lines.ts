import { halfUp, split, sum } from '../../lib/amounts.ts'

/** A line of an invoice, or of a note that credits a part of it. Minor units; the tax is included in the amount. */
export type CreditedLine = {
  description: string
  accountId: string
  amount: number
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
  /** The line of the invoice. Null in notes of before, where they named an account of their own. */
  receivableLineNo: number | null
}

/** A line of an invoice with what earlier notes gave back of it. */
export type CreditableLine = CreditedLine & { credited: number; taxCredited: number }

const leftOf = ({ amount, credited }: CreditableLine): number => Math.max(0, amount - credited)

/** The tax of all that is credited of a line, in proportion, half-up, less what was given back before: notes never give back more than the line had. */
const taxOf = ({ amount, taxAmount, credited, taxCredited }: CreditableLine, part: number): number => {
  const all = Number(halfUp(BigInt(taxAmount) * BigInt(Math.min(amount, credited + part)), BigInt(amount)))
  return Math.min(part, Math.max(0, all - taxCredited))
}

const partOf = (line: CreditableLine, part: number): CreditedLine => {
  const { credited: _, taxCredited: __, ...shown } = line
  const taxAmount = taxOf(line, part)
  return { ...shown, amount: part, taxAmount, taxCodeId: taxAmount === 0 ? null : line.taxCodeId }
}

/** Shares of an amount by the amounts of lines, each at most what is left of its line; what is above that is shared over the others. */
const sharesOf = (lines: readonly CreditableLine[], amount: number): number[] => {
  const shares = lines.map(() => 0)
  let rest = amount
  while (rest > 0 && lines.length > 0) {
    const open = lines.map((line, at) => leftOf(line) - (shares[at] ?? 0))
    const isFull = open.every((left) => left === 0)
    // Lines that were named before took it elsewhere: it falls on all.
    const weights = lines.map((line, at) => (isFull || (open[at] ?? 0) > 0 ? line.amount : 0))
    for (const [at, part] of split(rest, weights).entries()) {
      const taken = isFull ? part : Math.min(part, open[at] ?? 0)
      shares[at] = (shares[at] ?? 0) + taken
      rest -= taken
    }
  }
  return shares
}

/**
 * An amount shared over the lines of an invoice by their amounts (largest remainder), at most what is left of each, so that the last note ends every line;
 * lines below 0 take no share (R14).
 */
export const sharedLines = (lines: readonly CreditableLine[], amount: number): CreditedLine[] => {
  const positive = lines.filter((line) => line.amount > 0)
  const parts = sharesOf(positive, amount)
  return positive.map((line, index) => partOf(line, parts[index] ?? 0)).filter((line) => line.amount > 0)
}

/**
 * Lines that name their accounts: those of an account of the invoice take its lines there, the first that has something left first, with tax, place and cost
 * centre. Amounts above that, or on accounts that the invoice does not have, are shared together over what is left of all lines, and take of each tax what falls
 * on their parts: what is given back of a sale gives back its tax, whatever account it stands on. At most two lines for each that is named, and two for each of
 * the invoice.
 */
export const namedLines = (
  lines: readonly CreditableLine[],
  wanted: readonly { accountId: string; amount: number }[],
): CreditedLine[] => {
  const now = lines.filter((line) => line.amount > 0).map((line) => ({ ...line }))
  const take = (line: CreditableLine, part: number, accountId: string): CreditedLine[] => {
    if (part === 0) return []
    const made = partOf(line, part)
    line.credited += part
    line.taxCredited += made.taxAmount
    return [{ ...made, accountId }]
  }
  // All of them take their own lines before any shares what is left.
  const named = wanted.map(({ accountId, amount }) => {
    let rest = amount
    const taken = now.flatMap((line) => {
      const part = line.accountId === accountId ? Math.min(rest, leftOf(line)) : 0
      rest -= part
      return take(line, part, accountId)
    })
    return { accountId, rest, taken }
  })
  const shares = sharesOf(now, sum(named.map(({ rest }) => rest)))
  return named.flatMap(({ accountId, rest, taken }) => {
    let left = rest
    const shared = now.flatMap((line, at) => {
      const part = Math.min(left, shares[at] ?? 0)
      left -= part
      shares[at] = (shares[at] ?? 0) - part
      return take(line, part, accountId)
    })
    return [...taken, ...shared]
  })
}
