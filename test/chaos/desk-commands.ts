import type { DeskAction } from './ledger.ts'

/** The part of the path of each command of the desk, and its transition. */
export const deskCommands: Record<DeskAction, { verb: string; transition: string }> = {
  'reservations.checkIn': { verb: 'check-in', transition: 'T13' },
  'reservations.revertCheckIn': { verb: 'revert-check-in', transition: 'T14' },
  'reservations.move': { verb: 'move', transition: 'T15' },
  'reservations.checkOut': { verb: 'check-out', transition: 'T16' },
  'reservations.revertCheckOut': { verb: 'revert-check-out', transition: 'T17' },
  'reservations.noShow': { verb: 'no-show', transition: 'T18' },
}
export const isDeskAction = (action: string): action is DeskAction => action in deskCommands
