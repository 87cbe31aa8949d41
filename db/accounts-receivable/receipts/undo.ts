import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../../config/errors.ts'
import { receiptAllocationReversed } from '../../../config/events/receipts.ts'
import type { ReceiptTarget } from '../../../config/receipts.ts'
import { bookOf, todayAfter } from '../../documents/index.ts'
import type { Fact } from '../../documents/index.ts'
import { assertOpen, businessDay, postingEventOf, raisePosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRows, readRow } from '../../lib/records.ts'
import { lockedTarget, lockTargets, targetOf } from '../../payment/index.ts'
import type { LockedTargets, TargetRef } from '../../payment/index.ts'
import { moveAmounts } from '../state.ts'
import { lockInstallments } from './installments.ts'
import type { HeldInstallments } from './installments.ts'
import { Receipt, ReceiptAllocation } from './models.ts'
import type { AllocationRecord, ReceiptRecord } from './models.ts'
import { lockReceipt, receiptMoves, refuseManaged, standingAllocations, tellReceipt } from './state.ts'
import { postTransfer } from './write.ts'

export type HeldAllocations = Pick<HeldInstallments, 'documents'> & { targets: LockedTargets }

const targetsOf = (allocations: readonly AllocationRecord[]): TargetRef[] =>
  allocations.flatMap(({ targetType, targetId }) =>
    targetType === null || targetId === null ? [] : [{ targetType: targetType as ReceiptTarget, targetId }],
  )

/** Locks what allocations pay in the one order: folios with what is before them, customers, documents. */
export const lockAllocated = async (
  trx: Trx,
  allocations: readonly AllocationRecord[],
  customerId: string | null = null,
): Promise<HeldAllocations> => {
  const targets = await lockTargets(trx, targetsOf(allocations))
  const { documents } = await lockInstallments(
    trx,
    allocations.flatMap(({ installmentId }) => installmentId ?? []),
    customerId === null ? [] : [customerId],
  )
  return { targets, documents }
}

/** Tells whether what an allocation pays gives money back: anything but a folio that is closed. */
export const isOpen = ({ targets }: HeldAllocations, allocation: AllocationRecord): boolean => {
  const [ref] = targetsOf([allocation])
  return !ref || lockedTarget(targets, ref.targetType, ref.targetId)?.open === true
}

type Opposite = { id: string; of: AllocationRecord; datedOn: string }

const backToTarget = async (
  trx: Trx,
  receipt: ReceiptRecord,
  { id, of, datedOn }: Opposite,
): Promise<() => Promise<unknown>> => {
  const [target] = targetsOf([of])
  if (!target) throw new Error('the allocation has no target')
  const back = await targetOf(target.targetType).revert(trx, target.targetId, {
    id,
    paymentId: null,
    receiptId: receipt.id,
    amount: of.principal,
    method: receipt.method,
    businessDate: datedOn,
    late: false,
    allocationId: of.id,
    restId: null,
  })
  return async () => {
    // Money that leaves may have moved the folio to another stage; its locks are held already.
    const now = lockedTarget(await lockTargets(trx, [target]), target.targetType, target.targetId)
    if (!now) throw new Error('the target is gone')
    return postTransfer(trx, receipt, {
      id,
      amount: -of.principal,
      propertyId: now.propertyId,
      targetType: target.targetType as ReceiptTarget,
      folioId: back?.documentId ?? target.targetId,
      stage: now.stage,
    })
  }
}

const mirror = async (trx: Trx, receipt: ReceiptRecord, { id, of, datedOn }: Opposite, propertyId: string | null) => {
  const turned = await postingEventOf(trx, 'accounts-receivable.receipt_allocated', { id: of.id })
  if (turned === null) throw new Error('the allocation was never posted')
  await raisePosting(trx, {
    event: 'accounts-receivable.allocation_reversed',
    source: { id },
    bookId: receipt.bookId,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: datedOn,
    reversesEventId: turned,
  })
}

/**
 * Takes allocations back by the opposite rows (R11): documents are open again, folios owe again. The caller holds what `lockAllocated` locks and the receipt,
 * and raises the postings that are answered, last. 422 `target_closed` for a folio that is closed.
 */
export const takeBack = async (
  trx: Trx,
  before: ReceiptRecord,
  held: HeldAllocations,
  allocations: readonly AllocationRecord[],
  on: string,
): Promise<{ receipt: ReceiptRecord; post: () => Promise<void> }> => {
  const createdBy = contextOf(trx).actor.id === null ? null : await authorOf(trx)
  const opposites: Opposite[] = []
  for (const of of allocations) {
    const [ref] = targetsOf([of])
    const target = ref && lockedTarget(held.targets, ref.targetType, ref.targetId)
    if (!isOpen(held, of))
      throw unprocessable('target_closed', 'The folio is closed: money neither comes nor goes', [
        { field: 'targetId', message: 'is closed' },
      ])
    opposites.push({ id: randomUUID(), of, datedOn: target ? await businessDay(trx, target.propertyId) : on })
  }
  await insertRows(
    trx,
    ReceiptAllocation,
    opposites.map(({ id, of, datedOn }) => ({
      id,
      receiptId: of.receiptId,
      datedOn,
      receivableId: of.receivableId,
      installmentId: of.installmentId,
      targetType: of.targetType,
      targetId: of.targetId,
      principal: -of.principal,
      interest: -of.interest,
      fine: -of.fine,
      discount: -of.discount,
      fee: -of.fee,
      withheld: of.withheld,
      withheldTotal: -of.withheldTotal,
      reversesId: of.id,
      createdBy,
    })),
  )
  const receipt = await sqlOne<ReceiptRecord>(
    trx,
    `update receipt set allocated = allocated - ?, version = version + 1 where tenant_id = ? and id = ? returning *`,
    [sum(allocations.map(({ cash }) => cash)), contextOf(trx).tenantId, before.id],
  )
  if (!receipt) throw new Error('the receipt is gone')
  await moveAmounts(
    trx,
    held.documents,
    opposites.flatMap(({ id, of, datedOn }): Fact[] =>
      of.installmentId === null
        ? []
        : [
            {
              installmentId: of.installmentId,
              sum: 'settled',
              type: 'allocation_reversed',
              sourceId: id,
              on: datedOn,
              amount: -of.principal,
            },
          ],
    ),
  )
  const posts: (() => Promise<unknown>)[] = []
  for (const opposite of opposites) {
    const { receivableId } = opposite.of
    const document = held.documents.find(({ id }) => id === receivableId)
    posts.push(
      receivableId === null
        ? await backToTarget(trx, receipt, opposite)
        : () => mirror(trx, receipt, opposite, document?.propertyId ?? null),
    )
  }
  await tellReceipt(trx, receiptAllocationReversed, receipt, {
    amount: sum(allocations.map(({ cash }) => cash)),
    receivableIds: allocations.map(({ receivableId }) => receivableId),
  })
  return {
    receipt,
    post: async () => {
      for (const post of posts) await post()
    },
  }
}

/**
 * Undoes one allocation, today, or of a folio on the open business day (R11). One that is undone stays so. 404; 409 `managed_by_payments`,
 * `version_conflict`, `receivable_busy`; 422 `target_closed`, and the errors of periods.
 */
export const undoAllocation = async (
  trx: Trx,
  receiptId: string,
  allocationId: string,
  expected: number | null,
): Promise<void> => {
  const seen = await readRow(trx, Receipt, receiptId)
  const allocation = await readRow(trx, ReceiptAllocation, { id: allocationId, receiptId })
  if (allocation.reversesId !== null) throw notFound()
  const held = await lockAllocated(trx, [allocation], seen.customerId)
  const receipt = await lockReceipt(trx, receiptId, expected)
  refuseManaged(receipt)
  const isStanding = (await standingAllocations(trx, receiptId)).some(({ id }) => id === allocationId)
  if (!isStanding) return
  receiptMoves.allow('allocated', receipt.status)
  const today = todayAfter(await bookOf(trx, { bookId: receipt.bookId }), allocation.datedOn)
  if (allocation.installmentId !== null) await assertOpen(trx, receipt.bookId, today)
  const { post } = await takeBack(trx, receipt, held, [allocation], today)
  await post()
}
