import { sql } from '../../db/lib/connection.ts'
import { deskCommands, isDeskAction } from './desk-commands.ts'
import { none } from './evidence.ts'
import type { Check } from './evidence.ts'

export const deskChecks: Record<string, Check> = {
  'a guest in the house has a unit, and nobody else is in one': none(
    `select r.id, r.status, a.id as assignment, a.status as of_unit from reservation r
     full join unit_assignment a on a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status not in ('released', 'ended', 'blocked')
     where (r.status = 'checked_in' and not exists (select from unit_assignment o
         where o.tenant_id = r.tenant_id and o.reservation_id = r.id and o.status = 'occupied'))
       or (a.status = 'occupied' and r.status <> 'checked_in') or (a.id is not null and r.status in ('checked_out', 'no_show'))`,
  ),
  'a stay that has left owes nothing, and its nights are charged once or given back': none(
    `select r.id, f.number as what, f.charges - f.credits as amount from reservation r
       join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id
       where r.status = 'checked_out' and (f.status <> 'closed' or f.charges <> f.credits)
     union all select r.id, n.date || ' ' || n.status, count(l.id) from reservation r
       join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
       left join folio_line l on l.tenant_id = n.tenant_id and l.source_type = 'reservation_night' and l.source_id = r.id
         and l.source_key like n.date::text || '%' and l.kind = 'charge' and l.category = 'room'
       group by r.tenant_id, r.id, n.date, n.status
       having count(l.id) <> (n.status = 'charged')::int or (r.status = 'checked_out' and n.status = 'open')`,
  ),
  'a folio is the sum of its lines': none(
    `select f.id, f.number, f.charges, f.credits, l.* from folio f
     cross join lateral (select coalesce(sum(amount) filter (where payment_id is null and kind <> 'receivable'), 0) as owed,
       -coalesce(sum(amount) filter (where payment_id is not null or kind = 'receivable'), 0) as paid
       from folio_line l where l.tenant_id = f.tenant_id and l.folio_id = f.id) l
     where f.charges <> l.owed or f.credits <> l.paid`,
  ),
  // Whatever the order of its moves: each status is left as often as it is reached, and that of now once less.
  'the history of a stay leads to where it is': none(
    `select r.id, r.status, s.status as at, count(e.id) filter (where e."to" = s.status) as reached, count(e.id) filter (where e."from" = s.status) as gone
     from reservation r cross join (select distinct status from reservation) s
     left join reservation_event e on e.tenant_id = r.tenant_id and e.reservation_id = r.id
     group by r.tenant_id, r.id, r.status, s.status
     having count(e.id) filter (where e."to" = s.status) - count(e.id) filter (where e."from" = s.status) <> (r.status = s.status)::int`,
  ),
  // Jobs of a command carry its request id: the expiry of a hold is none of its own moves.
  'a command moves a stay once at most, and one that was refused not at all': async (database, { commands }) => {
    const rows = await sql<{ requestId: string; moves: number }>(
      database,
      `select request_id, max(moves)::int as moves from (select request_id, reservation_id, transition, count(*) as moves from reservation_event
         where request_id like 'chaos-%' group by 1, 2, 3) m group by 1`,
    )
    const moves = new Map(rows.map((row) => [row.requestId, row.moves]))
    return commands.filter(({ requestId, outcome }) => (moves.get(requestId) ?? 0) > (outcome === 'refused' ? 0 : 1))
  },
  'what the desk was told has happened': async (database, { commands }) => {
    const rows = await sql<{ id: string; transition: string }>(
      database,
      `select distinct reservation_id as id, transition from reservation_event`,
    )
    const happened = new Set(rows.map(({ id, transition }) => `${id} ${transition}`))
    return commands.filter(
      ({ action, outcome, subject }) =>
        outcome === 'accepted' &&
        isDeskAction(action) &&
        !happened.has(`${subject} ${deskCommands[action].transition}`),
    )
  },
}
