import { sideOf } from '../../../config/financial.ts'
import type { AccountClass, Control, Side } from '../../../config/financial.ts'
import type { CashFlow } from '../accounts/read.ts'

/** An account as a file or a template has it. Its parent is the account whose code is its own without the last part. */
export type ChartRow = {
  code: string
  name: string
  class: AccountClass
  side?: Side | undefined
  postable?: boolean | undefined
  section?: string | null | undefined
  cashFlow?: CashFlow | null | undefined
  usaliCode?: string | undefined
  referentialCode?: string | undefined
  control?: Control | null
  role?: string | null
}

/** An account that stands in the book. */
export type Standing = {
  code: string
  class: AccountClass
  postable: boolean
  isActive: boolean
  role: string | null
  section: string | null
  cashFlow: CashFlow | null
}

/** An account to add, its defaults filled in. Parents stand before what is below them. */
export type PlannedAccount = Required<Omit<ChartRow, 'usaliCode' | 'referentialCode'>> & {
  side: Side
  postable: boolean
  section: string | null
  cashFlow: CashFlow | null
  usaliCode: string
  referentialCode: string
  parentCode: string | null
}

/** A fault of the row at this place, from 0. */
export type RowProblem = { row: number; code: string; field: string; message: string }

export type ImportPlan = {
  accounts: PlannedAccount[]
  skipped: { code: string; message: string }[]
  errors: RowProblem[]
}

export const mostAccounts = 2_000
export const deepest = 6

const parentOf = (code: string): string | null => (code.includes('.') ? code.slice(0, code.lastIndexOf('.')) : null)
const partsOf = (code: string) => code.split('.').length

/** Section and cash flow of a group: those of its first account, else its own. */
const placeOf = (group: Standing, children: readonly Standing[]): Pick<Standing, 'section' | 'cashFlow'> => {
  const [first] = children.toSorted((one, other) => (one.code < other.code ? -1 : 1))
  return { section: first?.section ?? group.section, cashFlow: first?.cashFlow ?? group.cashFlow }
}

/**
 * The accounts of `rows` that a chart lacks, in an order in which they can be added. Codes that stand already are skipped, whatever they are called. A role that another
 * account of the book plays stays with it.
 */
export const planImport = (standing: readonly Standing[], rows: readonly ChartRow[]): ImportPlan => {
  const known = new Map(standing.map((account) => [account.code, account]))
  const below = new Map<string | null, Standing[]>()
  const put = (account: Standing) => {
    const group = parentOf(account.code)
    below.set(group, [...(below.get(group) ?? []), account])
  }
  standing.forEach(put)
  const played = new Set(standing.map(({ role }) => role))
  const plan: ImportPlan = { accounts: [], skipped: [], errors: [] }
  const seen = new Set<string>()
  const ordered = rows
    .map((row, index) => ({ row, index }))
    .toSorted((one, other) => partsOf(one.row.code) - partsOf(other.row.code) || one.index - other.index)
  for (const { row, index } of ordered) {
    const { code } = row
    const refuse = (field: string, message: string) => plan.errors.push({ row: index, code, field, message })
    if (seen.has(code)) {
      refuse('code', 'stands in another row')
      continue
    }
    seen.add(code)
    if (known.has(code)) {
      plan.skipped.push({ code, message: 'stands in the chart' })
      continue
    }
    const parentCode = parentOf(code)
    const parent = parentCode === null ? null : known.get(parentCode)
    if (parent === undefined) refuse('code', `has no group ${parentCode} above it`)
    else if (parent?.postable) refuse('code', `${parent.code} takes entries itself`)
    else if (parent && !parent.isActive) refuse('code', `${parent.code} is archived`)
    else if (parent && parent.class !== row.class) refuse('class', `must be ${parent.class}, as ${parent.code} is`)
    else if (partsOf(code) > deepest) refuse('code', `has more than ${deepest} levels`)
    else if (known.size >= mostAccounts) refuse('code', `is beyond the ${mostAccounts} accounts of a book`)
    else {
      const place = parent ? placeOf(parent, below.get(parentCode) ?? []) : { section: null, cashFlow: null }
      const account: PlannedAccount = {
        code,
        name: row.name,
        class: row.class,
        side: row.side ?? sideOf(row.class),
        postable: row.postable ?? true,
        section: row.section === undefined ? place.section : row.section,
        cashFlow: row.cashFlow === undefined ? place.cashFlow : row.cashFlow,
        usaliCode: row.usaliCode ?? '',
        referentialCode: row.referentialCode ?? '',
        control: row.control ?? null,
        role: row.role && !played.has(row.role) ? row.role : null,
        parentCode,
      }
      plan.accounts.push(account)
      const stands: Standing = { ...account, isActive: true }
      known.set(code, stands)
      put(stands)
    }
  }
  plan.errors.sort((one, other) => one.row - other.row)
  return plan
}
