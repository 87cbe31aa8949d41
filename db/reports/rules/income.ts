import type { LedgerAccount } from '../ledger-context.ts'
import { added, isZero, signed, summed, zeros } from './vectors.ts'
import type { Vector } from './vectors.ts'

/** A row of a statement; `name` is a word of reports where it has no account. */
export type Line = {
  key: string
  name: string | null
  level: number
  accountId: string | null
  code: string | null
  amounts: Vector
}

type Part = { key: string; sections: readonly string[]; sign: 1 | -1; alone?: true }
type Step = Part | { key: string; sum: true }

const allowances = ['rooms_allowances', 'food_beverage_allowances', 'other_operated_allowances', 'allowances']
const grossSections = ['rooms_revenue', 'food_beverage_revenue', 'other_operated_revenue', 'other_income']
const below: readonly Step[] = [
  {
    key: 'undistributed',
    sections: ['administration', 'information_technology', 'sales_marketing', 'property_operation', 'utilities'],
    sign: -1,
  },
  { key: 'gross_operating_profit', sum: true },
  { key: 'management_fees', sections: ['management_fees'], sign: -1, alone: true },
  { key: 'fixed_charges', sections: ['fixed_charges'], sign: -1, alone: true },
  { key: 'ebitda', sum: true },
  { key: 'depreciation', sections: ['depreciation'], sign: -1, alone: true },
  { key: 'financial_income', sections: ['financial_income'], sign: 1, alone: true },
  { key: 'financial_cost', sections: ['financial_cost'], sign: -1, alone: true },
  { key: 'non_operating', sections: ['non_operating'], sign: 1, alone: true },
  { key: 'result_before_tax', sum: true },
  { key: 'income_tax', sections: ['income_tax'], sign: -1, alone: true },
  { key: 'result', sum: true },
]
const steps: readonly Step[] = [
  { key: 'gross_revenue', sections: grossSections, sign: 1 },
  { key: 'deductions', sections: [...allowances, 'revenue_taxes'], sign: -1 },
  { key: 'net_revenue', sum: true },
  { key: 'department_costs', sections: ['rooms_cost', 'food_beverage_cost', 'other_operated_cost'], sign: -1 },
  { key: 'departmental_profit', sum: true },
  ...below,
]
const known = new Set(steps.flatMap((step) => ('sections' in step ? step.sections : [])))
const departments = ['rooms', 'food_beverage', 'other_operated'] as const
const allowanceOf: Record<string, (typeof departments)[number]> = {
  allowance_rooms: 'rooms',
  allowance_food_beverage: 'food_beverage',
  allowance_other: 'other_operated',
}

/** An account without a section that statements know counts as other income or as administration, so that no amount is left out. */
export const sectionOf = ({ class: accountClass, section, role }: LedgerAccount): string => {
  if (section === 'allowances') return `${allowanceOf[role ?? ''] ?? 'other_operated'}_allowances`
  return section !== null && known.has(section)
    ? section
    : accountClass === 'revenue'
      ? 'other_income'
      : 'administration'
}

export const isResult = ({ class: accountClass }: Pick<LedgerAccount, 'class'>) =>
  accountClass === 'revenue' || accountClass === 'expense'

/** Credits less debits of the accounts of revenue and expense: what each adds to the result. */
export type Contributions = ReadonlyMap<string, Vector>

type Sources = {
  accounts: readonly LedgerAccount[]
  contributions: Contributions
  width: number
  withAccounts: boolean
}

const sectionsOf = ({ accounts, contributions, width }: Sources) => {
  const members = new Map<string, { account: LedgerAccount; amounts: Vector }[]>()
  for (const account of accounts) {
    const amounts = contributions.get(account.id)
    if (!amounts || !isResult(account)) continue
    const section = sectionOf(account)
    members.set(section, [...(members.get(section) ?? []), { account, amounts }])
  }
  const total = (sections: readonly string[]) =>
    summed(
      sections.flatMap((section) => (members.get(section) ?? []).map(({ amounts }) => amounts)),
      width,
    )
  return { members, total }
}

const row = (key: string, level: number, amounts: Vector): Line => ({
  key,
  name: null,
  level,
  accountId: null,
  code: null,
  amounts,
})

const accountRows = (
  members: ReadonlyMap<string, { account: LedgerAccount; amounts: Vector }[]>,
  section: string,
  level: number,
  sign: 1 | -1,
): Line[] =>
  (members.get(section) ?? [])
    .filter(({ amounts }) => !isZero(amounts))
    .map(({ account, amounts }) => ({
      key: account.id,
      name: account.name,
      level,
      accountId: account.id,
      code: account.code,
      amounts: signed(amounts, sign),
    }))

const walk = (sources: Sources, from: readonly Step[], before: Vector): Line[] => {
  const { members, total } = sectionsOf(sources)
  let running = before
  return from.flatMap((step): Line[] => {
    if ('sum' in step) return [row(step.key, 0, running)]
    const amounts = total(step.sections)
    running = added(running, amounts)
    const head = row(step.key, 0, signed(amounts, step.sign))
    const accounts = (section: string, level: number) =>
      sources.withAccounts ? accountRows(members, section, level, step.sign) : []
    if (step.alone) return [head, ...step.sections.flatMap((section) => accounts(section, 1))]
    return [
      head,
      ...step.sections
        .filter((section) => members.has(section))
        .flatMap((section) => [row(section, 1, signed(total([section]), step.sign)), ...accounts(section, 2)]),
    ]
  })
}

/** The income statement by lines and sections (R9), with accounts where they are asked for. Each amount is part of exactly one line. */
export const incomeLines = (sources: Sources): Line[] => walk(sources, steps, zeros(sources.width))

/** The departmental statement in the order of USALI: revenue less allowances, cost and profit of each department, then the rest of the house. */
export const departmentLines = (sources: Sources): Line[] => {
  const { members, total } = sectionsOf(sources)
  const accounts = (sections: readonly string[], sign: 1 | -1) =>
    sources.withAccounts ? sections.flatMap((section) => accountRows(members, section, 2, sign)) : []
  const ofDepartments = departments.flatMap((department): Line[] => {
    const revenue = [`${department}_revenue`, `${department}_allowances`]
    const cost = [`${department}_cost`]
    return [
      row(department, 0, total([...revenue, ...cost])),
      { ...row(`${department}_net_revenue`, 1, total(revenue)), name: 'revenue' },
      ...accounts(revenue, 1),
      { ...row(`${department}_department_cost`, 1, signed(total(cost), -1)), name: 'cost' },
      ...accounts(cost, -1),
    ]
  })
  const apart = ['other_income', 'revenue_taxes'] as const
  const all = departments.flatMap((one) => [`${one}_revenue`, `${one}_allowances`, `${one}_cost`])
  const profit = total([...all, ...apart])
  return [
    ...ofDepartments,
    row('other_income', 0, total(['other_income'])),
    ...accounts(['other_income'], 1),
    row('revenue_taxes', 0, signed(total(['revenue_taxes']), -1)),
    ...accounts(['revenue_taxes'], -1),
    row('departmental_profit', 0, profit),
    ...walk(sources, below, profit),
  ]
}

/** Revenue, cost and result of each cost centre; what names none stands in a row of its own. */
export const costCenterLines = (
  accounts: readonly LedgerAccount[],
  centers: readonly { id: string | null; code: string | null; name: string | null; contributions: Contributions }[],
  width: number,
): Line[] => {
  const classOf = new Map(accounts.map((account) => [account.id, account.class]))
  const ofClass = (contributions: Contributions, wanted: string) =>
    summed(
      [...contributions].filter(([id]) => classOf.get(id) === wanted).map(([, amounts]) => amounts),
      width,
    )
  const parts = centers.map((center) => ({
    center,
    revenue: ofClass(center.contributions, 'revenue'),
    cost: ofClass(center.contributions, 'expense'),
  }))
  return [
    ...parts.flatMap(({ center, revenue, cost }): Line[] => {
      const key = center.id ?? 'no_cost_center'
      return [
        { ...row(key, 0, added(revenue, cost)), name: center.name, code: center.code },
        { ...row(`${key}.revenue`, 1, revenue), name: 'revenue' },
        { ...row(`${key}.cost`, 1, signed(cost, -1)), name: 'cost' },
      ]
    }),
    row(
      'result',
      0,
      summed(
        parts.map(({ revenue, cost }) => added(revenue, cost)),
        width,
      ),
    ),
  ]
}
