import { notFound } from '../../config/errors.ts'
import { reservationReinstated } from '../../config/events/reservations.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { raisePostings } from '../financial/index.ts'
import { returnForms } from '../guests/index.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { catalogueOf } from '../properties/index.ts'
import { moveInventory } from '../units/index.ts'
import type { Move } from '../units/index.ts'
import { amendedExtras, capDeposits, renewDeposits, writeExtras } from './amend-rows.ts'
import { renewDue } from './deposits.ts'
import { readFacts } from './facts.ts'
import { holdGuests } from './hold-guests.ts'
import { lockFolios } from './folio/lock.ts'
import { reopenWithoutFees } from './folio/reverse-fee.ts'
import { returnToDepositStages } from './folio/stage.ts'
import { termsOfToday } from './snapshots.ts'
import { lockStay } from './lock.ts'
import { moveFirstTaxes } from './night-taxes.ts'
import { retakePromo } from './promo-use.ts'
import { recordTransition } from './record.ts'
import { extrasTaken, nightsTaken, retotal } from './retake.ts'
import { isWaived, refuseBlocked, usedOverride } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'
import { endingFees, isFee, planReinstate } from './rules/plans-back.ts'
import { stayLifecycle } from './rules/states.ts'

type Terms = {
  reason: string
  /** The fee that ended the stay, with the nights that it has paid for, or nothing of it. */
  fee?: 'keep' | 'reverse' | undefined
  /** Terms of a cancelled stay: those that it was booked with, or those of its plan today. */
  policy?: 'keep' | 'new' | undefined
  override?: Override | null
  expectedVersion?: number | null
}

/**
 * T19 and T20: a no-show or a cancelled stay comes after all. Its nights from the business date on are taken like new ones, its folios are opened, and wait in
 * stage deposit again where their money covers them. 409 sold_out; 422 transition_blocked. A repeated call changes nothing.
 */
export const reinstate = async (
  trx: Trx,
  reservationId: string,
  { reason, fee = 'reverse', policy = 'keep', override = null, expectedVersion = null }: Terms,
): Promise<void> => {
  const locked = await lockStay(trx, reservationId, expectedVersion)
  const { booking, stay, property, businessDate, now } = locked
  if (!stayLifecycle.isDue('reinstated', stay.status)) return
  const isNoShow = stay.status === 'no_show'
  await holdGuests(trx, stay.id)
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  const plan = planReinstate({ facts, property, businessDate }, { fee })
  const used = refuseBlocked(plan.blockers, override)
  const own = { reservationId: stay.id, groupId: booking.groupId }
  if (plan.servedFrom > stay.arrival) {
    const target = { ...stay, arrival: plan.servedFrom, party: stay }
    await writeExtras(trx, await amendedExtras(trx, property, stay, target))
  }
  const moves: Move[] = [
    ...(await nightsTaken(trx, own, plan.opened)),
    ...(await nightsTaken(trx, own, plan.waived, 'waived')),
    ...(await extrasTaken(trx, stay.id)),
  ]
  await sql(
    trx,
    `update reservation_night set status = 'waived' where reservation_id = ? and date = any(?::date[]) and status = 'open'`,
    [stay.id, plan.waived],
  )
  await moveFirstTaxes(trx, property, stay)
  let isShort = false
  const force = isWaived(override, 'availability')
  await moveInventory(trx, moves, force ? { force, onShort: () => void (isShort = true) } : {})
  await retakePromo(trx, booking)
  const reversed = await reopenWithoutFees(trx, {
    stay,
    isDue: (one) => fee === 'reverse' && isFee(one, endingFees),
    businessDate,
  })
  const back = await returnToDepositStages(trx, await lockFolios(trx, stay.id))
  const terms = policy === 'new' ? termsOfToday(await catalogueOf(trx, property), stay.ratePlanId, property) : null
  await sql(
    trx,
    `update reservation set status = 'confirmed', cancel_reason = null, cancelled_at = null, fee_amount = case when ?::boolean then fee_amount end, fee_requested_at = null,
       policies = coalesce(?::jsonb, policies), overbooked = overbooked or ?, version = version + 1 where id = ?`,
    [fee === 'keep', terms && JSON.stringify(terms), isShort, stay.id],
  )
  await sql(trx, `update booking set ended_at = null, version = version + 1 where id = ? and ended_at is not null`, [
    booking.id,
  ])
  const coming = await retotal(trx, stay.id)
  await renewDue(trx, locked)
  // Nights that were missed, or that a fee has paid for, are no part of the price any more.
  if (terms && !stay.channelManaged) await renewDeposits(trx, booking, coming, property, now)
  else await capDeposits(trx, coming)
  const { tenantId } = contextOf(trx)
  if (tenantId && property.settings.assignment.automatic)
    await enqueue(trx, assignUnit, { tenantId, reservationId: stay.id })
  await recordTransition(trx, {
    id: isNoShow ? 'T19' : 'T20',
    booking,
    reservations: [coming],
    event: reservationReinstated,
    reason,
    businessDate,
    override: isShort ? usedOverride(override, ['availability']) : used,
    data: {},
  })
  if (property.settings.registration.authority !== 'none') await returnForms(trx, [stay.id])
  await raisePostings(trx, property.id, [...reversed, ...back.postings])
}
