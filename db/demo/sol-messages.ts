import type { Trx } from '../lib/connection.ts'
import { createAutomation, createTemplate, publishTemplate, receiveMessage } from '../ocp/index.ts'
import { sol } from './ids.ts'

const subject = 'How was your stay at {{property.name}}?'
const contents = [
  {
    channel: 'email' as const,
    locale: 'pt-BR',
    subject: 'Como foi sua estadia na {{property.name}}?',
    text: 'Olá, {{guest.firstName | default:"hóspede"}}! Conte como foi.\n\n{{property.name}}\n\nSem mais mensagens: {{unsubscribe.link}}',
  },
  {
    channel: 'email' as const,
    locale: 'en',
    subject,
    text: 'Dear {{guest.firstName | default:"guest"}}, tell us how it was.\n\n{{property.name}}\n\nNo more messages: {{unsubscribe.link}}',
  },
]

/** A text of the house with an automation that sends it, one for campaigns, and a guest who asks something. */
export const buildMessages = async (trx: Trx): Promise<void> => {
  const asking = await createTemplate(trx, {
    key: 'how-was-it',
    name: 'How was it',
    purpose: 'marketing',
    urgency: 'normal',
    context: 'reservation',
    contents,
  })
  const offer = await createTemplate(trx, {
    key: 'low-season',
    name: 'Low season offer',
    purpose: 'marketing',
    urgency: 'normal',
    context: 'guest',
    contents,
  })
  for (const id of [asking, offer]) await publishTemplate(trx, id)
  await createAutomation(trx, {
    propertyId: sol.propertyId,
    name: 'Ask how it was',
    enabled: true,
    trigger: { anchor: 'checked_out', days: 2, at: '11:00' },
    templateId: asking,
    plan: [{ channel: 'email', waitMinutes: 30 }],
  })
  await receiveMessage(trx, sol.propertyId, 'email', {
    providerId: 'demo-1',
    from: 'clara.monteiro@guests.example',
    subject: 'Estacionamento',
    text: 'Boa tarde! A pousada tem estacionamento? Chegamos de carro na sexta-feira.',
    attachments: [],
    isOptOut: false,
  })
}
