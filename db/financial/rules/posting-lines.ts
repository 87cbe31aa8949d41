import { controlOf, postingOf } from '../../../config/financial.ts'
import type { PostingDefinition, PostingLine, Side } from '../../../config/financial.ts'
import { sum } from '../../lib/amounts.ts'
import type { PostingContext, PostingItem, PostingParty, PostingPayload } from './payload.ts'
import { documentOf, PostingError, select } from './selectors.ts'
import type { Search } from './selectors.ts'

const largest = 10_000_000_000_000

/** A line before its account is known. */
export type PlannedLine = {
  side: Side
  amount: number
  search: Search
  /** Name by which rules know the line: role, or selector with `@`. */
  line: string
  /** True if a posting rule may put another account in its place. */
  replaceable: boolean
  context: PostingContext
  documentType: string | null
  documentId: string | null
  party: PostingParty | null
  costCenterId: string | null
  propertyId: string | null
  taxCodeId: string | null
  taxBase: number | null
  memo: string
}

const fixed = new Set(['money', 'from', 'to', 'account'])
const other: Record<Side, Side> = { debit: 'credit', credit: 'debit' }

type Part = Omit<PostingItem, 'amount'> & { amount: number }
const partsOf = (line: Pick<PostingLine, 'key' | 'list'>, payload: PostingPayload): Part[] => {
  const given = payload.amounts[line.key]
  if (given === undefined) return []
  return typeof given === 'number' ? [{ amount: given }] : [...given]
}

const sumOf = (payload: PostingPayload, key: string): number => {
  const given = payload.amounts[key] ?? 0
  return typeof given === 'number' ? given : sum(given.map((item) => item.amount))
}

/** Refuses amounts of unknown keys, of the wrong shape or sign, and sums that break the event's identity. */
export const checkAmounts = (definition: PostingDefinition, payload: PostingPayload): void => {
  const { event, lines, identity } = definition
  for (const [key, given] of Object.entries(payload.amounts)) {
    const line = lines.find((one) => one.key === key)
    if (!line && !(identity && [...identity.left, ...identity.right].includes(key)))
      throw new PostingError(`${event} has no amount ${key}`)
    if (line && line.list !== (typeof given !== 'number'))
      throw new PostingError(`${event}: ${key} is ${line.list ? 'a list' : 'one amount'}`)
    const signed = lines.some((one) => one.key === key && one.signed)
    for (const amount of typeof given === 'number' ? [given] : given.map((item) => item.amount)) {
      if (!Number.isSafeInteger(amount) || Math.abs(amount) > largest)
        throw new PostingError(`${event}: ${key} is not an amount: ${amount}`)
      if (amount < 0 && !signed) throw new PostingError(`${event}: ${key} may not be negative`)
    }
  }
  if (identity) {
    const side = (keys: readonly string[]) => sum(keys.map((key) => sumOf(payload, key)))
    const [left, right] = [side(identity.left), side(identity.right)]
    if (left !== right) {
      throw new PostingError(
        `${event}: ${identity.left.join(' + ')} = ${left}, but ${identity.right.join(' + ')} = ${right}`,
      )
    }
  }
}

const planLine = (line: PostingLine, part: Part, payload: PostingPayload): PlannedLine => {
  const context: PostingContext = { ...payload.context, ...part.context }
  const named = part.accountId ?? payload.accounts?.[line.target]
  const search: Search = named
    ? { by: 'account', accountId: named }
    : line.selector
      ? select(line.target, context, line.document)
      : { by: 'role', role: line.target }
  const document = documentOf(line.target, line.selector, line.document, context)
  const documentId = document === null ? null : payload.documents?.[document.key]
  if (documentId === undefined) throw new PostingError(`documents.${document?.key ?? ''} is missing`)
  const isControl = search.by === 'role' && controlOf(search.role) !== null
  if (isControl && documentId === null) throw new PostingError(`a line on ${search.role} needs its document`)
  return {
    side: part.amount < 0 ? other[line.side] : line.side,
    amount: Math.abs(part.amount),
    search,
    line: line.selector ? `@${line.target}` : line.target,
    replaceable: !named && !isControl && !(line.selector && fixed.has(line.target)),
    context,
    documentType: document?.type ?? null,
    documentId,
    party: part.party ?? payload.parties?.[line.target] ?? payload.parties?.['all'] ?? null,
    costCenterId: part.costCenterId ?? payload.costCenterId ?? null,
    propertyId: part.propertyId ?? null,
    taxCodeId: search.by === 'tax_code' ? search.taxCodeId : null,
    taxBase: part.taxBase ?? null,
    memo: part.memo ?? payload.memo ?? '',
  }
}

/**
 * The lines of an event, debits first; none where every amount is 0. Pure: throws PostingError where the payload does not
 * fit the event, so what was raised can be posted.
 */
export const planLines = (event: string, payload: PostingPayload): PlannedLine[] => {
  const definition = postingOf(event)
  if (definition.mirrors.length > 0)
    throw new PostingError(`${event} mirrors another event and has no lines of its own`)
  checkAmounts(definition, payload)
  const planned = definition.lines.flatMap((line) =>
    partsOf(line, payload)
      .filter((part) => part.amount !== 0)
      .map((part) => planLine(line, part, payload)),
  )
  const of = (side: Side) => sum(planned.filter((line) => line.side === side).map((line) => line.amount))
  if (of('debit') !== of('credit'))
    throw new PostingError(`${event} does not balance: debit ${of('debit')}, credit ${of('credit')}`)
  return planned.sort((a, b) => (a.side === b.side ? 0 : a.side === 'debit' ? -1 : 1))
}

export type RuleRow = {
  id: string
  event: string
  line: string
  match: Record<string, string>
  accountId: string
  costCenterId: string | null
  validFrom: string
  validTo: string | null
}

/** Order of keys: of two rules with equally many, the one with the earlier key wins. */
const precedence = [
  'propertyId',
  'category',
  'taxRuleId',
  'unitTypeId',
  'ratePlanId',
  'marketSegment',
  'outletId',
  'itemCategoryId',
  'channelConnectionId',
  'method',
]

const rank = (rule: RuleRow): number =>
  Object.keys(rule.match).length * 2 ** precedence.length +
  precedence.reduce((bits, key, index) => (key in rule.match ? bits + 2 ** (precedence.length - 1 - index) : bits), 0)

/** The rule in force on the date that knows most about the line; null where none matches. */
export const chooseRule = (
  rules: readonly RuleRow[],
  event: string,
  line: PlannedLine,
  propertyId: string | null,
  on: string,
): RuleRow | null => {
  if (!line.replaceable) return null
  const facts: Record<string, string | undefined> = { ...line.context, ...(propertyId === null ? {} : { propertyId }) }
  const matching = rules.filter(
    (rule) =>
      rule.event === event &&
      rule.line === line.line &&
      rule.validFrom <= on &&
      (rule.validTo === null || on <= rule.validTo) &&
      Object.entries(rule.match).every(([key, value]) => facts[key] === value),
  )
  return matching.reduce<RuleRow | null>((best, rule) => (best === null || rank(rule) > rank(best) ? rule : best), null)
}
