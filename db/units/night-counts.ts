/** SQL that counts sold units, capacity and blocked units of a property `y` in one night, which is bound. */
export const countsOfNight = `select coalesce(sum(c.sold), 0)::int as sold, coalesce(sum(c.capacity), 0)::int as capacity, coalesce(sum(c.blocked), 0)::int as blocked
  from unit_pool p join pool_night c on c.tenant_id = p.tenant_id and c.pool_id = p.id and c.night = ?::date
  where p.tenant_id = y.tenant_id and p.property_id = y.id and p.kind = 'unit'`

/** The number of nights of a property `y`, from a bound day on, that are sold beyond what is there. */
export const overbookedNights = `select count(distinct c.night)::int as nights
  from unit_pool p join pool_night c on c.tenant_id = p.tenant_id and c.pool_id = p.id and c.night >= ?::date and c.forced > 0
  where p.tenant_id = y.tenant_id and p.property_id = y.id and p.kind = 'unit'`

/** SQL of units that each night has to sell, of those that are blocked and of those sold, by pool: `tenant_id`, `property_id`, `night`, `capacity`, `blocked`, `sold`. */
export const capacityOfNights = `select p.tenant_id, p.property_id, c.night, c.capacity, c.blocked, c.sold
  from unit_pool p join pool_night c on c.tenant_id = p.tenant_id and c.pool_id = p.id
  where p.kind = 'unit'`
