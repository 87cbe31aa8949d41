import { contextOf, prepared, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { columnOf } from '../../lib/shapes.ts'
import type { Rescheduled, Scheduled, Share } from '../rules/schedule.ts'
import type { Side } from './side.ts'

/** A dated fact of an installment. What it lowers is positive, what it gives back is negative; `sum` is null for a document that was voided. */
export type Fact = {
  installmentId: string
  sum: Side['sums'][number] | null
  type: string
  sourceId: string
  on: string
  amount: number
}

export type Installment = Scheduled & { documentId: string; closed: number }

/**
 * Lets the schedules of documents count from days on which money pays them that were before the day of the schedule: it pays installments that the schedule made,
 * and what was open on those days would count what they pay twice.
 */
const replanEarlier = async (
  trx: Trx,
  document: Side['document'],
  documents: readonly { id: string; on: string }[],
): Promise<void> => {
  if (documents.length === 0) return
  await sql(
    trx,
    `update ${document}_installment t set versions =
       (select coalesce(jsonb_agg(v.one order by v.one ->> 'since'), '[]') from jsonb_array_elements(t.versions) as v (one) where v.one ->> 'since' < g."on")
       || jsonb_build_array((t.versions -> -1) || jsonb_build_object('since', g."on"))
     from jsonb_to_recordset(cast(? as jsonb)) as g (id uuid, "on" text)
     where t.tenant_id = ? and t.${document}_id = g.id and t.versions -> -1 ->> 'since' > g."on"`,
    [JSON.stringify(documents), contextOf(trx).tenantId],
  )
}

/**
 * Writes facts, and their sums on installments and documents, in one statement. The caller holds the documents. A sum beyond an amount is 422
 * `amount_exceeds_open`. Answers the documents.
 */
export const settle = async (
  trx: Trx,
  { document, sums }: Pick<Side, 'document' | 'sums'>,
  facts: readonly Fact[],
): Promise<string[]> => {
  if (facts.length === 0) return []
  const columns = sums.map((field) => [field, columnOf(field)] as const)
  const add = columns.map(([, column]) => `${column} = t.${column} + s.${column}`).join(', ')
  const all = columns.map(([, column]) => `sum(${column})::bigint as ${column}`).join(', ')
  const rows = await sql<{ id: string; before: string | null }>(
    trx,
    `with f as (select * from jsonb_to_recordset(cast(:facts as jsonb)) as f (place int, installment_id uuid, sum text, type text, source_id uuid, dated_on date, amount bigint)),
     i as (
       update ${document}_installment t set ${add}
       from (select installment_id, ${columns
         .map(([field, column]) => `coalesce(sum(amount) filter (where sum = '${field}'), 0)::bigint as ${column}`)
         .join(', ')} from f group by 1) s
       where t.tenant_id = :tenantId and t.id = s.installment_id
       returning t.id, t.${document}_id as document_id, t.versions -> -1 ->> 'since' as since, ${columns.map(([, column]) => `s.${column}`).join(', ')}),
     d as (
       update ${document} t set ${add}, version = t.version + 1
       from (select document_id, ${all} from i group by 1) s
       where t.tenant_id = :tenantId and t.id = s.document_id returning t.id),
     w as (
       insert into ${document}_fact (${document}_id, installment_id, dated_on, type, source_id, amount)
       select i.document_id, f.installment_id, f.dated_on, f.type, f.source_id, f.amount from f join i on i.id = f.installment_id order by f.place)
     select d.id, b.before from d left join (select i.document_id, to_char(min(f.dated_on), 'YYYY-MM-DD') as before from i join f on f.installment_id = i.id
       where f.amount > 0 and i.since > to_char(f.dated_on, 'YYYY-MM-DD') group by 1) b on b.document_id = d.id`,
    {
      tenantId: contextOf(trx).tenantId,
      facts: JSON.stringify(
        facts.map(({ installmentId, sourceId, on, ...fact }, place) => ({
          ...fact,
          place,
          installment_id: installmentId,
          source_id: sourceId,
          dated_on: on,
        })),
      ),
    },
  )
  await replanEarlier(
    trx,
    document,
    rows.flatMap(({ id, before }) => (before === null ? [] : [{ id, on: before }])),
  )
  return rows.map(({ id }) => id)
}

const columns = (document: string) =>
  `id, ${document}_id as document_id, seq, due_on, amount, open, amount - open as closed, versions`

/** The installments of documents, by document and number. */
export const installmentsIn = (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  documentIds: readonly string[],
): Promise<Installment[]> =>
  prepared<Installment>(
    trx,
    `select ${columns(document)} from ${document}_installment where tenant_id = ? and ${document}_id = any(?) order by ${document}_id, seq`,
    [contextOf(trx).tenantId, documentIds],
  )

/** Replaces the installments of a draft. */
export const replaceInstallments = async (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  documentId: string,
  shares: readonly Share[],
): Promise<void> => {
  await sql(trx, `delete from ${document}_installment where tenant_id = ? and ${document}_id = ?`, [
    contextOf(trx).tenantId,
    documentId,
  ])
  await addInstallments(trx, { document }, documentId, shares)
}

/** Writes the installments of a document that has none yet. */
export const addInstallments = async (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  documentId: string,
  shares: readonly Share[],
): Promise<void> => {
  await sql(
    trx,
    `insert into ${document}_installment (${document}_id, seq, due_on, amount)
     select cast(? as uuid), s.seq, s.due_on, s.amount from jsonb_to_recordset(cast(? as jsonb)) as s (seq int, due_on date, amount bigint)`,
    [documentId, JSON.stringify(shares.map(({ dueOn, amount }, index) => ({ seq: index + 1, due_on: dueOn, amount })))],
  )
}

/** Begins the history of a document's installments, on the day from which it counts. */
export const beginVersions = async (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  documentIds: readonly string[],
  since: string,
): Promise<void> => {
  await prepared(
    trx,
    `update ${document}_installment set versions = jsonb_build_array(jsonb_build_object('since', cast(? as text), 'dueOn', due_on, 'amount', amount))
     where tenant_id = ? and ${document}_id = any(?)`,
    [since, contextOf(trx).tenantId, documentIds],
  )
}

/** Writes a new schedule of a document, as `rescheduled` made it. */
export const storeSchedule = async (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  documentId: string,
  schedule: readonly Rescheduled[],
): Promise<void> => {
  const tenantId = contextOf(trx).tenantId
  const bodyOf = (list: readonly Rescheduled[]) =>
    JSON.stringify(list.map(({ id, seq, dueOn, amount, versions }) => ({ id, seq, due_on: dueOn, amount, versions })))
  await sql(
    trx,
    `update ${document}_installment t set due_on = s.due_on, amount = s.amount, versions = s.versions
     from jsonb_to_recordset(cast(? as jsonb)) as s (id uuid, due_on date, amount bigint, versions jsonb)
     where t.tenant_id = ? and t.${document}_id = ? and t.id = s.id`,
    [bodyOf(schedule.filter(({ id }) => id !== null)), tenantId, documentId],
  )
  await sql(
    trx,
    `insert into ${document}_installment (${document}_id, seq, due_on, amount, versions)
     select cast(? as uuid), s.seq, s.due_on, s.amount, s.versions
     from jsonb_to_recordset(cast(? as jsonb)) as s (seq int, due_on date, amount bigint, versions jsonb)`,
    [documentId, bodyOf(schedule.filter(({ id }) => id === null))],
  )
}
