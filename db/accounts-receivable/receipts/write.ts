import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import { receiptAllocated, receiptIdentified } from '../../../config/events/receipts.ts'
import type { ReceiptTarget } from '../../../config/receipts.ts'
import type { Fact } from '../../documents/index.ts'
import { raisePosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRows } from '../../lib/records.ts'
import { settleRefusedCaptures, targetOf } from '../../payment/index.ts'
import type { TargetRef } from '../../payment/index.ts'
import type { ReceivableRecord } from '../models.ts'
import { cashOf, withheldOf } from '../rules/allocations.ts'
import type { Amounts } from '../rules/allocations.ts'
import { moveAmounts } from '../state.ts'
import type { PayableInstallment } from './installments.ts'
import { ReceiptAllocation } from './models.ts'
import type { ReceiptRecord, WithheldTax } from './models.ts'
import { tellReceipt } from './state.ts'

/** The part of a receipt that pays an installment. */
export type PlannedAllocation = {
  installment: PayableInstallment
  amounts: Omit<Amounts, 'withheld'> & { withheld: readonly WithheldTax[] }
}
/** The part of a receipt that pays a folio, or the locked primary folio of a reservation. */
export type PlannedTransfer = {
  targetType: ReceiptTarget
  targetId: string
  propertyId: string
  amount: number
  businessDate: string
  payable: number
  stage: 'deposit' | 'guest' | undefined
}
export type Planned = { on: string; allocations: readonly PlannedAllocation[]; transfers: readonly PlannedTransfer[] }

export const cashOfPlan = ({ allocations, transfers }: Pick<Planned, 'allocations' | 'transfers'>): number =>
  sum(allocations.map(({ amounts }) => cashOf(amounts))) + sum(transfers.map(({ amount }) => amount))

type Post = () => Promise<unknown>

const settleInstallments = async (
  trx: Trx,
  receipt: ReceiptRecord,
  documents: readonly ReceivableRecord[],
  { on, allocations }: Planned,
): Promise<Post[]> => {
  const createdBy = contextOf(trx).actor.id === null ? null : await authorOf(trx)
  const rows = allocations.map(({ installment, amounts }) => ({
    id: randomUUID(),
    receiptId: receipt.id,
    datedOn: on,
    receivableId: installment.receivableId,
    installmentId: installment.installmentId,
    principal: amounts.principal,
    interest: amounts.interest,
    fine: amounts.fine,
    discount: amounts.discount,
    fee: amounts.fee,
    withheld: [...amounts.withheld],
    withheldTotal: withheldOf(amounts.withheld),
    createdBy,
  }))
  await insertRows(trx, ReceiptAllocation, rows)
  await moveAmounts(
    trx,
    documents,
    rows.map(({ id, installmentId, principal }): Fact => ({
      installmentId,
      sum: 'settled',
      type: 'receipt',
      sourceId: id,
      on,
      amount: principal,
    })),
  )
  return rows.map(({ id }, index) => () => {
    const { installment, amounts } = allocations[index]!
    const { withheld, ...plain } = amounts
    return raisePosting(trx, {
      event: 'accounts-receivable.receipt_allocated',
      source: { id },
      bookId: receipt.bookId,
      ...(installment.propertyId === null ? {} : { propertyId: installment.propertyId }),
      postingDate: on,
      payload: {
        amounts: {
          ...plain,
          withheld: withheld.map(({ code, amount }) => ({ amount, context: { taxCode: code } })),
          cash: cashOf(amounts),
        },
        documents: { receipt: receipt.id, receivable: installment.receivableId },
        context: { customerKind: installment.customerKind },
        parties: { all: { type: 'customer', id: installment.customerId } },
      },
    })
  })
}

const transferTo = async (trx: Trx, receipt: ReceiptRecord, transfer: PlannedTransfer): Promise<Post> => {
  const { targetType, targetId, amount, businessDate, payable, propertyId, stage } = transfer
  const id = randomUUID()
  await insertRows(trx, ReceiptAllocation, [
    {
      id,
      receiptId: receipt.id,
      datedOn: businessDate,
      targetType,
      targetId,
      principal: amount,
      createdBy: contextOf(trx).actor.id === null ? null : await authorOf(trx),
    },
  ])
  const { taken, documentId } = await targetOf(targetType).apply(trx, targetId, {
    id,
    paymentId: null,
    receiptId: receipt.id,
    amount,
    method: receipt.method,
    businessDate,
    late: false,
    payable,
  })
  if (taken !== amount)
    throw unprocessable('target_closed', `At most ${taken} can be paid for it`, [
      { field: 'allocations', message: `takes ${taken} of ${amount}` },
    ])
  return () =>
    postTransfer(trx, receipt, { id, amount, propertyId, targetType, folioId: documentId ?? targetId, stage })
}

export type Transferred = {
  id: string
  /** Below 0 where it is taken back. */
  amount: number
  propertyId: string
  targetType: ReceiptTarget
  folioId: string
  stage: 'deposit' | 'guest' | undefined
}

/** Moves money between unallocated receipts and the ledger of the folio's stage, on the open business day. */
export const postTransfer = (
  trx: Trx,
  receipt: Pick<ReceiptRecord, 'id' | 'customerId'>,
  { id, amount, propertyId, targetType, folioId, stage }: Transferred,
) =>
  raisePosting(trx, {
    event: 'accounts-receivable.receipt_transferred',
    source: { id },
    propertyId,
    payload: {
      amounts: { amount },
      documents: { receipt: receipt.id, folio: folioId },
      context: { target: targetType, ...(stage === undefined ? {} : { folioStage: stage }) },
      ...(receipt.customerId === null
        ? {}
        : { parties: { unallocated_receipts: { type: 'customer' as const, id: receipt.customerId } } }),
    },
  })

const paidBy = ({ allocations, transfers }: Planned): TargetRef[] => [
  ...[...new Set(allocations.map(({ installment }) => installment.receivableId))].map((targetId): TargetRef => ({
    targetType: 'receivable',
    targetId,
  })),
  ...transfers.map(({ targetType, targetId }) => ({ targetType, targetId })),
]

/**
 * Writes what a receipt pays: its rows, its sum, the installments with their facts, lines of folios. The caller holds targets, customers, documents and the
 * receipt, and raises the postings that are answered, last. 422 `amount_exceeds_available`, `amount_exceeds_open`, `target_closed`.
 */
export const writeAllocations = async (
  trx: Trx,
  before: ReceiptRecord,
  documents: readonly ReceivableRecord[],
  plan: Planned,
  customerId: string | null = before.customerId,
): Promise<{ receipt: ReceiptRecord; post: () => Promise<void> }> => {
  const receipt = await sqlOne<ReceiptRecord>(
    trx,
    `update receipt set allocated = allocated + ?, customer_id = coalesce(customer_id, cast(? as uuid)), version = version + 1
     where tenant_id = ? and id = ? returning *`,
    [cashOfPlan(plan), customerId, contextOf(trx).tenantId, before.id],
  )
  if (!receipt) throw new Error('the receipt is gone')
  if (before.customerId === null && receipt.customerId !== null)
    await tellReceipt(trx, receiptIdentified, receipt, { amount: receipt.amount })
  const posts = plan.allocations.length > 0 ? await settleInstallments(trx, receipt, documents, plan) : []
  for (const transfer of plan.transfers) posts.push(await transferTo(trx, receipt, transfer))
  if (posts.length > 0)
    await tellReceipt(trx, receiptAllocated, receipt, {
      amount: cashOfPlan(plan),
      receivableIds: plan.allocations.map(({ installment }) => installment.receivableId),
    })
  // A payment settles what it brings itself.
  if (receipt.sourceType !== 'payment') await settleRefusedCaptures(trx, null, paidBy(plan))
  return {
    receipt,
    post: async () => {
      for (const post of posts) await post()
    },
  }
}
