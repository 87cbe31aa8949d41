import { randomUUID } from 'node:crypto'
import { controlOf, isRole, postingOf, postings } from '../../config/financial.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, matching, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { bookFor } from './chart.ts'
import { loadFacts } from './facts.ts'
import { factsOfBook } from './manual-entries.ts'
import { PostingRule } from './models.ts'
import type { PostingPayload } from './rules/payload.ts'
import { chooseRule, planLines } from './rules/posting-lines.ts'
import { NotPostable, resolveLines } from './rules/resolve.ts'
import { PostingError } from './rules/selectors.ts'

const shownFields = [
  'id',
  'bookId',
  'event',
  'line',
  'match',
  'accountId',
  'costCenterId',
  'validFrom',
  'validTo',
  'version',
  'createdAt',
  'updatedAt',
] as const

export const listPostingRules = pageOf(PostingRule, {
  order: ['event', 'line', 'validFrom', 'id'],
  filters: {
    bookId: equal('bookId'),
    event: equal('event'),
    validOn: matching<string>(`daterange(valid_from, valid_to, '[]') @> ?::date`),
  },
  fields: shownFields,
})

export const readPostingRule = (trx: Trx, id: string) => readRow(trx, PostingRule, id, shownFields)

/** Lines that a rule may not give another account. */
const fixed = new Set(['@money', '@from', '@to', '@account'])

const linesOf = (event: string): string[] =>
  postings.get(event)?.lines.map((line) => (line.selector ? `@${line.target}` : line.target)) ?? []

export type NewPostingRule = {
  bookId?: string
  event: string
  line: string
  match?: Record<string, string>
  accountId: string
  costCenterId?: string | null
  validFrom: string
}

const judge = async (trx: Trx, bookId: string, rule: NewPostingRule): Promise<void> => {
  const lines = linesOf(rule.event)
  if (!postings.has(rule.event)) throw invalid([{ field: 'event', message: 'is no event of the postings' }])
  if (!lines.includes(rule.line))
    throw invalid([{ field: 'line', message: `must be ${[...new Set(lines)].join(', ') || 'a line of the event'}` }])
  const isControl = isRole(rule.line) && controlOf(rule.line) !== null
  if (fixed.has(rule.line) || isControl)
    throw unprocessable('rule_not_allowed', 'This line keeps its account', [
      { field: 'line', message: 'is found by the document alone' },
    ])
  const account = await sqlOne<{ class: string; control: string | null; postable: boolean; status: string }>(
    trx,
    `select class, control, postable, status from account where tenant_id = ? and book_id = ? and id = ?`,
    [contextOf(trx).tenantId, bookId, rule.accountId],
  )
  if (!account)
    throw unprocessable('reference_not_found', 'The book has no such account', [
      { field: 'accountId', message: rule.accountId },
    ])
  if (!account.postable || account.control !== null || account.status !== 'active')
    throw unprocessable('rule_not_allowed', 'A rule cannot name this account', [
      { field: 'accountId', message: 'is a group, archived, or a control account' },
    ])
  if (isRole(rule.line)) {
    const usual = await sqlOne<{ class: string }>(
      trx,
      `select class from account where tenant_id = ? and book_id = ? and role = ?`,
      [contextOf(trx).tenantId, bookId, rule.line],
    )
    if (usual && usual.class !== account.class)
      throw unprocessable('rule_not_allowed', 'The account is of another class', [
        { field: 'accountId', message: `must be of class ${usual.class}` },
      ])
  }
  if (rule.costCenterId) {
    const center = await sqlOne(
      trx,
      `select 1 from cost_center where tenant_id = ? and book_id = ? and id = ? and active`,
      [contextOf(trx).tenantId, bookId, rule.costCenterId],
    )
    if (!center || (account.class !== 'revenue' && account.class !== 'expense'))
      throw unprocessable('reference_not_found', 'The rule cannot have this cost centre', [
        { field: 'costCenterId', message: 'is no active cost centre of the book, or the account takes none' },
      ])
  }
  const first = await sqlOne<{ startsOn: string }>(
    trx,
    `select starts_on from fiscal_period where tenant_id = ? and book_id = ? and kind = 'regular' and status = 'open' order by starts_on limit 1`,
    [contextOf(trx).tenantId, bookId],
  )
  if (!first || rule.validFrom < first.startsOn)
    throw unprocessable('period_closed', 'A rule begins in an open period', [
      { field: 'validFrom', message: `must be ${first?.startsOn ?? 'in an open period'} or later` },
    ])
}

/** Adds a rule for what is posted afterwards. 400, 422 `rule_not_allowed`, `reference_not_found`, `period_closed`; 409 `overlap`. */
export const createPostingRule = async (trx: Trx, { bookId, ...rule }: NewPostingRule): Promise<string> => {
  const id = randomUUID()
  const book = await bookFor(trx, bookId)
  await judge(trx, book.id, rule)
  await insertRow(trx, PostingRule, { ...rule, id, bookId: book.id, match: rule.match ?? {} })
  return id
}

/** Ends a rule after a day: yesterday, and its first day, at the earliest. The caller holds its row. */
export const endPostingRule = async (trx: Trx, id: string, validTo: string): Promise<void> => {
  const rule = await readPostingRule(trx, id)
  if (rule.validTo === validTo) return
  const book = await factsOfBook(trx, rule.bookId)
  const earliest = [addDays(todayIn(book.timeZone), -1), rule.validFrom].toSorted().at(-1) ?? rule.validFrom
  if (validTo < earliest) throw invalid([{ field: 'validTo', message: `must be ${earliest} or later` }])
  await changeRow(trx, PostingRule, id, { validTo })
}

/** Every business event with the lines that it posts; the account is the one in force today. */
export const listBusinessEvents = async (trx: Trx, bookId: string | undefined) => {
  const book = await factsOfBook(trx, bookId)
  const [rules, accounts] = await Promise.all([
    sql<{ event: string; line: string; accountId: string }>(
      trx,
      `select event, line, account_id from posting_rule where tenant_id = ? and book_id = ? and match = '{}'
         and daterange(valid_from, valid_to, '[]') @> ?::date`,
      [contextOf(trx).tenantId, book.id, todayIn(book.timeZone)],
    ),
    sql<{ id: string; role: string }>(
      trx,
      `select id, role from account where tenant_id = ? and book_id = ? and role is not null`,
      [contextOf(trx).tenantId, book.id],
    ),
  ])
  const byRole = new Map(accounts.map(({ id, role }) => [role, id]))
  return [...postings.values()].map(({ event, raisedWhen, dated, identity, lines, mirrors }) => ({
    event,
    raisedWhen,
    dated,
    identity: identity ? `${identity.left.join(' + ')} = ${identity.right.join(' + ')}` : null,
    lines: lines.map(({ side, target, selector, key }) => {
      const line = selector ? `@${target}` : target
      const rule = rules.find((one) => one.event === event && one.line === line)
      return {
        side,
        line,
        amount: key,
        accountId: rule?.accountId ?? (selector ? null : (byRole.get(target) ?? null)),
        control: selector ? null : controlOf(target),
      }
    }),
    mirrors: [...mirrors],
  }))
}

export type Sample = { event: string; propertyId: string; postingDate: string; payload: PostingPayload }

/** The lines that an event would post; 400 for a payload that does not fit the event, 422 where an account is missing. Writes nothing. */
export const simulatePosting = async (trx: Trx, { event, propertyId, postingDate, payload }: Sample) => {
  if (!postings.has(event)) throw invalid([{ field: 'event', message: 'is no event of the postings' }])
  const { mirrors, inline } = postingOf(event)
  if (mirrors.length > 0 || inline)
    throw invalid([{ field: 'event', message: 'turns another event, or is posted by its own command' }])
  const property = await sqlOne<{ bookId: string }>(
    trx,
    `select book_id from property where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, propertyId],
  )
  if (!property)
    throw unprocessable('reference_not_found', 'No such property', [{ field: 'propertyId', message: propertyId }])
  try {
    const planned = planLines(event, payload)
    const facts = await loadFacts(trx, property.bookId, [event], planned)
    const { lines } = resolveLines(facts, planned, { event, propertyId, postingDate })
    return lines.map((line, index) => {
      const plan = planned[index]
      const account = facts.accounts.find((one) => one.id === line.accountId)
      const rule = plan?.replaceable ? chooseRule(facts.rules, event, plan, propertyId, postingDate) : null
      return {
        side: line.side,
        line: plan?.line ?? '',
        amount: line.amount,
        accountId: line.accountId,
        accountCode: account?.code ?? '',
        costCenterId: line.costCenterId,
        ruleId: rule?.id ?? null,
        role: rule ? null : (account?.role ?? null),
      }
    })
  } catch (error) {
    if (error instanceof PostingError) throw invalid([{ field: 'payload', message: error.message }])
    if (error instanceof NotPostable)
      throw unprocessable('account_not_usable', 'An account of the event cannot be found', [
        { field: 'payload', message: error.message },
      ])
    throw error
  }
}
