import { sql } from '../../db/lib/connection.ts'
import { messageOf, none } from './evidence.ts'
import type { Check, Evidence } from './evidence.ts'

type Row = {
  id: string
  status: string
  reason: string | null
  /** The event and stay, as a text names them; of mails the Message-ID does it. */
  name: string
  kind: string
  /** Calls beyond the first that were allowed for an attempt whose fate was unknown. */
  resends: number
  wasUnknown: boolean
  /** An attempt on the channel says so. */
  isSent: boolean
  /** The message says that it was sent, and no attempt does. */
  isUnfounded: boolean
  /** It was given up, its fate unknown: one of a campaign, or one whose address had refused such messages by then. */
  isGivenUp: boolean
  /** A channel of the plan before the one that the message has come to. */
  isPassed: boolean
  isCampaign: boolean
}

/**
 * Copies that arrived outside, by message and channel. A text is known by the carrier's id; one whose sender never read that says which event and stay it is of.
 */
const arrivalsOf = (
  { mails, texts }: Pick<Evidence, 'mails' | 'texts'>,
  bySid: ReadonlyMap<string, string>,
): Map<string, number> => {
  const arrived = new Map<string, number>()
  const add = (key: string) => arrived.set(key, (arrived.get(key) ?? 0) + 1)
  for (const { messageId } of mails) add(`email ${messageOf(messageId)}`)
  for (const { sid, to, body, contentVariables } of texts) {
    const words = contentVariables === '' ? body : String(Object.values(JSON.parse(contentVariables) as object)[0])
    add(`${to.startsWith('whatsapp:') ? 'whatsapp' : 'sms'} ${bySid.get(sid) ?? words}`)
  }
  return arrived
}

const isOver = ['sent', 'delivered', 'read', 'suppressed', 'expired', 'cancelled']

/** Tells whether as many copies of a message arrived on a channel as its attempts there allow. */
const isRight = (row: Row, copies: number): boolean => {
  // One of a campaign comes once at most, whatever becomes of its sender.
  if (row.isCampaign && copies > 1) return false
  const isAllowed = row.wasUnknown && copies <= 1 + row.resends
  if (!row.isPassed && row.status === 'failed') return row.isGivenUp && isAllowed
  if (row.isUnfounded || (!row.isPassed && !isOver.includes(row.status))) return false
  if (row.isSent) return copies === 1 || (copies > 1 && row.wasUnknown)
  return copies === 0 || isAllowed
}

export const messageChecks: Record<string, Check> = {
  'every confirmation is one message': none(
    `select r.id, count(m.id) as messages from reservation r
     join event e on e.tenant_id = r.tenant_id and e.type = 'reservation.confirmed' and e.entity->>'id' = r.id::text
     left join message m on m.tenant_id = e.tenant_id and m.event_id = e.id
       and m.template_id in (select t.id from message_template t where t.tenant_id = m.tenant_id and t.key = 'reservation-confirmed')
     group by r.tenant_id, r.id having count(m.id) <> 1 or count(distinct e.id) <> 1`,
  ),
  'every event is one message of each automation that listens to it': none(
    `select e.type, e.id, a.id as automation, count(m.id) as messages from event e
     join automation a on a.tenant_id = e.tenant_id and a.enabled and a.trigger->>'event' = e.type and (a.property_id is null or a.property_id = e.property_id)
     left join message m on m.tenant_id = e.tenant_id and m.dedupe_key = 'auto:' || a.id || ':' || e.id
     where e.type in ('reservation.confirmed', 'payment.captured') or (e.type = 'reservation.cancelled' and exists (select from event c
       where c.tenant_id = e.tenant_id and c.type = 'reservation.confirmed' and c.entity->>'id' = e.entity->>'id'))
     group by 1, 2, 3 having count(m.id) <> 1`,
  ),
  'use of messages is what the accounts of the service took, each once by message and channel': none(
    `select coalesce(u.tenant_id, a.tenant_id) as tenant_id, u.meter, u.key, a.key as taken from usage_event u
     full join (select distinct tenant_id, case kind when 'email' then 'messages.email' else 'messages.phone' end as meter, message_id || ':' || kind as key
       from message_attempt where transport = 'platform' and sent_at is not null) a
       on a.tenant_id = u.tenant_id and a.meter = u.meter and a.key = u.key
     where (u.key is null or a.key is null) and coalesce(u.meter, a.meter) in ('messages.email', 'messages.phone')
     union all select d.tenant_id, d.meter, d.quantity::text, f.quantity::text from (
       select tenant_id, meter, sum(quantity) as quantity from usage_day where meter in ('messages.email', 'messages.phone') group by 1, 2) d
     full join (select tenant_id, meter, sum(quantity) as quantity from usage_event where meter in ('messages.email', 'messages.phone') group by 1, 2) f
       on f.tenant_id = d.tenant_id and f.meter = d.meter
     where d.quantity is distinct from f.quantity`,
  ),
  'each word of a guest stands once, and none is left unheard': none(
    `select c.key, c.status, count(m.id) as messages from message_callback c
     left join message m on m.tenant_id = c.tenant_id and m.dedupe_key = 'in:' || c.message_channel_id || ':' || substr(c.key, strpos(c.key, ':') + 1)
     where c.key like 'in:%' or c.key like 'inbound:%' group by c.tenant_id, c.id, c.key, c.status having count(m.id) <> 1 or c.status <> 'processed'`,
  ),
  'every message that is sent has arrived, and arrives once where its fate was seen': async (database, evidence) => {
    const rows = await sql<Row>(
      database,
      `select m.id, m.status, m.reason, k.kind, k.place < m.step as is_passed, m.origin = 'campaign' as is_campaign, coalesce(sum(a.resends), 0)::int as resends,
         split_part(e.type, '.', 2) || ' ' || b.number || '-' || r.position as name,
         coalesce(bool_or(a.status in ('sent', 'delivered', 'read')), false) as is_sent,
         m.status in ('sent', 'delivered', 'read') and not exists (select from message_attempt o
           where o.tenant_id = m.tenant_id and o.message_id = m.id and o.status in ('sent', 'delivered', 'read')) as is_unfounded,
         coalesce(bool_or(a.status = 'unknown' or a.resends > 0 or exists (select from jsonb_array_elements(a.proof) p where p->>'status' = 'unknown')), false) as was_unknown,
         m.status = 'failed' and m.reason = 'outcome_unknown' and (m.origin = 'campaign' or exists (select from suppression s
           join event f on f.tenant_id = s.tenant_id and f.type = 'message.failed' and f.entity->>'id' = m.id::text and f.occurred_at > s.created_at
           where s.tenant_id = m.tenant_id and s.kind = k.kind and (s.scope = 'all' or m.purpose = 'marketing')
             and s.address_index in (select y.recipient_index from message_attempt y where y.tenant_id = m.tenant_id and y.message_id = m.id))) as is_given_up
       from message m cross join lateral (select channel->>'channel' as kind, at - 1 as place from jsonb_array_elements(m.plan) with ordinality p (channel, at)) k
       left join message_attempt a on a.tenant_id = m.tenant_id and a.message_id = m.id and a.kind = k.kind
       left join event e on e.tenant_id = m.tenant_id and e.id = m.event_id
       left join reservation r on r.tenant_id = m.tenant_id and r.id = m.reservation_id left join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
       where m.direction = 'outbound' and m.scheduled_for < now() and k.place <= m.step group by m.tenant_id, m.id, k.kind, k.place, e.type, b.number, r.position`,
    )
    const texts = await sql<{ sid: string; messageId: string }>(
      database,
      `select provider_id as sid, message_id from message_attempt where kind <> 'email' and provider_id is not null`,
    )
    const arrived = arrivalsOf(evidence, new Map(texts.map(({ sid, messageId }) => [sid, messageId])))
    return rows.flatMap((row) => {
      const copies = (arrived.get(`${row.kind} ${row.id}`) ?? 0) + (arrived.get(`${row.kind} ${row.name}`) ?? 0)
      return isRight(row, copies) ? [] : [{ ...row, copies }]
    })
  },
}
