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
import type { Move } from '../units/index.ts'
import type { AmendedNight, Target } from './amend-nights.ts'
import { moneyOf } from './rules/deposits.ts'
import { policiesOf } from './rules/policies.ts'
import { depositsOf } from './lock.ts'

type Days = Pick<ReservationRow, 'arrival' | 'departure'>
type ExtraRow = ReservationExtraRow & { poolId: string | null; taxes: QuotedTax[] }
type ServedExtra = Pick<ExtraRow, 'id' | 'from' | 'until' | 'quantity' | 'poolId' | 'amount' | 'status' | 'taxes'> & {
  /** A row of its own for later days at another price, after days that are charged. */
  isRest?: boolean
}
type PricedDays = Pick<ServedExtra, 'from' | 'until' | 'amount' | 'taxes'>
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

/**
 * Days of service of an extra: what began with the stay begins with it still, and what lasted to its end lasts to its end. What is served once on the day of
 * departure is served on the new one.
 */
const served = (extra: ExtraRow, before: Days, target: Days): { from: string; until: string } => {
  const last = addDays(target.departure, -1)
  // A charged extra was served, and stays as it is.
  if (extra.chargedUntil !== null && !everyNight(extra.basis)) return { from: extra.from, until: extra.until }
  const begins = extra.from === before.arrival ? target.arrival : later(extra.from, target.arrival)
  const from = extra.chargedUntil === null ? begins : extra.from
  if (!everyNight(extra.basis)) {
    const day = extra.from === before.departure ? target.departure : earlier(from, target.departure)
    return { from: day, until: day }
  }
  const until = extra.until === addDays(before.departure, -1) ? last : earlier(extra.until, last)
  return { from, until: later(until, extra.chargedUntil ?? until) }
}

/** A daily extra up to a day that was charged, at what its days have cost. */
export const upToDay = <E extends PricedDays>(extra: E, until: string): E => {
  const all = daysBetween(extra.from, extra.until) + 1
  const days = daysBetween(extra.from, until) + 1
  const taxes = extra.taxes.map((tax) => ({ ...tax, amount: ofFirst(tax.amount, days, all) }))
  return { ...extra, until, amount: ofFirst(extra.amount, days, all), taxes }
}

/** Tells whether two services have one price and the same taxes. */
export const costsTheSame = (a: Pick<PricedDays, 'amount' | 'taxes'>, b: Pick<PricedDays, 'amount' | 'taxes'>) => {
  const taxesOf = ({ taxes }: Pick<PricedDays, 'taxes'>) =>
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
  before: Days & Pick<ReservationRow, 'id'>,
  target: Pick<Target, 'arrival' | 'departure' | 'party'>,
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

/** Installments ask for no more than the price in all (R25): what has no room in a lower price goes, the last first. What was waived stays so. */
export const capDeposits = async (trx: Trx, { id, total }: Pick<ReservationRow, 'id' | 'total'>): Promise<void> => {
  let room = total
  const capped = (await depositsOf(trx, [id])).flatMap((one) => {
    const asked = one.amount - one.waivedAmount
    const left = Math.min(asked, room)
    room -= left
    return left < asked ? [{ ...one, amount: one.waivedAmount + left }] : []
  })
  if (capped.length === 0) return
  const gone = capped.filter((one) => one.amount === 0 && one.requestedAt === null).map((one) => one.id)
  await sql(trx, `delete from deposit where id = any(?::uuid[])`, [gone])
  await sql(
    trx,
    `update deposit d set amount = v.amount, version = d.version + 1 from unnest(?::uuid[], ?::bigint[]) as v(id, amount) where d.id = v.id`,
    [capped.map((one) => one.id), capped.map((one) => one.amount)],
  )
}

/**
 * Installments that no money covers yet are made anew of the policy that the stay is sold with (R25), which may ask for none; covered and waived ones, and those
 * that were set by hand, stay. In all they are never more than the price.
 */
export const renewDeposits = async (
  trx: Trx,
  booking: Pick<BookingRow, 'credit' | 'createdAt'>,
  reservation: ReservationRow,
  property: SaleProperty,
  now: Date,
): Promise<void> => {
  const rules = policiesOf(reservation).deposit?.rules ?? null
  const stored = await depositsOf(trx, [reservation.id])
  if (stored.some((one) => one.origin === 'manual')) return capDeposits(trx, reservation)
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
    `select amount from reservation_night where reservation_id = ? and status in ('open', 'charged') order by date`,
    [reservation.id],
  )
  let settled = sum(kept.map((one) => one.amount))
  const planned = rules
    ? depositSchedule(rules, {
        arrival: reservation.arrival,
        checkInFrom: property.checkInFrom,
        timeZone: property.timezone,
        nights: nights.map((night) => night.amount),
        total: reservation.total,
        now,
      })
    : []
  // Of a hold it stays due at booking: nothing else makes it wait for the deposit (R26).
  const atBooking = reservation.status === 'held' ? booking.createdAt : now
  const fresh = planned.flatMap(({ dueAt, amount }) => {
    const part = Math.min(settled, amount)
    settled -= part
    return amount > part ? [{ dueAt: (dueAt ?? atBooking).toISOString(), amount: amount - part }] : []
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
  await capDeposits(trx, reservation)
}
