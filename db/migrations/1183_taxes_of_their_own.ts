import type { Knex } from 'knex'

/** Sums of taxes of prices lacked those that no charge tells of: days that have some are noted, and are summed up anew. */
export const up = async (knex: Knex) => {
  await knex.raw(`
    insert into stay_sum_change (tenant_id, property_id, date)
    select d.tenant_id, d.property_id, d.date from stay_sum_day d
    join (select distinct l.tenant_id, l.property_id, l.business_date from folio_line l
      where l.category = 'tax' and l.tax_rule_id is not null and (l.kind = 'charge' and l.original_line_id is null
        or l.kind = 'adjustment' and l.source_key in ('', l.original_line_id || ':'))) x
      on x.tenant_id = d.tenant_id and x.property_id = d.property_id and x.business_date = d.date`)
}
