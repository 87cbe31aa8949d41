import type { ReservationRow } from '../../rows.ts'
import { lifecycle } from '../../lib/lifecycle.ts'

export type ReservationStatus = ReservationRow['status']

/** The moves of a reservation that this release makes, by their id in the design. Nothing else changes a status. */
export const transitions = {
  T3: { command: 'hold', from: null, to: 'held' },
  T4: { command: 'create', from: null, to: 'confirmed' },
  T8: { command: 'confirm', from: 'held', to: 'confirmed' },
  T9: { command: 'expire', from: 'held', to: 'expired' },
  T10: { command: 'cancel', from: 'held', to: 'cancelled' },
  T11: { command: 'cancel', from: 'confirmed', to: 'cancelled' },
  T12: { command: 'amend', from: 'confirmed', to: 'confirmed' },
  T13: { command: 'check_in', from: 'confirmed', to: 'checked_in' },
  T14: { command: 'revert_check_in', from: 'checked_in', to: 'confirmed' },
  T15: { command: 'amend', from: 'checked_in', to: 'checked_in' },
  T16: { command: 'check_out', from: 'checked_in', to: 'checked_out' },
  T17: { command: 'revert_check_out', from: 'checked_out', to: 'checked_in' },
  T18: { command: 'no_show', from: 'confirmed', to: 'no_show' },
  T19: { command: 'reinstate', from: 'no_show', to: 'confirmed' },
  T20: { command: 'reinstate', from: 'cancelled', to: 'confirmed' },
  T21: { command: 'confirm', from: 'expired', to: 'confirmed' },
  A2: { command: 'amend', from: 'held', to: 'held' },
} as const satisfies Record<string, { command: string; from: ReservationStatus | null; to: ReservationStatus }>

const by = (id: 'T13' | 'T14' | 'T16' | 'T17' | 'T18') => ({ from: [transitions[id].from], to: transitions[id].to })

/** The moves of a stay that a person asks for by name. */
export const stayLifecycle = lifecycle<ReservationStatus>('A stay')({
  'checked in': by('T13'),
  'checked out': by('T16'),
  'a no-show': by('T18'),
  'taken back from its check-in': by('T14'),
  'taken back from its check-out': by('T17'),
  reinstated: { from: ['no_show', 'cancelled'], to: 'confirmed' },
  cancelled: { from: ['held', 'confirmed'], to: 'cancelled' },
  'given another unit': { from: ['checked_in'] },
  'promised a unit': { from: ['confirmed'] },
})

export type TransitionId = keyof typeof transitions

/** Transition of a cancellation; null if the reservation can no longer be cancelled. */
export const cancelling = (status: ReservationStatus): 'T10' | 'T11' | 'done' | null => {
  if (status === 'held') return 'T10'
  if (status === 'confirmed') return 'T11'
  return status === 'cancelled' ? 'done' : null
}

export const isLive = (status: ReservationStatus) =>
  status === 'held' || status === 'confirmed' || status === 'checked_in'

export type BookingStatus = 'held' | 'confirmed' | 'in_house' | 'completed' | 'cancelled' | 'expired' | 'no_show'

const shown: Record<ReservationStatus, BookingStatus> = {
  held: 'held',
  confirmed: 'confirmed',
  checked_in: 'in_house',
  checked_out: 'completed',
  cancelled: 'cancelled',
  expired: 'expired',
  no_show: 'no_show',
}
/** A room as a guest reads its state. */
export const shownRoom = (status: ReservationStatus): BookingStatus => shown[status]

const advance: ReservationStatus[] = ['held', 'confirmed', 'checked_in']

/** The status of the reservation that speaks for its booking: the most advanced live one, else the one that ended last. */
export const leadingStatus = (
  reservations: readonly Pick<ReservationRow, 'status' | 'updatedAt'>[],
): ReservationStatus => {
  const live = reservations
    .filter((one) => isLive(one.status))
    .sort((a, b) => advance.indexOf(b.status) - advance.indexOf(a.status))[0]
  const last = live ?? reservations.toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime())[0]
  if (!last) throw new Error('a booking has at least one reservation')
  return last.status
}

/** A booking as its guest reads its state. */
export const bookingStatus = (reservations: readonly Pick<ReservationRow, 'status' | 'updatedAt'>[]): BookingStatus =>
  shown[leadingStatus(reservations)]
