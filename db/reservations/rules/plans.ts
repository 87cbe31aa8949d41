import { addDays, localInstant } from '../../../config/time.ts'
import { sum } from '../../lib/amounts.ts'
import { feeAmount } from '../../properties/rules/policies.ts'
import { onTop } from '../../properties/rules/taxes.ts'
import type { SaleProperty } from '../../properties/index.ts'
import type { ReservationNightRow } from '../../rows.ts'
import type { LineTax } from '../folio/lines.ts'
import type { StayFacts, StayUnit } from '../facts.ts'
import { blocker, warning } from './blockers.ts'
import type { Blocker, Warning } from './blockers.ts'
import type { CancelReason } from '../cancel.ts'
import { feesOf } from './cancellation-fee.ts'
import { dueAtBooking, moneyOf, uncovered } from './deposits.ts'
import { lastNightDue } from './departure.ts'
import { endedBefore, extrasDue, isDaily, nightsDue } from './due-charges.ts'
import type { DueCharge } from './due-charges.ts'
import { feeBase } from './fee-base.ts'
import { folioFor } from './routing.ts'
import { isNoShow, nightsLeft, noShowFee } from './no-show.ts'
import { policiesOf } from './policies.ts'
import { isLive } from './states.ts'

/** All that a plan is made of. `property.now` is the database's clock. */
export type Scene = { facts: StayFacts; property: SaleProperty; businessDate: string }

/** Changes that a command makes, in minor units of the stay's currency. */
export type Effects = {
  fee: number
  refund: number
  /** The guest's debt on the folios of the stay afterwards; a negative amount is money of the guest. */
  balanceDue: number
  nightsReleased: string[]
  nightsTaken: string[]
  unitId: string | null
}

export type Plan = { blockers: Blocker[]; warnings: Warning[]; effects: Effects }

const balanceOf = ({ folios }: StayFacts) => sum(folios.map((one) => one.charges - one.credits))

export const nothing = (facts: StayFacts): Effects => ({
  fee: 0,
  refund: 0,
  balanceDue: balanceOf(facts),
  nightsReleased: [],
  nightsTaken: [],
  unitId: null,
})

/** The part of some charges that comes to folios of the stay; the rest goes where its routes say. */
const chargedHere = ({ folios, routes }: StayFacts, due: readonly DueCharge[]): number => {
  const own = new Set(folios.map((one) => one.id))
  const primary = folios.find((one) => one.isPrimary)
  const isOpen = (id: string) => routes.find((one) => one.folioId === id)?.isOpen ?? false
  return sum(
    due
      .filter(({ routed }) => primary && own.has(folioFor(routes, routed, isOpen, primary.id)))
      .map(({ owed }) => owed),
  )
}

/** Units that the stay is to have on a night. A constraint keeps blocked units out. */
export const unitsOn = ({ units }: StayFacts, night: string): StayUnit[] =>
  units.filter((one) => (one.status === 'proposed' || one.status === 'locked') && one.from <= night && one.to > night)

/** The number of units that the stay takes on a night. */
export const neededOn = ({ nights, shares }: StayFacts, night: string): number => {
  const typeId = nights.find((one) => one.date === night && one.status !== 'released')?.unitTypeId
  return sum(shares.filter((one) => one.unitTypeId === typeId).map((one) => one.quantity)) || 1
}

/** A unit in whose condition the house lets no guest come into it. */
export const unfitBlockers = (
  { name, condition }: { name: string; condition: string },
  { settings }: Pick<SaleProperty, 'settings'>,
): Blocker[] => {
  const allowed: readonly string[] = settings.frontDesk.conditions
  return blocker(
    !allowed.includes(condition),
    'unit_condition_not_allowed',
    `${name} is ${condition}`,
    'unit_condition',
  )
}

const unitBlockers = ({ facts, property, businessDate }: Scene): Blocker[] => {
  const units = unitsOn(facts, businessDate)
  return [
    ...blocker(units.length < neededOn(facts, businessDate), 'unit_not_assigned', 'No unit is free for the stay'),
    ...units.flatMap((unit) => [
      ...blocker(unit.occupancy === 'occupied', 'unit_occupied', `The guest before is still in ${unit.name}`),
      ...unfitBlockers(unit, property),
    ]),
  ]
}

/** The number of guests of the party without a registration form, named or not (R27 of guests.md). */
const unregistered = ({ stay, formsReady }: StayFacts): number =>
  Math.max(0, stay.adults + stay.childrenAges.length - formsReady)

const adultAge = 18
/** Minors without a responsible adult of the stay and kinship, or the document of an authorisation (R27 of guests.md). Forms may come later; these may not. */
const unaccompanied = ({ guests }: StayFacts): number =>
  guests.filter(
    (one) =>
      one.age !== null &&
      one.age < adultAge &&
      one.authorisationDocumentId === null &&
      (one.responsibleId === null || !one.kinship),
  ).length

/** T13 (R20): all that stands in the way of a check-in at once. */
export const planCheckIn = (scene: Scene): Plan => {
  const { facts, property, businessDate } = scene
  const { stay, booking, extras, deposits, folios, block } = facts
  const isEarly = property.now < localInstant(stay.arrival, property.checkInFrom, property.timezone)
  const comesEarly = extras.some((one) => one.status === 'active' && one.category === 'early_check_in')
  const missing = uncovered(deposits, moneyOf(folios, stay.id), property.now)
  const isWalkIn = booking.source === 'walk_in'
  const owed = `${missing} of the deposit is not paid`
  const { mode } = property.settings.registration
  const formless = unregistered(facts)
  const forms = `${formless} of the party lack a registration form`
  const minors = unaccompanied(facts)
  const lonely = `${minors} of the guests are minors without a responsible adult or an authorisation`
  return {
    blockers: [
      ...blocker(businessDate < stay.arrival, 'business_date_before_arrival', `The stay begins on ${stay.arrival}`),
      ...blocker(
        businessDate >= stay.departure,
        'business_date_after_departure',
        `The stay ended on ${stay.departure}`,
      ),
      ...blocker(
        isEarly && !comesEarly,
        'early_check_in',
        `Check-in is from ${property.checkInFrom} on`,
        'early_check_in',
      ),
      ...unitBlockers(scene),
      ...blocker(stay.primaryGuestId === null, 'primary_guest_missing', 'The stay has no guest'),
      ...blocker(block === 'refuse', 'guest_barred', 'The guest is barred from the house', 'barred_guest'),
      ...blocker(missing > 0 && !isWalkIn, 'deposit_missing', owed, 'deposit'),
      ...blocker(mode === 'strict' && formless > 0, 'registration_incomplete', forms, 'registration'),
      ...blocker(mode !== 'off' && minors > 0, 'minor_documents_missing', lonely),
    ],
    warnings: [
      ...warning(block === 'warn', 'guest_warned', 'The house has a warning about a guest'),
      ...warning(missing > 0 && isWalkIn, 'deposit_missing', owed),
      ...warning(mode === 'warn' && formless > 0, 'registration_incomplete', forms),
    ],
    effects: {
      ...nothing(facts),
      balanceDue: balanceOf(facts) + chargedHere(facts, nightsDue(facts.nights, addDays(businessDate, -1))),
      unitId: unitsOn(facts, businessDate)[0]?.unitId ?? null,
    },
  }
}

/** Nights that count and are not on a folio yet. */
export const openNights = ({ nights }: StayFacts) => nights.filter((night) => night.status === 'open')

/** Nights that a fee has paid for: they are sold, and never charged. */
const waivedNights = ({ nights }: StayFacts) => nights.filter((night) => night.status === 'waived')
const inOrder = (nights: readonly ReservationNightRow[]) => nights.map((night) => night.date).toSorted()

const isPaying = ({ payments }: StayFacts) =>
  payments.some((one) => one.status === 'unknown' || one.status === 'processing')

const paying = (facts: StayFacts): Blocker[] =>
  blocker(isPaying(facts), 'payment_in_progress', 'A payment is being processed; wait for its end')

export const primaryOf = ({ folios }: StayFacts) => folios.find((one) => one.isPrimary)

/** Gateway money that goes back of what a folio has beyond its charges. */
export const refundOf = (facts: StayFacts, folioId: string, excess: number): number => {
  const sent = facts.refundable.find((one) => one.folioId === folioId)?.amount ?? 0
  return Math.max(0, Math.min(excess, sent))
}

/** Reasons that are the house's own, for which the guest pays nothing (R30). */
export const noFee: ReadonlySet<CancelReason> = new Set(['property_fault', 'overbooked_relocated', 'force_majeure'])

export type CancelTerms = {
  reason: CancelReason
  /** Less than the policy's fee; needs the rule. */
  fee?: number | undefined
  /** `later`: money stays as credit for the desk to hand back. */
  refund?: 'automatic' | 'later' | undefined
}

/** T10 and T11 (R28 to R30): what ending a held or confirmed stay costs and gives back. */
export const planCancel = (
  { facts, property, businessDate }: Scene,
  { reason, fee: asked, refund = 'automatic' }: CancelTerms,
): Plan => {
  const { stay, booking, nights, siblings } = facts
  const nightsReleased = inOrder([...openNights(facts), ...waivedNights(facts)])
  const isLast = !siblings.some((one) => isLive(one.status))
  const credit = isLast ? booking.credit : 0
  if (stay.status === 'held')
    return { blockers: paying(facts), warnings: [], effects: { ...nothing(facts), refund: credit, nightsReleased } }
  const due = feesOf(property, booking, [stay], property.now, nights)[0]?.fee ?? 0
  const isFree = noFee.has(reason)
  const fee = Math.min(due, asked ?? (isFree ? 0 : due))
  const folio = primaryOf(facts)
  const excess = folio ? folio.credits - folio.charges - fee : 0
  const back = folio && refund === 'automatic' ? refundOf(facts, folio.id, excess) : 0
  const before = nothing(facts)
  return {
    blockers: [
      ...blocker(
        businessDate > stay.arrival,
        'late_cancellation',
        `The stay began on ${stay.arrival}`,
        'late_cancellation',
      ),
      ...paying(facts),
      ...blocker(fee < due, 'fee_lowered', `The policy asks for ${due}`, 'fee'),
    ],
    warnings: [],
    effects: { ...before, fee, refund: back + credit, balanceDue: before.balanceDue + fee + back, nightsReleased },
  }
}

export type CheckOutTerms = {
  /** The guest leaves before the departure that was booked, and knows what it costs. */
  early?: boolean | undefined
  /** The night of the business date is charged too: day use, or a late departure. */
  chargeTonight?: boolean | undefined
  /** `automatic`: gateway money above the charges goes back. */
  refund?: 'automatic' | 'later' | undefined
  /** Folios of the stay whose balances are billed to the customers who pay them. */
  invoice?: readonly string[] | undefined
}

/** The first day that a departure gives back, and the nights from it on: also those that a fee has paid for. */
export type Departure = { through: string; from: string; left: ReservationNightRow[]; refunds: Map<string, number> }

/** T16 (R22, R23): what is charged, what is given back, and whether the folios of the stay are even then. */
export const planCheckOut = (
  { facts, property, businessDate }: Scene,
  { early = false, chargeTonight = false, refund = 'later', invoice = [] }: CheckOutTerms,
): Plan & { effects: Effects & { billed: number }; departure: Departure } => {
  const { stay, nights, extras, folios, routes } = facts
  const through = lastNightDue(property, businessDate, chargeTonight)
  const from = addDays(through, 1)
  const left = [...openNights(facts), ...waivedNights(facts)].filter((night) => night.date >= from)
  const unpaid = left.filter((night) => night.status === 'open')
  const isEarly = left.length > 0
  const served = isEarly
    ? extras.flatMap((extra) => {
        if (extra.status !== 'active' || !isDaily(extra) || extra.until < from) return [extra]
        const { until, amount, taxes } = endedBefore(extra, from)
        return until === null ? [] : [{ ...extra, until, amount, taxes }]
      })
    : extras
  const released = sum(unpaid.map((night) => night.amount))
  const base = {
    nights: unpaid.map((night) => night.amount),
    roomTotal: released,
    total: released + onTop(unpaid.flatMap((night) => night.taxes as LineTax[])),
  }
  const fee = isEarly ? feeAmount(policiesOf(stay).cancellation.rules.earlyDeparture, base) : 0
  const primary = primaryOf(facts)
  const balances = new Map(folios.map((one) => [one.id, one.charges - one.credits]))
  const add = (folioId: string, amount: number) => {
    const balance = balances.get(folioId)
    if (balance !== undefined) balances.set(folioId, balance + amount)
  }
  const isOpen = (id: string) => routes.find((one) => one.folioId === id)?.isOpen ?? false
  const last = from > stay.departure ? from : stay.departure
  for (const { routed, owed } of [...nightsDue(nights, through), ...extrasDue(served, last)])
    if (primary) add(folioFor(routes, routed, isOpen, primary.id), owed)
  if (primary) add(primary.id, fee)
  const refunds = new Map<string, number>()
  if (refund === 'automatic')
    for (const [folioId, balance] of balances) {
      const back = refundOf(facts, folioId, -balance)
      if (back > 0) refunds.set(folioId, back)
      add(folioId, back)
    }
  // What is billed is no debt of the guest any more.
  let billed = 0
  for (const id of invoice) {
    const balance = balances.get(id) ?? 0
    if (balance > 0) {
      billed += balance
      balances.set(id, 0)
    }
  }
  return {
    blockers: [
      ...blocker(isEarly && !early, 'early_departure_not_confirmed', `The stay ends on ${stay.departure}`),
      ...facts.openChecks.flatMap((number) => blocker(true, 'open_checks', `Order ${number} is not closed`)),
      ...paying(facts),
      ...folios.flatMap(({ id, number }) =>
        blocker(
          (balances.get(id) ?? 0) !== 0,
          'balance_not_zero',
          `Folio ${number} has a balance of ${balances.get(id)}`,
          'balance',
        ),
      ),
    ],
    warnings: [],
    effects: {
      fee,
      refund: sum([...refunds.values()]),
      balanceDue: sum([...balances.values()]),
      nightsReleased: inOrder(left),
      nightsTaken: [],
      unitId: null,
      billed,
    },
    departure: { through, from, left, refunds },
  }
}

/** T18 (R31): the fee of a guest who has not come, and the nights that are free again. */
export const planNoShow = ({ facts, property, businessDate }: Scene, asked?: number): Plan => {
  const { stay } = facts
  const { rules } = policiesOf(stay).noShow
  const nights = openNights(facts)
  const base = feeBase(stay, facts.nights)
  const due = noShowFee(rules, base)
  const fee = noShowFee(rules, base, asked)
  const dates = nights.map((night) => night.date)
  const before = nothing(facts)
  return {
    blockers: [
      ...blocker(
        !isNoShow(stay, property, businessDate),
        'no_show_too_early',
        `The guest may come until ${property.settings.frontDesk.noShowFrom} of the day of arrival`,
      ),
      ...blocker(fee < due, 'fee_lowered', `The policy asks for ${due}`, 'fee'),
    ],
    warnings: [],
    effects: {
      ...before,
      fee,
      balanceDue: before.balanceDue + fee,
      nightsReleased: nightsLeft(rules, { open: dates, waived: inOrder(waivedNights(facts)) }, businessDate),
    },
  }
}

/** T8 of one held room: its hold is alive or covered, and its guests may come. */
export const planConfirm = ({ facts, property }: Scene): Plan => {
  const { booking, deposits, payments, block } = facts
  const due = dueAtBooking(booking, deposits)
  const authorised = sum(payments.filter((one) => one.targetType === 'booking').map((one) => one.authorised))
  const covered = booking.credit + authorised > 0 && booking.credit + authorised >= due
  const isOver = booking.holdExpiresAt === null || booking.holdExpiresAt <= property.now
  const missing = due > 0 && !covered
  return {
    blockers: [
      ...blocker(isOver && !covered, 'hold_expired', 'The hold has ended'),
      ...blocker(block === 'refuse', 'guest_barred', 'A guest is barred from the house', 'barred_guest'),
      ...blocker(missing, 'deposit_missing', `${due} is due at booking`, 'deposit'),
      ...(missing ? paying(facts) : []),
    ],
    warnings: warning(block === 'warn', 'guest_warned', 'The house has a warning about a guest'),
    effects: nothing(facts),
  }
}
