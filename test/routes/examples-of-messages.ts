import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { sql } from '../../db/lib/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { makeTemplate, messageRecords } from '../ocp/records.ts'
import type { Known } from './inputs.ts'

/** Templates, an automation, a message that waits, a conversation, a campaign and a suppression. */
export const ofMessages = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const records = await messageRecords(house)
  const failed = await house.inHouse(async (trx) => {
    const id = await queueMessage(trx, {
      propertyId: house.propertyId,
      templateKey: 'registration-link',
      dedupeKey: 'fuzz-failed',
      recipient: { name: 'Ana Souza', email: 'ana@example.com' },
      scheduledFor: new Date(Date.now() + 86_400_000),
    })
    await sql(trx, `update message set status = 'failed', reason = 'refused' where id = ?`, [id])
    return id ?? ''
  })
  const retired = await house.inHouse((trx) => makeTemplate(trx))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    known: {
      messageTemplateId: one(records.messageTemplateId, records.marketingTemplateId),
      templateId: one(records.publishedTemplateId, records.marketingTemplateId),
      automationId: one(records.automationId),
      messageChannelId: one(records.messageChannelId),
      messageId: one(records.messageId),
      'messageTemplates.archive messageTemplateId': one(retired),
      'messages.retry messageId': one(failed),
      conversationId: one(records.conversationId),
      suppressionId: one(records.suppressionId),
      campaignId: one(records.campaignId),
      assigneeId: one(null, 'me', 'none'),
      month: one('2026-11'),
      callbackToken: one('nobody'),
      unsubscribeToken: one('nobody'),
    },
    examples: {
      'messages.usage': [{}, { from: '2026-10', to: '2026-11' }],
      'campaigns.launch': [{ dryRun: true }, {}],
      'messageTemplates.preview': [{ channel: 'email', locale: 'pt' }],
      'messages.create': [
        {
          propertyId: house.propertyId,
          recipient: { name: 'Ana', email: 'ana@example.com' },
          text: { subject: 'Hello', text: 'Good day' },
        },
      ],
    },
  }
}
