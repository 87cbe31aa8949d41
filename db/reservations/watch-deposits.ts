import { collectDeposit } from '../../jobs/payment.ts'
import { sum } from '../lib/amounts.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { paymentState } from '../payment/index.ts'
import { cancelReservations } from './cancel.ts'
import { announceDue, coveredDeposits } from './deposits.ts'
import { readFacts } from './facts.ts'
import { lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { isRunning } from './rules/deposits.ts'
import { planCancel } from './rules/plans.ts'
import { policiesOf } from './rules/policies.ts'

const hour = 3_600_000

/** Tells whether the terms of a stay cancel it now: an installment is uncovered, and the hours of grace after its day are over. */
const isForfeit = async (trx: Trx, locked: LockedStay): Promise<boolean> => {
  const { stay, businessDate, now } = locked
  const rules = policiesOf(stay).deposit?.rules
  // A guest who is overdue is a no-show, or is waited for by the desk: the day of arrival is the last one on which a stay is cancelled by itself (T11).
  if (stay.status !== 'confirmed' || businessDate > stay.arrival || rules?.ifUnpaid !== 'cancel') return false
  const late = (await coveredDeposits(trx, locked)).some(
    (one) => one.status === 'due' && one.dueAt.getTime() + rules.graceHours * hour <= now.getTime(),
  )
  if (!late) return false
  for (const [type, id] of [
    ['booking', stay.bookingId],
    ['reservation', stay.id],
  ] as const)
    if (isRunning(await paymentState(trx, type, id))) return false
  return true
}

/** Cancels a stay whose deposit was not paid: for the fee of its policy, and no more than what was paid. */
const cancelUnpaid = async (trx: Trx, { stay, property, businessDate }: LockedStay): Promise<void> => {
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) return
  const reason = 'deposit_unpaid'
  const { effects } = planCancel({ facts, property, businessDate }, { reason })
  const paid = sum(facts.folios.map((one) => one.credits - one.charges))
  await cancelReservations(trx, stay.bookingId, {
    reservationIds: [stay.id],
    reason,
    desk: {
      fee: Math.min(effects.fee, Math.max(0, paid)),
      override: { rules: ['fee'], reason: 'The deposit was not paid' },
    },
  })
}

/**
 * Looks at a stay of which an installment has fallen due (R27): tells of it once, asks for its collection, and cancels the stay where its terms say so and the
 * grace is over. A payment in progress is waited for.
 */
export const watchDeposits = async (trx: Trx, reservationId: string): Promise<void> => {
  const locked = await lockStay(trx, reservationId)
  if (locked.stay.status !== 'confirmed' && locked.stay.status !== 'checked_in') return
  for (const { tenantId, id } of await announceDue(trx, locked))
    await enqueue(trx, collectDeposit, { tenantId, depositId: id }, { uniqueKey: id })
  if (await isForfeit(trx, locked)) await cancelUnpaid(trx, locked)
}
