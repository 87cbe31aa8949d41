import { unprocessable } from '../../config/errors.ts'
import type { Trx } from '../lib/connection.ts'

export type TargetType = 'booking' | 'reservation' | 'folio' | 'receivable' | 'pos_order'
export type TargetRef = { targetType: TargetType; targetId: string }

/** A target's account of itself once it is locked. */
export type Payable = {
  currency: string
  propertyId: string
  /** Amount it still takes, in minor units; payments still on their way are not deducted. */
  payable: number
  /** False where it takes nothing whatever the amount: a cancelled booking, a closed folio. An expired booking is open: it takes credit. */
  open: boolean
  /** The hold that waited for the money is gone (an expired booking), so money that arrives now is late. */
  expired?: boolean
  /** Stage of a reservation's folio, which names the account of its money. */
  stage?: 'deposit' | 'guest'
  /** Owners of the saved methods that may pay for it: those of the booking, those of its guests, the payer first, and those of the customer who is billed. */
  payers?: { bookingId: string | null; guestIds: string[]; customerId?: string }
}

/** A part of a captured payment, or of a receipt of Receivables. `id` is the allocation's: a source key for lines and postings. */
export type TargetAllocation = {
  id: string
  /** Null of a receipt. */
  paymentId: string | null
  receiptId?: string
  /** Minor units, more than 0, in the target's currency; of `revert`: what is taken back. */
  amount: number
  method: string
  /** The business day of the property when the money arrived. */
  businessDate: string
  /** The money came after its payment had ended, or after the hold was gone (R16). */
  late: boolean
}

/** The parts of a reversal: the allocation that ends, and the one that keeps the rest of it, if any is left. */
export type TakenBack = TargetAllocation & { allocationId: string; restId: string | null }

/** An allocation offered to a target, with the payable amount that `lock` answered in this transaction. */
export type Offer = TargetAllocation & { payable: number }

/**
 * A module implements this so that payments can pay for its records, once per target type.
 * Payments calls with the target locked by `lock` in the same transaction, before it locks the payment.
 */
export interface PaymentTarget {
  /** Locks the target and what lies before it in the lock order, then reads. Null where there is no such record. */
  lock(trx: Trx, id: string): Promise<Payable | null>
  /** The gateway has accepted a charge that may take until then: a hold lives as long as its payment (R12 of public.md). */
  onProcessing(trx: Trx, id: string, until: Date, method: string): Promise<void>
  /**
   * Takes captured money, at most what is payable, and answers how much; 0 refuses. An expired booking takes it as credit. `documentId` is the document that
   * the line of the posting names, where it is another record than the target: of a receivable the receipt.
   */
  apply(trx: Trx, id: string, offer: Offer): Promise<{ taken: number; documentId?: string }>
  /**
   * Gives back what `apply` took: the credit of a booking shrinks, or a folio gets a refund line. Never refuses. Answers the document of `apply`, where it
   * named one.
   */
  revert(trx: Trx, id: string, allocation: TakenBack): Promise<{ documentId: string } | void>
  /** The targets by which the same money may come, themselves among them: a booking, its reservations and their folios, and those that a document bills. Locks nothing. */
  kin?(trx: Trx, ids: readonly string[]): Promise<TargetRef[]>
  /**
   * Amount by which targets of one kin were settled since an instant other than by payments: by receipts, or by a bill that a customer owes instead. That of
   * documents counts for folios what has paid their bills of before.
   */
  settledOtherwise?(trx: Trx, kin: readonly TargetRef[], since: Date): Promise<number>
}

const targets = new Map<TargetType, PaymentTarget>()

/** Says how records of these types are paid for. The modules that own them import payments, so `registerModules` calls this. */
export const registerTargets = (given: Partial<Record<TargetType, PaymentTarget>>) => {
  for (const [type, target] of Object.entries(given)) targets.set(type as TargetType, target)
}

/** The target that speaks for records of a type; 422 `target_closed` where no module takes payments for it. */
export const targetOf = (type: TargetType): PaymentTarget => {
  if (targets.size === 0) throw new Error('registerModules() has not been called in this process')
  const target = targets.get(type)
  if (!target) throw unprocessable('target_closed', `Nothing can be paid for a ${type}`)
  return target
}

/** The document that a posting line of the target carries (config/financial-postings.tsv, @target). */
export const targetDocument = (type: TargetType, id: string): Record<string, string> => {
  const names: Record<TargetType, string> = {
    booking: 'booking',
    reservation: 'folio',
    folio: 'folio',
    pos_order: 'order',
    receivable: 'receipt',
  }
  return { [names[type]]: id }
}
