import { addDays } from '../../../config/time.ts'
import { inTenant, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { people, sol } from '../ids.ts'
import { keepBooks } from './accountant.ts'
import { beginToday, liveFirstDay, liveSecondDay, takeBookings } from './days.ts'
import { billAgency, collectMoney, openAccounts } from './money.ts'
import { planAhead } from './outlook.ts'
import { approveBills, payBills, recordBills } from './payables.ts'

const actorOf = (role: 'receptionist' | 'finance' | 'owner') => {
  const person = people.find((one) => one.role === role && one.tenants.includes('sol'))
  return { type: 'user', id: person?.id ?? null } as const
}

type State = {
  firstDay: string
  booked: boolean
  hasMoney: boolean
  audits: number
  closed: number
  bills: 'none' | 'recorded' | 'approved' | 'paid'
  isOver: boolean
}
type Step = { actor: ReturnType<typeof actorOf>; work: (trx: Trx) => Promise<void> }

/** The state of the life of the inn. */
const stateOf = (trx: Trx): Promise<State | null> =>
  sqlOne<State>(
    trx,
    `select (select min(d.date) from business_day d where d.property_id = p.id) as first_day,
       exists (select from booking b where b.property_id = p.id and b.external_reference = 'SOL-101') as booked,
       exists (select from cash_account where code = 'BANCO') as has_money,
       (select count(*)::int from night_audit a where a.property_id = p.id) as audits,
       (select count(*)::int from business_day d where d.property_id = p.id and d.status = 'closed') as closed,
       case when exists (select from payable_payment) then 'paid' when exists (select from payable where status = 'approved') then 'approved'
         when exists (select from payable) then 'recorded' else 'none' end as bills,
       coalesce((p.settings #>> '{nightAudit,automatic}')::boolean, true) as is_over
     from property p where p.id = ?`,
    [sol.propertyId],
  )

const by = (role: 'receptionist' | 'finance' | 'owner', work: Step['work']): Step => ({ actor: actorOf(role), work })

/** The next step of the inn's life, with its person. Null where it is over, or waits for jobs. */
const nextStep = ({ firstDay, booked, hasMoney, audits, closed, bills }: State): Step | null => {
  const today = addDays(firstDay, 2)
  if (!booked) return by('receptionist', (trx) => takeBookings(trx, today))
  if (!hasMoney) return by('finance', (trx) => openAccounts(trx, firstDay))
  if (audits > closed) return null
  if (closed === 0) return by('receptionist', (trx) => liveFirstDay(trx, firstDay))
  if (closed === 1) return by('receptionist', (trx) => liveSecondDay(trx, addDays(firstDay, 1), today))
  if (bills === 'none')
    return by('finance', async (trx) => {
      await billAgency(trx, today)
      await recordBills(trx, today)
    })
  if (bills === 'recorded') return by('owner', approveBills)
  if (bills === 'approved')
    return by('finance', async (trx) => {
      await collectMoney(trx, today)
      await payBills(trx)
      await planAhead(trx, today)
      await keepBooks(trx, today)
    })
  return by('receptionist', (trx) => beginToday(trx, today))
}

/**
 * Lets the demo's inn live through two business days up to today, through the commands of the desk: bookings with their payments, arrivals, departures, charges, closed
 * days, money, bills and issues. Each step is one transaction of its person; `settle` carries out the jobs that it has asked for. What is there already is not done again. Answers whether all is there.
 */
export const liveSol = async (settle: () => Promise<unknown>): Promise<boolean> => {
  for (let steps = 0; steps < 12; steps += 1) {
    const state = await inTenant(sol.tenantId, stateOf)
    if (!state) throw new Error('the demo has no inn')
    if (state.isOver) return true
    const step = nextStep(state)
    if (step) await inTenant(sol.tenantId, step.work, { actor: step.actor })
    await settle()
  }
  return (await inTenant(sol.tenantId, stateOf))?.isOver ?? false
}
