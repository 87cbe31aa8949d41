import type { Trx } from '../../lib/connection.ts'

export const blockerCodes = [
  'active_reservation',
  'open_balance',
  'payment_in_progress',
  'open_dispute',
  'open_receivable',
] as const
export type Blocker = { code: (typeof blockerCodes)[number]; message: string }
type Find = (trx: Trx, guestIds: readonly string[]) => Promise<Blocker[]>

const finds: Find[] = []

/** A higher module says what of its own keeps a guest from being erased. Registered where a process starts. */
export const erasureBlockersWith = (find: Find): void => {
  if (!finds.includes(find)) finds.push(find)
}

/** Everything that keeps these guests, one person, from being erased now. */
export const blockersOf = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> =>
  (await Promise.all(finds.map((find) => find(trx, guestIds)))).flat()
