import type { CompanyUse } from '../guests/index.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** The open business of a firm here (C1 of guests.md): stays that go on or are to come, groups, and folios that it pays. */
export const companyUses = (trx: Trx, companyId: string): Promise<CompanyUse[]> =>
  sql<CompanyUse>(
    trx,
    `(select 'reservations' as field, b.number || '-' || r.position || ' departs on ' || r.departure as message
      from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status in ('held', 'confirmed', 'checked_in')
      where b.company_id = ? or b.agency_id = ? order by r.departure limit 20)
     union all (select 'groups', g.code || ' is ' || g.status from booking_group g
      where g.company_id = ? and g.status in ('inquiry', 'optional', 'confirmed') order by g.code limit 20)
     union all (select 'folios', f.number || ' is open' from folio f where f.payer_company_id = ? and f.status = 'open' order by f.number limit 20)`,
    [companyId, companyId, companyId, companyId],
  )
