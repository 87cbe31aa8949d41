import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { addDays, localInstant, todayIn } from '../../config/time.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { matches } from './rules/automation-conditions.ts'
import type { Conditions, Stay } from './rules/automation-conditions.ts'
import { emitMessage, enqueueDelivery, queueMessage, usualPlan } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import type { Anchor, DatedTrigger } from './rules/trigger.ts'
import { readStay } from './stay.ts'

const hourMs = 3_600_000
const minuteMs = 60_000

/** In which statuses of the reservation a dated message is wanted, and sent. */
const statusesOf: Record<Anchor, readonly string[]> = {
  booked: ['confirmed', 'checked_in', 'checked_out'],
  arrival: ['confirmed'],
  check_in: ['confirmed'],
  departure: ['checked_in'],
  checked_in: ['checked_in'],
  checked_out: ['checked_out'],
  deposit_due: ['confirmed'],
}
// A message for the days before departure is planned as soon as the stay is confirmed, and sent only to guests in the house.
const plannedIn = (anchor: Anchor) => (anchor === 'departure' ? ['confirmed', 'checked_in'] : statusesOf[anchor])

const anchorDay = (anchor: Anchor, stay: Stay): string | null => {
  switch (anchor) {
    case 'booked':
      return todayIn(stay.timeZone, stay.bookedAt)
    case 'arrival':
    case 'check_in':
      return stay.arrival
    case 'departure':
      return stay.departure
    case 'checked_in':
      return stay.checkedInAt && todayIn(stay.timeZone, stay.checkedInAt)
    case 'checked_out':
      return stay.checkedOutAt && todayIn(stay.timeZone, stay.checkedOutAt)
    case 'deposit_due':
      return null
  }
}

const anchorInstant = (anchor: Anchor, stay: Stay): Date | null => {
  switch (anchor) {
    case 'booked':
      return stay.bookedAt
    case 'arrival':
    case 'check_in':
      return localInstant(stay.arrival, stay.checkInFrom ?? '14:00', stay.timeZone)
    case 'departure':
      return localInstant(stay.departure, stay.checkOutUntil ?? '12:00', stay.timeZone)
    case 'checked_in':
      return stay.checkedInAt
    case 'checked_out':
      return stay.checkedOutAt
    case 'deposit_due':
      return null
  }
}

/** The due time of a dated message, in the property's local time (R6); null where its anchor has no date yet. */
export const dueAt = (trigger: DatedTrigger, stay: Stay, depositDueAt: Date | null): Date | null => {
  const instant = trigger.anchor === 'deposit_due' ? depositDueAt : anchorInstant(trigger.anchor, stay)
  if (trigger.hours !== undefined) return instant && new Date(instant.getTime() + trigger.hours * hourMs)
  const day =
    trigger.anchor === 'deposit_due'
      ? depositDueAt && todayIn(stay.timeZone, depositDueAt)
      : anchorDay(trigger.anchor, stay)
  return day === null ? null : localInstant(addDays(day, trigger.days ?? 0), trigger.at ?? '10:00', stay.timeZone)
}

type Automation = {
  id: string
  trigger: DatedTrigger
  conditions: Conditions
  plan: PlanStep[] | null
  validMinutes: number
  templateId: string
  templateNumber: number
  templateKey: string
  purpose: 'service' | 'marketing'
  urgency: 'immediate' | 'normal'
  settings: StoredSettings
}
type Planned = {
  id: string
  dedupeKey: string
  status: string
  reason: string | null
  scheduledFor: Date
  turn: number
  round: number
  expiresAt: Date
  urgency: string
  plan: PlanStep[]
  reservationStatuses: string[] | null
  templateId: string | null
  templateNumber: number | null
  guestId: string | null
  sentAt: Date | null
}
type Wanted = { automation: Automation; key: string; at: Date }

const wantedOf = async (trx: Trx, stay: Stay, automations: readonly Automation[]): Promise<Wanted[]> => {
  const deposits = automations.some((one) => one.trigger.anchor === 'deposit_due')
    ? await sql<{ id: string; dueAt: Date }>(
        trx,
        // Money covers the installments in the order in which they fall due.
        `select d.id, d.due_at from (
           select id, due_at, position, amount - waived_amount as wanted, sum(amount - waived_amount) over (order by due_at, position) as needed
           from deposit where reservation_id = ?) d
         where d.wanted > 0 and d.needed > (select coalesce(sum(f.credits), 0) from folio f where f.reservation_id = ?) order by d.position`,
        [stay.id, stay.id],
      )
    : []
  return automations.flatMap((automation): Wanted[] => {
    if (!plannedIn(automation.trigger.anchor).includes(stay.status) || !matches(automation.conditions, stay)) return []
    const occurrences =
      automation.trigger.anchor === 'deposit_due'
        ? deposits.map((deposit) => ({ key: deposit.id, at: dueAt(automation.trigger, stay, deposit.dueAt) }))
        : [{ key: stay.id, at: dueAt(automation.trigger, stay, null) }]
    return occurrences.flatMap(({ key, at }) => (at ? [{ automation, key: `auto:${automation.id}:${key}`, at }] : []))
  })
}

/** Dated automations that are on at a property, with templates that can be sent. */
const automationsFor = (trx: Trx, propertyId: string) =>
  prepared<Automation>(
    trx,
    `select a.id, a.trigger, a.conditions, a.plan, a.valid_minutes, t.key as template_key, t.id as template_id,
       t.published_number as template_number, t.purpose, t.urgency, jsonb_build_object('messages', p.settings -> 'messages') as settings
     from automation a join message_template t on t.tenant_id = a.tenant_id and t.id = a.template_id
     join property p on p.tenant_id = a.tenant_id and p.id = ?
     where a.enabled and a.trigger->>'anchor' is not null and (a.property_id is null or a.property_id = ?)
       and t.status = 'active' and t.published_number is not null
     order by a.id`,
    [propertyId, propertyId],
  )

/** Locks the dated messages of a reservation, whatever became of them. */
const plannedOf = (trx: Trx, reservationId: string) =>
  prepared<Planned>(
    trx,
    `select id, dedupe_key, status, reason, scheduled_for, expires_at, turn, round, urgency, plan, reservation_statuses, template_id, template_number, guest_id, sent_at
     from message where reservation_id = ? and origin = 'automation' and event_id is null order by id for no key update`,
    [reservationId],
  )

/** Takes the lock under which the dated messages of a stay are planned. What is asked for after it, also without waiting, is read under it. */
export const lockPlan = (trx: Trx, reservationId: string): Promise<unknown> =>
  prepared(trx, `select pg_advisory_xact_lock(hashtextextended('plan-stay:' || ?, 0))`, [reservationId])

/** Plans the dated messages of a reservation, as it is now. */
export const planReservation = async (trx: Trx, reservationId: string): Promise<void> => {
  const [, stay] = await Promise.all([lockPlan(trx, reservationId), readStay(trx, reservationId)])
  if (stay) await planStay(trx, stay)
}

/**
 * Makes the dated messages of a stay, which was read under its lock, match what its dates and the automations want (R5): adds, moves what is unsent, ends
 * what no longer applies. What was sent is not sent again.
 */
export const planStay = async (trx: Trx, stay: Stay): Promise<void> => {
  const [automations, rows] = await Promise.all([automationsFor(trx, stay.propertyId), plannedOf(trx, stay.id)])
  const wanted = await wantedOf(trx, stay, automations)
  const now = new Date()
  for (const { automation, key, at } of wanted) {
    const row = rows.find((candidate) => candidate.dedupeKey === key)
    const late = endOf(at, automation) < now.getTime()
    const dueNow = at < now ? now : at
    const isWaiting = row !== undefined && isPostponed(row, automation, at, now)
    if (!row) {
      if (!late)
        await queueMessage(trx, {
          origin: 'automation',
          automationId: automation.id,
          propertyId: stay.propertyId,
          templateKey: automation.templateKey,
          dedupeKey: key,
          guestId: stay.guestId,
          reservationId: stay.id,
          reservationStatuses: [...statusesOf[automation.trigger.anchor]],
          scheduledFor: dueNow,
          validMinutes: automation.validMinutes,
          ...(automation.plan ? { plan: automation.plan } : {}),
        })
    } else if (late && !isWaiting) {
      if (isUnsent(row)) await cancel(trx, row, 'too_late')
    } else if (
      isWithdrawn(row) ||
      (row.status === 'scheduled' &&
        isUnsent(row) &&
        isOutdated(row, { automation, at, guestId: stay.guestId }, isWaiting))
    )
      await move(trx, row, { at: isWaiting ? at : dueNow, automation, guestId: stay.guestId }, isWaiting)
  }
  for (const row of rows)
    if (isUnsent(row) && !wanted.some((one) => one.key === row.dedupeKey)) await cancel(trx, row, 'not_wanted')
}

/** A text that left and waits for its next channel is sent; one that a person has asked to be sent again is theirs. */
const isUnsent = (row: Planned) =>
  row.sentAt === null && row.round === 0 && (row.status === 'scheduled' || row.status === 'queued')
/** Tells whether the planner ended this message itself, so that it returns with its stay, such as a reinstated one. */
const isWithdrawn = (row: Planned) =>
  row.status === 'cancelled' && (row.reason === 'not_wanted' || row.reason === 'too_late')

type Place = { automation: Automation; at: Date; guestId: string | null }

const planBy = ({ plan, templateKey, settings }: Automation): PlanStep[] =>
  plan ?? usualPlan(templateKey, settingsOf(settings).messages.order)
const inWords = (plan: readonly PlanStep[]) =>
  plan.map(({ channel, waitMinutes }) => `${channel} ${waitMinutes}`).join()

const endOf = (at: Date, { validMinutes }: Automation) => at.getTime() + validMinutes * minuteMs
/** The time for which a message was planned, whatever it waits for since. */
const plannedFor = (row: Planned, { validMinutes }: Automation) => row.expiresAt.getTime() - validMinutes * minuteMs

/**
 * Tells whether a message that was due waits, for the end of quiet hours or under a cap, and is wanted all the same: nothing brings it back before its hour. One that
 * was planned late was due when it was planned.
 */
const isPostponed = (row: Planned, automation: Automation, at: Date, now: Date) => {
  const planned = plannedFor(row, automation)
  return (
    row.status === 'scheduled' &&
    isUnsent(row) &&
    row.urgency === automation.urgency &&
    Math.max(planned, at.getTime()) <= now.getTime() &&
    planned < endOf(at, automation)
  )
}

/** Tells whether anything of an unsent message has changed since it was planned: its time, its text, its channels, its guest, or the automation that asks for it. */
const isOutdated = (row: Planned, { automation, at, guestId }: Place, isWaiting: boolean) =>
  (isWaiting
    ? row.expiresAt.getTime() < endOf(at, automation)
    : row.scheduledFor.getTime() !== at.getTime() || plannedFor(row, automation) !== at.getTime()) ||
  row.templateId !== automation.templateId ||
  row.templateNumber !== automation.templateNumber ||
  row.urgency !== automation.urgency ||
  inWords(row.plan) !== inWords(planBy(automation)) ||
  row.reservationStatuses?.join() !== statusesOf[automation.trigger.anchor].join() ||
  row.guestId !== guestId

/** Makes a message what its automation wants; one that waits keeps its hour, and ends no sooner. */
const move = async (trx: Trx, row: Planned, { automation, at, guestId }: Place, isWaiting: boolean) => {
  const { templateId, templateNumber, purpose, urgency, trigger } = automation
  const due = isWaiting ? row.scheduledFor : at
  const end = isWaiting ? Math.max(row.expiresAt.getTime(), endOf(at, automation)) : endOf(at, automation)
  await sql(
    trx,
    `update message set status = 'scheduled', reason = null, scheduled_for = ?, expires_at = ?, template_id = ?, template_number = ?, purpose = ?,
       urgency = ?, plan = ?::jsonb, reservation_statuses = ?::text[], guest_id = ?, turn = turn + 1
     where id = ?`,
    [
      due,
      new Date(end),
      templateId,
      templateNumber,
      purpose,
      urgency,
      JSON.stringify(planBy(automation)),
      statusesOf[trigger.anchor],
      guestId,
      row.id,
    ],
  )
  await enqueueDelivery(trx, { id: row.id, turn: row.turn + 1, purpose }, due)
}

const cancel = async (trx: Trx, row: Planned, reason: string) => {
  await sql(trx, `update message set status = 'cancelled', reason = ?, turn = turn + 1 where id = ?`, [reason, row.id])
  await emitMessage(trx, 'cancelled', row.id, { cause: reason })
}
