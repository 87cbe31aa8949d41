import { notFound } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import type { Audience } from '../guests/index.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import { fromUnits, mayReoccupy, presentDayOf, readNights, stateColumns, usage } from '../units/index.ts'
import { previewUnits } from './assign.ts'
import { readFacts } from './facts.ts'
import type { StayFacts, StayUnit } from './facts.ts'
import { blocker } from './rules/blockers.ts'
import type { Blocker, OverrideRule } from './rules/blockers.ts'
import { planReinstate, planRevertCheckIn, planRevertCheckOut } from './rules/plans-back.ts'
import { nothing, planCancel, planCheckIn, planCheckOut, planConfirm, planNoShow } from './rules/plans.ts'
import type { Plan, Scene } from './rules/plans.ts'
import { transitions } from './rules/states.ts'
import type { ReservationStatus, TransitionId } from './rules/states.ts'
import { alertsAt } from './told.ts'
import { nightsToPickUp } from './group/take-more.ts'
import type { Alert } from './told.ts'

/** Units that a check-in would find for the stay stand among its own, as the command would have given them. */
const withUnits = async (trx: Trx, facts: StayFacts): Promise<StayFacts> => {
  const found = await previewUnits(trx, facts.stay.id)
  if (!found) return facts
  const rows = await sql<Omit<StayUnit, 'id' | 'status' | 'from' | 'to'>>(
    trx,
    `select u.id as unit_id, u.name, u.unit_pool_id, u.condition, ${stateColumns} from ${fromUnits} where u.id = any(?::uuid[]) order by u.name`,
    [found.given.map((one) => one.unitId)],
  )
  const given = found.given.flatMap(({ unitId, from, to }): StayUnit[] => {
    const row = rows.find((one) => one.unitId === unitId)
    return row ? [{ ...row, id: unitId, status: 'proposed', from, to }] : []
  })
  const kept = facts.units.filter((one) => !(one.status === 'proposed' && found.replaces.includes(one.unitPoolId)))
  return { ...facts, units: [...kept, ...given] }
}

/** Nights that a stay would take again, and of which nothing is left, nor in the allotment of its group. */
const shortOf = async (
  trx: Trx,
  { booking, nights, shares }: StayFacts,
  dates: readonly string[],
): Promise<Blocker[]> => {
  const wanted = nights.filter((night) => dates.includes(night.date))
  const [first, last] = [wanted[0]?.date, wanted.at(-1)?.date]
  if (first === undefined || last === undefined) return []
  const counters = await readNights(trx, [...new Set(shares.map((one) => one.poolId))], first, addDays(last, 1))
  const allotted = await nightsToPickUp(trx, booking.groupId, wanted)
  const isPickedUp = (date: string) => allotted.some((one) => one.date === date)
  const short = wanted.filter(
    ({ date, unitTypeId }) =>
      !isPickedUp(date) &&
      shares.some((one) => {
        const row = counters.get(one.poolId)?.get(date)
        return one.unitTypeId === unitTypeId && (!row || row.capacity + row.oversell - usage(row) < one.quantity)
      }),
  )
  return blocker(short.length > 0, 'sold_out', `Nothing is left on ${short[0]?.date}`, 'availability')
}

type Preview = { id: TransitionId; command: string; to: ReservationStatus; plan: Plan }

/** Commands whose plan cannot be known before it is said what they are to do. */
const open = (facts: StayFacts): Plan => ({ blockers: [], warnings: [], effects: nothing(facts) })

/** A check-out as it stands without more words, and the money that `refund: automatic` would send back. */
const withRefund = (scene: Scene): Plan => {
  const plan = planCheckOut(scene, {})
  return { ...plan, effects: { ...plan.effects, refund: planCheckOut(scene, { refund: 'automatic' }).effects.refund } }
}

const plansOf = async (trx: Trx, scene: Scene): Promise<[TransitionId, Plan, string?][]> => {
  const { facts } = scene
  switch (facts.stay.status) {
    case 'held':
      return [
        ['T8', planConfirm(scene)],
        ['T10', planCancel(scene, { reason: 'guest_request' })],
        ['A2', open(facts)],
      ]
    case 'confirmed':
      return [
        ['T11', planCancel(scene, { reason: 'guest_request' })],
        ['T12', open(facts)],
        ['T13', planCheckIn({ ...scene, facts: await withUnits(trx, facts) })],
        ['T18', planNoShow(scene)],
      ]
    case 'checked_in':
      return [
        ['T14', planRevertCheckIn(scene)],
        ['T15', open(facts)],
        ['T15', open(facts), 'move'],
        ['T16', withRefund(scene)],
      ]
    case 'checked_out': {
      const plan = planRevertCheckOut(scene)
      const { id, departure } = facts.stay
      const isFree = await mayReoccupy(trx, { reservationId: id, businessDate: scene.businessDate, departure })
      const short = await shortOf(trx, facts, plan.effects.nightsTaken)
      const blockers = [
        ...plan.blockers,
        ...short.map((one) => ({ ...one, rule: null })),
        ...blocker(!isFree, 'unit_conflict', 'The unit is not free for the guest any more'),
      ]
      return [['T17', { ...plan, blockers }]]
    }
    case 'no_show':
    case 'cancelled': {
      const plan = planReinstate(scene, {})
      const blockers = [...plan.blockers, ...(await shortOf(trx, facts, plan.effects.nightsTaken))]
      return [[facts.stay.status === 'no_show' ? 'T19' : 'T20', { ...plan, blockers }]]
    }
    default:
      return []
  }
}

/** The commands that a stay may be given at its present status, with what each would meet and do, by the plans that they act on. 404. */
export const previewTransitions = async (
  trx: Trx,
  reservationId: string,
  may: (rule: OverrideRule) => boolean,
  audiences: readonly Audience[] = [],
): Promise<{
  version: number
  businessDate: string
  propertyId: string
  commands: (ReturnType<typeof shown> & { alerts: Alert[] })[]
}> => {
  const place = await sqlOne<{ propertyId: string }>(trx, `select property_id from reservation where id = ?`, [
    reservationId,
  ])
  const property: SaleProperty | null = place && (await readProperty(trx, place.propertyId))
  const [facts] = property ? await readFacts(trx, property, [reservationId]) : []
  if (!property || !facts) throw notFound()
  const businessDate = presentDayOf(property)
  const plans = await plansOf(trx, { facts, property, businessDate })
  const guestIds = facts.guests.map((one) => one.guestId)
  const alerts = await Promise.all(plans.map(([id]) => alertsAt(trx, id, { reservationId, guestIds, audiences })))
  return {
    version: facts.stay.version,
    businessDate,
    propertyId: property.id,
    commands: plans.map(([id, plan, command = transitions[id].command], index) => ({
      ...shown({ id, command, to: transitions[id].to, plan }, facts.stay.currency, may),
      alerts: alerts[index] ?? [],
    })),
  }
}

const shown = (
  { id, command, to, plan: { blockers, warnings, effects } }: Preview,
  currency: string,
  may: (rule: OverrideRule) => boolean,
) => ({
  id,
  command,
  to,
  allowed: blockers.length === 0,
  blockers: blockers.map(({ code, message, rule }) => ({
    code,
    message,
    waivable: rule !== null,
    rule,
    permitted: rule !== null && may(rule),
  })),
  warnings,
  effects: { ...effects, currency },
})
