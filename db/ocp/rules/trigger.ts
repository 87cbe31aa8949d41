import { invalid } from '../../../config/errors.ts'
import { events } from '../../../config/events/all.ts'
import type { MessageContext } from '../../../config/message-variables.ts'

export const anchors = [
  'booked',
  'arrival',
  'check_in',
  'departure',
  'checked_in',
  'checked_out',
  'deposit_due',
] as const
export type Anchor = (typeof anchors)[number]
export type DatedTrigger = { anchor: Anchor; days?: number; at?: string; hours?: number }
export type Trigger = { event: string } | DatedTrigger

/** Types of events that an automation may wait for: those that tell messages in the transaction of their fact. */
export const triggerEvents: readonly string[] = events
  .filter(({ listeners }) => listeners.includes('ocp'))
  .map(({ type }) => type)

/** A trigger is an event, or an anchor with either days and a time or hours. 400 */
export const judgeTrigger = (trigger: { event?: string } & Partial<DatedTrigger>): Trigger => {
  const refuse = (field: string, message: string) => invalid([{ field: `trigger.${field}`, message }])
  const { event, anchor, days, at, hours } = trigger
  if ((event === undefined) === (anchor === undefined)) throw refuse('event', 'give either event or anchor')
  if (event !== undefined) {
    if (days !== undefined || at !== undefined || hours !== undefined)
      throw refuse('event', 'takes no days, time or hours')
    if (!triggerEvents.includes(event)) throw refuse('event', 'is no event that an automation can wait for')
    return { event }
  }
  if (anchor === undefined) throw refuse('anchor', 'is required')
  if ((days === undefined) === (hours === undefined)) throw refuse('days', 'give either days or hours')
  if (hours !== undefined && at !== undefined) throw refuse('at', 'goes with days alone')
  return hours === undefined ? { anchor, days: days ?? 0, at: at ?? '10:00' } : { anchor, hours }
}

/** Contexts of templates that a trigger has the records for. */
export const contextsOf = (trigger: Trigger): readonly MessageContext[] => {
  const entity = 'event' in trigger ? trigger.event.slice(0, trigger.event.indexOf('.')) : 'reservation'
  switch (entity) {
    case 'payment':
    case 'refund':
      return ['payment', 'reservation', 'guest']
    case 'group':
      return ['group']
    case 'issue':
      return ['issue', 'guest']
    default:
      return ['reservation', 'guest']
  }
}
