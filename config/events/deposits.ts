import { Amount, Currency, Instant, Obj, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const deposit = {
  entity: 'deposit',
  subject: 'Reservation',
  data: Obj({ depositId: Uuid, reservationId: Uuid, amount: Amount, currency: Currency, dueAt: Instant }),
} as const
export const depositDueDateReached = event({ type: 'deposit.due_date_reached', ...deposit, listeners: ['ocp'] })
export const depositCovered = event({ type: 'deposit.covered', ...deposit, listeners: ['ocp plans'] })
export const depositWaived = event({ type: 'deposit.waived', ...deposit, listeners: ['ocp plans'] })
export const depositChanged = event({ type: 'deposit.changed', ...deposit, listeners: ['ocp plans'] })

export const depositsEvents: Event[] = [depositDueDateReached, depositCovered, depositWaived, depositChanged]
