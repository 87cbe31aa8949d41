import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'

type Clock = { met: number; missed: number; medianMinutes: number | null }
export type Summary = {
  open: { byStatus: Record<string, number>; byPriority: Record<string, number>; late: number }
  opened: number
  closed: number
  firstResponse: Clock
  resolution: Clock
  reopened: number
  satisfaction: { answers: number; average: number | null }
  byCategory: { categoryId: string; issues: number; late: number; compensation: number }[]
  byCause: Record<string, number>
  recurring: { unitId: string; categoryId: string; issues: number }[]
  compensation: { adjustments: number; gestures: number; currency: string | null }
}

const isLate = `coalesce(i.next_due_at < now(), false) or (i.status = 'waiting' and i.resolution_breached_at is not null)`
const clock = (metAt: string, breachedAt: string) => `json_build_object(
  'met', count(*) filter (where ${metAt} is not null and ${breachedAt} is null),
  'missed', count(*) filter (where ${breachedAt} is not null),
  'medianMinutes', round((percentile_cont(0.5) within group (order by extract(epoch from ${metAt} - i.created_at) / 60) filter (where ${metAt} is not null))::numeric)::int)`

type Asked = { propertyId: string | null; from: string; to: string; scope: Condition }

/**
 * Counts and costs of issues (366 days at most): what is open now, and of those opened from `from` to `to` how they went. Compensation is in minor units;
 * its currency is null where properties with several were asked for together.
 */
export const readSummary = async (trx: Trx, { propertyId, from, to, scope }: Asked): Promise<Summary> => {
  const within = whereOf(scope, { propertyId: 'i.property_id' })
  const row = await sqlOne<{ summary: Summary }>(
    trx,
    `with mine as materialized (
       select i.* from issue i where (?::uuid is null or i.property_id = ?) and ?
         and (i.created_at >= ?::date::timestamp at time zone 'UTC' and i.created_at < (?::date + 1)::timestamp at time zone 'UTC' or i.status not in ('resolved', 'closed'))),
     asked as (select i.* from mine i where i.created_at >= ?::date::timestamp at time zone 'UTC' and i.created_at < (?::date + 1)::timestamp at time zone 'UTC'),
     paid as (select k.* from compensation k join asked i on i.tenant_id = k.tenant_id and i.id = k.issue_id where k.status = 'approved')
     select json_build_object(
       'open', json_build_object(
         'byStatus', (select coalesce(json_object_agg(s.status, s.n), '{}') from (select i.status, count(*) as n from mine i where i.status in ('open', 'in_progress', 'waiting') group by 1) s),
         'byPriority', (select coalesce(json_object_agg(s.priority, s.n), '{}') from (select i.priority, count(*) as n from mine i where i.status in ('open', 'in_progress', 'waiting') group by 1) s),
         'late', (select count(*) from mine i where i.status in ('open', 'in_progress', 'waiting') and (${isLate}))),
       'opened', count(*), 'closed', count(*) filter (where i.status = 'closed'),
       'firstResponse', ${clock('i.first_responded_at', 'i.first_response_breached_at')},
       'resolution', ${clock('i.resolved_at', 'i.resolution_breached_at')},
       'reopened', count(*) filter (where i.reopen_count > 0),
       'satisfaction', json_build_object('answers', count(i.score), 'average', round(avg(i.score), 2)),
       'byCategory', (select coalesce(json_agg(json_build_object('categoryId', s.category_id, 'issues', s.n, 'late', s.late, 'compensation', s.paid) order by s.n desc, s.category_id), '[]')
         from (select i.category_id, count(*) as n, count(*) filter (where ${isLate} or i.resolution_breached_at is not null) as late,
           coalesce(sum((select sum(k.amount) from paid k where k.issue_id = i.id)), 0)::bigint as paid from asked i group by 1) s),
       'byCause', (select coalesce(json_object_agg(s.cause, s.n), '{}') from (select i.cause, count(*) as n from asked i where i.cause is not null group by 1) s),
       'recurring', (select coalesce(json_agg(json_build_object('unitId', s.unit_id, 'categoryId', s.category_id, 'issues', s.n) order by s.n desc, s.unit_id), '[]')
         from (select i.unit_id, i.category_id, count(*) as n from asked i where i.unit_id is not null group by 1, 2 having count(*) > 3 order by n desc limit 100) s),
       'compensation', json_build_object(
         'adjustments', (select coalesce(sum(k.amount), 0)::bigint from paid k where k.kind = 'adjustment'),
         'gestures', (select coalesce(sum(k.amount), 0)::bigint from paid k where k.kind = 'gesture'),
         'currency', (select case when count(distinct p.currency) = 1 then min(p.currency) end from property p where ?::uuid is null or p.id = ?))) as summary
     from asked i`,
    [propertyId, propertyId, within, from, to, from, to, propertyId, propertyId],
  )
  if (!row) throw new Error('a summary is one row')
  return row.summary
}
