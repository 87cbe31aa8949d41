import { Count, Day, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, Nights, event } from './event.ts'
import type { Event } from './event.ts'

const groupData = {
  groupId: Uuid,
  code: Code,
  status: OneOf(['inquiry', 'optional', 'confirmed', 'closed', 'cancelled']),
  arrival: Day,
  departure: Day,
}
const group = { entity: 'booking_group', subject: 'Group', data: Obj(groupData) } as const
export const groupCreated = event({ type: 'group.created', ...group })
export const groupChanged = event({ type: 'group.changed', ...group })
export const groupOptioned = event({ type: 'group.optioned', ...group })
export const groupOptionEnded = event({ type: 'group.option_ended', ...group })
export const groupConfirmed = event({ type: 'group.confirmed', ...group, listeners: ['ocp'] })
export const groupReleased = event({
  type: 'group.released',
  ...group,
  data: Obj({ ...groupData, nights: Nights }),
})
export const groupCancelled = event({ type: 'group.cancelled', ...group })
export const groupClosed = event({ type: 'group.closed', ...group })
export const groupRoomingListImported = event({
  type: 'group.rooming_list_imported',
  ...group,
  data: Obj({ ...groupData, rowCount: Count }),
})

export const groupsEvents: Event[] = [
  groupCreated,
  groupChanged,
  groupOptioned,
  groupOptionEnded,
  groupConfirmed,
  groupReleased,
  groupCancelled,
  groupClosed,
  groupRoomingListImported,
]
