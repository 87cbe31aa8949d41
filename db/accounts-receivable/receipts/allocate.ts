import { unprocessable } from '../../../config/errors.ts'
import type { Trx } from '../../lib/connection.ts'
import { readRow } from '../../lib/records.ts'
import { expectCustomer } from './insert.ts'
import { Receipt } from './models.ts'
import type { ReceiptRecord } from './models.ts'
import { lockWanted, planOf, refuseMixed } from './plan.ts'
import type { Judge, Wanted } from './plan.ts'
import { shownPlan } from './show-plan.ts'
import type { PlanShown } from './show-plan.ts'
import { lockReceipt, receiptMoves, refuseManaged } from './state.ts'
import { writeAllocations } from './write.ts'

const moneyOf = ({ bookId, currency, customerId, available, receivedOn }: ReceiptRecord) => ({
  bookId,
  currency,
  customerId,
  available,
  since: receivedOn,
})

type Asked = { expected: number | null; judge: Judge }

const judged = async (trx: Trx, id: string, wanted: Wanted, { expected, judge }: Asked) => {
  const seen = await readRow(trx, Receipt, id)
  refuseMixed(wanted, seen.customerId !== null)
  const held = await lockWanted(trx, seen, wanted)
  const receipt = await lockReceipt(trx, id, expected)
  refuseManaged(receipt)
  receiptMoves.allow('allocated', receipt.status)
  if (wanted.customerId !== undefined && receipt.customerId === null)
    await expectCustomer(trx, wanted.customerId, receipt.currency)
  const { customerId, ...plan } = await planOf(trx, moneyOf(receipt), wanted, held, judge)
  if (wanted.auto && plan.allocations.length === 0)
    throw unprocessable(
      'amount_exceeds_open',
      'The customer owes nothing in this book, or nothing of the receipt is left',
      [{ field: 'auto', message: `${receipt.available} is available` }],
    )
  return { receipt, held, plan, customerId }
}

/**
 * Says whose a receipt is, and what it pays (R9, R10), dated today unless said. 404; 409 `managed_by_payments`, `version_conflict`, `receivable_busy`; 422 as
 * `planOf`.
 */
export const allocateReceipt = async (trx: Trx, id: string, wanted: Wanted, asked: Asked): Promise<void> => {
  const { receipt, held, plan, customerId } = await judged(trx, id, wanted, asked)
  const isNothingNew = receipt.customerId === customerId && plan.allocations.length + plan.transfers.length === 0
  if (isNothingNew) return
  const { post } = await writeAllocations(trx, receipt, held.documents, plan, customerId)
  await post()
}

/** Tries an allocation. Writes nothing. */
export const tryAllocation = async (trx: Trx, id: string, wanted: Wanted, asked: Asked): Promise<PlanShown> => {
  const { receipt, plan, customerId } = await judged(trx, id, wanted, asked)
  return shownPlan({ ...plan, customerId }, receipt.available, receipt.currency)
}
