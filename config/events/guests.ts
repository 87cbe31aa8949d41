import { Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

export const guestCreated = event({
  type: 'guest.created',
  entity: 'guest',
  subject: 'Guest',
  data: Obj({ guestId: Uuid, source: Code }),
})

export const guestsEvents: Event[] = [guestCreated]
