import { raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioRow } from '../../rows.ts'

type Moved = { folios: FolioRow[]; postings: DayPosting[] }

/** Puts locked folios into another stage. Answers all of them as they are now, and the postings of what stands on those that moved. */
const move = async (
  trx: Trx,
  folios: readonly FolioRow[],
  moving: readonly FolioRow[],
  to: FolioRow['stage'],
): Promise<Moved> => {
  if (moving.length === 0) return { folios: [...folios], postings: [] }
  const moved = await sql<FolioRow>(
    trx,
    `update folio set stage = ?, version = version + 1 where id = any(?::uuid[]) returning *`,
    [to, moving.map((one) => one.id)],
  )
  return {
    folios: folios.map((one) => moved.find((each) => each.id === one.id) ?? one),
    postings: moved
      .filter((one) => one.credits !== one.charges)
      .map((one) => ({
        event: to === 'guest' ? 'reservations.deposit_applied' : 'reservations.deposit_unapplied',
        source: { id: one.id, seq: one.version },
        payload: { amounts: { credit: one.credits - one.charges }, documents: { folio: one.id } },
      })),
  }
}

/**
 * Moves locked folios from stage deposit to stage guest (R42): at check-in, or so that a charge above its credits does not put the deposits account
 * into debit. Answers all of them as they are now, and the postings, which are for the end of the transaction.
 */
export const leaveDepositStages = (trx: Trx, folios: readonly FolioRow[]): Promise<Moved> =>
  move(
    trx,
    folios,
    folios.filter((one) => one.stage === 'deposit'),
    'guest',
  )

/**
 * Moves locked folios of a stay that is to come again back to stage deposit (R42): those that are open, and whose charges their credits cover. Answers as
 * `leaveDepositStages` does.
 */
export const returnToDepositStages = (trx: Trx, folios: readonly FolioRow[]): Promise<Moved> =>
  move(
    trx,
    folios,
    folios.filter((one) => one.stage === 'guest' && one.kind !== 'house' && one.charges <= one.credits),
    'deposit',
  )

/** Moves one folio out of its deposit stage. */
export const leaveDepositStage = async (
  trx: Trx,
  folio: FolioRow,
): Promise<{ folio: FolioRow; post: () => Promise<unknown> }> => {
  const { folios, postings } = await leaveDepositStages(trx, [folio])
  return { folio: folios[0] ?? folio, post: () => raisePostings(trx, folio.propertyId, postings) }
}
