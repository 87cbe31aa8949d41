import type { Trx } from '../../lib/connection.ts'

export const blockerCodes = [
  'active_reservation',
  'open_balance',
  'payment_in_progress',
  'open_dispute',
  'open_receivable',
] as const
export type Blocker = { code: (typeof blockerCodes)[number]; message: string }
type Prepare = (trx: Trx, guestIds: readonly string[]) => Promise<void>
type Find = (trx: Trx, guestIds: readonly string[]) => Promise<Blocker[]>

const finds: Find[] = []

/** A higher module says what of its own keeps a guest from being erased. Registered where a process starts. */
export const erasureBlockersWith = (find: Find): void => {
  if (!finds.includes(find)) finds.push(find)
}

type Exported = (trx: Trx, guestIds: readonly string[]) => Promise<readonly object[]>
const exporters = new Map<string, Exported>()

/** A higher module adds what it holds about guests to their export, under a field of its own. Registered where a process starts. */
export const exportGuestsWith = (field: string, read: Exported): void => {
  exporters.set(field, read)
}

/** Everything that higher modules hold about these guests, one person, by its field. */
export const exportedBeside = async (
  trx: Trx,
  guestIds: readonly string[],
): Promise<Record<string, readonly object[]>> => {
  const found: Record<string, readonly object[]> = {}
  for (const [field, read] of exporters) found[field] = await read(trx, guestIds)
  return found
}

const prepares = new Map<string, Prepare>()

/** A higher module puts away, sealed, what the law wants of a table before its rows are erased, in the same transaction. Registered where a process starts. */
export const beforeErasing = (table: string, prepare: Prepare): void => {
  prepares.set(table, prepare)
}

/** Puts away what the law wants of a table. */
export const prepareErasing = async (trx: Trx, table: string, guestIds: readonly string[]): Promise<void> =>
  prepares.get(table)?.(trx, guestIds)

/** Everything that keeps these guests, one person, from being erased now. */
export const blockersOf = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> =>
  (await Promise.all(finds.map((find) => find(trx, guestIds)))).flat()
