import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageAttemptRow, MessageChannelRow, MessageRow } from '../rows.ts'
import { unseal } from '../lib/sealing/index.ts'
import { accountOf, isUsable } from './channel-accounts.ts'
import { compose, readContents } from './compose.ts'
import { contentFor } from './rules/contents.ts'
import type { Outgoing, SendOutcome } from './rules/send-outcome.ts'
import { readReader } from './reader.ts'
import { holdGuestOf, holdGuestsOf, lockAttempt } from './attempts.ts'
import { failUnknown, recordOutcome } from './outcomes.ts'
import { applyReport } from './reports.ts'
import type { Report } from './reports.ts'
import { attemptPlace, outgoing, propertyOf } from './sending.ts'
import { hasConsent } from './consent.ts'
import { lockAddress, suppressionOf } from './suppression.ts'

/** Codes and campaigns go at most once: a second code confuses, and a second advertisement is a nuisance. */
const isAtMostOnce = (message: MessageRow) =>
  message.origin === 'campaign' || Object.keys(message.data as object).length > 0

/**
 * An unknown attempt, and its text as it left, which the values of today need not make any more. `reference`: the carrier's id of it, which a report has told of
 * while its call was under way.
 */
export type Unknown = { message: Outgoing; wrote: string; reference: string | null }

const keptText = async (trx: Trx, { id, body }: MessageAttemptRow): Promise<string | null> =>
  body ? (await unseal<{ text: string }>(trx, 'tenant', attemptPlace(id, 'body'), body)).text : null

/** An unknown attempt with what is to leave if it never did, or null where it is known by now or nothing of it is left. */
export const openUnknown = async (trx: Trx, attemptId: string): Promise<Unknown | null> => {
  const loaded = await lockAttempt(trx, attemptId)
  if (!loaded || loaded.attempt.status !== 'unknown') return null
  const { message, attempt } = loaded
  const [property, reader, { contents, context }] = [
    await propertyOf(trx, message.propertyId),
    await readReader(trx, message),
    await readContents(trx, message),
  ]
  const channel = await sqlOne<MessageChannelRow>(
    trx,
    `select * from message_channel where property_id = ? and kind = ?`,
    [message.propertyId, attempt.kind],
  )
  const content = contentFor(contents, attempt.kind, message.locale, [])
  if (!attempt.recipient || !property || !reader || !channel || !content) {
    await failUnknown(trx, loaded)
    return null
  }
  const account = await accountOf(trx, { ...channel, transport: attempt.transport })
  if (attempt.transport === 'own' && !account) {
    await failUnknown(trx, loaded)
    return null
  }
  const address = await unseal<string>(trx, 'tenant', attemptPlace(attempt.id, 'recipient'), attempt.recipient)
  const composition = await compose(trx, {
    message,
    content,
    context,
    property,
    reader,
    isSandbox: attempt.transport === 'sandbox',
  })
  const use = { channel: { ...channel, transport: attempt.transport }, content, address, index: attempt.recipientIndex }
  const leaving = {
    attemptId,
    message,
    step: attempt.step,
    use,
    account,
    reader,
    property,
    startedAt: attempt.createdAt,
  }
  return {
    message: outgoing(trx, leaving, composition),
    wrote: (await keptText(trx, attempt)) ?? composition.kept.text,
    reference: attempt.providerId,
  }
}

/**
 * The first of some texts of the carrier that is not known to be another message, of any tenant: equal ones may go to a number within a minute, and the account
 * of the service carries those of all.
 */
export const firstUnclaimed = async <T extends { reference: string }>(
  trx: Trx,
  found: readonly T[],
): Promise<T | undefined> => {
  const claimed = await sql<{ providerId: string }>(trx, `select provider_id from message_texts_claimed(?::text[])`, [
    found.map((one) => one.reference),
  ])
  return found.find((one) => !claimed.some(({ providerId }) => providerId === one.reference))
}

/** A text as the carrier has it: that it was taken, and what has become of it, where that is known there. */
export type FoundText = SendOutcome & { kind: 'accepted' } & { report: Report | null }

/** Takes a text that was found for the unknown attempt, in the state that it has come to: the reports of it may be lost. */
export const adoptText = async (trx: Trx, attemptId: string, { report, ...outcome }: FoundText): Promise<void> => {
  // Guests come before their message.
  if (report?.suppress) await holdGuestsOf(trx, attemptId)
  await recordOutcome(trx, attemptId, outcome, true)
  if (report) await applyReport(trx, attemptId, report)
}

/** A mail may come twice under one Message-ID, also where the one more try was itself cut off. */
const mostResends = { email: 3, sms: 1, whatsapp: 1 }

/** Tells whether the address refuses the message by now, or its guest does, or its channel is off or goes another way. */
const isRefused = async (
  trx: Trx,
  { message, attempt }: { message: MessageRow; attempt: MessageAttemptRow },
  guestId: string | null,
): Promise<boolean> => {
  const channel = await sqlOne<MessageChannelRow>(
    trx,
    `select * from message_channel where property_id = ? and kind = ?`,
    [message.propertyId, attempt.kind],
  )
  if (!channel || !isUsable(channel) || channel.transport !== attempt.transport) return true
  const suppressed = await suppressionOf(trx, attempt.kind, attempt.recipientIndex)
  if (message.purpose !== 'marketing') return suppressed === 'all'
  return suppressed !== null || !(await hasConsent(trx, guestId, attempt.kind))
}

/** Allows the one more try that R11 grants, and counts it before it is made; without it the message has failed. */
export const allowResend = async (trx: Trx, attemptId: string): Promise<boolean> => {
  const guestId = await holdGuestOf(trx, attemptId)
  const loaded = await lockAttempt(trx, attemptId)
  if (!loaded || loaded.attempt.status !== 'unknown') return false
  const { message, attempt } = loaded
  await lockAddress(trx, attempt.recipientIndex)
  const isBarred =
    isAtMostOnce(message) ||
    attempt.resends >= mostResends[attempt.kind] ||
    message.expiresAt <= new Date() ||
    message.status !== 'sending' ||
    (await isRefused(trx, loaded, guestId))
  if (isBarred) {
    await failUnknown(trx, loaded)
    return false
  }
  await sql(trx, `update message_attempt set resends = resends + 1 where id = ?`, [attemptId])
  return true
}

/** Nothing was sent by the second try either, since our credentials were refused: it is left for when they are right. */
export const takeBackResend = async (trx: Trx, attemptId: string): Promise<void> => {
  await sql(trx, `update message_attempt set resends = resends - 1 where id = ? and resends > 0`, [attemptId])
}

/** The outcome of one that stays unknown after it was tried again. */
export const giveUpUnknown = async (trx: Trx, attemptId: string): Promise<void> => {
  const loaded = await lockAttempt(trx, attemptId)
  if (loaded?.attempt.status === 'unknown') await failUnknown(trx, loaded)
}
