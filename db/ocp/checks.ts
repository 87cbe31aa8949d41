import { isNumberOf } from '../../config/calling-codes.ts'
import { settings } from '../../config/env.ts'
import type { PropertySettings } from '../../config/property-settings.ts'
import { Email, Phone } from '../../config/schema.ts'
import { addDays, clockIn, localInstant, todayIn } from '../../config/time.ts'
import { compile } from '../../config/validator.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageChannelRow, MessageRow } from '../rows.ts'
import { contentFor } from './rules/contents.ts'
import type { ChannelKind, Content } from './rules/contents.ts'
import type { Reader } from './reader.ts'
import { addressIndex, suppressionOf } from './suppression.ts'

export type StepCause =
  | 'no_channel'
  | 'no_content'
  | 'recipient_missing'
  | 'country_not_allowed'
  | 'recipient_suppressed'
  | 'consent_missing'
  | 'guest_limit'
  | 'marketing_limit'

export type UsableStep = {
  channel: MessageChannelRow & { transport: 'platform' | 'sandbox' }
  content: Content
  address: string
  index: Buffer
}
export type StepCheck = { use: UsableStep } | { cause: StepCause } | { waitUntil: Date }

type Subject = {
  message: Pick<MessageRow, 'id' | 'propertyId' | 'purpose' | 'urgency'>
  reader: Reader
  contents: readonly Content[]
  locales: readonly string[]
  timeZone: string
  rules: PropertySettings['messages']
  now: Date
}

const isMailbox = compile(Email)
const isPhone = compile(Phone)
const hourMs = 3_600_000
const dayMs = 24 * hourMs

const isConfigured = (kind: ChannelKind): boolean => {
  const { accountSid, authToken, from, whatsappFrom } = settings.twilio
  if (kind === 'email') return settings.smtpUrl !== null
  return Boolean(accountSid && authToken && (kind === 'sms' ? from : whatsappFrom))
}

/** Transports of the tenant's own come with the settings for them; until then a channel that names one sends nothing. */
const isUsable = (channel: MessageChannelRow): channel is UsableStep['channel'] =>
  channel.enabled &&
  (channel.transport === 'sandbox' || (channel.transport === 'platform' && isConfigured(channel.kind)))

/** The end of the quiet hours that now lies in, or null. They may span midnight. */
export const quietUntil = (
  { quietFrom, quietUntil: until }: Pick<PropertySettings['messages'], 'quietFrom' | 'quietUntil'>,
  timeZone: string,
  now: Date,
): Date | null => {
  const clock = clockIn(timeZone, now)
  const overnight = quietFrom > until
  const quiet = overnight ? clock >= quietFrom || clock < until : clock >= quietFrom && clock < until
  if (!quiet) return null
  const today = todayIn(timeZone, now)
  return localInstant(overnight && clock >= quietFrom ? addDays(today, 1) : today, until, timeZone)
}

/** Other messages to the address, whatever became of them after they were accepted. */
const sentTo = async (
  trx: Trx,
  index: Buffer,
  messageId: string,
  since: Date,
  purpose: 'marketing' | null,
): Promise<number> => {
  const row = await sqlOne<{ count: number }>(
    trx,
    `select count(distinct message_id) as count from message_attempt
     where recipient_index = ? and message_id <> ? and created_at >= ? and status not in ('failed', 'bounced') and (?::text is null or purpose = ?)`,
    [index, messageId, since, purpose, purpose],
  )
  return row?.count ?? 0
}

const hasConsent = async (trx: Trx, guestId: string | null, kind: ChannelKind): Promise<boolean> => {
  if (guestId === null) return false
  const row = await sqlOne<{ decision: string }>(
    trx,
    `select decision from guest_consent where guest_id = ? and purpose = ? order by at desc, id desc limit 1`,
    [guestId, `marketing_${kind}`],
  )
  return row?.decision === 'granted'
}

/** More workers than this do not write for one house at the same moment. */
const mostAtOnce = 200

const countToday = async (trx: Trx, channel: MessageChannelRow, timeZone: string, now: Date): Promise<number> => {
  const row = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from message_attempt where property_id = ? and kind = ? and created_at >= ?`,
    [channel.propertyId, channel.kind, localInstant(todayIn(timeZone, now), '00:00', timeZone)],
  )
  return row?.count ?? 0
}

/** Attempts of the channel's local day. Near the cap the channel is locked and counted again, so that no two workers pass it at once. */
const isCapped = async (trx: Trx, channel: MessageChannelRow, timeZone: string, now: Date): Promise<boolean> => {
  if ((await countToday(trx, channel, timeZone, now)) + mostAtOnce < channel.dailyCap) return false
  await sql(trx, `select id from message_channel where id = ? for no key update`, [channel.id])
  return (await countToday(trx, channel, timeZone, now)) >= channel.dailyCap
}

/** Whether a channel of the plan can be used for a message at this moment, in the order of R8. */
export const checkStep = async (
  trx: Trx,
  kind: ChannelKind,
  { message, reader, contents, locales, timeZone, rules, now }: Subject,
): Promise<StepCheck> => {
  const channel = await sqlOne<MessageChannelRow>(
    trx,
    `select * from message_channel where property_id = ? and kind = ?`,
    [message.propertyId, kind],
  )
  if (!channel || !isUsable(channel)) return { cause: 'no_channel' }
  const content = contentFor(contents, kind, reader.language, locales)
  // WhatsApp lets a house begin a conversation with approved contents alone.
  if (!content || (kind === 'whatsapp' && content.contentSid === null)) return { cause: 'no_content' }
  const address = kind === 'email' ? reader.email : reader.phone
  if (address === null || (kind === 'email' ? isMailbox : isPhone)(address) !== null)
    return { cause: 'recipient_missing' }
  if (kind !== 'email' && channel.countries.length > 0 && !isNumberOf(address, channel.countries))
    return { cause: 'country_not_allowed' }
  const index = addressIndex(trx, kind, address)
  const suppressed = await suppressionOf(trx, kind, index)
  if (suppressed === 'all' || (suppressed === 'marketing' && message.purpose === 'marketing'))
    return { cause: 'recipient_suppressed' }
  if (message.purpose === 'marketing' && !(await hasConsent(trx, reader.guestId, kind)))
    return { cause: 'consent_missing' }
  if (message.urgency === 'normal') {
    const quiet = quietUntil(rules, timeZone, now)
    if (quiet) return { waitUntil: quiet }
    await sql(
      trx,
      `select pg_advisory_xact_lock(hashtextextended('message-recipient:' || encode(?::bytea, 'hex'), 0))`,
      [index],
    )
    if (
      (await sentTo(trx, index, message.id, localInstant(todayIn(timeZone, now), '00:00', timeZone), null)) >=
      rules.perGuestDaily
    )
      return { cause: 'guest_limit' }
  }
  if (
    message.purpose === 'marketing' &&
    (await sentTo(trx, index, message.id, new Date(now.getTime() - 30 * dayMs), 'marketing')) >=
      rules.marketingPer30Days
  )
    return { cause: 'marketing_limit' }
  if (await isCapped(trx, channel, timeZone, now)) return { waitUntil: new Date(now.getTime() + hourMs) }
  return { use: { channel, content, address, index } }
}
