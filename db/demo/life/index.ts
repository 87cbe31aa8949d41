import { addDays } from '../../../config/time.ts'
import { inTenant, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { people, sol } from '../ids.ts'
import { beginToday, liveFirstDay, liveSecondDay, takeBookings } from './days.ts'

const receptionist = people.find(({ role, tenants }) => role === 'receptionist' && tenants.includes('sol'))

type State = { firstDay: string; booked: boolean; audits: number; closed: number; isOver: boolean }

/** The state of the life of the inn. */
const stateOf = (trx: Trx): Promise<State | null> =>
  sqlOne<State>(
    trx,
    `select (select min(d.date) from business_day d where d.property_id = p.id) as first_day,
       exists (select from booking b where b.property_id = p.id and b.external_reference = 'SOL-101') as booked,
       (select count(*)::int from night_audit a where a.property_id = p.id) as audits,
       (select count(*)::int from business_day d where d.property_id = p.id and d.status = 'closed') as closed,
       coalesce((p.settings #>> '{nightAudit,automatic}')::boolean, true) as is_over
     from property p where p.id = ?`,
    [sol.propertyId],
  )

/** The next step of the inn's life. Null where it is over, or waits for jobs. */
const nextStep = ({ firstDay, booked, audits, closed }: State): ((trx: Trx) => Promise<void>) | null => {
  const today = addDays(firstDay, 2)
  if (!booked) return (trx) => takeBookings(trx, today)
  if (audits > closed) return null
  if (closed === 0) return (trx) => liveFirstDay(trx, firstDay)
  if (closed === 1) return (trx) => liveSecondDay(trx, addDays(firstDay, 1), today)
  return (trx) => beginToday(trx, today)
}

/**
 * Lets the demo's inn live through two business days up to today, through the commands of the desk: bookings with their payments, arrivals, departures, charges, closed
 * days. Each step is one transaction; `settle` carries out the jobs that it has asked for. What is there already is not done again. Answers whether all is there.
 */
export const liveSol = async (settle: () => Promise<unknown>): Promise<boolean> => {
  const actor = { type: 'user', id: receptionist?.id ?? null } as const
  for (let steps = 0; steps < 6; steps += 1) {
    const state = await inTenant(sol.tenantId, stateOf)
    if (!state) throw new Error('the demo has no inn')
    if (state.isOver) return true
    const step = nextStep(state)
    if (step) await inTenant(sol.tenantId, step, { actor })
    await settle()
  }
  return (await inTenant(sol.tenantId, stateOf))?.isOver ?? false
}
