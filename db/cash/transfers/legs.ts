import { postingEventOf, raisePosting } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import type { AccountFacts } from '../facts.ts'
import type { TransferRecord } from '../models.ts'
import { bookMovement } from '../movements.ts'
import { placeOf } from '../postings.ts'

/** The two sides of a transfer, and the source keys of their movements and postings. */
export const legs = { out: 0, in: 1 } as const
export type LegName = keyof typeof legs
type Leg = { account: AccountFacts; day: string }

const eventOf: Record<LegName, string> = { out: 'cash.transfer_sent', in: 'cash.transfer_received' }

const bookLeg = (trx: Trx, transfer: TransferRecord, name: LegName, { account, day }: Leg) =>
  bookMovement(
    trx,
    account,
    {
      cashAccountId: account.id,
      amount: name === 'out' ? -(transfer.amount + transfer.fee) : transfer.amount,
      kind: 'transfer',
      source: { type: 'transfer', id: transfer.id, seq: legs[name] },
      transferId: transfer.id,
      description: transfer.purpose,
    },
    day,
  )

const postLeg = (trx: Trx, transfer: TransferRecord, name: LegName, { account, day }: Leg) =>
  raisePosting(trx, {
    event: eventOf[name],
    source: { id: transfer.id },
    ...placeOf(account),
    postingDate: day,
    payload: {
      amounts: { amount: transfer.amount, ...(name === 'out' ? { fee: transfer.fee } : {}) },
      accounts: { [name === 'out' ? 'from' : 'to']: account.ledgerAccountId },
      documents: { transfer: transfer.id },
      memo: transfer.purpose,
    },
  })

/** Books and posts the sides of a transfer that have happened; their accounts are locked by id. */
export const bookLegs = async (
  trx: Trx,
  transfer: TransferRecord,
  sides: Partial<Record<LegName, Leg>>,
): Promise<void> => {
  const given = (Object.keys(legs) as LegName[]).flatMap((name) => {
    const leg = sides[name]
    return leg ? [{ name, leg }] : []
  })
  for (const { name, leg } of given.toSorted((a, b) => (a.leg.account.id < b.leg.account.id ? -1 : 1)))
    await bookLeg(trx, transfer, name, leg)
  for (const { name, leg } of given) await postLeg(trx, transfer, name, leg)
}

/** Turns the posting of a side that was undone. */
export const unpostLeg = async (
  trx: Trx,
  transfer: TransferRecord,
  name: LegName,
  { account, day }: Leg,
): Promise<void> => {
  const reversesEventId = await postingEventOf(trx, eventOf[name], { id: transfer.id })
  if (reversesEventId === null) throw new Error(`transfer ${transfer.id} was never posted`)
  await raisePosting(trx, {
    event: 'cash.transfer_cancelled',
    source: { id: transfer.id, seq: legs[name] },
    ...placeOf(account),
    postingDate: day,
    reversesEventId,
  })
}
