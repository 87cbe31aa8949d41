import type { Doctored } from './doctored.ts'

const peace = 'who said no is heard once, and nothing to them is begun after that'

const use = 'use of messages is what the accounts of the service took, each once by message and channel'

/** Ways to break the rules of messages. */
export const doctoredMessages: readonly Doctored[] = [
  {
    what: 'a confirmation has no message',
    rule: 'every confirmation is one message',
    statements: [
      `delete from message where template_id in (select id from message_template where key = 'reservation-confirmed')`,
    ],
  },
  {
    what: 'a payment has no message',
    rule: 'every event is one message of each automation that listens to it',
    statements: [
      `delete from message where template_id in (select id from message_template where key = 'payment-captured')`,
    ],
  },
  {
    what: 'a message was taken and is not counted',
    rule: use,
    statements: [
      `delete from usage_event where key = (select min(key) from usage_event where meter = 'messages.phone')`,
    ],
  },
  {
    what: 'a message is counted and was not taken',
    rule: use,
    statements: [
      `insert into usage_event (tenant_id, meter, key, quantity, at) select tenant_id, 'messages.email', 'x', 1, now() from usage_event limit 1`,
    ],
  },
  {
    what: 'a day has a message more than its facts',
    rule: use,
    statements: [`update usage_day set quantity = quantity + 1 where meter = 'messages.email'`],
  },
  {
    what: 'a word of a guest is nowhere',
    rule: 'each word of a guest stands once, and none is left unheard',
    statements: [
      `insert into message_callback (tenant_id, id, message_channel_id, key, status, processed_at)
       select tenant_id, gen_random_uuid(), id, 'inbound:x', 'processed', now() from message_channel limit 1`,
    ],
  },
  {
    what: 'a mail was lost',
    rule: 'every message that is sent has arrived, and arrives once where its fate was seen',
    evidence: (evidence) => ({ ...evidence, mails: evidence.mails.slice(1) }),
  },
  {
    what: 'a mail came twice though its acceptance was seen',
    rule: 'every message that is sent has arrived, and arrives once where its fate was seen',
    evidence: (evidence) => ({ ...evidence, mails: [...evidence.mails, ...evidence.mails.slice(0, 1)] }),
  },
  {
    what: 'a text was lost',
    rule: 'every message that is sent has arrived, and arrives once where its fate was seen',
    evidence: (evidence) => ({ ...evidence, texts: evidence.texts.slice(1) }),
  },
  {
    what: 'a text came twice though its acceptance was seen',
    rule: 'every message that is sent has arrived, and arrives once where its fate was seen',
    evidence: (evidence) => ({ ...evidence, texts: [...evidence.texts, ...evidence.texts.slice(0, 1)] }),
  },
  {
    what: 'a message was given up whose address refused nothing before',
    rule: 'every message that is sent has arrived, and arrives once where its fate was seen',
    statements: [
      `update suppression set created_at = timestamptz '2199-01-01'`,
      `update message set status = 'failed', reason = 'outcome_unknown' where status = 'sent'`,
    ],
  },
  {
    what: 'a guest who said no was written to after that',
    rule: peace,
    statements: [`update message_callback set processed_at = timestamptz '2000-01-01' where key like 'inbound:no-%'`],
  },
  {
    what: 'an offer was written to a guest who had followed its way out',
    rule: peace,
    statements: [`update message_attempt set created_at = timestamptz '2199-01-01' where purpose = 'marketing'`],
  },
  {
    what: 'a guest was written to after staff had noted that they want it no more',
    rule: peace,
    evidence: (evidence) => ({
      ...evidence,
      refusals: evidence.refusals.map((one) => (one.suppressionId ? { ...one, at: '2000-01-01T00:00:00Z' } : one)),
    }),
  },
  {
    what: 'a call was begun once more after its guest had said no',
    rule: peace,
    statements: [`update external_call set started_at = timestamptz '2199-01-01' where operation = 'send'`],
  },
  {
    what: 'a mail of which nothing is known came to a guest who had said no',
    rule: peace,
    evidence: (evidence) => ({
      ...evidence,
      mails: evidence.mails.map((mail) => ({ ...mail, messageId: '', receivedAt: '2199-01-01T00:00:00Z' })),
    }),
  },
  {
    what: 'a text of which nothing is known came to a guest who had said no',
    rule: peace,
    evidence: (evidence) => ({
      ...evidence,
      texts: evidence.refusals.flatMap(({ kind, address }) =>
        Array.from({ length: 9 }, () => ({
          sid: '',
          to: kind === 'whatsapp' ? `whatsapp:${address}` : address,
          body: '',
          contentVariables: '',
          receivedAt: '2199-01-01T00:00:00Z',
        })),
      ),
    }),
  },
  {
    what: 'a guest said no and is not kept from',
    rule: peace,
    statements: [`delete from suppression`],
  },
  {
    what: 'a guest said no and nobody has read it',
    rule: peace,
    statements: [`delete from message_callback where key like 'inbound:no-%'`],
  },
]
