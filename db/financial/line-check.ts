import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import type { AccountClass, Side } from '../../config/financial.ts'
import { sum } from '../lib/amounts.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Line } from './rules/resolve.ts'

/** A line as a person writes it: an account by id or code, and one side. Amounts in minor units of the book's currency. */
export type DraftLine = {
  accountId?: string
  accountCode?: string
  debit?: number
  credit?: number
  propertyId?: string | null
  costCenterId?: string | null
  partyType?: 'guest' | 'company' | 'customer' | 'supplier' | 'book' | null
  partyId?: string | null
  taxCodeId?: string | null
  taxBase?: number | null
  memo?: string
}

/** A problem of a line: its field, the code of the error that it would be, and words. */
export type LineProblem = FieldError & { code: 'validation_failed' | 'account_not_usable' | 'reference_not_found' }

type Known = {
  accounts: {
    id: string
    code: string
    name: string
    class: AccountClass
    side: Side
    postable: boolean
    status: string
    control: string | null
  }[]
  properties: string[]
  centers: { id: string; active: boolean }[]
  taxCodes: { id: string; active: boolean }[]
  /** As `<type> <id>`. */
  parties: string[]
}

const idsOf = (lines: readonly DraftLine[], field: keyof DraftLine): string[] => [
  ...new Set(lines.flatMap((line) => (typeof line[field] === 'string' ? [line[field]] : []))),
]

/** All that lines name, in one statement. */
const knownOf = async (trx: Trx, bookId: string, lines: readonly DraftLine[]): Promise<Known> => {
  const known = await sqlOne<Known>(
    trx,
    `select
       coalesce((select jsonb_agg(jsonb_build_object('id', a.id, 'code', a.code, 'name', a.name, 'class', a.class, 'side', a.side, 'postable', a.postable,
           'status', a.status, 'control', a.control)) from account a
         where a.tenant_id = :tenantId and a.book_id = :bookId and (a.id = any(cast(:accounts as uuid[])) or a.code = any(cast(:codes as text[])))), '[]') as accounts,
       array(select p.id from property p where p.tenant_id = :tenantId and p.book_id = :bookId and p.id = any(cast(:properties as uuid[]))) as properties,
       coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'active', c.active)) from cost_center c
         where c.tenant_id = :tenantId and c.book_id = :bookId and c.id = any(cast(:centers as uuid[]))), '[]') as centers,
       coalesce((select jsonb_agg(jsonb_build_object('id', t.id, 'active', t.active)) from tax_code t
         where t.tenant_id = :tenantId and t.book_id = :bookId and t.id = any(cast(:taxCodes as uuid[]))), '[]') as tax_codes,
       array(select 'guest ' || g.id from guest g where g.tenant_id = :tenantId and g.id = any(cast(:parties as uuid[]))
         union all select 'company ' || c.id from company c where c.tenant_id = :tenantId and c.id = any(cast(:parties as uuid[]))
         union all select 'customer ' || c.id from customer c where c.tenant_id = :tenantId and c.id = any(cast(:parties as uuid[]))
         union all select 'supplier ' || s.id from supplier s where s.tenant_id = :tenantId and s.id = any(cast(:parties as uuid[]))
         union all select 'book ' || b.id from book b where b.tenant_id = :tenantId and b.id = any(cast(:parties as uuid[])) and b.id <> :bookId) as parties`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId,
      accounts: idsOf(lines, 'accountId'),
      codes: idsOf(lines, 'accountCode'),
      properties: idsOf(lines, 'propertyId'),
      centers: idsOf(lines, 'costCenterId'),
      taxCodes: idsOf(lines, 'taxCodeId'),
      parties: idsOf(lines, 'partyId'),
    },
  )
  return known!
}

const problemsOf = (
  line: DraftLine,
  at: string,
  known: Known,
  scope: Condition,
): { line: Line | null; problems: LineProblem[] } => {
  const problems: LineProblem[] = []
  const wrong = (code: LineProblem['code'], field: string, message: string) =>
    problems.push({ code, field: `${at}.${field}`, message })
  const byId = line.accountId !== undefined
  const field = byId ? 'accountId' : 'accountCode'
  if (byId === (line.accountCode !== undefined))
    wrong('validation_failed', 'accountId', 'exactly one of accountId and accountCode is given')
  const debit = line.debit ?? 0
  const credit = line.credit ?? 0
  if (debit > 0 === credit > 0) wrong('validation_failed', 'debit', 'exactly one of debit and credit is more than 0')
  const account = known.accounts.find((one) => (byId ? one.id === line.accountId : one.code === line.accountCode))
  if (!account && (byId || line.accountCode !== undefined))
    wrong('reference_not_found', field, 'is no account of the book')
  if (account && !account.postable) wrong('account_not_usable', field, `${account.code} is a group`)
  if (account && account.postable && account.status === 'archived')
    wrong('account_not_usable', field, `${account.code} is archived`)
  if (account?.control)
    wrong('account_not_usable', field, `${account.code} is a control account, which documents alone post to`)
  if (line.propertyId && !known.properties.includes(line.propertyId))
    wrong('reference_not_found', 'propertyId', 'is no property of the book')
  else if (!holds(scope, { propertyId: line.propertyId ?? null }))
    wrong('reference_not_found', 'propertyId', 'must be a property that the caller keeps the books of')
  const center = known.centers.find((one) => one.id === line.costCenterId)
  if (line.costCenterId && !center?.active)
    wrong('reference_not_found', 'costCenterId', center ? 'is switched off' : 'is no cost centre of the book')
  if (line.costCenterId && account && account.class !== 'revenue' && account.class !== 'expense')
    wrong('validation_failed', 'costCenterId', 'belongs to revenue and expense accounts')
  const taxCode = known.taxCodes.find((one) => one.id === line.taxCodeId)
  if (line.taxCodeId && !taxCode?.active)
    wrong('reference_not_found', 'taxCodeId', taxCode ? 'is switched off' : 'is no tax code of the book')
  if (((line.partyType ?? null) === null) !== ((line.partyId ?? null) === null))
    wrong('validation_failed', 'partyId', 'stands with partyType, or not at all')
  else if (line.partyId && !known.parties.includes(`${line.partyType ?? ''} ${line.partyId}`))
    wrong('reference_not_found', 'partyId', `is no ${line.partyType ?? 'party'} of the tenant`)
  if (problems.length > 0 || !account) return { line: null, problems }
  return {
    problems,
    line: {
      accountId: account.id,
      side: debit > 0 ? 'debit' : 'credit',
      amount: debit + credit,
      propertyId: line.propertyId ?? null,
      costCenterId: line.costCenterId ?? null,
      partyType: line.partyType ?? null,
      partyId: line.partyId ?? null,
      documentType: null,
      documentId: null,
      taxCodeId: line.taxCodeId ?? null,
      taxBase: line.taxBase ?? null,
      memo: line.memo ?? '',
    },
  }
}

/**
 * Judges the lines of a book that a person writes: accounts, properties, cost centres, tax codes and parties, in one statement. A line lies in `scope`, the
 * properties of the caller. Answers the lines as they are posted, and every problem.
 */
export const judgeLines = async (
  trx: Trx,
  bookId: string,
  lines: readonly DraftLine[],
  scope: Condition,
): Promise<{ lines: Line[]; problems: LineProblem[]; accounts: Known['accounts'] }> => {
  const known = await knownOf(trx, bookId, lines)
  const judged = lines.map((line, index) => problemsOf(line, `lines.${index}`, known, scope))
  return {
    lines: judged.flatMap(({ line }) => (line ? [line] : [])),
    problems: judged.flatMap(({ problems }) => problems),
    accounts: known.accounts,
  }
}

/** Debits less credits of lines as written. */
export const differenceOf = (lines: readonly Pick<DraftLine, 'debit' | 'credit'>[]): number =>
  sum(lines.map((line) => (line.debit ?? 0) - (line.credit ?? 0)))

/** Throws the problems of lines as one error: 400, or 422 by the first that is no matter of form. */
export const refuseProblems = (problems: readonly LineProblem[]): void => {
  if (problems.length === 0) return
  const errors = problems.map(({ field, message }) => ({ field, message }))
  const rule = problems.find((one) => one.code !== 'validation_failed')
  if (!rule || rule.code === 'validation_failed') throw invalid(errors)
  throw unprocessable(rule.code, 'A line cannot be posted', errors.slice(0, 50))
}
