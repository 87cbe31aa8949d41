import { addDays } from '../../config/time.ts'
import type { AssessedTax } from '../financial/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { createPayable } from './payables/create.ts'

type Due = {
  month: string
  taxCodeId: string
  code: string
  name: string
  payeeName: string
  dueDay: number | null
  accountId: string
  amount: number
  ids: string[]
  numbers: string[]
}

const lastDay = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return addDays(new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10), -1)
}
/** The day of the next month on which a tax is due; the last one of a month that has no such day. */
const dueDate = (month: string, dueDay: number | null): string => {
  const next = addDays(lastDay(month), 1).slice(0, 7)
  const last = lastDay(next)
  const wanted = `${next}-${String(dueDay ?? 20).padStart(2, '0')}`
  return wanted > last ? last : wanted
}

/** The key of a draft: its first tax withheld, and how often a draft of that was voided before. */
const keyOf = async (trx: Trx, { ids: [first = ''] }: Due): Promise<string> => {
  const before = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from payable where tenant_id = ? and source = 'withholding' and split_part(source_key, '.', 1) = ?`,
    [contextOf(trx).tenantId, first],
  )
  return before && before.count > 0 ? `${first}.${before.count}` : first
}

/**
 * Makes one draft per month and tax of what was withheld in months that are over and not collected yet (R19). A second run finds `collectedById` set. Those of
 * one book take turns.
 */
export const collectWithholdings = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('withholdings ' || ?, 93))`, [bookId])
  // A bill that is being voided is waited for, and not collected.
  await sql(
    trx,
    `select p.id from payable p where p.tenant_id = ? and p.book_id = ? and p.posting_on < date_trunc('month', cast(? as date)) and p.status <> 'void'
       and exists (select from payable_withholding w where w.tenant_id = p.tenant_id and w.payable_id = p.id and w.collected_by_id is null)
     order by p.id for no key update of p`,
    [tenantId, bookId, date],
  )
  const due = await sql<Due>(
    trx,
    `select to_char(p.posting_on, 'YYYY-MM') as month, c.id as tax_code_id, c.code, c.name, c.payee_name, c.due_day, c.liability_account_id as account_id,
       sum(w.amount)::bigint as amount, array_agg(w.id order by w.id) as ids,
       array_agg(coalesce(p.number, p.issued_on::text) || ': ' || w.amount order by p.posting_on, p.id) as numbers
     from payable_withholding w join payable p on p.tenant_id = w.tenant_id and p.id = w.payable_id
     join tax_code c on c.tenant_id = w.tenant_id and c.id = w.tax_code_id
     where w.tenant_id = ? and p.book_id = ? and p.status in ('approved', 'partly_paid', 'paid') and w.collected_by_id is null and c.payee_name is not null
       and p.posting_on < date_trunc('month', cast(? as date)) group by 1, 2, 3, 4, 5, 6, 7 order by 1, 3`,
    [tenantId, bookId, date],
  )
  for (const one of due) {
    const issuedOn = lastDay(one.month)
    const bills = one.numbers.join('; ')
    const id = await createPayable(
      trx,
      {
        bookId,
        payeeName: one.payeeName,
        kind: 'tax',
        issuedOn,
        lines: [
          {
            description: `${one.code} ${one.month}: ${bills}`.slice(0, 200),
            accountId: one.accountId,
            amount: one.amount,
          },
        ],
        installments: [{ dueOn: dueDate(one.month, one.dueDay), amount: one.amount }],
        notes: bills.slice(0, 2_000),
      },
      { features: [], source: { source: 'withholding', key: await keyOf(trx, one) }, lenient: true },
    )
    await sql(trx, `update payable_withholding set collected_by_id = ? where tenant_id = ? and id = any(?::uuid[])`, [
      id,
      tenantId,
      one.ids,
    ])
  }
}

/** Makes one draft of the taxes of a run and code that has a payee (R35 of the ledger): a line for each property, due in the next month. */
export const draftTaxes = async (trx: Trx, taxes: readonly AssessedTax[]): Promise<void> => {
  for (const { bookId, taxCodeId, endsOn, assessmentId, lines } of taxes) {
    const code = await sqlOne<{ code: string; payeeName: string | null; dueDay: number | null }>(
      trx,
      `select code, payee_name, due_day from tax_code where tenant_id = ? and id = ?`,
      [contextOf(trx).tenantId, taxCodeId],
    )
    if (!code?.payeeName) continue
    const month = endsOn.slice(0, 7)
    const description = `${code.code} ${month}`.slice(0, 200)
    const total = lines.reduce((sum, { amount }) => sum + amount, 0)
    await createPayable(
      trx,
      {
        bookId,
        payeeName: code.payeeName,
        kind: 'tax',
        issuedOn: endsOn,
        lines: lines.map((line) => ({ ...line, description })),
        installments: [{ dueOn: dueDate(month, code.dueDay), amount: total }],
      },
      { features: [], source: { source: 'tax_assessment', key: assessmentId }, lenient: true },
    )
  }
}
