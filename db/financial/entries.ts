import { sum } from '../lib/amounts.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { JournalEntryRow } from '../rows.ts'
import type { Line } from './rules/resolve.ts'

/** The fields that a person adds to an entry. Entries of events have none of them. */
export type EntryOfPerson = Pick<JournalEntryRow, 'late' | 'createdBy' | 'approvedBy' | 'selfApproved' | 'reverseOn'>

export type NewEntry = Omit<
  JournalEntryRow,
  'tenantId' | 'sequence' | 'total' | 'createdXid' | 'createdAt' | keyof EntryOfPerson
> &
  Partial<EntryOfPerson> & { lines: readonly Line[] }

export const totalOf = (entry: Pick<NewEntry, 'lines'>) =>
  sum(entry.lines.filter((line) => line.side === 'debit').map((line) => line.amount))

/** Writes the heads of entries. Their lines must follow in the same transaction, by one call of writeLines. */
export const writeEntries = async (trx: Trx, entries: readonly NewEntry[]): Promise<void> => {
  if (entries.length === 0) return
  const rows = entries.map((entry) => ({
    id: entry.id,
    book_id: entry.bookId,
    journal_id: entry.journalId,
    period_id: entry.periodId,
    posting_date: entry.postingDate,
    currency: entry.currency,
    kind: entry.kind,
    reverses_entry_id: entry.reversesEntryId,
    source_type: entry.sourceType,
    source_id: entry.sourceId,
    source_seq: entry.sourceSeq,
    total: totalOf(entry),
    description: entry.description,
    late: entry.late ?? false,
    created_by: entry.createdBy ?? null,
    approved_by: entry.approvedBy ?? null,
    self_approved: entry.selfApproved ?? false,
    reverse_on: entry.reverseOn ?? null,
  }))
  await sql(
    trx,
    `insert into journal_entry (tenant_id, id, book_id, journal_id, period_id, posting_date, currency, kind, reverses_entry_id,
       source_type, source_id, source_seq, total, description, late, created_by, approved_by, self_approved, reverse_on, sequence, created_xid)
     select ?, e.*, 0, pg_current_xact_id()
     from jsonb_to_recordset(?::jsonb) as e (id uuid, book_id uuid, journal_id uuid, period_id uuid, posting_date date, currency text, kind text,
       reverses_entry_id uuid, source_type text, source_id uuid, source_seq int, total bigint, description text, late boolean, created_by uuid, approved_by uuid,
       self_approved boolean, reverse_on date)`,
    [contextOf(trx).tenantId, JSON.stringify(rows)],
  )
}

/**
 * Writes the lines of all entries of the transaction in one statement, which checks them and moves the balances: the last
 * statement before the commit, since it locks balances in their order.
 */
export const writeLines = async (trx: Trx, entries: readonly NewEntry[]): Promise<void> => {
  const rows = entries.flatMap((entry) =>
    entry.lines.map((line, index) => ({
      entry_id: entry.id,
      line_no: index + 1,
      book_id: entry.bookId,
      period_id: entry.periodId,
      posting_date: entry.postingDate,
      account_id: line.accountId,
      debit: line.side === 'debit' ? line.amount : 0,
      credit: line.side === 'credit' ? line.amount : 0,
      property_id: line.propertyId,
      cost_center_id: line.costCenterId,
      party_type: line.partyType,
      party_id: line.partyId,
      document_type: line.documentType,
      document_id: line.documentId,
      tax_code_id: line.taxCodeId,
      tax_base: line.taxBase,
      memo: line.memo,
    })),
  )
  if (rows.length === 0) return
  await sql(
    trx,
    `insert into journal_line (tenant_id, entry_id, line_no, book_id, period_id, posting_date, account_id, debit, credit, property_id, cost_center_id,
       party_type, party_id, document_type, document_id, tax_code_id, tax_base, memo)
     select ?, l.*
     from jsonb_to_recordset(?::jsonb) as l (entry_id uuid, line_no int, book_id uuid, period_id uuid, posting_date date, account_id uuid, debit bigint,
       credit bigint, property_id uuid, cost_center_id uuid, party_type text, party_id uuid, document_type text, document_id uuid, tax_code_id uuid,
       tax_base bigint, memo text)`,
    [contextOf(trx).tenantId, JSON.stringify(rows)],
  )
}

/** Lines of entries as they stand, by entry, in their order. */
export const linesOf = async (trx: Trx, entryIds: readonly string[]): Promise<Map<string, Line[]>> => {
  if (entryIds.length === 0) return new Map()
  const rows = await sql<Line & { entryId: string }>(
    trx,
    `select entry_id, account_id, case when debit > 0 then 'debit' else 'credit' end as side, debit + credit as amount, property_id, cost_center_id,
       party_type, party_id, document_type, document_id, tax_code_id, tax_base, memo
     from journal_line where tenant_id = ? and entry_id = any(?::uuid[]) order by entry_id, line_no`,
    [contextOf(trx).tenantId, [...entryIds]],
  )
  const found = new Map<string, Line[]>()
  for (const { entryId, ...line } of rows) found.set(entryId, [...(found.get(entryId) ?? []), line])
  return found
}
