import type { Trx } from '../../lib/connection.ts'

/** Orders of outlets that a stay has still open, by the numbers that people know them by. */
type Find = (trx: Trx, reservationIds: readonly string[]) => Promise<{ reservationId: string; number: string }[]>

const finds: Find[] = []

/** A higher module says what is still open of stays, and keeps their guests from leaving. Registered where a process starts. */
export const openChecksWith = (find: Find): void => {
  if (!finds.includes(find)) finds.push(find)
}

/** Everything that is still to be settled for stays. */
export const openChecksOf = async (trx: Trx, reservationIds: readonly string[]) =>
  (await Promise.all(finds.map((find) => find(trx, reservationIds)))).flat()
