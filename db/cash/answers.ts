import type { Trx } from '../lib/connection.ts'
import type { TransferSource } from './transfers/request.ts'

/** The end of a transfer that another module asked for. */
export type TransferOutcome = {
  transferId: string
  sourceId: string
} & (
  | {
      status: 'completed'
      /** Minor units that left for the payee; the bank's fee came on top. */
      amount: number
      fee: number
      currency: string
      movementId: string
      /** The money of the posting that the module raises, and its date. */
      ledgerAccountId: string
      bookId: string
      bookedOn: string
      endToEndId: string | null
    }
  | { status: 'failed'; failure: { code: string; message: string } }
  | { status: 'cancelled' }
)

type Answer = (trx: Trx, outcome: TransferOutcome) => Promise<void>

const answers = new Map<TransferSource, Answer>()

/** Says who hears the end of a transfer, in the transaction in which it ends. */
export const registerTransferAnswers = (given: Partial<Record<TransferSource, Answer>>): void => {
  for (const [type, answer] of Object.entries(given)) answers.set(type as TransferSource, answer)
}

export const answerTransfer = async (trx: Trx, type: TransferSource, outcome: TransferOutcome): Promise<void> => {
  const answer = answers.get(type)
  if (!answer) throw new Error(`nobody hears of transfers for a ${type}`)
  await answer(trx, outcome)
}
