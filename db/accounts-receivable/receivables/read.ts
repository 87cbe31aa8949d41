import type { PixChargeStatus } from '../../../config/pix.ts'
import type { ReceivableStatus } from '../../../config/receivables.ts'
import { installmentsIn } from '../../documents/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import { noticesOf } from '../dunning/read.ts'
import { fiscalOfReceivable } from '../fiscal/read.ts'
import { Receivable } from '../models.ts'
import { receivableSide } from '../side.ts'

type LineShown = {
  lineNo: number
  description: string
  quantity: string
  unitAmount: number
  amount: number
  accountId: string | null
  folioId: string | null
  fromReceivableId: string | null
  taxCodeId: string | null
  taxAmount: number
  propertyId: string | null
  costCenterId: string | null
}
type AllocationShown = {
  id: string
  installmentId: string
  receiptId: string
  on: string
  principal: number
  interest: number
  fine: number
  discount: number
  fee: number
  withheld: { taxCodeId: string; amount: number }[]
  reversesId: string | null
}

/** A document with all that belongs to it. 404. */
export const readReceivable = async (trx: Trx, id: string) => {
  const of = [contextOf(trx).tenantId, id]
  const [
    row,
    lines,
    installments,
    sums,
    allocations,
    creditNotes,
    writeOffs,
    consolidates,
    history,
    customers,
    fiscalDocument,
    notices,
    pixCharges,
  ] = await Promise.all([
    readRow(trx, Receivable, id),
    sql<LineShown>(
      trx,
      `select line_no, description, cast(trim_scale(quantity) as text) as quantity, unit_amount, amount, account_id, folio_id, from_receivable_id,
           tax_code_id, tax_amount, property_id, cost_center_id from receivable_line where tenant_id = ? and receivable_id = ? order by line_no`,
      of,
    ),
    installmentsIn(trx, receivableSide, [id]),
    sql<{ id: string; settled: number; credited: number; writtenOff: number }>(
      trx,
      `select id, settled, credited, written_off from receivable_installment where tenant_id = ? and receivable_id = ?`,
      of,
    ),
    sql<AllocationShown>(
      trx,
      `select id, installment_id, receipt_id, dated_on as "on", principal, interest, fine, discount, fee, withheld, reverses_id
         from receipt_allocation where tenant_id = ? and receivable_id = ? order by position`,
      of,
    ),
    sql<{ id: string; number: number | null; issuedOn: string; amount: number; applied: number; status: string }>(
      trx,
      `select id, number, issued_on, amount, applied, status from credit_note where tenant_id = ? and receivable_id = ? order by issued_on, created_at, id`,
      of,
    ),
    sql<{
      id: string
      amount: number
      reason: string
      on: string
      writtenOffBy: string
      selfApproved: boolean
      reinstatedOn: string | null
      reinstatedBy: string | null
    }>(
      trx,
      `select id, amount, reason, dated_on as "on", written_off_by, self_approved, reinstated_on, reinstated_by from write_off
         where tenant_id = ? and receivable_id = ? order by created_at, id`,
      of,
    ),
    sql<{ id: string; folioId: string | null; total: number }>(
      trx,
      `select r.id, l.folio_id, r.total from receivable r
         left join receivable_line l on l.tenant_id = r.tenant_id and l.receivable_id = r.id and l.folio_id is not null
         where r.tenant_id = ? and r.consolidated_into_id = ? order by r.id`,
      of,
    ),
    sql<{
      command: string
      from: ReceivableStatus | null
      to: ReceivableStatus
      changes: object
      reason: string | null
      actor: Actor
      requestId: string | null
      at: Date
    }>(
      trx,
      `select command, from_status as "from", to_status as "to", changes, reason, actor, request_id, created_at as at from receivable_history
         where tenant_id = ? and receivable_id = ? order by position`,
      of,
    ),
    sql<{ id: string; name: string }>(
      trx,
      `select c.id, c.legal_name as name from receivable r join customer c on c.tenant_id = r.tenant_id and c.id = r.customer_id
         where r.tenant_id = ? and r.id = ?`,
      of,
    ),
    fiscalOfReceivable(trx, id),
    noticesOf(trx, id),
    sql<{ id: string; installmentId: string | null; status: PixChargeStatus }>(
      trx,
      `select id, installment_id, status from pix_charge where tenant_id = ? and target_type = 'receivable' and target_id = ? order by due_on, created_at, id`,
      of,
    ),
  ])
  return {
    ...row,
    customer: customers[0] ?? { id: row.customerId, name: '' },
    lines,
    installments: installments.map(({ id: installmentId, seq, dueOn, amount, open }) => {
      const own = sums.find((one) => one.id === installmentId)
      return {
        id: installmentId,
        seq,
        dueOn,
        amount,
        settled: own?.settled ?? 0,
        credited: own?.credited ?? 0,
        writtenOff: own?.writtenOff ?? 0,
        open,
        allocations: allocations.filter((one) => one.installmentId === installmentId),
      }
    }),
    creditNotes,
    writeOffs,
    consolidates,
    fiscalDocument,
    notices,
    pixCharges,
    history,
  }
}

/** The state of a document, for a reader who waits for another. */
export const statusOfReceivable = async (trx: Trx, id: string): Promise<ReceivableStatus> =>
  (await readRow(trx, Receivable, id)).status
