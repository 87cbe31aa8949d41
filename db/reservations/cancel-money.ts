import { split, sum } from '../lib/amounts.ts'
import type { Trx } from '../lib/connection.ts'
import { freeMoneyOn, requestRefund } from '../payment/index.ts'
import type { FolioRow, ReservationRow } from '../rows.ts'
import { writeCharges } from './folio/write.ts'
import type { Charged } from './folio/write.ts'
import type { StayFacts } from './facts.ts'
import { planCancel } from './rules/plans.ts'
import type { Scene } from './rules/plans.ts'

/** The fee that the desk asks for all rooms together, as each has its share of what their policies ask for. */
export const feeShares = (facts: readonly StayFacts[], day: Omit<Scene, 'facts'>, fee: number): number[] => {
  const due = facts.map((one) => planCancel({ ...day, facts: one }, { reason: 'guest_request' }).effects.fee)
  return split(Math.min(fee, sum(due)), due)
}

/** Charges stays that are cancelled their fees: on their primary folios, which are opened for it. Nothing is written for a fee of 0. */
export const chargeFees = (
  trx: Trx,
  stays: readonly ReservationRow[],
  feeOf: (reservationId: string) => number,
  businessDate: string,
): Promise<Charged> =>
  writeCharges(trx, {
    businessDate,
    charges: stays.map((stay) => ({
      stay,
      kind: 'fee',
      category: 'cancellation',
      description: 'Cancellation fee',
      amount: feeOf(stay.id),
      taxes: [],
      source: { type: 'cancellation_fee', id: stay.id, key: String(stay.version) },
      event: 'reservations.cancellation_fee_charged',
      isPrice: false,
      routed: null,
    })),
  })

/** Money of gateways goes back by itself; recorded money, and what is disputed, stays on the folio for the desk (R29). */
export const refundExcess = async (trx: Trx, folio: FolioRow): Promise<void> => {
  const amount = Math.min(-folio.balance, await freeMoneyOn(trx, 'folio', folio.id))
  if (amount > 0) await requestRefund(trx, { targetType: 'folio', targetId: folio.id, amount, reason: 'cancellation' })
}
