import type { Doctored } from './doctored.ts'

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
    what: 'a guest who said no was written to after that',
    rule: 'a guest who said no is heard once, and has no message that was written or sent after that',
    statements: [`update message_callback set processed_at = timestamptz '2000-01-01' where key like 'inbound:no-%'`],
  },
  {
    what: 'a mail goes out long after its guest said no',
    rule: 'a guest who said no is heard once, and has no message that was written or sent after that',
    evidence: (evidence) => ({
      ...evidence,
      mails: evidence.mails.map((mail) => ({ ...mail, receivedAt: '2199-01-01T00:00:00Z' })),
    }),
  },
  {
    what: 'a guest said no and is not kept from',
    rule: 'a guest who said no is heard once, and has no message that was written or sent after that',
    statements: [`delete from suppression`],
  },
  {
    what: 'a guest said no and nobody has read it',
    rule: 'a guest who said no is heard once, and has no message that was written or sent after that',
    statements: [`delete from message_callback where key like 'inbound:no-%'`],
  },
]
