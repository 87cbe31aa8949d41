import type { Side } from '../../../config/financial.ts'
import type { JournalLineRow } from '../../rows.ts'
import type { FactAccount, Facts } from '../facts.ts'
import { chooseRule } from './posting-lines.ts'
import type { PlannedLine } from './posting-lines.ts'

/** Why one event cannot be posted as things stand; it is tried again, and parked at the 8th time. */
export class NotPostable extends Error {
  override readonly name = 'NotPostable'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Fields of a line beside those of its entry. */
export type LineOfEntry = Omit<JournalLineRow, 'tenantId' | 'id' | 'entryId' | 'bookId' | 'periodId' | 'postingDate'>

/** A line as it is written; amounts in minor units of the book's currency. */
export type Line = Omit<LineOfEntry, 'lineNo' | 'debit' | 'credit'> & { side: Side; amount: number }

type Place = { event: string; propertyId: string | null; postingDate: string }

const accountOf = (facts: Facts, has: (account: FactAccount) => boolean, what: string): FactAccount => {
  const account = facts.accounts.find(has)
  if (!account) throw new NotPostable('account_not_usable', `the book has no account ${what}`)
  return account
}
const byId = (facts: Facts, id: string) => accountOf(facts, (account) => account.id === id, id)
const byRole = (facts: Facts, role: string) => accountOf(facts, (account) => account.role === role, `of role ${role}`)

const found = (facts: Facts, { search, line }: PlannedLine): FactAccount => {
  switch (search.by) {
    case 'account': {
      const account = byId(facts, search.accountId)
      if (line === '@account' && (account.control !== null || !account.postable || account.status !== 'active')) {
        throw new NotPostable(
          'account_not_usable',
          `account ${account.code} is a group, archived, or a control account`,
        )
      }
      return account
    }
    case 'role':
      return byRole(facts, search.role)
    case 'tax_code': {
      const code = facts.taxCodes.find((one) => one.id === search.taxCodeId)
      const accountId = search.contra ? code?.contraAccountId : code?.liabilityAccountId
      if (!accountId) throw new NotPostable('account_not_usable', `tax code ${search.taxCodeId} has no such account`)
      return byId(facts, accountId)
    }
    case 'tax_name': {
      const code = facts.taxCodes.find((one) => one.kind === search.kind && one.code === search.code)
      return code ? byId(facts, code.liabilityAccountId) : byRole(facts, search.fallback)
    }
  }
}

/** Puts accounts to planned lines: payload, posting rule, role, in this order. Answers the rules that were used. */
export const resolveLines = (
  facts: Facts,
  planned: readonly PlannedLine[],
  place: Place,
): { lines: Line[]; ruleIds: string[] } => {
  const ruleIds = new Set<string>()
  const lines = planned.map((line) => {
    const usual = found(facts, line)
    const rule =
      usual.control === null ? chooseRule(facts.rules, place.event, line, place.propertyId, place.postingDate) : null
    const account = rule ? byId(facts, rule.accountId) : usual
    if (account.class !== usual.class || (rule && account.control !== null)) {
      throw new NotPostable('rule_not_allowed', `account ${account.code} may not stand for ${usual.code}`)
    }
    if (rule) ruleIds.add(rule.id)
    const earns = account.class === 'revenue' || account.class === 'expense'
    return {
      accountId: account.id,
      side: line.side,
      amount: line.amount,
      propertyId: line.propertyId ?? place.propertyId,
      costCenterId: earns ? (line.costCenterId ?? rule?.costCenterId ?? null) : null,
      partyType: line.party?.type ?? null,
      partyId: line.party?.id ?? null,
      documentType: line.documentId === null ? null : line.documentType,
      documentId: line.documentId,
      taxCodeId: line.taxCodeId,
      taxBase: line.taxBase,
      memo: line.memo,
    }
  })
  return { lines, ruleIds: [...ruleIds] }
}

/** Lines of the reversal: every debit a credit, and the reverse. */
export const turned = (lines: readonly Line[]): Line[] =>
  lines.map((line) => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' }))
