import { scaled, split, sum } from '../../lib/amounts.ts'

/** A tax as a line of a folio has it: positive, also on a line that lowers a charge. */
export type PartTax = { taxRuleId: string; code: string; included: boolean; amount: number }

export type Line = {
  id: string
  folioId: string
  kind: string
  category: string | null
  description: string
  amount: number
  taxes: readonly PartTax[]
  originalLineId: string | null
  taxRuleId: string | null
}

/** A tax on top of a charge, with what is left of it. */
export type TaxLeft = { line: Line; left: number }
/** The rest of a charge after its adjustments and transfers. */
export type Left = {
  line: Line
  left: number
  /** The sum that adjustments have taken off so far. */
  adjusted: number
  included: PartTax[]
  onTop: TaxLeft[]
}

const reductions = new Set(['adjustment', 'transfer_out'])
const isTaxOf = (line: Line, of: Line) =>
  line.category === 'tax' && !reductions.has(line.kind) && line.originalLineId === of.id && line.folioId === of.folioId

/** The rest of a line, by the lines of its folio that refer to it or to its taxes. */
export const leftOf = (line: Line, lines: readonly Line[]): Left => {
  const takenOff = (one: Line) =>
    lines.filter((each) => reductions.has(each.kind) && each.originalLineId === one.id && each.folioId === one.folioId)
  const own = takenOff(line)
  const sign = Math.sign(line.amount)
  const leftIn = (one: Line) => one.amount + sum(takenOff(one).map((each) => each.amount))
  return {
    line,
    left: sign * leftIn(line),
    adjusted: -sum(own.filter((one) => one.kind === 'adjustment').map((one) => one.amount)),
    included: line.taxes
      .filter((tax) => tax.included)
      .map((tax) => ({
        ...tax,
        amount:
          tax.amount -
          sum(
            own.flatMap((one) =>
              one.taxes.filter((each) => each.included && each.taxRuleId === tax.taxRuleId).map((each) => each.amount),
            ),
          ),
      })),
    onTop: lines.filter((one) => isTaxOf(one, line)).map((one) => ({ line: one, left: leftIn(one) })),
  }
}

/** A part of a charge with its taxes. */
export type Part = { amount: number; included: PartTax[]; onTop: { line: Line; amount: number }[] }

type Share = (whole: number, left: number) => number

const cut = ({ included, onTop, line }: Left, amount: number, share: Share, moves: (tax: Line) => boolean): Part => ({
  amount,
  included: included
    .map((tax) => ({ ...tax, amount: share(wholeOf(line, tax.taxRuleId), tax.amount) }))
    .filter((tax) => tax.amount > 0),
  onTop: onTop
    .filter((tax) => moves(tax.line))
    .map((tax) => ({ line: tax.line, amount: share(tax.line.amount, tax.left) }))
    .filter((tax) => tax.amount > 0),
})

const wholeOf = ({ taxes }: Line, taxRuleId: string) =>
  sum(taxes.filter((tax) => tax.included && tax.taxRuleId === taxRuleId).map((tax) => tax.amount))

/**
 * The part of a charge that an adjustment takes off, with its share of the taxes that `shrinks` names: in proportion to the whole charge, half up, and never
 * more than is left of a tax. The last adjustment takes the rest, so that all of them together come to the charge and its taxes.
 */
export const adjustedPart = (of: Left, amount: number, shrinks: (tax: Line) => boolean): Part =>
  cut(
    of,
    amount,
    (whole, left) => (amount === of.left ? left : Math.min(left, scaled(whole, amount, of.line.amount))),
    shrinks,
  )

/** The part of a charge that a transfer moves, with all its taxes: what is left of each is split by largest remainder between that part and the rest. */
export const movedPart = (of: Left, amount: number): Part =>
  cut(
    of,
    amount,
    (_, left) => split(left, [amount, of.left - amount])[0] ?? 0,
    () => true,
  )

/** The taxes of a part as its line tells them, those on top as well. */
export const taxesOf = ({ included, onTop }: Part): PartTax[] => [
  ...included,
  ...onTop.map(({ line, amount }) => ({
    taxRuleId: line.taxRuleId ?? line.id,
    code: line.description,
    included: false,
    amount,
  })),
]
