import type { Doctored } from './doctored.ts'

const campaign = 'every campaign ends, and has one message for each guest who agreed, and none for another'
const passed = 'a text of which nothing is heard makes room for the next channel, and no channel is used twice'
const dated = 'every stay has one message of each automation for its arrival, and none that is over'
const arrived = 'every message that is sent has arrived, and arrives once where its fate was seen'

/** Ways to break the rules of campaigns, of plans of channels, and of dated messages. */
export const doctoredLetters: readonly Doctored[] = [
  {
    what: 'a campaign left out a guest who agreed',
    rule: campaign,
    statements: [
      `delete from message where id = (select id from message where campaign_id is not null order by id limit 1)`,
    ],
  },
  {
    what: 'a campaign made a message for a guest who never agreed',
    rule: campaign,
    statements: [
      `update message set guest_id = (select g.id from guest g where 'camp' = any(g.tags)
         and not exists (select from guest_consent c where c.guest_id = g.id)) where campaign_id is not null`,
    ],
  },
  {
    what: 'a campaign made a message for a guest who had said no',
    rule: campaign,
    statements: [
      `update message set guest_id = (select g.id from guest g join suppression s on s.address_index = g.email_index where 'camp' = any(g.tags) limit 1)
       where id = (select id from message where campaign_id is not null order by id limit 1)`,
    ],
  },
  {
    what: 'a campaign stands still',
    rule: campaign,
    statements: [`update campaign set status = 'running', ended_at = null`],
  },
  {
    what: 'an offer of a campaign came twice, its fate unknown',
    rule: arrived,
    statements: [`update message_attempt set resends = 1 where purpose = 'marketing'`],
    evidence: (evidence) => ({
      ...evidence,
      mails: [...evidence.mails, ...evidence.mails.filter(({ to }) => to.some((one) => one.startsWith('camp-')))],
    }),
  },
  {
    what: 'a message says that it was sent, and no channel took it',
    rule: arrived,
    statements: [`update message_attempt set status = 'failed', rank = 3 where kind = 'email'`],
  },
  {
    what: 'a text waits for ever for the word that it arrived',
    rule: passed,
    statements: [`update message set status = 'sent', fallback_at = now() where step = 1 and origin = 'staff'`],
  },
  {
    what: 'a channel was used twice',
    rule: passed,
    statements: [
      `update message_attempt set step = 0, number = 2 where step = 1 and message_id in (select id from message where origin = 'staff')`,
    ],
  },
  {
    what: 'the next channel was used although the text had arrived',
    rule: passed,
    statements: [
      `update message_attempt set status = 'delivered', rank = 4, delivered_at = timestamptz '2000-01-01'
       where kind = 'sms' and message_id in (select id from message where origin = 'staff')`,
    ],
  },
  {
    what: 'a stay has no message before it begins',
    rule: dated,
    statements: [`delete from message where origin = 'automation' and event_id is null`],
  },
  {
    what: 'a stay that is cancelled is still to be written to',
    rule: dated,
    statements: [
      `update message set reservation_id = (select id from reservation where status = 'cancelled' limit 1) where origin = 'automation' and event_id is null`,
    ],
  },
]
