import { messagesPlanStay } from '../../jobs/ocp.ts'
import { contextOf, prepared, preparedOne, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { matches } from './rules/automation-conditions.ts'
import type { Conditions, Stay } from './rules/automation-conditions.ts'
import { unseal } from '../lib/sealing/index.ts'
import { queueMessage } from './queue.ts'
import type { Recipient } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import { readStay } from './stay.ts'

type Event = {
  id: string
  type: string
  propertyId: string | null
  entity: { type: string; id: string }
  data: {
    reservationId?: string | null
    bookingId?: string
    paymentId?: string
    targetType?: string | null
    targetId?: string | null
    guestId?: string | null
  }
  occurredAt: Date
}

type EventAutomation = {
  id: string
  templateKey: string
  conditions: Conditions
  plan: PlanStep[] | null
  validMinutes: number
}

/** In which statuses a message about the event still makes sense when it is sent; others are sent whatever came after. */
const statusesAfter: Readonly<Record<string, readonly string[]>> = {
  'reservation.held': ['held'],
  'reservation.confirmed': ['confirmed', 'checked_in', 'checked_out'],
  'reservation.amended': ['confirmed', 'checked_in'],
  'reservation.moved': ['checked_in'],
  'reservation.checked_in': ['checked_in'],
  'reservation.checked_out': ['checked_out'],
  'reservation.cancelled': ['cancelled'],
  'reservation.no_show_recorded': ['no_show'],
  'reservation.expired': ['expired'],
  'reservation.reinstated': ['confirmed', 'checked_in'],
  'deposit.due_date_reached': ['confirmed'],
  'unit.made_ready': ['confirmed'],
}

/** The booking that an event is about, or that the event's payment is for. Events of earlier releases name it themselves. */
const bookingOf = async (trx: Trx, { data }: Event): Promise<string | null> => {
  if (data.bookingId) return data.bookingId
  if (data.targetType === 'booking') return data.targetId ?? null
  if (!data.paymentId) return null
  const payment = await sqlOne<{ targetId: string | null }>(
    trx,
    `select target_id from payment where id = ? and target_type = 'booking'`,
    [data.paymentId],
  )
  return payment?.targetId ?? null
}

/** The reservation that an event is about, or the first of the booking that it is about. */
const reservationOf = async (trx: Trx, event: Event): Promise<string | null> => {
  if (event.data.reservationId) return event.data.reservationId
  if (event.entity.type === 'reservation') return event.entity.id
  const bookingId = await bookingOf(trx, event)
  if (bookingId === null) return null
  const first = await sqlOne<{ id: string }>(
    trx,
    `select id from reservation where booking_id = ? order by position limit 1`,
    [bookingId],
  )
  return first?.id ?? null
}

/** The contact person of a group; null where it names none. */
const contactOf = async (trx: Trx, groupId: string): Promise<Recipient | null> => {
  const group = await sqlOne<{ sealed: Buffer | null }>(trx, `select sealed from booking_group where id = ?`, [groupId])
  if (!group?.sealed) return null
  const place = { table: 'booking_group', rowId: groupId, purpose: 'contact' }
  const { name, email, phone } = await unseal<Recipient>(trx, 'tenant', place, group.sealed)
  return email || phone ? { name, email: email ?? null, phone: phone ?? null } : null
}

/** Whom an event is told to: the guest of its stay or issue, or the contact of its group. Null where there is nobody. */
const addresseeOf = async (
  trx: Trx,
  { entity, data }: Event,
  stay: Stay | null,
): Promise<{ guestId: string | null; recipient?: Recipient } | null> => {
  if (entity.type === 'booking_group') {
    const recipient = await contactOf(trx, entity.id)
    return recipient && { guestId: null, recipient }
  }
  const guestId = data.guestId ?? stay?.guestId ?? null
  return entity.type === 'issue' && guestId === null ? null : { guestId }
}

/** Enabled automations that listen to an event at its property, with templates that can be sent. */
const automationsOf = (trx: Trx, { type, propertyId }: Event): Promise<EventAutomation[]> =>
  prepared<EventAutomation>(
    trx,
    `select a.id, t.key as template_key, a.conditions, a.plan, a.valid_minutes
     from automation a join message_template t on t.tenant_id = a.tenant_id and t.id = a.template_id
     where a.enabled and a.trigger->>'event' = ? and (a.property_id is null or a.property_id = ?)
       and t.status = 'active' and t.published_number is not null
     order by a.id`,
    [type, propertyId],
  )

// A hold that was released or lapsed never was a reservation to write about.
const isOfHold = (event: Event, stay: Stay | null) =>
  event.type === 'reservation.cancelled' && stay !== null && stay.confirmedAt === null

/**
 * Runs the automations of an event (R1, R4): each enabled one of its type writes one message, however often the event is
 * replayed. Dated messages of the reservation are planned anew. `awaitedBy` names the stay of an event that does not.
 */
export const triggerMessages = async (trx: Trx, eventId: string, awaitedBy?: string): Promise<number> => {
  const event = await preparedOne<Event>(
    trx,
    `select id, type, property_id, entity, data, occurred_at from event where id = ?`,
    [eventId],
  )
  if (!event?.propertyId) return 0
  const [reservationId, automations] = await Promise.all([
    awaitedBy ?? reservationOf(trx, event),
    automationsOf(trx, event),
  ])
  const stay = reservationId ? await readStay(trx, reservationId) : null
  const { tenantId } = contextOf(trx)
  if (reservationId && tenantId && (event.entity.type === 'reservation' || event.type.startsWith('deposit.')))
    // Not once per stay: a job that has begun may have read the stay as it was.
    await enqueue(trx, messagesPlanStay, { tenantId, reservationId })
  if (isOfHold(event, stay)) return 0
  const addressee = automations.length === 0 ? null : await addresseeOf(trx, event, stay)
  if (!addressee) return 0
  const paymentId = event.data.paymentId ?? (event.entity.type === 'payment' ? event.entity.id : null)
  const isOfStay = event.entity.type === 'reservation' || statusesAfter[event.type] !== undefined
  let queued = 0
  for (const automation of automations) {
    const { conditions } = automation
    // Conditions speak of a stay: without one none of them holds.
    if (stay ? !matches(conditions, stay) : Object.keys(conditions).length > 0) continue
    const id = await queueMessage(trx, {
      origin: 'automation',
      automationId: automation.id,
      eventId: event.id,
      propertyId: event.propertyId,
      templateKey: automation.templateKey,
      dedupeKey: `auto:${automation.id}:${event.id}`,
      ...addressee,
      reservationId,
      paymentId,
      issueId: event.entity.type === 'issue' ? event.entity.id : null,
      reservationStatuses: paymentId || !isOfStay ? null : [...(statusesAfter[event.type] ?? [])],
      validMinutes: automation.validMinutes,
      ...(automation.plan ? { plan: automation.plan } : {}),
    })
    if (id) queued += 1
  }
  return queued
}
