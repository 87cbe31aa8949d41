import type { Trx } from '../lib/connection.ts'
import type { DepositRow } from '../rows.ts'

type Collector = (trx: Trx, deposit: Pick<DepositRow, 'id' | 'reservationId'>) => Promise<void>
let collector: Collector | null = null

/**
 * Registers the function that asks for the collection of an installment which has fallen due uncovered, in the transaction that tells of it. Without one an
 * installment is told of and nothing is charged.
 */
export const collectWith = (collect: Collector | null): void => {
  collector = collect
}

/** Asks for the collection of an installment, once. */
export const collectDeposit = async (trx: Trx, deposit: Pick<DepositRow, 'id' | 'reservationId'>): Promise<void> =>
  collector?.(trx, deposit)
