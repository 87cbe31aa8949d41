import type { Knex } from 'knex'

const keys = {
  all: `''`,
  unitType: 'a.unit_type_id::text',
  ratePlan: 'a.rate_plan_id::text',
  segment: 'a.market_segment',
  source: 'a.source',
  channel: 'a.channel_connection_id::text',
  company: 'a.company_id::text',
  agency: 'a.agency_id::text',
  country: 'a.country_code',
}

/**
 * Facts of the commission that agencies were owed when their guests left, on days that have closed, with their sums. Facts had the commission of channels alone, and
 * agencies produced without any. They stand under the keys of the last night. Sums gain the amounts and nothing else, so the trigger that makes days anew is left out.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table night_fact in share row exclusive mode`)
  await knex.raw(`alter table night_fact disable trigger night_fact_summed`)
  await knex.raw(`
    with owed as materialized (
      select e.tenant_id, e.source_id as id, cast(e.payload -> 'amounts' ->> 'amount' as bigint) as amount
      from posting_event e
      where e.event = 'reservations.agency_commission_accrued' and not exists (
        select from posting_event o where o.tenant_id = e.tenant_id and o.event = 'reservations.agency_commission_reversed'
          and o.source_id = e.source_id and o.source_seq = e.source_seq)),
    added as (
      insert into night_fact (tenant_id, property_id, business_date, stay_date, reservation_id, kind, source_type, source_id, unit_type_id, rate_plan_id,
        market_segment, source, channel_connection_id, company_id, agency_id, group_id, country_code, unit_nights, adults, children, free, room_revenue,
        included_tax, commission)
      select r.tenant_id, r.property_id, r.check_out_business_date, r.check_out_business_date, r.id, 'other', 'agency_commission', r.id, k.unit_type_id,
        k.rate_plan_id, k.market_segment, k.source, k.channel_connection_id, k.company_id, k.agency_id, k.group_id, k.country_code, 0, 0, 0, k.free, 0, 0, o.amount
      from owed o
      join reservation r on r.tenant_id = o.tenant_id and r.id = o.id and r.status = 'checked_out'
      join business_day d on d.tenant_id = r.tenant_id and d.property_id = r.property_id and d.date = r.check_out_business_date and d.status = 'closed'
      cross join lateral (
        select f.unit_type_id, f.rate_plan_id, f.market_segment, f.source, f.channel_connection_id, f.company_id, f.agency_id, f.group_id, f.country_code, f.free
        from night_fact f where f.tenant_id = r.tenant_id and f.reservation_id = r.id order by f.business_date desc, f.id limit 1) k
      where o.amount > 0
      on conflict do nothing returning *)
    insert into night_sum as s (tenant_id, property_id, dimension, business_date, key, gap, sold, complimentary, house_use, adults, children, room_revenue,
      included_tax, commission, bookings)
    select a.tenant_id, a.property_id, d.dimension, a.business_date, d.key, 0, 0, 0, 0, 0, 0, 0, 0, sum(a.commission), 0
    from added a cross join lateral (values ${Object.entries(keys)
      .map(([dimension, column]) => `('${dimension}', coalesce(${column}, ''))`)
      .join(', ')}) d (dimension, key)
    group by a.tenant_id, a.property_id, d.dimension, a.business_date, d.key
    on conflict (tenant_id, property_id, dimension, business_date, key, gap) do update set commission = s.commission + excluded.commission`)
  await knex.raw(`alter table night_fact enable trigger night_fact_summed`)
}
