import { lifecycle } from '../../lib/lifecycle.ts'

export const groupStatuses = ['inquiry', 'optional', 'confirmed', 'closed', 'cancelled'] as const
export type GroupStatus = (typeof groupStatuses)[number]

/** The moves of a group that a person asks for by name (G2, G3, G5, G6), and its changes. */
export const groupLifecycle = lifecycle<GroupStatus>('A group')({
  optioned: { from: ['inquiry'], to: 'optional' },
  confirmed: { from: ['inquiry', 'optional'], to: 'confirmed' },
  released: { from: ['optional', 'confirmed'] },
  cancelled: { from: ['inquiry', 'optional', 'confirmed'], to: 'cancelled' },
  changed: { from: ['inquiry', 'optional', 'confirmed'] },
  'picked up': { from: ['confirmed'] },
})

/** Tells whether the allotment of a group is out of sale (R44). */
export const isTaken = (status: GroupStatus) => status === 'optional' || status === 'confirmed'

type Night = { unitTypeId: string; night: string; allotted: number; pickedUp: number; released: boolean }
type Release = { releaseType: string; releaseOn: string | null; releaseDays: number | null }

/** Nights of a group whose cut-off has come by a business date, with rooms that no stay picked up (R47). */
export const nightsToRelease = <N extends Night>(
  { releaseType, releaseOn, releaseDays }: Release,
  nights: readonly N[],
  businessDate: string,
  daysUntil: (night: string) => number,
): N[] =>
  nights.filter(
    (night) =>
      night.night >= businessDate &&
      night.allotted > night.pickedUp &&
      ((releaseType === 'fixed' && releaseOn !== null && releaseOn <= businessDate) ||
        (releaseType === 'rolling' && releaseDays !== null && daysUntil(night.night) <= releaseDays)),
  )
