import { randomUUID } from 'node:crypto'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { later, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { hasFeature } from '../lib/features.ts'
import type { MessageRow } from '../rows.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import { accountOf, fromAddressOf, reportUrl } from './channel-accounts.ts'
import { bestOf, standsOnSent } from './attempts.ts'
import { checkStep, lockReader } from './checks.ts'
import type { StepCause, UsableStep } from './checks.ts'
import { holdGuest } from './consent.ts'
import { compose, messageIdOf, readContents } from './compose.ts'
import type { Composition } from './compose.ts'
import type { Account, Outgoing } from './rules/send-outcome.ts'
import { ownerOf } from './owners.ts'
import { emitMessage, enqueueDelivery } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import { readReader } from './reader.ts'
import type { Reader } from './reader.ts'
import { markUnknown } from './outcomes.ts'
import { unsubscribeUrl } from './unsubscribe-token.ts'
import { strangersBooking } from './strangers.ts'
import { readRecords } from './variables.ts'
import type { MessageProperty } from './variables.ts'

export type Decision = { send: Outgoing } | { done: string }

export const attemptPlace = (attemptId: string, purpose: 'recipient' | 'subject' | 'body') => ({
  table: 'message_attempt',
  rowId: attemptId,
  purpose,
})

export const planOfMessage = (message: Pick<MessageRow, 'plan'>) => message.plan as PlanStep[]

type Locked = MessageRow & { now: Date }

const locking = `select m.*, clock_timestamp() as now from message m where m.id = ?`
const lockMessage = (trx: Trx, messageId: string): Promise<Locked | null> =>
  preparedOne<Locked>(trx, `${locking} for no key update`, [messageId])

export const propertyOf = (trx: Trx, propertyId: string) =>
  preparedOne<MessageProperty & { settings: StoredSettings }>(
    trx,
    `select id, name, timezone, currency, locales, phone, email, website, check_in_from, check_out_until, address, settings from property where id = ?`,
    [propertyId],
  )

type Ended = 'suppressed' | 'expired' | 'failed' | 'cancelled'

/** Ends a message; one of which something got through stands on that. */
export const endMessage = async (trx: Trx, message: MessageRow, status: Ended, reason: string): Promise<void> => {
  if (await standsOnSent(trx, message)) return
  await sql(trx, `update message set status = ?, reason = ?, turn = turn + 1 where id = ?`, [
    status,
    reason,
    message.id,
  ])
  await emitMessage(trx, status, message.id, { cause: reason })
}

const postpone = async (trx: Trx, message: MessageRow, at: Date): Promise<void> => {
  await sql(trx, `update message set status = 'scheduled', scheduled_for = ?, turn = turn + 1 where id = ?`, [
    at,
    message.id,
  ])
  await enqueueDelivery(trx, { ...message, turn: message.turn + 1 }, at)
}

/** The plan is used up: what was sent stays sent, else the first cause says why nothing was. */
const endOfPlan = async (trx: Trx, message: MessageRow, cause: StepCause | null): Promise<string> => {
  const best = await bestOf(trx, message)
  if (best) await endMessage(trx, message, 'failed', best.errorCode ?? 'refused')
  else await endMessage(trx, message, 'suppressed', cause ?? 'no_channel')
  return cause ?? 'refused'
}

const insertAttempt = async (
  trx: Trx,
  message: MessageRow,
  step: number,
  use: UsableStep,
  { kept }: Composition,
): Promise<string> => {
  const id = randomUUID()
  later(
    trx,
    `insert into message_attempt (id, message_id, property_id, step, number, round, kind, transport, recipient_index, recipient, subject, body, purpose)
     select ?, ?, ?, ?, count(*) + 1, ?, ?, ?, ?, ?, ?, ?, ? from message_attempt where message_id = ? and step = ?`,
    [
      id,
      message.id,
      message.propertyId,
      step,
      message.round,
      use.channel.kind,
      use.channel.transport,
      use.index,
      await seal(trx, 'tenant', attemptPlace(id, 'recipient'), use.address),
      await seal(trx, 'tenant', attemptPlace(id, 'subject'), kept.subject),
      await seal(trx, 'tenant', attemptPlace(id, 'body'), {
        text: kept.text,
        html: kept.html,
        contentVariables: kept.contentVariables,
      }),
      message.purpose,
      message.id,
      step,
    ],
  )
  return id
}

type Leaving = {
  attemptId: string
  message: MessageRow
  step: number
  use: UsableStep
  account: Account | null
  reader: Reader
  property: MessageProperty
  startedAt: Date
}

export const outgoing = (
  trx: Trx,
  { attemptId, message, step, use, account, reader, property, startedAt }: Leaving,
  { sent }: Composition,
): Outgoing => ({
  attemptId,
  kind: use.channel.kind,
  channelId: use.channel.id,
  transport: use.channel.transport,
  account,
  to: use.address,
  toName: `${reader.firstName} ${reader.lastName}`.trim(),
  fromName: use.channel.senderName ?? property.name,
  fromAddress: fromAddressOf(use.channel),
  replyTo: use.channel.replyTo ?? property.email,
  ...sent,
  messageId: messageIdOf(message.id, step, message.round),
  startedAt,
  callbackUrl: reportUrl(use.channel.id, attemptId),
  unsubscribeUrl: message.purpose === 'marketing' ? unsubscribeUrl(trx, message.id, use.channel.kind) : null,
  isPersonal: message.origin === 'staff' && message.templateId === null,
})

/**
 * Locks a message. Of marketing the guest is held before it, as by everybody else, so that consent is not withdrawn between the check and the attempt. A message
 * that becomes marketing meanwhile has another turn.
 */
const lockWithReader = async (trx: Trx, messageId: string): Promise<Locked | null> => {
  const [head, service] = await Promise.all([
    preparedOne<{ guestId: string | null; purpose: string }>(
      trx,
      `select guest_id, purpose from message where id = ?`,
      [messageId],
    ),
    preparedOne<Locked>(trx, `${locking} and m.purpose <> 'marketing' for no key update`, [messageId]),
  ])
  if (head?.purpose !== 'marketing') return service
  await holdGuest(trx, head.guestId)
  return lockMessage(trx, messageId)
}

/** Tells whether a campaign was cancelled. It is held, so that none is cancelled between this and the attempt. */
export const isStopped = async (trx: Trx, campaignId: string | null): Promise<boolean> =>
  campaignId !== null &&
  (await sqlOne<{ status: string }>(trx, `select status from campaign where id = ? for share`, [campaignId]))
    ?.status === 'cancelled'

/** Tells whether the stay of a message has left the statuses in which the message makes sense. */
export const isOutOfStatus = async (
  trx: Trx,
  { reservationStatuses, reservationId }: Pick<MessageRow, 'reservationStatuses' | 'reservationId'>,
): Promise<boolean> => {
  if (!reservationStatuses || !reservationId) return false
  const stay = await preparedOne<{ status: string }>(trx, `select status from reservation where id = ?`, [
    reservationId,
  ])
  return !stay || !reservationStatuses.includes(stay.status)
}

/**
 * The first half of sending (R8): everything is checked again, and the attempt is written, before anything leaves. A message that
 * is `sending` already was taken by a start that never came back: its outcome is unknown.
 */
export const decideSending = async (trx: Trx, messageId: string, turn: number): Promise<Decision> => {
  const message = await lockWithReader(trx, messageId)
  if (!message || message.turn !== turn) return { done: 'stale_turn' }
  if (message.status === 'sending') {
    await markUnknown(trx, message, 'start_lost')
    return { done: 'unknown' }
  }
  if (message.status !== 'scheduled' && message.status !== 'queued') return { done: message.status }
  if (message.status === 'scheduled') await emitMessage(trx, 'queued', message.id)

  const end = async (status: Ended, reason: string): Promise<Decision> => {
    await endMessage(trx, message, status, reason)
    return { done: reason }
  }
  const [isActive, isOver, isUntimely, reader, property, { contents, context }] = await Promise.all([
    hasFeature(trx, 'ocp'),
    isStopped(trx, message.campaignId),
    isOutOfStatus(trx, message),
    readReader(trx, message),
    propertyOf(trx, message.propertyId),
    readContents(trx, message),
  ])
  if (!isActive) return end('expired', 'feature_not_enabled')
  if (message.expiresAt <= message.now) return end('expired', 'too_late')
  if (isOver) return end('cancelled', 'campaign_cancelled')
  if (isUntimely) return end('suppressed', 'reservation_status')
  const mine = ownerOf(message)
  const refusal = mine && (await mine.owner.refusal(trx, mine.owned))
  if (refusal) return end('cancelled', refusal)
  if (!reader || !property) return end('suppressed', 'recipient_missing')

  const plan = planOfMessage(message)
  const rules = settingsOf(property.settings).messages
  // The addresses are held to the commit: no suppression of them is in force before an attempt that ignores it.
  // The booking and the stay, by which a message is judged and of which it is made, are read in that turn, and after the locks.
  const [ways, booking, records] = await Promise.all([
    lockReader(trx, message.propertyId, reader, plan),
    strangersBooking(trx, message),
    readRecords(trx, message),
  ])
  let first: StepCause | null = null
  for (let step = message.step; step < plan.length; step += 1) {
    const kind = plan[step]?.channel
    if (!kind) break
    const checked = await checkStep(trx, kind, {
      ways,
      booking,
      message,
      reader,
      contents,
      locales: property.locales,
      timeZone: property.timezone,
      rules,
      now: message.now,
    })
    if ('waitUntil' in checked) {
      if (checked.waitUntil >= message.expiresAt) return end('expired', 'too_late')
      await postpone(trx, message, checked.waitUntil)
      return { done: 'postponed' }
    }
    if ('cause' in checked) {
      // A channel that is off is why nothing was tried only where nothing else was.
      if (first === null || first === 'no_channel') first = checked.cause
      continue
    }
    const { use } = checked
    const account = await accountOf(trx, use.channel)
    if (use.channel.transport === 'own' && !account) {
      first ??= 'no_channel'
      continue
    }
    const composition = await compose(trx, {
      message,
      content: use.content,
      context,
      property,
      reader,
      isSandbox: use.channel.transport === 'sandbox',
      records,
    })
    const attemptId = await insertAttempt(trx, message, step, use, composition)
    later(trx, `update message set status = 'sending', step = ?, locale = ?, fallback_at = null where id = ?`, [
      step,
      use.content.locale,
      message.id,
    ])
    const leaving = { attemptId, message, step, use, account, reader, property, startedAt: message.now }
    return { send: outgoing(trx, leaving, composition) }
  }
  return { done: await endOfPlan(trx, message, first) }
}

/** The address of an attempt, or null once it is erased. */
export const readRecipient = async (trx: Trx, attemptId: string): Promise<string | null> => {
  const attempt = await sqlOne<{ recipient: Buffer | null }>(
    trx,
    `select recipient from message_attempt where id = ?`,
    [attemptId],
  )
  return attempt?.recipient
    ? unseal<string>(trx, 'tenant', attemptPlace(attemptId, 'recipient'), attempt.recipient)
    : null
}
