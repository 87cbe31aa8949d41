import { randomUUID } from 'node:crypto'
import type { ReceiptMethod, ReceiptSource } from '../../../config/receipts.ts'
import type { BookedMovement } from '../../cash/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { automatic } from '../rules/allocations.ts'
import { insertReceipt, postRecorded } from './insert.ts'
import { isPayable, lockInstallments, oldestOpen } from './installments.ts'
import type { PayableInstallment } from './installments.ts'
import type { Payer } from './models.ts'
import { writeAllocations } from './write.ts'
import type { Planned } from './write.ts'

export type HeardReceipt = {
  sourceType: Extract<ReceiptSource, 'pix' | 'bank_line'>
  /** The Pix, or the line of the statement: one receipt of each. */
  sourceId: string
  method: ReceiptMethod
  bookId: string
  currency: string
  amount: number
  customerId?: string | null
  /** The document that the money was asked for: its open installments are paid, the oldest due first. */
  receivableId?: string | null
  /** The installment that it was asked for, which is paid before the others of the document. */
  installmentId?: string | null
  /** Fine and interest that were asked for with the installment: money for them pays no other one, and is left for a person to book. */
  late?: number
  reference?: string
  payer?: Payer
  /** Books the money, once all that comes before it is locked. */
  book: () => Promise<BookedMovement>
}

/**
 * A receipt of money that a bank told of: allocated to what it was asked for, else to be identified by a person. Its day is that of the movement. For Cash: Pix
 * and lines of statements. Answers the id.
 */
export const recordReceipt = async (trx: Trx, heard: HeardReceipt): Promise<string> => {
  const { bookId, currency, amount, receivableId = null, installmentId = null, customerId = null, late = 0 } = heard
  const open = receivableId === null ? [] : await oldestOpen(trx, { bookId, receivableId })
  const held = await lockInstallments(
    trx,
    open.map((one) => one.installmentId),
    customerId === null ? [] : [customerId],
  )
  const movement = await heard.book()
  const isFirst = (one: PayableInstallment) => one.installmentId === installmentId
  const payable = held.installments
    .filter((one) => one.currency === currency && isPayable(one))
    .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  const owner = customerId ?? payable[0]?.customerId ?? null
  const id = randomUUID()
  const receipt = await insertReceipt(trx, {
    id,
    bookId,
    propertyId: movement.propertyId,
    customerId: owner,
    sourceType: heard.sourceType,
    sourceId: heard.sourceId,
    method: heard.method,
    currency,
    amount,
    receivedOn: movement.bookedOn,
    movement,
    reference: heard.reference,
    payer: heard.payer,
  })
  const asked = payable.find(isFirst)
  const kept = asked ? Math.max(0, Math.min(late, amount - asked.open)) : 0
  const plan = planned(payable, amount - kept, movement.bookedOn)
  const { post } =
    plan.allocations.length > 0 ? await writeAllocations(trx, receipt, held.documents, plan) : { post: null }
  await postRecorded(trx, receipt, movement)
  await post?.()
  return id
}

/** Principal of installments, the oldest due first, on the day of the money or of the document. */
export const planned = (payable: readonly PayableInstallment[], amount: number, day: string): Planned => {
  const parts = automatic(payable, amount)
  const paid = parts.flatMap(({ installmentId, principal = 0 }) => {
    const installment = payable.find((one) => one.installmentId === installmentId)
    return installment
      ? [{ installment, amounts: { principal, interest: 0, fine: 0, discount: 0, fee: 0, withheld: [] } }]
      : []
  })
  const on = paid.reduce(
    (latest, { installment }) => (installment.issuedOn > latest ? installment.issuedOn : latest),
    day,
  )
  return { on, allocations: paid, transfers: [] }
}
