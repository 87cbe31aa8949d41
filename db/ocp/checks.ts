import { isNumberOf } from '../../config/calling-codes.ts'
import { messageChannelCapReached } from '../../config/events/ocp.ts'
import { memo } from '../../config/memo.ts'
import type { PropertySettings } from '../../config/property-settings.ts'
import { Email, Phone } from '../../config/schema.ts'
import { localInstant, todayIn } from '../../config/time.ts'
import { compile } from '../../config/validator.ts'
import { isOfGuest } from '../guests/index.ts'
import { contextOf, prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageChannelRow, MessageRow } from '../rows.ts'
import { isUsable } from './channel-accounts.ts'
import { hasConsent } from './consent.ts'
import { contentFor } from './rules/contents.ts'
import { quietUntil } from './rules/quiet-hours.ts'
import type { ChannelKind, Content } from './rules/contents.ts'
import type { Reader } from './reader.ts'
import { strangersCause } from './strangers.ts'
import type { StrangersBooking } from './strangers.ts'
import { addressIndex, lockAddress, suppressionsOf } from './suppression.ts'

export type StepCause =
  | 'no_channel'
  | 'no_content'
  | 'recipient_missing'
  | 'country_not_allowed'
  | 'recipient_suppressed'
  | 'consent_missing'
  | 'guest_limit'
  | 'marketing_limit'
  | 'already_sent'
  | 'window_closed'
  | 'not_verified'
  | 'stranger_limit'

export type UsableStep = {
  channel: MessageChannelRow
  content: Content
  address: string
  index: Buffer
}
export type StepCheck = { use: UsableStep } | { cause: StepCause } | { waitUntil: Date }

type Subject = {
  ways: Ways
  booking: StrangersBooking | null
  message: Pick<MessageRow, 'id' | 'propertyId' | 'purpose' | 'urgency' | 'origin' | 'campaignId' | 'reservationId'>
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

/** Other messages to the address, whatever became of them after they were accepted. */
const sentTo = async (
  trx: Trx,
  index: Buffer,
  messageId: string,
  since: Date,
  purpose: 'marketing' | null,
): Promise<number> => {
  const row = await preparedOne<{ count: number }>(
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

/** A house does not write more than this in a second: the time after which a count that was far from the cap is looked at again follows from it. */
const mostPerSecond = 1_000
const longestMs = 60_000
/** By channel and cap: until when the cap cannot have been reached, in milliseconds of this process's clock. */
const roomUntil = memo<{ until: number }>(10_000)

/** Attempts of the channel's local day. Far from the cap they are counted now and then. Near the cap the channel is locked and counted again, so that no two workers pass it at once. */
const isCapped = async (trx: Trx, channel: MessageChannelRow, timeZone: string, now: Date): Promise<boolean> => {
  const room = roomUntil(`${channel.id} ${channel.dailyCap}`, () => ({ until: 0 }))
  if (performance.now() < room.until) return false
  const left = channel.dailyCap - mostAtOnce - (await countToday(trx, channel, timeZone, now))
  if (left > 0) {
    room.until = performance.now() + Math.min(longestMs, (left / mostPerSecond) * 1_000)
    return false
  }
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

/** Tells whether a guest wrote to this house by WhatsApp within the last day. */
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
      data: { messageChannelId: channel.id, kind: channel.kind, code: 'daily_cap' },
    })
}

/** The channels of a plan: that of the house, and the strictest suppression in force against the reader's address on it. */
export type Ways = ReadonlyMap<
  ChannelKind,
  { channel: MessageChannelRow | null; suppressed: 'all' | 'marketing' | null }
>

/**
 * Takes the locks of all addresses that a plan may write to, in one order: two messages whose plans name the same channels the other way round come one
 * after the other, and none waits for what the other holds. The suppressions answered are read under them, and hold to the commit.
 */
export const lockReader = async (
  trx: Trx,
  propertyId: string,
  reader: Reader,
  plan: readonly { channel: ChannelKind }[],
): Promise<Ways> => {
  const kinds = [...new Set(plan.map(({ channel }) => channel))]
  const indexes = new Map<ChannelKind, Buffer>()
  for (const kind of kinds) {
    const address = kind === 'email' ? reader.email : reader.phone
    if (address !== null) indexes.set(kind, addressIndex(trx, kind, address))
  }
  const locks = new Map([...indexes.values()].map((index) => [index.toString('hex'), index]))
  const ordered = [...locks].toSorted(([one], [other]) => (one < other ? -1 : 1))
  // On one connection all that travels together comes one after the other.
  const locked = Promise.all(ordered.map(([, index]) => lockAddress(trx, index)))
  const [channels, suppressed] = await Promise.all([
    prepared<MessageChannelRow>(trx, `select * from message_channel where property_id = ? and kind = any(?::text[])`, [
      propertyId,
      kinds,
    ]),
    suppressionsOf(trx, indexes),
    locked,
  ])
  return new Map(
    kinds.map((kind) => [
      kind,
      { channel: channels.find((one) => one.kind === kind) ?? null, suppressed: suppressed.get(kind) ?? null },
    ]),
  )
}

// A campaign is sent once at most (R11): an attempt of unknown outcome may have arrived, also where it was given up.
const mayHaveArrived = `(a.status not in ('failed', 'bounced') or a.error_code = 'outcome_unknown')`

/** Tells whether a campaign has written already, or may have, to an address for another of its guests, or to the person under another profile. */
const hasHadCampaign = async (
  trx: Trx,
  index: Buffer,
  guestId: string | null,
  { id, campaignId }: Pick<MessageRow, 'id' | 'campaignId'>,
): Promise<boolean> =>
  campaignId !== null &&
  (await sqlOne(
    trx,
    `select a.id from message_attempt a join message m on m.tenant_id = a.tenant_id and m.id = a.message_id
     where a.recipient_index = :index and m.campaign_id = :campaignId and m.id <> :id and ${mayHaveArrived}
     union all select a.id from message m join message_attempt a on a.tenant_id = m.tenant_id and a.message_id = m.id
     where ${isOfGuest('m.guest_id', ':guestId')} and m.campaign_id = :campaignId and m.id <> :id and ${mayHaveArrived} limit 1`,
    { index, campaignId, id, guestId },
  )) !== null

/** Tells whether a channel of the plan can be used for a message at this moment, in the order of R8. */
export const checkStep = async (
  trx: Trx,
  kind: ChannelKind,
  { ways, booking, message, reader, contents, locales, timeZone, rules, now }: Subject,
): Promise<StepCheck> => {
  const { channel, suppressed } = ways.get(kind) ?? { channel: null, suppressed: null }
  if (!channel || !isUsable(channel)) return { cause: 'no_channel' }
  let content = contentFor(contents, kind, reader.language, locales)
  if (!content) return { cause: 'no_content' }
  const address = kind === 'email' ? reader.email : reader.phone
  if (address === null || (kind === 'email' ? isMailbox : isPhone)(address) !== null)
    return { cause: 'recipient_missing' }
  if (kind !== 'email' && channel.countries.length > 0 && !isNumberOf(address, channel.countries))
    return { cause: 'country_not_allowed' }
  const index = addressIndex(trx, kind, address)
  if (suppressed === 'all' || (suppressed === 'marketing' && message.purpose === 'marketing'))
    return { cause: 'recipient_suppressed' }
  if (message.purpose === 'marketing' && !(await hasConsent(trx, reader.guestId, kind)))
    return { cause: 'consent_missing' }
  if (await hasHadCampaign(trx, index, reader.guestId, message)) return { cause: 'already_sent' }
  const strange = await strangersCause(trx, kind, index, { id: message.id, booking })
  if (strange) return { cause: strange }
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
