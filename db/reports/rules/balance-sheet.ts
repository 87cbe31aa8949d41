import type { LedgerAccount } from '../ledger-context.ts'
import { isResult } from './income.ts'
import type { Line } from './income.ts'
import { added, isZero, negated, signed, summed, zeros } from './vectors.ts'
import type { Vector } from './vectors.ts'

const classes = [
  { key: 'assets', class: 'asset', sign: 1, sections: ['current_asset', 'non_current_asset'] },
  { key: 'liabilities', class: 'liability', sign: -1, sections: ['current_liability', 'non_current_liability'] },
  { key: 'equity', class: 'equity', sign: -1, sections: ['equity'] },
] as const

export type BalanceSheet = {
  lines: Line[]
  /** Of the first column. */
  totals: { assets: number; liabilities: number; equity: number; resultNotClosed: number; otherProperties: number }
}

/** Lines that stand beside the accounts, such as differences of a consolidation; on the side of liabilities and equity. */
export type Beside = { key: string; amounts: Vector }

type Node = { account: LedgerAccount; amounts: Vector }

const line = (key: string, level: number, amounts: Vector, account?: LedgerAccount): Line => ({
  key: account?.id ?? key,
  name: account?.name ?? null,
  level,
  accountId: account?.id ?? null,
  code: account?.code ?? null,
  amounts,
})

/** Accounts of a section below their groups. */
const grouped = (
  nodes: readonly Node[],
  byId: ReadonlyMap<string, LedgerAccount>,
  sign: 1 | -1,
  width: number,
): Line[] => {
  const groups = new Map<string | null, Node[]>()
  for (const node of nodes) groups.set(node.account.parentId, [...(groups.get(node.account.parentId) ?? []), node])
  return [...groups].flatMap(([parentId, members]): Line[] => {
    const group = parentId === null ? undefined : byId.get(parentId)
    const rows = members.map(({ account, amounts }) => line('', group ? 3 : 2, signed(amounts, sign), account))
    if (!group) return rows
    const total = summed(
      members.map(({ amounts }) => amounts),
      width,
    )
    return [line('', 2, signed(total, sign), group), ...rows]
  })
}

/**
 * The balance sheet of debits less credits by account (R8): assets = liabilities + equity + result not closed. What entries over several properties leave,
 * where one property is read, is the line `other_properties`.
 */
export const balanceSheet = (
  accounts: readonly LedgerAccount[],
  balances: ReadonlyMap<string, Vector>,
  width: number,
  beside: readonly Beside[] = [],
): BalanceSheet => {
  const byId = new Map(accounts.map((account) => [account.id, account]))
  const nodes = accounts.flatMap((account): Node[] => {
    const amounts = balances.get(account.id)
    return amounts && !isZero(amounts) ? [{ account, amounts }] : []
  })
  const totalOf = (members: readonly Node[]) =>
    summed(
      members.map(({ amounts }) => amounts),
      width,
    )
  const totals = new Map<string, Vector>()
  const lines = classes.flatMap(({ key, class: accountClass, sign, sections }) => {
    const members = nodes.filter(({ account }) => account.class === accountClass)
    const total = signed(totalOf(members), sign)
    totals.set(key, total)
    const known: readonly string[] = sections
    const ofSection = (section: string) =>
      members.filter(({ account }) =>
        account.section !== null && known.includes(account.section)
          ? account.section === section
          : section === sections[0],
      )
    return [
      line(key, 0, total),
      ...sections.flatMap((section) => {
        const inSection = ofSection(section)
        if (inSection.length === 0) return []
        const rows = grouped(inSection, byId, sign, width)
        return known.length === 1 ? rows : [line(section, 1, signed(totalOf(inSection), sign)), ...rows]
      }),
    ]
  })
  const result = negated(totalOf(nodes.filter(({ account }) => isResult(account))))
  const right = summed(
    [
      totals.get('liabilities') ?? zeros(width),
      totals.get('equity') ?? zeros(width),
      result,
      ...beside.map(({ amounts }) => amounts),
    ],
    width,
  )
  const other = added(totals.get('assets') ?? zeros(width), negated(right))
  return {
    lines: [
      ...lines,
      line('result_not_closed', 0, result),
      ...beside.filter(({ amounts }) => !isZero(amounts)).map(({ key, amounts }) => line(key, 0, amounts)),
      ...(isZero(other) ? [] : [line('other_properties', 0, other)]),
    ],
    totals: {
      assets: totals.get('assets')?.[0] ?? 0,
      liabilities: totals.get('liabilities')?.[0] ?? 0,
      equity: totals.get('equity')?.[0] ?? 0,
      resultNotClosed: result[0] ?? 0,
      otherProperties: other[0] ?? 0,
    },
  }
}
