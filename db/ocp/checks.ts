import { isNumberOf } from '../../config/calling-codes.ts'
import { messageChannelCapReached } from '../../config/events/ocp.ts'
import type { PropertySettings } from '../../config/property-settings.ts'
import { Email, Phone } from '../../config/schema.ts'
import { addDays, clockIn, localInstant, todayIn } from '../../config/time.ts'
import { compile } from '../../config/validator.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageChannelRow, MessageRow } from '../rows.ts'
import { isUsable } from './channel-accounts.ts'
import { hasConsent } from './consent.ts'
import { contentFor } from './rules/contents.ts'
import type { ChannelKind, Content } from './rules/contents.ts'
import type { Reader } from './reader.ts'
import { addressIndex, lockAddress, suppressionOf } from './suppression.ts'

export type StepCause =
  | 'no_channel'
  | 'no_content'
  | 'recipient_missing'
  | 'country_not_allowed'
  | 'recipient_suppressed'
  | 'consent_missing'
  | 'guest_limit'
  | 'marketing_limit'
  | 'window_closed'

export type UsableStep = {
  channel: MessageChannelRow
  content: Content
  address: string
  index: Buffer
}
export type StepCheck = { use: UsableStep } | { cause: StepCause } | { waitUntil: Date }

type Subject = {
  message: Pick<MessageRow, 'id' | 'propertyId' | 'purpose' | 'urgency' | 'origin'>
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
  if ((await countToday(trx, channel, timeZone, now)) < channel.dailyCap) return false
  await tellCap(trx, channel, todayIn(timeZone, now))
  return true
}

/** Of one slow server of a tenant: no more of our workers wait for it at once. */
const mostAtOwnServer = 5
const campaignsPerMinute = 600
const minuteMs = 60_000

/** Until when a message stands back, so that a tenant's own server holds few workers, and a campaign leaves at its pace; null where it may go. */
const paceOf = async (
  trx: Trx,
  { channel, message, now }: { channel: MessageChannelRow; message: Subject['message']; now: Date },
): Promise<Date | null> => {
  if (channel.transport === 'own') {
    await sql(trx, `select id from message_channel where id = ? for no key update`, [channel.id])
    const busy = await sqlOne<{ count: number }>(
      trx,
      `select count(*) as count from message_attempt where property_id = ? and kind = ? and created_at >= ? and status = 'sending'`,
      [channel.propertyId, channel.kind, new Date(now.getTime() - minuteMs)],
    )
    if ((busy?.count ?? 0) >= mostAtOwnServer) return new Date(now.getTime() + 2_000)
  }
  if (message.origin !== 'campaign') return null
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('campaign pace ' || ?, 0))`, [contextOf(trx).tenantId])
  const left = await sqlOne<{ count: number; oldest: Date | null }>(
    trx,
    `select count(*) as count, min(created_at) as oldest from message_attempt where purpose = 'marketing' and created_at >= ?`,
    [new Date(now.getTime() - minuteMs)],
  )
  if ((left?.count ?? 0) < campaignsPerMinute) return null
  // Those that stand back come again over a minute, not all at once.
  return new Date((left?.oldest ?? now).getTime() + minuteMs + Math.floor(Math.random() * minuteMs))
}

/** Whether a guest wrote to this house by WhatsApp within the last day. */
export const isWindowOpen = async (trx: Trx, propertyId: string, index: Buffer): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select id from conversation where property_id = ? and kind = 'whatsapp' and address_index = ?
       and last_inbound_at > clock_timestamp() - interval '24 hours' limit 1`,
    [propertyId, index],
  )) !== null

/** Tells once a day that a channel has sent as much as it may. */
const tellCap = async (trx: Trx, channel: MessageChannelRow, day: string): Promise<void> => {
  const [first] = await sql(
    trx,
    `update message_channel set cap_reached_on = ? where id = ? and cap_reached_on is distinct from ?::date returning id`,
    [day, channel.id, day],
  )
  if (first)
    await emit(trx, messageChannelCapReached, {
      propertyId: channel.propertyId,
      id: channel.id,
      version: null,
      data: { messageChannelId: channel.id, kind: channel.kind, cause: 'daily_cap' },
    })
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
  let content = contentFor(contents, kind, reader.language, locales)
  if (!content) return { cause: 'no_content' }
  const address = kind === 'email' ? reader.email : reader.phone
  if (address === null || (kind === 'email' ? isMailbox : isPhone)(address) !== null)
    return { cause: 'recipient_missing' }
  if (kind !== 'email' && channel.countries.length > 0 && !isNumberOf(address, channel.countries))
    return { cause: 'country_not_allowed' }
  const index = addressIndex(trx, kind, address)
  // From here to the commit nobody adds a suppression of this address, so that none is in force before an attempt that ignores it.
  await lockAddress(trx, index)
  const suppressed = await suppressionOf(trx, kind, index)
  if (suppressed === 'all' || (suppressed === 'marketing' && message.purpose === 'marketing'))
    return { cause: 'recipient_suppressed' }
  if (message.purpose === 'marketing' && !(await hasConsent(trx, reader.guestId, kind)))
    return { cause: 'consent_missing' }
  if (message.urgency === 'normal') {
    const quiet = quietUntil(rules, timeZone, now)
    if (quiet) return { waitUntil: quiet }
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
  if (kind === 'whatsapp' && (content.contentSid === null || content.text !== null)) {
    // WhatsApp takes free texts within a day of the guest's own last message, and approved contents at any time.
    const isOpen = await isWindowOpen(trx, message.propertyId, index)
    if (!isOpen && content.contentSid === null) return { cause: 'window_closed' }
    content = isOpen ? { ...content, contentSid: null, contentVariables: null } : content
  }
  if (await isCapped(trx, channel, timeZone, now)) return { waitUntil: new Date(now.getTime() + hourMs) }
  const turn = await paceOf(trx, { channel, message, now })
  if (turn) return { waitUntil: turn }
  return { use: { channel, content, address, index } }
}
