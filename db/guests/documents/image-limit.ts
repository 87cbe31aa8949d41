import { tenantDay } from '../day.ts'
import { survivorOf } from '../resolve.ts'

/**
 * The last day of an image `f`, as `l.delete_after`: null while a stay of the guest is to come or goes on. Counted from the last departure of a stay of the guest,
 * under any profile and in any house, by the longest time of those houses; without a stay, from the day on which it was stored. The calendar of those houses,
 * else of the tenant, says which day `l.today` is.
 */
export const imageLimit = `cross join lateral (
    select case when not coalesce(bool_or(r.status in ('held', 'confirmed', 'checked_in')), false)
      then coalesce(max(r.departure), (select (f.created_at at time zone t.time_zone)::date from tenant t where t.id = f.tenant_id)) + coalesce(max(coalesce((p.settings -> 'documents' ->> 'keepImagesDays')::int, 30)), 30)
      end as delete_after,
      coalesce(min((now() at time zone p.timezone)::date), ${tenantDay}) as today
    from guest o join guest g on g.tenant_id = o.tenant_id
        and (g.id = ${survivorOf('o')} or g.merged_into_id = ${survivorOf('o')})
      join reservation_guest n on n.tenant_id = g.tenant_id and n.guest_id = g.id
      join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
      join property p on p.tenant_id = r.tenant_id and p.id = r.property_id
    where o.tenant_id = f.tenant_id and o.id = f.guest_id) l`
