import { reservationDepartureMissed } from '../../config/events/reservations.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import type { AuditException } from './audits.ts'

type OfStay = { number: string; bookingId: string; departure: string; version: number }
type Stay = OfStay & {
  id: string
  overdue: boolean
  overbooked: boolean
  hasUnit: boolean
}

/** Exceptions of stays in the house: past their departure, without a unit, or in a night that was oversold. */
export const exceptionsOfStays = async (
  trx: Trx,
  businessDate: string,
  reservationIds: readonly string[],
): Promise<(AuditException & OfStay)[]> => {
  const stays = await sql<Stay>(
    trx,
    `select r.id, b.number || '-' || r.position as number, r.departure, r.version, r.booking_id, r.departure <= ?::date as overdue, r.overbooked,
       exists (select from unit_assignment a where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status = 'occupied') as has_unit
     from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     where r.id = any(?::uuid[]) and r.status = 'checked_in' order by r.id`,
    [businessDate, reservationIds],
  )
  return stays.flatMap(({ id, overdue, overbooked, hasUnit, ...stay }) => {
    const found = (code: string, message: string) => ({ code, reservationId: id, message, ...stay })
    const { number, departure } = stay
    return [
      ...(overdue
        ? [found('overdue_departure', `${number} was to leave on ${departure} and is still in the house`)]
        : []),
      ...(hasUnit ? [] : [found('unit_missing', `${number} is in the house without a unit`)]),
      ...(overbooked ? [found('overbooked', `${number} was sold beyond what there is`)] : []),
    ]
  })
}

/**
 * Exceptions of the day itself: rules that were waived (R8 of reservations.md), guests who left while their folio owed, and registers whose difference waits for
 * a second person, of this day or an earlier one (R11 of cash.md).
 */
export const exceptionsOfDay = async (
  trx: Trx,
  propertyId: string,
  businessDate: string,
): Promise<AuditException[]> => {
  const rows = await sql<AuditException>(
    trx,
    `(select 'override' as code, r.id as reservation_id,
        b.number || '-' || r.position || ': ' || e.command || ' waived ' || array_to_string(array(select jsonb_array_elements_text(e.override -> 'rules')), ', ') as message
      from reservation_event e
      join reservation r on r.tenant_id = e.tenant_id and r.id = e.reservation_id
      join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
      where e.property_id = :propertyId and e.business_date = cast(:businessDate as date) and e.override is not null order by e.at, e.id)
     union all
     (select 'balance_after_departure', r.id, 'folio ' || f.number || ' of a guest who left has a balance of ' || f.balance
      from reservation r join folio f on f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.status = 'open' and f.balance <> 0
      where r.id in (select e.reservation_id from reservation_event e
          where e.property_id = :propertyId and e.business_date = cast(:businessDate as date) and e.transition = 'T16')
        and r.property_id = :propertyId and r.status = 'checked_out' and r.check_out_business_date = cast(:businessDate as date)
      order by f.number)
     union all
     (select 'session_in_review', null, 'register ' || a.code || ': the difference of its session of ' || s.business_date || ' waits for approval'
      from cash_session s join cash_account a on a.tenant_id = s.tenant_id and a.id = s.register_id
      where s.property_id = :propertyId and s.status = 'in_review' and s.business_date <= cast(:businessDate as date)
      order by s.business_date, a.code, s.id)`,
    { propertyId, businessDate },
  )
  return rows
}

const same = ({ code, reservationId, message }: AuditException) => JSON.stringify([code, reservationId, message])

/** Those of the day that its audit has not kept yet: one that began under the release before has found some among its first stays. */
export const notKept = async (
  trx: Trx,
  propertyId: string,
  businessDate: string,
  found: readonly AuditException[],
): Promise<readonly AuditException[]> => {
  if (found.length === 0) return found
  const kept = await sql<AuditException>(
    trx,
    `select e ->> 'code' as code, e ->> 'reservationId' as reservation_id, e ->> 'message' as message
     from night_audit a cross join lateral jsonb_array_elements(a.exceptions) as e
     where a.property_id = ? and a.business_date = ? and e ->> 'code' = any(?::text[])`,
    [propertyId, businessDate, [...new Set(found.map(({ code }) => code))]],
  )
  const known = new Set(kept.map(same))
  return found.filter((one) => !known.has(same(one)))
}

/** Each stay past its departure is told of, once a day. */
export const tellOverdue = (
  trx: Trx,
  propertyId: string,
  businessDate: string,
  found: readonly (AuditException & OfStay)[],
) =>
  emitAll(
    trx,
    reservationDepartureMissed,
    found.flatMap(({ code, reservationId, version, number, bookingId, departure }) => {
      if (code !== 'overdue_departure' || reservationId === null) return []
      const data = { reservationId, number, bookingId, status: 'checked_in' as const, departure, businessDate }
      return [{ propertyId, id: reservationId, version, data }]
    }),
  )
