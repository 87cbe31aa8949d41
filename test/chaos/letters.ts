import { createGuests } from '../../db/guests/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  createAutomation,
  createCampaign,
  createTemplate,
  launchCampaign,
  publishTemplate,
  sendMessage,
} from '../../db/ocp/index.ts'
import type { House } from '../support/factories.ts'
import { silence } from './carrier.ts'
import { sayByWord } from './no-sayers.ts'
import type { Door, Refusal } from './no-sayers.ts'

const addressOf = (tag: string, who: string, n: number) => `${tag}-${who}-${n}@guests.example`

/** A published template of one mail in English, made once for each key. */
const templateOf = async (
  trx: Trx,
  key: string,
  { purpose, context, text }: { purpose: 'service' | 'marketing'; context: 'guest' | 'reservation'; text: string },
): Promise<string> => {
  const made = await sqlOne<{ id: string }>(trx, `select id from message_template where key = ?`, [key])
  if (made) return made.id
  const contents = [{ channel: 'email' as const, locale: 'en', subject: 'News', text }]
  const id = await createTemplate(trx, { key, name: key, purpose, urgency: 'normal', context, contents })
  await publishTemplate(trx, id)
  return id
}

/** Makes guests under a tag: most of them agreed to offers by mail, one never said a word, and one agreed and then answers with a stop word. */
export const openReaders = async (
  { tenantId }: House,
  { apis, inbox, tag, many }: { apis: readonly string[]; inbox: Door; tag: string; many: number },
): Promise<{ willing: string[]; refusals: Refusal[] }> => {
  const willing = Array.from({ length: many }, (_, n) => addressOf(tag, 'yes', n))
  const refused = [addressOf(tag, 'no', 0)]
  const silent = [addressOf(tag, 'silent', 0)]
  await inTenant(tenantId, async (trx) => {
    const guests = [...willing, ...refused, ...silent].map((email) => ({
      firstName: 'Ana',
      lastName: 'Souza',
      source: 'staff' as const,
      language: 'en',
      tags: [tag],
      email,
    }))
    const ids = await createGuests(trx, guests, { allowDuplicate: true })
    for (const guestId of ids.slice(0, -1))
      await sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId],
      )
  })
  const refusals = await Promise.all(refused.map((email) => sayByWord(apis, inbox, 'email', email)))
  return { willing, refusals: refusals.map((one) => one!) }
}

/** Launches a campaign by mail to the guests of a tag, now or at a time. Answers its id. */
export const launchTo = ({ tenantId, propertyId }: House, tag: string, at?: Date): Promise<string> =>
  inTenant(tenantId, async (trx) => {
    const text = 'Come back. To get no more of this: {{unsubscribe.link}}'
    const id = await createCampaign(trx, {
      propertyId,
      name: tag,
      templateId: await templateOf(trx, 'campaign', { purpose: 'marketing', context: 'guest', text }),
      plan: [{ channel: 'email', waitMinutes: 30 }],
      segment: { tags: [tag] },
    })
    await launchCampaign(trx, id, at)
    return id
  })

/** Has a mail written to each stay the day before it begins. */
export const announceArrivals = ({ tenantId }: House, name: string): Promise<string> =>
  inTenant(tenantId, async (trx) =>
    createAutomation(trx, {
      name,
      templateId: await templateOf(trx, 'tomorrow', {
        purpose: 'service',
        context: 'reservation',
        text: 'Until tomorrow.',
      }),
      trigger: { anchor: 'arrival', days: -1, at: '11:00' },
      plan: [{ channel: 'email', waitMinutes: 30 }],
    }),
  )

/** A text of staff to the booker of a stay, of which the carrier tells nothing, with a mail after it. Answers its message. */
export const textInVain = ({ tenantId, propertyId }: House, bookingId: string): Promise<string> =>
  inTenant(tenantId, async (trx) => {
    const booking = await sqlOne<{ guestId: string }>(
      trx,
      `select booker_guest_id as guest_id from booking where id = ?`,
      [bookingId],
    )
    return sendMessage(trx, {
      propertyId,
      guestId: booking?.guestId,
      text: { subject: 'Your stay', text: `${silence} ${bookingId}` },
      plan: [
        { channel: 'sms', waitMinutes: 30 },
        { channel: 'email', waitMinutes: 30 },
      ],
    })
  })

const campaignReaders = 40

/** A campaign for each tenant, from its first house, at a time when faults go on, and mails before each arrival. Answers who said no. */
export const openCampaigns = async (
  houses: readonly House[],
  { apis, inboxes, afterMs }: { apis: readonly string[]; inboxes: ReadonlyMap<string, Door>; afterMs: number },
): Promise<Refusal[]> => {
  const found: Refusal[] = []
  for (const house of houses.filter(
    (one, at) => houses.findIndex(({ tenantId }) => tenantId === one.tenantId) === at,
  )) {
    const inbox = inboxes.get(house.propertyId)
    if (!inbox) throw new Error('the house hears no mail')
    const tag = `camp-${house.propertyId.slice(0, 8)}`
    const { refusals } = await openReaders(house, { apis, inbox, tag, many: campaignReaders })
    found.push(...refusals)
    await launchTo(house, tag, new Date(Date.now() + afterMs))
    await announceArrivals(house, 'tomorrow')
  }
  return found
}
