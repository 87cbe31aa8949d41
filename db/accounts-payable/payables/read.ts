import type { PayableStatus } from '../../../config/payables.ts'
import { bookOf, installmentsIn } from '../../documents/index.ts'
import { attachmentsOf } from '../../lib/attachments.ts'
import { contextOf, prepared, sql } from '../../lib/connection.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import { Payable } from '../models.ts'
import type { ItemFailure, PayableRecord } from '../models.ts'
import { readBoleto } from '../rules/codes.ts'
import { payableSide } from '../side.ts'
import { likenessesOf } from '../twins.ts'
import { problemsOfLines } from './lines.ts'
import type { Withholding } from './lines.ts'

type LineShown = {
  lineNo: number
  description: string
  accountId: string | null
  purchaseOrderLineId: string | null
  inventoryMovementLineId: string | null
  quantity: string | null
  amount: number
  costCenterId: string | null
  propertyId: string | null
  receivedValue: number | null
  variance: number | null
}
type ItemShown = {
  installmentId: string
  itemId: string
  payablePaymentId: string
  status: string
  principal: number
  cash: number
  paidOn: string | null
  reversedOn: string | null
  failure: ItemFailure | null
}

const linesShown = (trx: Trx, id: string) =>
  sql<LineShown>(
    trx,
    `select line_no, description, account_id, purchase_order_line_id, inventory_movement_line_id, cast(trim_scale(quantity) as text) as quantity, amount,
       cost_center_id, property_id, received_value, variance from payable_line where tenant_id = ? and payable_id = ? order by line_no`,
    [contextOf(trx).tenantId, id],
  )
const withholdingsShown = (trx: Trx, id: string) =>
  sql<Withholding & { collectedById: string | null }>(
    trx,
    `select tax_code_id, code, base, rate, amount, rate_given, collected_by_id from payable_withholding where tenant_id = ? and payable_id = ? order by code`,
    [contextOf(trx).tenantId, id],
  )
const codesOf = (trx: Trx, id: string) =>
  sql<{ id: string; boletoLine: string | null; pixCode: string | null }>(
    trx,
    `select id, boleto_line, pix_code from payable_installment where tenant_id = ? and payable_id = ?`,
    [contextOf(trx).tenantId, id],
  )

/** A draft as it was sent, for a change of a part of it. */
export const draftOf = async (trx: Trx, row: PayableRecord) => {
  const [lines, withholdings, installments, codes] = await Promise.all([
    linesShown(trx, row.id),
    withholdingsShown(trx, row.id),
    installmentsIn(trx, payableSide, [row.id]),
    codesOf(trx, row.id),
  ])
  const { kind, propertyId, number, series, fiscalKey, issuedOn, notes } = row
  return {
    kind,
    propertyId,
    number,
    series,
    fiscalKey,
    issuedOn,
    notes,
    lines: lines.map(({ accountId, purchaseOrderLineId, inventoryMovementLineId, quantity, ...line }) => ({
      ...line,
      accountId: accountId ?? undefined,
      purchaseOrderLineId: purchaseOrderLineId ?? undefined,
      inventoryMovementLineId: inventoryMovementLineId ?? undefined,
      quantity: quantity ?? undefined,
    })),
    withholdings: withholdings.map(({ taxCodeId, base, rate, amount, rateGiven }) => ({
      taxCodeId,
      base,
      rate,
      amount,
      rateGiven,
    })),
    installments: installments.map(({ id, dueOn, amount }) => ({
      dueOn,
      amount,
      boletoLine: codes.find((one) => one.id === id)?.boletoLine ?? null,
      pixCode: codes.find((one) => one.id === id)?.pixCode ?? null,
    })),
  }
}

export type Warning = { code: string; field: string | null; payableId: string | null; message: string }

const warningsOf = async (
  trx: Trx,
  row: PayableRecord,
  lines: readonly LineShown[],
  installments: readonly { dueOn: string; amount: number; boletoLine: string | null }[],
): Promise<Warning[]> => {
  const twins = row.number === null ? await likenessesOf(trx, row) : []
  const slips = installments.flatMap(({ boletoLine, dueOn, amount }, index): Warning[] => {
    const slip = boletoLine === null ? null : readBoleto(boletoLine, row.issuedOn)
    const differs =
      slip !== null &&
      ((slip.dueOn !== null && slip.dueOn !== dueOn) || (slip.amount !== null && slip.amount !== amount))
    return differs
      ? [
          {
            code: 'boleto_differs',
            field: `installments.${index}.boletoLine`,
            payableId: null,
            message: `says ${slip.amount ?? 'no amount'} due ${slip.dueOn ?? 'on no day'}`,
          },
        ]
      : []
  })
  const problems =
    row.status === 'draft'
      ? await problemsOfLines(
          trx,
          await bookOf(trx, { bookId: row.bookId }),
          row.kind,
          lines.map((line) => ({
            ...line,
            accountId: line.accountId ?? undefined,
            purchaseOrderLineId: undefined,
            inventoryMovementLineId: undefined,
            quantity: undefined,
          })),
        )
      : []
  return [
    ...twins.map((id) => ({
      code: 'possible_duplicate',
      field: null,
      payableId: id,
      message: 'the same payee, amount and day',
    })),
    ...slips,
    ...problems.slice(0, 50).map(({ code, field, message }) => ({ code, field, payableId: null, message })),
  ]
}

/** A bill with all that belongs to it. 404. */
export const readPayable = async (trx: Trx, id: string) => {
  const { tenantId } = contextOf(trx)
  const [row, lines, withholdings, installments, codes] = await Promise.all([
    readRow(trx, Payable, id),
    linesShown(trx, id),
    withholdingsShown(trx, id),
    installmentsIn(trx, payableSide, [id]),
    codesOf(trx, id),
  ])
  const [items, approvals, history, files, payee] = await Promise.all([
    sql<ItemShown>(
      trx,
      `select installment_id, id as item_id, payable_payment_id, status, principal, cash, paid_on, reversed_on, failure from payable_payment_item
       where tenant_id = ? and payable_id = ? order by created_at, id`,
      [tenantId, id],
    ),
    sql<{ round: number; userId: string; decision: string; note: string | null; selfApproved: boolean; at: Date }>(
      trx,
      `select round, user_id, decision, note, self_approved, created_at as at from payable_approval where tenant_id = ? and payable_id = ? order by created_at, id`,
      [tenantId, id],
    ),
    sql<{
      command: string
      from: PayableStatus | null
      to: PayableStatus
      changes: object
      reason: string | null
      actor: Actor
      requestId: string | null
      at: Date
    }>(
      trx,
      `select command, from_status as "from", to_status as "to", changes, reason, actor, request_id, created_at as at from payable_history
       where tenant_id = ? and payable_id = ? order by position`,
      [tenantId, id],
    ),
    attachmentsOf(trx, 'accounts-payable', 'payable', [id]),
    prepared<{ name: string }>(
      trx,
      `select legal_name as name from supplier where tenant_id = ? and id = cast(? as uuid)`,
      [tenantId, row.supplierId],
    ),
  ])
  const shown = installments.map(({ id: installmentId, seq, dueOn, amount, closed, open }) => {
    const code = codes.find((one) => one.id === installmentId)
    return {
      id: installmentId,
      seq,
      dueOn,
      amount,
      settled: closed,
      open,
      boletoLine: code?.boletoLine ?? null,
      pixCode: code?.pixCode ?? null,
      items: items.filter((item) => item.installmentId === installmentId),
    }
  })
  return {
    ...row,
    payee: { supplierId: row.supplierId, name: payee[0]?.name ?? row.payeeName ?? '', document: row.payeeDocument },
    net: row.total,
    lines,
    withholdings,
    installments: shown,
    approvals,
    history,
    attachments: files.get(id) ?? [],
    warnings: await warningsOf(trx, row, lines, shown),
  }
}
export type PayableShown = Awaited<ReturnType<typeof readPayable>>
