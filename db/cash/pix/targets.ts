import type { PixTargetType } from '../../../config/pix.ts'
import type { Trx } from '../../lib/connection.ts'
import type { BookedMovement } from '../movements.ts'

export type PixTargetRef = { targetType: PixTargetType; targetId: string; installmentId: string | null }

/** A Pix that has arrived, for who takes its money. Amounts in minor units. */
export type PixMoney = {
  pixReceiptId: string
  cashAccountId: string
  bookId: string
  amount: number
  currency: string
  at: Date
  reference: string
  payer: { name: string | null; document: string | null }
  /** The record that asked for the money; null for money that no record expects. */
  target: PixTargetRef | null
  /** The charge by a due date that was paid, with its rates in basis points; null for any other money. */
  due: DueCharge | null
  /** Books the money, once all that comes before the account is locked. */
  book: () => Promise<BookedMovement>
}
/** A charge as far as its late charges go. `paidOn` is the day of the bank. */
export type DueCharge = {
  amount: number
  dueOn: string
  fineRate: number
  monthlyInterestRate: number
  paidOn: string
}

/** A return that the bank has made by itself, of money that this module's record has. */
export type PixTakenBack = {
  pixReceiptId: string
  claimedById: string
  amount: number
  reason: string
  book: () => Promise<BookedMovement>
}

/** The end of a return, as its module hears it. */
export type PixReturnEnd =
  | { status: 'succeeded'; movement: BookedMovement }
  | { status: 'failed'; failure: { code: string; message: string } }

/** A module that asks for returns. */
export type PixReturnAnswer = {
  /** Locks the record that asked and what comes before it, before anything of the Pix is locked. */
  hold: (trx: Trx, id: string) => Promise<void>
  end: (trx: Trx, id: string, end: PixReturnEnd) => Promise<void>
}

/** The functions of other modules that charges and received money call. */
export type PixModules = {
  /** Locks what a charge is for and reads it; null where there is none. `isOpen`: it can still be paid. */
  targetOf: (
    trx: Trx,
    target: PixTargetRef,
  ) => Promise<{ bookId: string; propertyId: string | null; currency: string; isOpen: boolean } | null>
  /** Records money for a booking, reservation or folio as a payment and answers its id; null where there is no such target any more. */
  payment: (trx: Trx, money: PixMoney) => Promise<string | null>
  /** Sends back a payment whose target takes nothing. The Pix, its payment and the target are locked. */
  unwanted: (trx: Trx, paymentId: string) => Promise<void>
  /** Records any other money as a receipt, allocated or to be identified. Answers its id. */
  receipt: (trx: Trx, money: PixMoney) => Promise<string>
  /** Takes back what the bank has returned by itself. Answers the document of the money that left, for its posting. */
  takenBack: Record<'payment' | 'receipt', (trx: Trx, taken: PixTakenBack) => Promise<{ id: string } | null>>
  /** The modules that hear the end of a return, by the type of the record that asked for it. */
  answers: Readonly<Record<string, PixReturnAnswer>>
}

let registered: PixModules | null = null

/** Says what becomes of money that comes by Pix, and what can be paid by it. */
export const registerPixModules = (given: PixModules): void => {
  registered = given
}

export const pixModules = (): PixModules => {
  if (!registered) throw new Error('registerModules() has not been called in this process')
  return registered
}
