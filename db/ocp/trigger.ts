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
import { lockPlan, planStay } from './plan-stay.ts'
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

/** The record that the money of an event is for. Events of earlier releases name the booking themselves; those of refunds name the payment. */
const targetOf = async (trx: Trx, { data }: Event): Promise<{ type: string; id: string } | null> => {
  if (data.bookingId) return { type: 'booking', id: data.bookingId }
  if (data.targetType && data.targetId) return { type: data.targetType, id: data.targetId }
  if (!data.paymentId) return null
  return sqlOne<{ type: string; id: string }>(
    trx,
    `select target_type as type, target_id as id from payment where id = ? and target_id is not null`,
    [data.paymentId],
  )
}

/** The reservation that an event is about, or the first of the booking that it is about. */
const reservationOf = async (trx: Trx, event: Event): Promise<string | null> => {
  if (event.data.reservationId) return event.data.reservationId
  if (event.entity.type === 'reservation') return event.entity.id
  const target = await targetOf(trx, event)
  if (target?.type === 'reservation') return target.id
  const found =
    target?.type === 'booking'
      ? await sqlOne<{ id: string }>(trx, `select id from reservation where booking_id = ? order by position limit 1`, [
          target.id,
        ])
      : target?.type === 'folio'
        ? await sqlOne<{ id: string | null }>(trx, `select reservation_id as id from folio where id = ?`, [target.id])
        : null
  return found?.id ?? null
}

/** Stays whose dated messages an event may change. Money counts where an automation asks whether something is due: for all stays of the booking. */
const staysOf = async (trx: Trx, { entity, type }: Event, reservationId: string | null): Promise<string[]> => {
  if (reservationId === null) return []
  if (entity.type === 'reservation' || type.startsWith('deposit.')) return [reservationId]
  if (entity.type !== 'payment' && entity.type !== 'refund') return []
  const rows = await prepared<{ id: string }>(
    trx,
    `select r.id from reservation r where r.booking_id = (select o.booking_id from reservation o where o.id = ?)
       and r.status in ('confirmed', 'checked_in', 'checked_out') and exists (
         select from automation a where a.enabled and a.trigger->>'anchor' is not null and a.conditions->>'balanceDue' is not null)
     order by r.id`,
    [reservationId],
  )
  return rows.map(({ id }) => id)
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
  const toPlan = await staysOf(trx, event, reservationId)
  const own = toPlan.find((id) => id === reservationId)
  // What is planned is read under its lock, though both travel together.
  const [, stay] = await Promise.all([
    own ? lockPlan(trx, own) : null,
    reservationId ? readStay(trx, reservationId) : null,
  ])
  if (own && stay) await planStay(trx, stay)
  const { tenantId } = contextOf(trx)
  // Not once per stay: a job that has begun may have read the stay as it was.
  for (const id of toPlan)
    if (id !== own && tenantId) await enqueue(trx, messagesPlanStay, { tenantId, reservationId: id })
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
