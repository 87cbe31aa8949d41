import type { Knex } from 'knex'

const firms = { company: 'company_id', agency: 'agency_id' }
const keys = Object.entries(firms)
  .map(([dimension, column]) => `('${dimension}', coalesce(f.${column}::text, ''))`)
  .join(', ')

/** Houses that have nights of firms. */
const houses = `(select distinct tenant_id, property_id from night_fact where company_id is not null or agency_id is not null)`

const columns = `tenant_id, property_id, dimension, business_date, key, gap, sold, complimentary, house_use, adults, children, room_revenue, included_tax, commission,
  bookings`

/**
 * Facts of nights say the firm, the agency and the group of their booking, as the changes on the books do: none did, and closed days had all of their nights under no firm.
 * A fact takes those of the last nights of its stay that came on the books, else those of its booking. The sums by firm and by agency of the houses that have such nights are made anew.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table night_fact in share row exclusive mode`)
  await knex.raw(`alter table night_fact disable trigger user`)
  await knex.raw(`
    update night_fact f set company_id = s.company_id, agency_id = s.agency_id, group_id = s.group_id
    from (
      select r.tenant_id, r.id, case when o.id is null then b.company_id else o.company_id end as company_id,
        case when o.id is null then b.agency_id else o.agency_id end as agency_id, case when o.id is null then b.group_id else o.group_id end as group_id
      from reservation r
      join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
      left join lateral (select o.* from on_the_books_change o where o.tenant_id = r.tenant_id and o.reservation_id = r.id and o.unit_nights > 0
        order by o.created_at desc, o.id limit 1) o on true) s
    where s.tenant_id = f.tenant_id and s.id = f.reservation_id
      and (f.company_id, f.agency_id, f.group_id) is distinct from (s.company_id, s.agency_id, s.group_id)`)
  await knex.raw(`alter table night_fact enable trigger user`)
  for (const table of ['night_sum', 'stay_sum', 'extra_sum'])
    await knex.raw(
      `delete from ${table} s using ${houses} h
       where s.tenant_id = h.tenant_id and s.property_id = h.property_id and s.dimension in ('company', 'agency')`,
    )
  // The other sums of days are made anew by the next job.
  await knex.raw(
    `delete from stay_sum_day d using ${houses} h where d.tenant_id = h.tenant_id and d.property_id = h.property_id`,
  )
  await knex.raw(`
    insert into night_sum (${columns})
    select p.tenant_id, p.property_id, p.dimension, p.business_date, p.key, p.gap, sum(p.sold), sum(p.complimentary), sum(p.house_use), sum(p.adults),
      sum(p.children), sum(p.room_revenue), sum(p.included_tax), sum(p.commission), count(*) filter (where p.is_booked)
    from (
      select o.*, case when o.is_booked then coalesce(o.business_date - lag(o.business_date) over (
          partition by o.tenant_id, o.property_id, o.dimension, o.key, o.booking_id, o.is_booked order by o.business_date), 0) else 0 end as gap
      from (
        select f.tenant_id, f.property_id, d.dimension, f.business_date, d.key, r.booking_id,
          r.booking_id is not null and bool_or(f.unit_nights > 0) as is_booked,
          coalesce(sum(f.unit_nights) filter (where f.free = 'none'), 0) as sold,
          coalesce(sum(f.unit_nights) filter (where f.free = 'complimentary'), 0) as complimentary,
          coalesce(sum(f.unit_nights) filter (where f.free = 'house_use'), 0) as house_use, sum(f.adults) as adults, sum(f.children) as children,
          sum(f.room_revenue) as room_revenue, sum(f.included_tax) as included_tax, sum(f.commission) as commission
        from ${houses} h join night_fact f on f.tenant_id = h.tenant_id and f.property_id = h.property_id
        left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
        cross join lateral (values ${keys}) d (dimension, key)
        group by f.tenant_id, f.property_id, d.dimension, f.business_date, d.key, r.booking_id) o) p
    group by p.tenant_id, p.property_id, p.dimension, p.business_date, p.key, p.gap`)
}
