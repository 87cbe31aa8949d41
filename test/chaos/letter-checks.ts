import { none } from './evidence.ts'
import type { Check } from './evidence.ts'

// Consent that a guest withdraws after the launch may come before or after the campaign is gone through.
const willing = `(select c.decision = 'granted' and c.at <= k.launched_at from guest_consent c
    where c.tenant_id = g.tenant_id and c.guest_id = g.id and c.purpose = 'marketing_email' order by c.at desc limit 1)`
const wantsNone = (
  until: string,
) => `exists (select from suppression s where s.tenant_id = g.tenant_id and s.kind = 'email'
    and s.address_index = g.email_index and s.lifted_at is null and s.created_at <= ${until})`

export const letterChecks: Record<string, Check> = {
  'every campaign ends, and has one message for each guest who agreed, and none for another': none(
    `select k.id, k.status, g.id as guest_id, count(m.id) as messages from campaign k
     join guest g on g.tenant_id = k.tenant_id and g.tags && array(select jsonb_array_elements_text(k.segment->'tags'))
     left join message m on m.tenant_id = k.tenant_id and m.campaign_id = k.id and m.guest_id = g.id
     where k.launched_at is not null
     group by k.tenant_id, k.id, g.tenant_id, g.id
     having k.status <> 'completed'
       or (count(m.id) <> 1 and coalesce(${willing}, false) and not ${wantsNone('now()')})
       or (count(m.id) <> 0 and (not exists (select from guest_consent c where c.tenant_id = g.tenant_id and c.guest_id = g.id and c.decision = 'granted')
         or ${wantsNone('k.launched_at')}))
       or count(m.id) > 1`,
  ),
  'a text of which nothing is heard makes room for the next channel, and no channel is used twice': none(
    `select m.id, m.status, m.step, 'waits' as what from message m where m.status = 'sent' and m.fallback_at is not null
     union all select m.id, m.status, a.step, 'twice' from message m join message_attempt a on a.tenant_id = m.tenant_id and a.message_id = m.id
     where a.sent_at is not null group by m.tenant_id, m.id, a.round, a.step having count(*) > 1
     union all select m.id, m.status, a.step, 'too soon' from message m join message_attempt a on a.tenant_id = m.tenant_id and a.message_id = m.id
     where a.status in ('delivered', 'read') and exists (select from message_attempt b where b.tenant_id = a.tenant_id and b.message_id = a.message_id
       and b.round = a.round and b.step > a.step and b.created_at > a.delivered_at)`,
  ),
  'every stay has one message of each automation for its arrival, and none that is over': none(
    `select r.id, a.id as automation, count(m.id) as messages from automation a
     join reservation r on r.tenant_id = a.tenant_id and r.status = 'confirmed' and (a.property_id is null or a.property_id = r.property_id)
     left join message m on m.tenant_id = a.tenant_id and m.dedupe_key = 'auto:' || a.id || ':' || r.id and m.status = 'scheduled'
     where a.enabled and a.trigger->>'anchor' = 'arrival' and a.trigger->>'days' is not null and a.conditions = '{}' and r.arrival + (a.trigger->>'days')::int > current_date + 1
     group by 1, 2 having count(m.id) <> 1
     union all select r.id, m.automation_id, 1 from message m join reservation r on r.tenant_id = m.tenant_id and r.id = m.reservation_id
     where m.origin = 'automation' and m.event_id is null and m.status = 'scheduled' and r.status in ('cancelled', 'expired', 'no_show')`,
  ),
}
