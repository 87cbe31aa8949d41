import type { Trx } from '../../lib/connection.ts'

type Heard = (trx: Trx, folioIds: readonly string[]) => Promise<void>

const listeners: Heard[] = []

/** Lets a higher module know of folios as they are closed, in the transaction that closes them. */
export const registerFolioClosed = (heard: Heard): void => {
  listeners.push(heard)
}

/** Tells of folios that were closed. */
export const tellClosed = async (trx: Trx, folioIds: readonly string[]): Promise<void> => {
  if (folioIds.length === 0) return
  for (const heard of listeners) await heard(trx, folioIds)
}
