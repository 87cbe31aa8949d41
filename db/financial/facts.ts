import type { AccountClass, Control, JournalKind } from '../../config/financial.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { PlannedLine, RuleRow } from './rules/posting-lines.ts'

export type FactAccount = {
  id: string
  code: string
  class: AccountClass
  control: Control | null
  role: string | null
  status: string
  postable: boolean
}
export type FactTaxCode = {
  id: string
  kind: string
  code: string
  liabilityAccountId: string
  contraAccountId: string | null
}

/** Facts of a book that a batch needs: the accounts that its lines may touch, tax codes, rules and journals. */
export type Facts = {
  currency: string
  countryCode: string
  accounts: FactAccount[]
  taxCodes: FactTaxCode[]
  rules: RuleRow[]
  journals: { id: string; kind: JournalKind }[]
}

/** One statement for all of it, so a batch costs the same number of round trips whatever is in it. */
export const loadFacts = async (
  trx: Trx,
  bookId: string,
  events: readonly string[],
  lines: readonly PlannedLine[],
): Promise<Facts> => {
  const roles = lines.flatMap(({ search }) =>
    search.by === 'role' ? [search.role] : search.by === 'tax_name' ? [search.fallback] : [],
  )
  const ids = lines.flatMap(({ search }) => (search.by === 'account' ? [search.accountId] : []))
  const facts = await sqlOne<Facts>(
    trx,
    `with codes as materialized (
       select t.id, t.kind, t.code, t.liability_account_id, t.contra_account_id from tax_code t
       where t.tenant_id = :tenantId and t.book_id = :bookId and cast(:taxed as boolean)
     ), rules as materialized (
       select r.* from posting_rule r where r.tenant_id = :tenantId and r.book_id = :bookId and r.event = any(cast(:events as text[]))
     )
     select b.currency, b.country_code,
       coalesce((select jsonb_agg(jsonb_build_object('id', a.id, 'code', a.code, 'class', a.class, 'control', a.control, 'role', a.role,
           'status', a.status, 'postable', a.postable))
         from account a where a.tenant_id = b.tenant_id and a.book_id = b.id and (a.role = any(cast(:roles as text[])) or a.id = any(cast(:ids as uuid[]))
           or a.id in (select liability_account_id from codes union select contra_account_id from codes union select account_id from rules))), '[]') as accounts,
       coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'kind', c.kind, 'code', c.code, 'liabilityAccountId', c.liability_account_id,
           'contraAccountId', c.contra_account_id)) from codes c), '[]') as tax_codes,
       coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'event', r.event, 'line', r.line, 'match', r.match, 'accountId', r.account_id,
           'costCenterId', r.cost_center_id, 'validFrom', r.valid_from, 'validTo', r.valid_to)) from rules r), '[]') as rules,
       (select jsonb_agg(jsonb_build_object('id', j.id, 'kind', j.kind) order by j.active desc, j.created_at, j.code)
         from journal j where j.tenant_id = b.tenant_id and j.book_id = b.id) as journals
     from book b where b.tenant_id = :tenantId and b.id = :bookId`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId,
      roles: [...new Set(roles)],
      ids: [...new Set(ids)],
      events: [...new Set(events)],
      taxed: lines.some(({ search }) => search.by === 'tax_code' || search.by === 'tax_name'),
    },
  )
  if (!facts) throw new Error(`no book ${bookId}`)
  return facts
}
