import type { QuotedTax } from '../../config/quote.ts'
import { addDays, daysBetween, daysIn } from '../../config/time.ts'
import { ofFirst, sum } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import {
  catalogueOf,
  countParty,
  localTaxRules,
  depositSchedule,
  dailyAmount,
  addTaxes,
  extraTaxes,
  onTop,
  extraMoves,
} from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { BookingRow, FolioRow, ReservationExtraRow, ReservationNightRow, ReservationRow } from '../rows.ts'
import { lockPools, clearUnits } from '../units/index.ts'
import type { Move } from '../units/index.ts'
import type { AmendedNight, Target } from './amend-nights.ts'
import { moneyOf } from './rules/deposits.ts'
import { policiesOf } from './rules/policies.ts'
import { depositsOf } from './lock.ts'

type ExtraRow = ReservationExtraRow & { poolId: string | null; taxes: QuotedTax[] }
type ServedExtra = Pick<ExtraRow, 'id' | 'from' | 'until' | 'quantity' | 'poolId' | 'amount' | 'status' | 'taxes'> & {
  /** A row of its own for later days at another price, after days that are charged. */
  isRest?: boolean
}
export type AmendedExtras = {
  /** Those that change, and what comes after what was charged of them. */
  rows: ServedExtra[]
  total: number
  taxesOnTop: number
  moves: (counter: 'held' | 'sold') => Move[]
}

const everyNight = (basis: ExtraRow['basis']) => basis === 'per_night' || basis === 'per_person_per_night'
const later = (a: string, b: string) => (a > b ? a : b)
const earlier = (a: string, b: string) => (a < b ? a : b)

/** Days of service of an extra: what began with the stay begins with it still, and what lasted to its end lasts to its end. */
const served = (extra: ExtraRow, before: ReservationRow, target: Target): { from: string; until: string } => {
  const last = addDays(target.departure, -1)
  // A charged extra was served, and stays as it is.
  if (extra.chargedUntil !== null && !everyNight(extra.basis)) return { from: extra.from, until: extra.until }
  const begins = extra.from === before.arrival ? target.arrival : later(extra.from, target.arrival)
  const from = extra.chargedUntil === null ? begins : extra.from
  if (!everyNight(extra.basis)) return { from: earlier(from, last), until: earlier(from, last) }
  const until = extra.until === addDays(before.departure, -1) ? last : earlier(extra.until, last)
  return { from, until: later(until, extra.chargedUntil ?? until) }
}

/** A daily extra up to a day that was charged, at what its days have cost. */
const upToDay = <E extends ServedExtra>(extra: E, until: string): E => {
  const all = daysBetween(extra.from, extra.until) + 1
  const days = daysBetween(extra.from, until) + 1
  const taxes = extra.taxes.map((tax) => ({ ...tax, amount: ofFirst(tax.amount, days, all) }))
  return { ...extra, until, amount: ofFirst(extra.amount, days, all), taxes }
}

const costsTheSame = (a: ServedExtra, b: ServedExtra) => {
  const taxesOf = ({ taxes }: ServedExtra) =>
    taxes
      .map((tax) => `${tax.taxRuleId} ${tax.amount}`)
      .sort()
      .join()
  return a.amount === b.amount && taxesOf(a) === taxesOf(b)
}

/**
 * The extras of a stay as its new days and party make them, at the price that they were sold for. Days that were charged stay as they are (R35): where
 * later ones cost something else, they are sold apart.
 */
export const amendedExtras = async (
  trx: Trx,
  property: SaleProperty,
  before: ReservationRow,
  target: Target,
): Promise<AmendedExtras> => {
  const stored = await sql<ExtraRow>(
    trx,
    `select e.*, x.pool_id from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
     where e.reservation_id = ? and e.status = 'active' order by e.id`,
    [before.id],
  )
  if (stored.length === 0) return { rows: [], total: 0, taxesOnTop: 0, moves: () => [] }
  const catalogue = await catalogueOf(trx, property)
  const { counted } = countParty(catalogue, target.party)
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const rows = stored.flatMap((extra): ServedExtra[] => {
    const { from, until } = served(extra, before, target)
    if (from > until) return [{ ...extra, status: 'cancelled', taxes: [] }]
    if (extra.chargedUntil !== null && !everyNight(extra.basis)) return [extra]
    const daily = dailyAmount(extra.unitAmount, extra.basis, extra.quantity, counted)
    const sold = (first: string): ServedExtra => {
      const days = daysIn(first, addDays(until, 1))
      const taxes = addTaxes(days.flatMap((date) => extraTaxes(rules, { date, amount: daily })))
      return { ...extra, from: first, until, amount: daily * days.length, taxes }
    }
    const whole = sold(from)
    // Nothing of it changes: nor do its taxes, whatever the rules are by now.
    if (extra.from === from && extra.until === until && extra.amount === whole.amount) return [extra]
    if (extra.chargedUntil === null) return [whole]
    const charged = upToDay(extra, extra.chargedUntil)
    if (costsTheSame(charged, upToDay(whole, extra.chargedUntil))) return [whole]
    const next = addDays(extra.chargedUntil, 1)
    return next > until ? [charged] : [charged, { ...sold(next), isRest: true }]
  })
  const active = rows.filter((row) => row.status === 'active')
  return {
    rows,
    total: sum(active.map((row) => row.amount)),
    taxesOnTop: sum(active.map((row) => onTop(row.taxes))),
    moves: (counter) => [
      ...stored.flatMap((row) => extraMoves(row, row.poolId, { [counter]: -1 })),
      ...active.flatMap((row) => extraMoves(row, row.poolId, { [counter]: 1 })),
    ],
  }
}

export const writeExtras = async (trx: Trx, { rows }: Pick<AmendedExtras, 'rows'>): Promise<void> => {
  if (rows.length === 0) return
  const written = JSON.stringify(rows)
  if (rows.some((row) => row.isRest))
    await sql(
      trx,
      `insert into reservation_extra (reservation_id, extra_id, name, basis, quantity, "from", "until", unit_amount, amount, taxes)
       select e.reservation_id, e.extra_id, e.name, e.basis, e.quantity, v."from", v."until", e.unit_amount, v.amount, v.taxes
       from jsonb_to_recordset(?::jsonb) as v (id uuid, "from" date, "until" date, amount bigint, taxes jsonb, "isRest" boolean)
       join reservation_extra e on e.id = v.id where v."isRest" order by e.id`,
      [written],
    )
  await sql(
    trx,
    `update reservation_extra e set "from" = v."from", "until" = v."until", amount = v.amount, taxes = v.taxes, status = v.status,
       version = e.version + 1
     from jsonb_to_recordset(?::jsonb) as v (id uuid, "from" date, "until" date, amount bigint, taxes jsonb, status text, "isRest" boolean)
     where e.id = v.id and v."isRest" is not true`,
    [written],
  )
}

/** Nights that are no part of the stay any more go, and all open ones are as they are now. */
export const writeNights = async (
  trx: Trx,
  reservationId: string,
  before: readonly ReservationNightRow[],
  after: readonly AmendedNight[],
): Promise<void> => {
  const left = new Set(after.map((night) => night.date))
  const gone = before.map((night) => night.date).filter((date) => !left.has(date))
  // One that was released by an earlier change of the stay would stand in the way of the same date.
  await sql(
    trx,
    `delete from reservation_night where reservation_id = ? and (date = any(?::date[]) or (status = 'released' and date = any(?::date[])))`,
    [reservationId, gone, [...left]],
  )
  await sql(
    trx,
    `insert into reservation_night (reservation_id, date, unit_type_id, rate_plan_id, amount, taxes, components)
     select ?::uuid, v.* from jsonb_to_recordset(?::jsonb)
       as v (date date, "unitTypeId" uuid, "ratePlanId" uuid, amount bigint, taxes jsonb, components jsonb)
     on conflict (tenant_id, reservation_id, date) do update set unit_type_id = excluded.unit_type_id, rate_plan_id = excluded.rate_plan_id,
       amount = excluded.amount, taxes = excluded.taxes, components = excluded.components`,
    [reservationId, JSON.stringify(after.filter((night) => night.status === 'open'))],
  )
}

/**
 * Installments that no money covers yet are made anew of the policy that the stay was sold with (R25); covered and waived ones, and those
 * that were set by hand, stay. In all they are never more than the price.
 */
export const renewDeposits = async (
  trx: Trx,
  booking: Pick<BookingRow, 'credit'>,
  reservation: ReservationRow,
  property: SaleProperty,
  now: Date,
): Promise<void> => {
  const rules = policiesOf(reservation).deposit?.rules ?? null
  const stored = await depositsOf(trx, [reservation.id])
  if (!rules || stored.some((one) => one.origin === 'manual')) return
  const folios = await sql<Pick<FolioRow, 'reservationId' | 'credits'>>(
    trx,
    `select reservation_id, credits from folio where reservation_id = ?`,
    [reservation.id],
  )
  let money = reservation.status === 'held' ? booking.credit : moneyOf(folios, reservation.id)
  const kept = stored.filter((one) => {
    const isCovered = one.waivedAmount > 0 || one.requestedAt !== null || money >= one.amount
    money -= isCovered ? one.amount - one.waivedAmount : 0
    return isCovered
  })
  const nights = await sql<{ amount: number }>(
    trx,
    `select amount from reservation_night where reservation_id = ? and status <> 'released' order by date`,
    [reservation.id],
  )
  let settled = sum(kept.map((one) => one.amount))
  const fresh = depositSchedule(rules, {
    arrival: reservation.arrival,
    checkInFrom: property.checkInFrom,
    timeZone: property.timezone,
    nights: nights.map((night) => night.amount),
    total: reservation.total,
    now,
  }).flatMap(({ dueAt, amount }) => {
    const part = Math.min(settled, amount)
    settled -= part
    return amount > part ? [{ dueAt: (dueAt ?? now).toISOString(), amount: amount - part }] : []
  })
  await sql(trx, `delete from deposit where reservation_id = ? and not (id = any(?::uuid[]))`, [
    reservation.id,
    kept.map((one) => one.id),
  ])
  const after = kept.reduce((last, one) => Math.max(last, one.position), 0)
  await sql(
    trx,
    `insert into deposit (reservation_id, position, due_at, amount)
     select ?::uuid, ?::int + n, (v->>'dueAt')::timestamptz, (v->>'amount')::bigint from jsonb_array_elements(?::jsonb) with ordinality as e(v, n)`,
    [reservation.id, after, JSON.stringify(fresh)],
  )
}

/** Keeps a guest in their unit: proposed stays move elsewhere; 409 `unit_conflict` if it is promised to another. */
const stayOn = async (trx: Trx, reservationId: string, from: string, to: string) => {
  const inside = await sql<{ unitId: string }>(
    trx,
    `select unit_id from unit_assignment where reservation_id = ? and status = 'occupied' and ends_on = ?::date`,
    [reservationId, from],
  )
  if (inside.length > 0) await clearUnits(trx, { unitIds: inside.map((one) => one.unitId), from, to, reservationId })
}

/**
 * Moves the units of a stay to its new days (R19). Proposed and locked ones that are not free then, or not of the type any more, are
 * released: answers false, and others are to be looked for. An occupied one that is not free is 409 `unit_conflict`.
 */
export const reshapeUnits = async (
  trx: Trx,
  before: Pick<ReservationRow, 'arrival' | 'departure'>,
  { id, arrival, departure }: Pick<ReservationRow, 'id' | 'arrival' | 'departure'>,
  sameType: boolean,
): Promise<boolean> => {
  const pools = await sql<{ poolId: string }>(
    trx,
    `select distinct u.unit_pool_id as pool_id from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')`,
    [id],
  )
  await lockPools(
    trx,
    pools.map((one) => one.poolId),
  )
  // A stay that waits for a unit now waits for other nights.
  await sql(trx, `delete from stranded_stay where reservation_id = ?`, [id])
  if (pools.length === 0) return false
  await sql(
    trx,
    `select u.id from unit u where u.id in (select a.unit_id from unit_assignment a
       where a.reservation_id = ? and a.status in ('proposed', 'locked', 'occupied')) order by u.id for no key update`,
    [id],
  )
  if (departure > before.departure) await stayOn(trx, id, before.departure, departure)
  // An assignment that began with the stay begins with it still. An occupied unit keeps the day on which the guest came into it.
  const moved = await sql<{ id: string }>(
    trx,
    `with place as (
       select a.id, a.unit_id, a.status,
         case when a.status <> 'occupied' and a.starts_on = cast(:arrivalBefore as date) then cast(:arrival as date) else a.starts_on end as starts_on,
         case when a.ends_on = cast(:departureBefore as date) then cast(:departure as date) else least(a.ends_on, cast(:departure as date)) end as ends_on
       from unit_assignment a where a.reservation_id = :id and a.status in ('proposed', 'locked', 'occupied'))
     update unit_assignment a set during = daterange(p.starts_on, p.ends_on)
     from place p join unit u on u.id = p.unit_id
     where a.id = p.id and p.starts_on < p.ends_on and (p.status = 'occupied' or (cast(:sameType as boolean) and u.status = 'active'
       and u.active_from <= p.starts_on and (u.active_until is null or u.active_until >= p.ends_on)
       and not exists (select from unit_assignment o where o.unit_id = p.unit_id and o.id <> p.id
         and o.status in ('proposed', 'locked', 'occupied', 'blocked') and o.starts_on < p.ends_on and o.ends_on > p.starts_on)))
     returning a.id`,
    {
      id,
      arrival,
      departure,
      arrivalBefore: before.arrival,
      departureBefore: before.departure,
      sameType,
    },
  )
  const released = await sql<{ id: string }>(
    trx,
    `update unit_assignment set status = 'released' where reservation_id = ? and status in ('proposed', 'locked') and not (id = any(?::uuid[]))
     returning id`,
    [id, moved.map((one) => one.id)],
  )
  return moved.length > 0 && released.length === 0
}
