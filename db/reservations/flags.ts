import { fromUnits, presentDay } from '../units/index.ts'

export const flags = [
  'due_in',
  'due_out',
  'overdue_arrival',
  'overdue_departure',
  'stay_over',
  'walk_in',
  'unassigned',
  'not_ready',
  'unpaid',
] as const
export type Flag = (typeof flags)[number]

const today = presentDay('y')
const isDueIn = `r.status = 'confirmed' and r.arrival <= ${today}`
const assigned = `a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status in ('proposed', 'locked', 'occupied')`

/**
 * Conditions for the flags that are derived from a stay and never stored (R5). They read the reservation `r`, its booking `b` and its property `y`. The day is
 * the property's business date.
 */
const conditions: Readonly<Record<Flag, string>> = {
  due_in: `r.status = 'confirmed' and r.arrival = ${today}`,
  due_out: `r.status = 'checked_in' and r.departure = ${today}`,
  overdue_arrival: `r.status = 'confirmed' and r.arrival < ${today}`,
  overdue_departure: `r.status = 'checked_in' and r.departure < ${today}`,
  stay_over: `r.status = 'checked_in' and r.check_in_business_date < ${today} and r.departure > ${today}`,
  walk_in: `b.source = 'walk_in'`,
  // A night to come lacks a unit.
  unassigned: `r.status in ('confirmed', 'checked_in') and r.departure > ${today} and exists (
    select from reservation_night n join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
    where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released' and n.date >= ${today}
    group by n.date having sum(s.quantity) > (select count(*) from unit_assignment a where ${assigned} and a.starts_on <= n.date and a.ends_on > n.date))`,
  // Due in, and a unit of tonight cannot be given out yet.
  not_ready: `${isDueIn} and exists (
    select from ${fromUnits} join unit_assignment a on a.unit_id = u.id and ${assigned}
    where a.starts_on <= d.today and a.ends_on > d.today and not s.ready)`,
  // An installment is due and not covered, or the guest owes in the house or after it.
  unpaid: `(r.status in ('checked_in', 'checked_out') and exists (
      select from folio f where f.tenant_id = r.tenant_id and f.reservation_id = r.id and f.balance > 0))
    or (r.status in ('confirmed', 'checked_in') and
      (select sum(d.amount - d.waived_amount) from deposit d where d.tenant_id = r.tenant_id and d.reservation_id = r.id and d.due_at <= now())
        > (select coalesce(sum(f.credits), 0) from folio f where f.tenant_id = r.tenant_id and f.reservation_id = r.id))`,
}

/** The condition under which a flag holds, as SQL. */
export const hasFlag = (flag: Flag): string => `(${conditions[flag]})`

/** The flags that hold, in one column. */
export const flagsColumn = `array_remove(array[${flags.map((flag) => `case when ${conditions[flag]} then '${flag}' end`).join(', ')}], null) as flags`
