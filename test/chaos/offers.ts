import { inTenant, sql } from '../../db/lib/connection.ts'
import { createAutomation, createTemplate, publishTemplate } from '../../db/ocp/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'

type Contents = Parameters<typeof createTemplate>[1]['contents']

const stay = '{{reservation.number | default:"-"}}'

/** Contents of a text with the ids of its event and its stay, by which a message that arrives is known. */
const textsOf = (event: string): Contents => [
  { channel: 'sms', locale: 'en', text: `${event} ${stay}` },
  {
    channel: 'whatsapp',
    locale: 'en',
    contentSid: `HX${'0'.repeat(32)}`,
    contentVariables: { 1: `${event} ${stay}` },
  },
]

const publish = async (trx: Trx, key: string, purpose: 'service' | 'marketing', contents: Contents) => {
  const urgency = purpose === 'service' ? 'immediate' : 'normal'
  const id = await createTemplate(trx, { key, name: key, purpose, urgency, context: 'reservation', contents })
  await publishTemplate(trx, id)
  return id
}

const open = async (trx: Trx): Promise<void> => {
  await sql(
    trx,
    `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00", "perGuestDaily": 20, "marketingPer30Days": 15}}'::jsonb`,
  )
  await sql(
    trx,
    `update message_channel set enabled = true, transport = 'platform', daily_cap = 100000 where kind <> 'email'`,
  )
  const text = 'Come back. To get no more of this: {{unsubscribe.link}}'
  const offer = await publish(trx, 'offer', 'marketing', [
    { channel: 'email', locale: 'en', subject: 'An offer', text },
  ])
  const cancelled = await publish(trx, 'text-cancelled', 'service', textsOf('cancelled'))
  const automations = [
    ['confirmed', offer, 'email'],
    ['cancelled', offer, 'email'],
    ['cancelled', cancelled, 'sms'],
    ['cancelled', cancelled, 'whatsapp'],
  ] as const
  for (const [event, templateId, channel] of automations)
    await createAutomation(trx, {
      name: `${event} ${templateId} ${channel}`,
      templateId,
      trigger: { event: `reservation.${event}` },
      plan: [{ channel, waitMinutes: 30 }],
    })
}

/** Has each house write more: an offer by mail to guests who agreed, and a text by SMS and by WhatsApp of each stay that is cancelled: what comes after most refusals. */
export const openOffers = async (houses: readonly House[]): Promise<void> => {
  for (const tenantId of new Set(houses.map((house) => house.tenantId))) await inTenant(tenantId, open)
}
