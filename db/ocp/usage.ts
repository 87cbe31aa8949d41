import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

export type ChannelUse = {
  month: string
  propertyId: string
  kind: 'email' | 'sms' | 'whatsapp'
  sent: number
  delivered: number
  failed: number
  segments: number
}

/** Messages sent by each channel of each house in a range of months such as `2026-11`, both included, in the time zone of the house. */
export const channelUse = (trx: Trx, from: string, to: string): Promise<ChannelUse[]> =>
  sql<ChannelUse>(
    trx,
    `select to_char(a.created_at at time zone p.timezone, 'YYYY-MM') as month, a.property_id, a.kind,
       count(*) filter (where a.sent_at is not null) as sent, count(*) filter (where a.status in ('delivered', 'read')) as delivered,
       count(*) filter (where a.status in ('failed', 'bounced')) as failed, coalesce(sum(a.segments) filter (where a.sent_at is not null), 0)::bigint as segments
     from message_attempt a join property p on p.tenant_id = a.tenant_id and p.id = a.property_id
     where a.created_at >= (:from || '-01')::date - 1 and a.created_at < (:to || '-01')::date + interval '1 month 1 day'
       and to_char(a.created_at at time zone p.timezone, 'YYYY-MM') between :from and :to
     group by 1, 2, 3 order by 1, 2, 3`,
    { from, to },
  )

/** Billable units of a tenant by meter and month, as its invoices count them. */
export const meteredUse = (
  trx: Trx,
  from: string,
  to: string,
): Promise<{ month: string; meter: string; quantity: number }[]> =>
  sql(
    trx,
    `select to_char(day, 'YYYY-MM') as month, meter, sum(quantity)::bigint as quantity from usage_day
     where meter in ('messages.email', 'messages.phone') and tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid
       and day >= (:from || '-01')::date and day < (:to || '-01')::date + interval '1 month'
     group by 1, 2 order by 1, 2`,
    { from, to },
  )
