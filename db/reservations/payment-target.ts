import { bookingHoldExtended } from '../../config/events/reservations.ts'
import { expireHold } from '../../jobs/reservations.ts'
import { sum } from '../lib/amounts.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { businessDay } from '../financial/index.ts'
import type { PaymentTarget, TargetAllocation, TargetRef } from '../payment/index.ts'
import { readProperty } from '../properties/index.ts'
import type { BookingRow, FolioRow } from '../rows.ts'
import { bookingFact } from './booking-fact.ts'
import { tellCovered } from './deposits.ts'
import { addLines, announceBalances } from './folio/lines.ts'
import { lockFoliosById, lockPrimaryFolios } from './folio/lock.ts'
import { outlookOf, projectionOf } from './folio/outlook.ts'
import { leaveDepositStage } from './folio/stage.ts'
import { lockBooking, propertyOfBooking } from './lock.ts'
import { extendedHold } from './rules/holds.ts'
import { bookingStatus, isLive } from './rules/states.ts'

/**
 * Bookings as targets of payments. A booking takes what its rooms owe on their folios, with the charges to come, less its credit. A cancelled booking takes
 * nothing. An expired one takes what it would have cost, since late money may still buy it.
 */
export const bookingTarget: PaymentTarget = {
  async lock(trx, id) {
    const propertyId = await propertyOfBooking(trx, id)
    if (!propertyId) return null
    await businessDay(trx, propertyId)
    const locked = await lockBooking(trx, id)
    if (!locked) return null
    const { booking, reservations } = locked
    const status = bookingStatus(reservations)
    const payers = { bookingId: id, guestIds: booking.bookerGuestId ? [booking.bookerGuestId] : [] }
    const facts = { currency: booking.currency, propertyId: booking.propertyId, payers }
    if (status === 'expired') {
      const total = sum(reservations.filter((one) => one.status === 'expired').map((one) => one.total))
      return { ...facts, payable: Math.max(0, total - booking.credit), open: true, expired: true }
    }
    const paying = reservations.filter((one) => isLive(one.status) || one.status === 'checked_out')
    if (paying.length === 0) return { ...facts, payable: 0, open: false }
    const folios = await lockPrimaryFolios(
      trx,
      paying.map((one) => one.id),
    )
    const outlook = await outlookOf(trx, paying)
    const owed = paying.map((one) => {
      const folio = folios.find((each) => each.reservationId === one.id)
      if (!folio) return one.total
      return folio.status === 'open' ? folio.balance + (outlook.get(folio.id)?.toCome ?? 0) : 0
    })
    return { ...facts, payable: Math.max(0, sum(owed) - booking.credit), open: true }
  },

  async onProcessing(trx, id, until, method) {
    const booking = await sqlOne<BookingRow>(trx, `select * from booking where id = ?`, [id])
    if (!booking?.holdExpiresAt || !booking.holdCapAt) return
    const property = await readProperty(trx, booking.propertyId)
    if (!property) return
    const { expiresAt, capAt } = extendedHold(
      { createdAt: booking.createdAt, holdExpiresAt: booking.holdExpiresAt, holdCapAt: booking.holdCapAt },
      method,
      until,
      property.settings.holds.paymentMaxHours,
    )
    const [moved] = await sql<BookingRow>(
      trx,
      `update booking set hold_kind = 'payment', hold_expires_at = ?, hold_cap_at = ?, hold_version = hold_version + 1, version = version + 1
       where id = ? and hold_expires_at is not null returning *`,
      [expiresAt, capAt, id],
    )
    const { tenantId } = contextOf(trx)
    if (!moved || !tenantId) return
    await enqueue(trx, expireHold, { tenantId, bookingId: id }, { at: expiresAt })
    const rooms = await sql<{ id: string }>(
      trx,
      `select id from reservation where booking_id = ? and status = 'held' order by position limit 100`,
      [id],
    )
    await emit(trx, bookingHoldExtended, bookingFact(moved, rooms))
  },

  /** Money becomes credit first; `inventory.confirm-paid`, which Payments asks for, confirms by it, moves it to folios or sends it back. */
  async apply(trx, id, { amount, payable }) {
    const taken = Math.max(0, Math.min(payable, amount))
    if (taken > 0)
      await sql(trx, `update booking set credit = credit + ?, version = version + 1 where id = ?`, [taken, id])
    return { taken }
  },

  async revert(trx, id, allocation) {
    await sql(trx, `update booking set credit = credit - ?, version = version + 1 where id = ?`, [
      allocation.amount,
      id,
    ])
  },
}

/** Locks what a folio stands under, in order: business day, booking with its reservations, the folio. */
const lockWithParents = async (trx: Trx, folioId: string): Promise<FolioRow | null> => {
  const found = await sqlOne<Pick<FolioRow, 'propertyId'> & { bookingId: string | null }>(
    trx,
    `select f.property_id, r.booking_id from folio f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id where f.id = ?`,
    [folioId],
  )
  if (!found) return null
  await businessDay(trx, found.propertyId)
  if (found.bookingId) await lockBooking(trx, found.bookingId)
  const [folio] = await lockFoliosById(trx, [folioId])
  return folio ?? null
}

/** Balance at the end of the stays that the folio pays for: what its routes will still bring counts. */
const payableOf = async (trx: Trx, folio: FolioRow) =>
  folio.status === 'closed' ? 0 : Math.max(0, (await projectionOf(trx, folio)).projected)

/** The booking of the stay that a folio belongs to, and its booker: their saved methods may pay. */
const payersOf = async (trx: Trx, { reservationId }: FolioRow) => {
  const stay = await sqlOne<{ bookingId: string; bookerGuestId: string | null }>(
    trx,
    `select b.id as booking_id, b.booker_guest_id from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = ?`,
    [reservationId],
  )
  return { bookingId: stay?.bookingId ?? null, guestIds: stay?.bookerGuestId ? [stay.bookerGuestId] : [] }
}

const moneyLine = async (trx: Trx, folioId: string, kind: 'payment' | 'refund', allocation: TargetAllocation) => {
  const names: Record<string, string> = { card: 'Card', pix: 'Pix', boleto: 'Boleto' }
  const lines = await addLines(trx, [
    {
      folioId,
      kind,
      category: null,
      description: `${names[allocation.method] ?? (allocation.receiptId === undefined ? 'Payment' : 'Receipt')}${kind === 'refund' ? ', returned' : ''}`,
      amount: kind === 'payment' ? -allocation.amount : allocation.amount,
      businessDate: allocation.businessDate,
      source: {
        type: allocation.receiptId === undefined ? 'payment_allocation' : 'receipt_allocation',
        id: allocation.id,
      },
      paymentId: allocation.paymentId,
      receiptId: allocation.receiptId ?? null,
    },
  ])
  await announceBalances(trx, [folioId], lines)
  await tellCovered(trx, lines)
}

export const folioTarget: PaymentTarget = {
  async lock(trx, id) {
    const folio = await lockWithParents(trx, id)
    if (!folio) return null
    const { currency, propertyId, stage, status } = folio
    const payers = await payersOf(trx, folio)
    return { currency, propertyId, payable: await payableOf(trx, folio), open: status === 'open', stage, payers }
  },
  onProcessing: () => Promise.resolve(),
  async apply(trx, id, allocation) {
    const taken = Math.max(0, Math.min(allocation.payable, allocation.amount))
    if (taken > 0) await moneyLine(trx, id, 'payment', { ...allocation, amount: taken })
    return { taken }
  },
  async revert(trx, id, allocation) {
    const folio = await lockWithParents(trx, id)
    if (!folio) throw new Error(`folio ${id} is gone`)
    if (folio.charges > folio.credits - allocation.amount) await (await leaveDepositStage(trx, folio)).post()
    // The payment may be one of another house of the book, on whose day it goes back.
    await moneyLine(trx, id, 'refund', { ...allocation, businessDate: await businessDay(trx, folio.propertyId) })
  },
}

const primaryFolioId = async (trx: Trx, reservationId: string): Promise<string | null> =>
  (await sqlOne<{ id: string }>(trx, `select id from folio where reservation_id = ? and is_primary`, [reservationId]))
    ?.id ?? null

/** A reservation is paid on its primary folio; while it is held, money goes to its booking. */
export const reservationTarget: PaymentTarget = {
  async lock(trx, id) {
    const folioId = await primaryFolioId(trx, id)
    return folioId ? folioTarget.lock(trx, folioId) : null
  },
  onProcessing: () => Promise.resolve(),
  async apply(trx, id, allocation) {
    const folioId = await primaryFolioId(trx, id)
    return folioId ? { ...(await folioTarget.apply(trx, folioId, allocation)), documentId: folioId } : { taken: 0 }
  },
  async revert(trx, id, allocation) {
    const folioId = await primaryFolioId(trx, id)
    if (!folioId) throw new Error(`reservation ${id} has no folio to take money from`)
    await folioTarget.revert(trx, folioId, allocation)
    return { documentId: folioId }
  },
}

/** SQL: bookings, reservations and folios by which the money of some of them may come. */
const kinText = {
  booking: `select unnest(:ids::uuid[]) as id`,
  reservation: `select distinct booking_id as id from reservation where id = any(:ids::uuid[])`,
  folio: `select distinct r.booking_id as id from folio f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
    where f.id = any(:ids::uuid[])`,
} as const

const kinOf = (targetType: keyof typeof kinText) => async (trx: Trx, ids: readonly string[]) => {
  const found = await sql<TargetRef>(
    trx,
    `with b as materialized (${kinText[targetType]})
     select 'booking' as target_type, b.id as target_id from b
     union all select 'reservation', r.id from b join reservation r on r.booking_id = b.id
     union all select 'folio', f.id from b join reservation r on r.booking_id = b.id join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id`,
    { ids },
  )
  const known = new Set(found.map(({ targetId }) => targetId))
  return [...found, ...ids.filter((id) => !known.has(id)).map((targetId) => ({ targetType, targetId }))]
}

/** Receipts that pay folios, and bills that customers owe instead of them. */
const settledOtherwise = async (trx: Trx, kin: readonly TargetRef[], since: Date): Promise<number> => {
  const [row] = await sql<{ settled: number }>(
    trx,
    `select coalesce(-sum(amount), 0)::bigint as settled from folio_line
     where folio_id = any(?::uuid[]) and created_at >= ? and (kind = 'receivable' or receipt_id is not null)`,
    [kin.flatMap(({ targetType, targetId }) => (targetType === 'folio' ? targetId : [])), since],
  )
  return row?.settled ?? 0
}

/** Targets of payments that reservations own. */
export const paymentTargets = {
  booking: { ...bookingTarget, kin: kinOf('booking'), settledOtherwise },
  reservation: { ...reservationTarget, kin: kinOf('reservation'), settledOtherwise },
  folio: { ...folioTarget, kin: kinOf('folio'), settledOtherwise },
} satisfies Record<string, PaymentTarget>
