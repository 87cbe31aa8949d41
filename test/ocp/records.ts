import { randomUUID } from 'node:crypto'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { createCampaign, createTemplate, publishTemplate, queueMessage, suppress } from '../../db/ocp/index.ts'
import { conversationWith } from '../../db/ocp/conversations.ts'
import { addressIndex } from '../../db/ocp/suppression.ts'
import type { House } from '../support/factories.ts'

/** A published template of one e-mail in English. */
type TemplateOptions = { key?: string; marketing?: boolean; context?: 'guest' | 'reservation'; text?: string }

export const makeTemplate = async (
  trx: Trx,
  { key = `t-${randomUUID().slice(0, 8)}`, marketing = false, context = 'guest', text = '' }: TemplateOptions = {},
): Promise<string> => {
  const id = await createTemplate(trx, {
    key,
    name: key,
    purpose: marketing ? 'marketing' : 'service',
    urgency: 'normal',
    context,
    contents: [
      {
        channel: 'email',
        locale: 'en',
        subject: 'News of {{property.name}}',
        text: text || (marketing ? 'Come back. {{unsubscribe.link}}' : 'Hello {{guest.firstName | default:"guest"}}'),
      },
    ],
  })
  await publishTemplate(trx, id)
  return id
}

/** A conversation by SMS with a stranger. */
type ConversationOptions = { kind?: 'email' | 'sms' | 'whatsapp'; address?: string; guestId?: string | null }

export const makeConversation = (
  house: House,
  { kind = 'sms', address = '+5511987650000', guestId = null }: ConversationOptions = {},
): Promise<string> =>
  house.inHouse((trx) =>
    conversationWith(
      trx,
      { propertyId: house.propertyId, kind, address, index: addressIndex(trx, kind, address) },
      { guestId, reservationId: null },
    ),
  )

export const channelOf = async (house: House, kind: 'email' | 'sms' | 'whatsapp'): Promise<string> => {
  const row = await house.inHouse((trx) =>
    sqlOne<{ id: string }>(trx, `select id from message_channel where property_id = ? and kind = ?`, [
      house.propertyId,
      kind,
    ]),
  )
  if (!row) throw new Error('a property has three channels')
  return row.id
}

/** Records of messages, by the names that paths have for them. */
export const messageRecords = async (house: House) => {
  const conversationId = await makeConversation(house, { kind: 'email', address: 'asks@example.com' })
  return house.inHouse(async (trx) => {
    const publishedTemplateId = await makeTemplate(trx, { context: 'reservation' })
    const marketingTemplateId = await makeTemplate(trx, { marketing: true })
    const campaignId = await createCampaign(trx, {
      propertyId: house.propertyId,
      name: `Winter ${randomUUID().slice(0, 8)}`,
      templateId: marketingTemplateId,
      segment: { minStays: 1 },
    })
    const messageId =
      (await queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana Souza', email: 'ana@example.com' },
        scheduledFor: new Date(Date.now() + 86_400_000),
      })) ?? ''
    const suppressionId = await suppress(trx, {
      kind: 'email',
      address: 'never@example.com',
      scope: 'all',
      cause: 'manual',
      messageId: null,
    })
    const [automation] = await sql<{ id: string }>(trx, `select id from automation order by name limit 1`)
    const [channel] = await sql<{ id: string }>(trx, `select id from message_channel where property_id = ? limit 1`, [
      house.propertyId,
    ])
    return {
      publishedTemplateId,
      marketingTemplateId,
      messageTemplateId: publishedTemplateId,
      automationId: automation?.id ?? '',
      messageChannelId: channel?.id ?? '',
      messageId,
      conversationId,
      suppressionId,
      campaignId,
    }
  })
}
