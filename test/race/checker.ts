import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { usage } from '../../db/units/rules/availability.ts'
import type { PoolNight } from '../../db/units/rules/availability.ts'
import { compared, countNights } from '../../db/units/recount.ts'
import { wrongTotalsOfTenant } from '../support/counts.ts'
import type { House } from '../support/factories.ts'

export type Violation = { rule: string; count: number; examples: unknown[] }

/** Statements that find forbidden states. A guest in a unit stays there even if a channel changed the type of the stay: the desk moves them. */
const never: Record<string, string> = {
  'the total of a list is the number of its rows': wrongTotalsOfTenant,
  'no unit is given to two at once': `
    select a.id, b.id as other, a.during::text from unit_assignment a join unit_assignment b
      on b.unit_id = a.unit_id and b.id > a.id and b.during && a.during and b.status in ('proposed', 'locked', 'occupied', 'blocked')
    where a.status in ('proposed', 'locked', 'occupied', 'blocked')`,
  'a unit that is given is there, of a pool of the type, and for a stay that stands': `
    select a.id, a.status, a.during::text, u.status as unit, u.active_from, u.active_until, r.status as stay from unit_assignment a
    join unit u on u.id = a.unit_id join reservation r on r.id = a.reservation_id
    where a.status in ('proposed', 'locked', 'occupied') and (u.status <> 'active' or a.starts_on < u.active_from or a.ends_on > u.active_until
      or r.status not in ('confirmed', 'checked_in')
      or (a.status <> 'occupied' and not exists (select from reservation_night n join unit_type_pool s on s.unit_type_id = n.unit_type_id
        where n.reservation_id = r.id and n.status <> 'released' and a.during @> n.date and s.unit_pool_id = u.unit_pool_id)))`,
  'a guest in the house has a unit, and nobody else is in one': `
    select r.id, r.status, a.id as assignment from reservation r
    full join unit_assignment a on a.reservation_id = r.id and a.status = 'occupied'
    where (a.status = 'occupied' and r.status <> 'checked_in') or (r.status = 'checked_in' and a.id is null)`,
  'a unit has one guest at a time': `
    select unit_id, count(distinct reservation_id) from unit_assignment where status = 'occupied' group by 1 having count(distinct reservation_id) > 1`,
  'a charged night stands once on a folio': `
    select n.reservation_id, n.date, count(l.id) from reservation_night n
    left join folio_line l on l.source_type = 'reservation_night' and l.source_id = n.reservation_id and l.source_key like n.date::text || '%'
      and l.kind = 'charge' and l.category = 'room'
    where n.status = 'charged' group by 1, 2 having count(l.id) <> 1`,
  'nothing is raised twice for the ledger': `
    select event, source_id, source_seq, count(*) from posting_event group by 1, 2, 3 having count(*) > 1`,
  'installments are at most the price': `
    select r.id, r.total, sum(d.amount - d.waived_amount) as due from reservation r join deposit d on d.reservation_id = r.id
    where r.status in ('held', 'confirmed') group by r.id, r.total having sum(d.amount - d.waived_amount) > r.total`,
  'a merged guest points at one that stands': `
    select g.id, s.status from guest g left join guest s on s.id = g.merged_into_id where (g.status = 'merged') <> (s.id is not null) or s.status <> 'active'`,
  'a guest of a stay is named once': `
    select x.reservation_id, coalesce(g.merged_into_id, g.id) as person from reservation_guest x join guest g on g.id = x.guest_id
    where x.role = 'primary' group by 1, 2 having count(*) > 1`,
  'a request of the waitlist that is booked names its booking': `
    select id, status, booking_id from waitlist_entry where (status = 'booked') <> (booking_id is not null)`,
  'no stay has more units than it takes': `
    select r.id, r.arrival, r.departure, n.date, s.quantity, count(*)::int as given,
      jsonb_agg(jsonb_build_array(a.status, a.during, a.created_at, a.updated_at)) as rows from reservation r
    join reservation_night n on n.reservation_id = r.id and n.status <> 'released'
    join unit_type_pool s on s.unit_type_id = n.unit_type_id
    join unit_assignment a on a.reservation_id = r.id and a.status in ('proposed', 'locked', 'occupied') and a.during @> n.date
    join unit u on u.id = a.unit_id and u.unit_pool_id = s.unit_pool_id
    group by r.id, r.arrival, r.departure, n.date, s.unit_pool_id, s.quantity having count(*) > s.quantity and bool_or(a.status <> 'occupied')`,
  'a folio is the sum of its lines': `
    select f.id, f.charges, f.credits, l.* from folio f
    cross join lateral (select coalesce(sum(amount) filter (where payment_id is null and kind <> 'receivable'), 0) as owed,
      -coalesce(sum(amount) filter (where payment_id is not null or kind = 'receivable'), 0) as paid from folio_line l where l.folio_id = f.id) l
    where f.charges <> l.owed or f.credits <> l.paid`,
  'a transfer sums to zero': `
    select transfer_id, sum(amount) from folio_line where transfer_id is not null group by 1 having sum(amount) <> 0`,
  'no charge is adjusted or moved beyond what it is': `
    select l.id, l.amount, sum(t.amount) as taken from folio_line l join folio_line t on t.original_line_id = l.id and t.folio_id = l.folio_id
      and t.kind in ('adjustment', 'transfer_out') where l.payment_id is null group by l.id, l.amount having l.amount + sum(t.amount) < 0`,
  'an allotment has picked up the nights that say so': `
    select n.group_id, n.unit_type_id, n.night, n.picked_up, x.rooms from booking_group_night n
    cross join lateral (select count(*)::int as rooms from booking b join reservation r on r.booking_id = b.id
      join reservation_night m on m.reservation_id = r.id and m.picked_up and m.date = n.night and m.unit_type_id = n.unit_type_id
      where b.group_id = n.group_id) x
    where n.picked_up <> x.rooms`,
  'an open block has each of its units, and one that is over none': `
    select b.id, b.status, b.unit_ids, x.units from unit_block b
    cross join lateral (select array(select a.unit_id from unit_assignment a where a.unit_block_id = b.id and a.status = 'blocked' order by 1) as units) x
    where x.units is distinct from case b.status when 'open' then array(select u from unnest(b.unit_ids) u order by 1) else '{}' end`,
  'stock is the sum of its movements, never below nothing, and has no value without quantity': `
    select s.location_id, s.item_id, s.quantity, s.value, s.last_seq, l.* from inventory_stock s
    cross join lateral (select coalesce(sum(m.quantity), 0) as moved, coalesce(sum(m.value), 0) as worth, coalesce(max(m.seq), 0) as seq, count(*) as lines
      from inventory_movement_line m where m.location_id = s.location_id and m.item_id = s.item_id) l
    where s.quantity <> l.moved or s.value <> l.worth or s.last_seq <> l.seq or l.seq <> l.lines or s.quantity < 0 or s.value < 0
      or (s.quantity = 0 and s.value <> 0)`,
  'a transfer loses nothing on its way': `
    select m.id, sum(l.quantity), sum(l.value) from inventory_movement m join inventory_movement_line l on l.movement_id = m.id
    where m.kind = 'transfer' group by m.id having sum(l.quantity) <> 0 or sum(l.value) <> 0`,
  'what is used is taken or short': `
    select c.id, l.id as line, l.quantity, l.short_quantity, h.quantity as left, h.settled_quantity from inventory_consumption c
    join inventory_consumption_line l on l.consumption_id = c.id left join inventory_shortage h on h.consumption_line_id = l.id
    where l.short_quantity <> coalesce(h.quantity + h.settled_quantity, 0) and coalesce(h.status, '') <> 'absorbed' and c.status = 'posted'`,
  'an order that is closed is settled, and only then has used something': `
    select o.id, o.status, o.total, x.settled, c.uses from pos_order o
    cross join lateral (select coalesce(sum(s.amount), 0) as settled from pos_settlement s where s.order_id = o.id) x
    cross join lateral (select count(*) as uses from inventory_consumption c where c.order_id = o.id and c.status = 'posted' and c.kind <> 'waste') c
    where (o.status = 'closed' and x.settled <> o.total) or (o.status <> 'closed' and c.uses > 0)`,
  'a number is given to one order': `
    select outlet_id, number, count(*) from pos_order group by 1, 2 having count(*) > 1`,
}

const counters = async (trx: Trx, { propertyId, day }: House) => {
  const [from, until] = [day(0), day(40)]
  const rows = await sql<PoolNight>(
    trx,
    `select n.* from pool_night n join unit_pool p on p.id = n.pool_id where p.property_id = ? and n.night >= ?::date and n.night < ?::date`,
    [propertyId, from, until],
  )
  const truth = new Map(
    (await countNights(trx, propertyId, from, until)).map((row) => [`${row.poolId} ${row.night}`, row]),
  )
  return rows.flatMap((row) => {
    const counted = truth.get(`${row.poolId} ${row.night}`)
    const differs = compared.filter((kind) => counted?.[kind] !== row[kind])
    const forced = Math.max(0, usage(row) - row.capacity - row.oversell)
    return differs.length === 0 && forced === row.forced ? [] : [{ ...row, counted, forced: [row.forced, forced] }]
  })
}

/** Looks at a house as it is at one instant, whatever goes on. Answers what must not be. */
export const look = (house: House): Promise<Violation[]> =>
  inTenant(
    house.tenantId,
    async (trx) => {
      const found: Violation[] = []
      const judge = (rule: string, rows: unknown[]) => {
        if (rows.length > 0) found.push({ rule, count: rows.length, examples: rows.slice(0, 3) })
      }
      judge('counters equal a recount, and what is forced is what is short', await counters(trx, house))
      for (const [rule, text] of Object.entries(never)) judge(rule, await sql(trx, text))
      return found
    },
    {},
    { isolation: 'repeatable read', readOnly: true },
  )
