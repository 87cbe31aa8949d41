import type { LedgerAccount } from '../ledger-context.ts'
import { isResult } from './income.ts'
import type { Line } from './income.ts'
import { added, isZero, negated, summed, zeros } from './vectors.ts'
import type { Vector } from './vectors.ts'

export const flowSections = ['operating', 'investing', 'financing'] as const
type FlowSection = (typeof flowSections)[number]

export const isCash = ({ cashFlow }: LedgerAccount) => cashFlow === 'cash'
/** An account without a section of cash flow counts as operating. */
const flowOf = ({ cashFlow }: LedgerAccount): FlowSection => flowSections.find((one) => one === cashFlow) ?? 'operating'

export type CashFlow = {
  lines: Line[]
  totals: { opening: number; operating: number; investing: number; financing: number; closing: number }
}

const row = (key: string, level: number, amounts: Vector, account?: LedgerAccount): Line => ({
  key: account?.id ?? key,
  name: account?.name ?? null,
  level,
  accountId: account?.id ?? null,
  code: account?.code ?? null,
  amounts,
})

/** `flows`: what each section took in, from its first line to its last. The change of cash that none of them tells belongs to other properties. */
const frame = (
  { opening, closing }: { opening: Vector; closing: Vector },
  flows: readonly { section: FlowSection; rows: Line[] }[],
): CashFlow => {
  const width = opening.length
  const totalOf = (section: FlowSection) =>
    summed(
      flows
        .filter((flow) => flow.section === section)
        .flatMap(({ rows }) => rows.filter(({ level }) => level === 1).map(({ amounts }) => amounts)),
      width,
    )
  const all = summed(flowSections.map(totalOf), width)
  const rest = added(added(closing, negated(opening)), negated(all))
  return {
    lines: [
      row('opening_cash', 0, opening),
      ...flows.flatMap(({ section, rows }) => [row(section, 0, totalOf(section)), ...rows]),
      ...(isZero(rest) ? [] : [row('other_properties', 0, rest)]),
      row('closing_cash', 0, closing),
    ],
    totals: {
      opening: opening[0] ?? 0,
      operating: totalOf('operating')[0] ?? 0,
      investing: totalOf('investing')[0] ?? 0,
      financing: totalOf('financing')[0] ?? 0,
      closing: closing[0] ?? 0,
    },
  }
}

/** Cash at the beginning and the end, from its opening balance and its movement in each column. The first column is the whole range. */
export const cashOf = (
  accounts: readonly LedgerAccount[],
  openings: ReadonlyMap<string, Vector>,
  movements: ReadonlyMap<string, Vector>,
  width: number,
): { opening: Vector; closing: Vector } => {
  const cash = accounts.filter(isCash)
  const before = summed(
    cash.map(({ id }) => openings.get(id) ?? [0]),
    1,
  )[0] as number
  const moved = summed(
    cash.map(({ id }) => movements.get(id) ?? zeros(width)),
    width,
  )
  const opening = moved.map((_, column) =>
    column === 0 ? before : before + moved.slice(1, column).reduce((total, amount) => total + amount, 0),
  )
  return { opening, closing: added(opening, moved) }
}

/** The direct method (R10): what the other lines of entries with cash contribute, by the section of their accounts. `against`: credits less debits. */
export const directCashFlow = (
  accounts: readonly LedgerAccount[],
  cash: { opening: Vector; closing: Vector },
  against: ReadonlyMap<string, Vector>,
): CashFlow =>
  frame(
    cash,
    flowSections.map((section) => ({
      section,
      rows: accounts
        .filter((account) => !isCash(account) && flowOf(account) === section)
        .flatMap((account) => {
          const amounts = against.get(account.id)
          return amounts && !isZero(amounts) ? [row('', 1, amounts, account)] : []
        }),
    })),
  )

/**
 * The indirect method: the result, then what balance-sheet accounts outside cash gave or took. Revenue and expense of another section, such as the sale of
 * an asset, are moved from operating to it, so that both methods agree on each section where entries are of one.
 */
export const indirectCashFlow = (
  accounts: readonly LedgerAccount[],
  cash: { opening: Vector; closing: Vector },
  movements: ReadonlyMap<string, Vector>,
): CashFlow => {
  const width = cash.opening.length
  const given = (account: LedgerAccount) => negated(movements.get(account.id) ?? zeros(width))
  const results = accounts.filter(isResult)
  const elsewhere = results.filter((account) => flowOf(account) !== 'operating' && !isZero(given(account)))
  const others = accounts.filter((account) => !isResult(account) && !isCash(account) && !isZero(given(account)))
  return frame(
    cash,
    flowSections.map((section) => ({
      section,
      rows: [
        ...(section === 'operating'
          ? [
              row('result', 1, summed(results.map(given), width)),
              ...elsewhere.map((account) => row('', 1, negated(given(account)), account)),
            ]
          : elsewhere
              .filter((account) => flowOf(account) === section)
              .map((account) => row('', 1, given(account), account))),
        ...others
          .filter((account) => flowOf(account) === section)
          .map((account) => row('', 1, given(account), account)),
      ],
    })),
  )
}
