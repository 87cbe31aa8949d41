import type { Trx } from '../../lib/connection.ts'

/** A Pix charge of an installment: `code` is there once the bank has made it; one that `isOver` will have none any more. */
export type PixCode = { installmentId: string; code: string | null; isOver: boolean }
export type PixCharges = {
  /** Asks for due-date charges of installments that have none, so many at most. */
  request: (trx: Trx, receivableId: string, most: number) => Promise<unknown>
  /** Charges of open installments of a receivable, in the order of their due days. */
  codes: (trx: Trx, receivableId: string) => Promise<PixCode[]>
}

let charges: PixCharges | null = null

/** Names who makes Pix charges. */
export const registerPixCharges = (made: PixCharges): void => {
  charges = made
}

/** The maker of Pix charges; null where none is registered. */
export const pixCharges = (): PixCharges | null => charges
