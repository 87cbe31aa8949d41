import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, tooMany, unprocessable } from '../../config/errors.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { resolveGuest } from '../guests/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { insertRow, readRow } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import type { MessageRow } from '../rows.ts'
import { standsOnSent } from './attempts.ts'
import { textPlace } from './compose.ts'
import { Message } from './models.ts'
import { emitMessage, enqueueDelivery, recipientPlace } from './queue.ts'
import type { Recipient } from './queue.ts'
import { refuseUnreachable } from './reach.ts'
import { judgePlan, planOf } from './rules/plan.ts'
import type { PlanStep } from './rules/plan.ts'
import { isOutOfStatus, isStopped } from './sending.ts'
import { usableTemplate } from './templates.ts'

const perHour = 60
const dayMs = 86_400_000
const hourSeconds = 3_600

export type StaffMessage = {
  propertyId: string
  guestId?: string | undefined
  recipient?: Recipient | undefined
  reservationId?: string | undefined
  paymentId?: string | undefined
  conversationId?: string | undefined
  issueId?: string | undefined
  templateId?: string | undefined
  text?: { subject?: string | undefined; text: string } | undefined
  plan?: PlanStep[] | undefined
  scheduledFor?: Date | undefined
  expiresAt?: Date | undefined
}

/** 429 where a user has written as much as anybody may in an hour (R20). */
const limitUser = async (trx: Trx, userId: string | null): Promise<void> => {
  if (userId === null) return
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('staff messages ' || ?, 0))`, [userId])
  const sent = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from message where created_at > now() - interval '1 hour' and origin = 'staff' and created_by = ?`,
    [userId],
  )
  if ((sent?.count ?? 0) >= perHour)
    throw tooMany('rate_limited', `A user sends at most ${perHour} messages an hour`, hourSeconds)
}

/** Checks that the records a message names are of its house and belong together. 404, 422 */
const judgeReferences = async (trx: Trx, { propertyId, reservationId, paymentId, issueId }: StaffMessage) => {
  const refuse = (field: string) =>
    unprocessable('reference_not_found', 'A record that the message names does not exist in this property', [
      { field, message: 'names no record of the property' },
    ])
  if (
    reservationId &&
    !(await sqlOne(trx, `select id from reservation where id = ? and property_id = ?`, [reservationId, propertyId]))
  )
    throw refuse('reservationId')
  if (
    paymentId &&
    !(await sqlOne(trx, `select id from payment where id = ? and property_id = ?`, [paymentId, propertyId]))
  )
    throw refuse('paymentId')
  if (issueId && !(await sqlOne(trx, `select id from issue where id = ? and property_id = ?`, [issueId, propertyId])))
    throw refuse('data.issueId')
}

/** The guest of the stay, or of the issue. */
const guestOf = async (trx: Trx, { reservationId, issueId }: StaffMessage): Promise<string | null> => {
  if (!reservationId && issueId) {
    const issue = await sqlOne<{ guestId: string | null }>(trx, `select guest_id from issue where id = ?`, [issueId])
    return issue?.guestId ?? null
  }
  if (!reservationId) return null
  const stay = await sqlOne<{ guestId: string | null }>(
    trx,
    `select coalesce(r.primary_guest_id, b.booker_guest_id) as guest_id from reservation r
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = ?`,
    [reservationId],
  )
  return stay?.guestId ?? null
}

type Chosen = Pick<MessageRow, 'purpose' | 'templateId' | 'templateNumber'> & { urgency: 'immediate' | 'normal' }

const choose = async (
  trx: Trx,
  { templateId, text, reservationId, paymentId, issueId }: StaffMessage,
): Promise<Chosen> => {
  if ((templateId === undefined) === (text === undefined))
    throw invalid([{ field: 'templateId', message: 'give either templateId or text' }])
  if (templateId === undefined)
    return { purpose: 'service', urgency: 'immediate', templateId: null, templateNumber: null }
  const { id, publishedNumber, purpose, urgency, context } = await usableTemplate(trx, templateId)
  const has =
    context === 'guest' ||
    (context === 'reservation' && reservationId !== undefined) ||
    (context === 'payment' && paymentId !== undefined) ||
    (context === 'issue' && issueId !== undefined)
  if (!has)
    throw unprocessable('context_mismatch', `A template of context ${context} needs such a record`, [
      { field: 'templateId', message: `speaks of a ${context.replaceAll('_', ' ')}` },
    ])
  return {
    purpose,
    urgency: urgency === 'immediate' ? urgency : 'normal',
    templateId: id,
    templateNumber: publishedNumber,
  }
}

const judgeTimes = ({ scheduledFor, expiresAt }: StaffMessage, now: Date): { at: Date; until: Date } => {
  const at = scheduledFor && scheduledFor > now ? scheduledFor : now
  if (at.getTime() > now.getTime() + 400 * dayMs)
    throw invalid([{ field: 'scheduledFor', message: 'is more than 400 days ahead' }])
  const until = expiresAt ?? new Date(at.getTime() + dayMs)
  if (until <= at) throw invalid([{ field: 'expiresAt', message: 'must be after the message is due' }])
  return { at, until }
}

/** Queues what staff says to one recipient; of a merged profile, to its survivor. 400, 404, 409 for an erased guest, 422 where no channel could carry it, 429. */
export const sendMessage = async (trx: Trx, request: StaffMessage): Promise<string> => {
  const { propertyId, guestId, recipient, reservationId, paymentId, conversationId, issueId, text, plan } = request
  judgePlan(plan)
  if (guestId !== undefined && recipient !== undefined)
    throw invalid([{ field: 'recipient', message: 'give either guestId or recipient' }])
  const property = await sqlOne<{ settings: StoredSettings; locales: string[]; now: Date }>(
    trx,
    `select settings, locales, clock_timestamp() as now from property where id = ?`,
    [propertyId],
  )
  if (!property) throw notFound('There is no such property')
  await judgeReferences(trx, request)
  const survivor = guestId && (await resolveGuest(trx, guestId))
  const named = survivor ?? (recipient ? null : await guestOf(trx, request))
  if (!named && !recipient && !reservationId && !paymentId)
    throw invalid([{ field: 'guestId', message: 'give a guest, a recipient, a reservation or a payment' }])
  const chosen = await choose(trx, request)
  const { at, until } = judgeTimes(request, property.now)
  const { actor } = contextOf(trx)
  const userId = actor.type === 'user' ? actor.id : null
  await limitUser(trx, userId)
  const id = randomUUID()
  const isDue = at <= property.now
  await insertRow(trx, Message, {
    id,
    origin: 'staff',
    propertyId,
    guestId: named,
    reservationId,
    paymentId,
    conversationId,
    issueId,
    ...chosen,
    text: text ? await seal(trx, 'tenant', textPlace(id), { subject: text.subject ?? null, text: text.text }) : null,
    recipient: recipient ? await seal(trx, 'tenant', recipientPlace(id), recipient) : null,
    locale: text ? (property.locales[0] ?? 'en') : null,
    plan: plan ?? planOf(settingsOf(property.settings).messages.order),
    status: isDue ? 'queued' : 'scheduled',
    dedupeKey: `staff:${id}`,
    scheduledFor: at,
    expiresAt: until,
    createdBy: userId,
  })
  await refuseUnreachable(trx, id)
  await enqueueDelivery(trx, { id, turn: 0, purpose: chosen.purpose }, isDue ? undefined : at)
  if (isDue) await emitMessage(trx, 'queued', id)
  return id
}

const transition = (status: string, verb: string, from: string) =>
  conflict('invalid_transition', `A message that is ${status} cannot be ${verb}`, [
    { field: 'status', message: `must be ${from}` },
  ])

/** Stops a message that is not being sent yet; one that waits for its next channel stands on what was sent. The caller holds the row. */
export const cancelMessage = async (trx: Trx, id: string): Promise<void> => {
  const { status } = await readRow(trx, Message, id)
  if (status === 'cancelled') return
  if (status !== 'scheduled' && status !== 'queued') throw transition(status, 'cancelled', 'scheduled or queued')
  const message = await sqlOne<MessageRow>(trx, `select * from message where id = ?`, [id])
  if (message && (await standsOnSent(trx, message))) return
  await sql(
    trx,
    `update message set status = 'cancelled', reason = 'cancelled', turn = turn + 1, version = version + 1 where id = ?`,
    [id],
  )
  await emitMessage(trx, 'cancelled', id, { cause: 'cancelled' })
}

const retryDays = 30

/** Refuses to send a message again for which there is no reason any more, or of which a second copy would be one too many. 409 */
const refuseRepeated = async (trx: Trx, message: MessageRow): Promise<void> => {
  const { campaignId, reason, scheduledFor } = message
  // A dated message is made with its booking, long before it is due.
  if (scheduledFor.getTime() < Date.now() - retryDays * dayMs)
    throw transition('older than 30 days', 'sent again', 'of the last 30 days')
  if (campaignId !== null && reason === 'outcome_unknown')
    throw conflict('invalid_transition', 'The message may have arrived, and one of a campaign comes once at most', [
      { field: 'reason', message: 'outcome_unknown' },
    ])
  if (await isStopped(trx, campaignId))
    throw conflict('invalid_transition', 'The campaign of the message is cancelled', [
      { field: 'campaignId', message: 'is cancelled' },
    ])
  if (await isOutOfStatus(trx, message))
    throw conflict('invalid_transition', 'The stay of the message is past the point that it speaks of', [
      { field: 'reason', message: 'reservation_status' },
    ])
}

/** Sends a message again that did not arrive, from the first channel of its plan on. 409; 422 where its cause still holds. The caller holds the row. */
export const retryMessage = async (trx: Trx, id: string, plan: PlanStep[] | undefined): Promise<void> => {
  judgePlan(plan)
  const message = await readRow(trx, Message, id)
  const { status, turn, purpose } = message
  if (status === 'queued' || status === 'sending') return
  if (!['failed', 'suppressed', 'expired'].includes(status))
    throw transition(status, 'sent again', 'failed, suppressed or expired')
  await refuseRepeated(trx, message)
  await sql(
    trx,
    `update message set status = 'queued', reason = null, step = 0, round = round + 1, turn = turn + 1, version = version + 1, fallback_at = null,
       plan = coalesce(?::jsonb, plan), scheduled_for = clock_timestamp(), expires_at = greatest(expires_at, clock_timestamp() + interval '1 day')
     where id = ?`,
    [plan ? JSON.stringify(plan) : null, id],
  )
  await refuseUnreachable(trx, id, true)
  await enqueueDelivery(trx, { id, turn: turn + 1, purpose })
  await emitMessage(trx, 'queued', id)
}
