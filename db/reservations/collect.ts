import { collectDeposit as depositJob, collectFee as feeJob } from '../../jobs/payment.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { bookerOf } from '../guests/index.ts'
import { chargeSaved, paymentState, sendLinkFor } from '../payment/index.ts'
import type { DepositRow, FolioRow, ReservationRow } from '../rows.ts'
import { coveredDeposits } from './deposits.ts'
import { lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { reservationTarget } from './payment-target.ts'

const minute = 60_000
/** A charge has its answer by then, as a rule. */
const lookAgainMs = 15 * minute
const busyMs = 60 * minute

const again = async (trx: Trx, depositId: string, waitMs: number): Promise<void> => {
  const at = new Date(Date.now() + waitMs)
  await enqueue(
    trx,
    depositJob,
    { tenantId: contextOf(trx).tenantId ?? '', depositId },
    { at, uniqueKey: `${depositId} ${at.toISOString().slice(0, 16)}` },
  )
}

/** Live payments for a stay or for the whole booking: nothing is asked of the guest beside them. */
const isBusy = async (trx: Trx, { id, bookingId }: ReservationRow): Promise<boolean> => {
  for (const [type, target] of [
    ['booking', bookingId],
    ['reservation', id],
  ] as const)
    if ((await paymentState(trx, type, target)).live.length > 0) return true
  return false
}

type Asked = { channel: string; status: string }

/** Payments and links of a stay that jobs have asked for since an instant. */
const askedSince = (trx: Trx, reservationId: string, since: Date) =>
  sql<Asked>(
    trx,
    `select channel, status from payment where target_type = 'reservation' and target_id = ? and channel in ('automatic', 'link') and created_at >= ?`,
    [reservationId, since],
  )

const collectionOf = ({ stay }: LockedStay, amount: number, description: string) => ({
  reservationId: stay.id,
  propertyId: stay.propertyId,
  currency: stay.currency,
  amount,
  description,
})

const payersOf = ({ booking }: LockedStay) => ({
  bookingId: booking.id,
  guestIds: booking.bookerGuestId ? [booking.bookerGuestId] : [],
})

const linkTo = async (trx: Trx, locked: LockedStay, amount: number) => {
  const booker = await bookerOf(trx, locked.booking)
  if (!booker?.email) return null
  const name = `${booker.firstName} ${booker.lastName}`.trim()
  return sendLinkFor(trx, collectionOf(locked, amount, `Deposit, booking ${locked.booking.number}`), {
    name,
    email: booker.email,
    language: booker.language,
  })
}

/** Sum that a stay may still be asked for, under the locks of its folio. */
const payableOf = async (trx: Trx, reservationId: string): Promise<number> => {
  const target = await reservationTarget.lock(trx, reservationId)
  return target?.open ? target.payable : 0
}

/**
 * Collects an installment that has fallen due uncovered (R27), once: a saved card of the booking or its booker is charged, else the booker is sent a payment link.
 * A card that is declined is followed by a link. While a payment of the booking is under way, it is waited for.
 */
export const collectDeposit = async (trx: Trx, depositId: string): Promise<void> => {
  const found = await sqlOne<Pick<DepositRow, 'reservationId'>>(
    trx,
    `select reservation_id from deposit where id = ?`,
    [depositId],
  )
  if (!found) return
  const locked = await lockStay(trx, found.reservationId)
  const { stay, property } = locked
  if (stay.status !== 'confirmed' && stay.status !== 'checked_in') return
  if (!property.settings.deposits.collectAutomatically) return
  const deposit = (await coveredDeposits(trx, locked)).find((one) => one.id === depositId)
  if (deposit?.status !== 'due') return
  const asked = deposit.requestedAt ? await askedSince(trx, stay.id, deposit.requestedAt) : []
  if (asked.some((one) => one.channel === 'link')) return
  const payable = await payableOf(trx, stay.id)
  const amount = Math.min(payable, deposit.amount - deposit.waivedAmount - deposit.covered)
  if (amount <= 0) return
  if (await isBusy(trx, stay)) return again(trx, depositId, busyMs)
  const description = `Deposit, booking ${locked.booking.number}`
  const charged =
    deposit.requestedAt === null
      ? await chargeSaved(trx, collectionOf(locked, amount, description), payersOf(locked))
      : null
  if (!charged && !(await linkTo(trx, locked, amount))) return
  await sql(trx, `update deposit set requested_at = coalesce(requested_at, now()) where id = ?`, [depositId])
  if (charged) await again(trx, depositId, lookAgainMs)
}

/** Charges a saved card for what the fee of a cancelled or missed stay leaves open on its folio, once. Without a card it stays for the desk. */
export const collectFee = async (trx: Trx, reservationId: string): Promise<void> => {
  const locked = await lockStay(trx, reservationId)
  const { stay, property } = locked
  if ((stay.status !== 'cancelled' && stay.status !== 'no_show') || stay.feeRequestedAt !== null) return
  if (!property.settings.deposits.collectAutomatically) return
  const payable = await payableOf(trx, reservationId)
  const amount = Math.min(payable, stay.feeAmount ?? 0)
  if (amount <= 0 || (await isBusy(trx, stay))) return
  const description = `${stay.status === 'no_show' ? 'No-show' : 'Cancellation'} fee, booking ${locked.booking.number}`
  if (!(await chargeSaved(trx, collectionOf(locked, amount, description), payersOf(locked)))) return
  await sql(trx, `update reservation set fee_requested_at = now() where id = ?`, [reservationId])
}

/** Asks for the fees of stays that have just ended, where their folios owe more than they have. */
export const askForFees = async (
  trx: Trx,
  folios: readonly Pick<FolioRow, 'tenantId' | 'reservationId' | 'isPrimary' | 'balance' | 'version'>[],
): Promise<void> => {
  for (const { tenantId, reservationId, isPrimary, balance, version } of folios)
    if (isPrimary && reservationId !== null && balance > 0)
      await enqueue(trx, feeJob, { tenantId, reservationId }, { uniqueKey: `${reservationId} ${version}` })
}
