import { daysBetween, daysIn, addDays } from '../../config/time.ts'
import { ofFirst, spread } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onTop } from '../properties/index.ts'
import type { ExtraRow, ReservationExtraRow } from '../rows.ts'
import { lineTax } from './charge-nights.ts'
import { writeCharges } from './charges.ts'
import type { Charge, Charged, ChargedStay } from './charges.ts'
import type { LineTax } from './folios.ts'

type Served = Pick<
  ReservationExtraRow,
  'id' | 'reservationId' | 'name' | 'basis' | 'from' | 'until' | 'amount' | 'chargedUntil'
> &
  Pick<ExtraRow, 'revenueGroup'> & { taxes: LineTax[] }

const daily = new Set<Served['basis']>(['per_night', 'per_person_per_night'])

/** Days of service on which an extra is charged: each, or the first where it is sold for the whole stay. */
const chargedDays = ({ basis, from, until }: Pick<Served, 'basis' | 'from' | 'until'>) =>
  daily.has(basis) ? daysIn(from, addDays(until, 1)) : [from]

/** The charges of an extra for its days up to `through` that were not charged before. */
export const extraCharges = (stay: ChargedStay, extra: Served, through: string): Charge[] => {
  const days = chargedDays(extra)
  const amounts = spread(extra.amount, days.length)
  const taxes = extra.taxes.map((tax) => ({ tax, amounts: spread(tax.amount, days.length) }))
  return days.flatMap((day, index) =>
    day > through || (extra.chargedUntil !== null && day <= extra.chargedUntil)
      ? []
      : [
          {
            stay,
            kind: 'charge' as const,
            category: extra.revenueGroup,
            description: extra.name,
            amount: amounts[index] ?? 0,
            taxes: taxes.map(({ tax, amounts: parts }) => lineTax({ ...tax, amount: parts[index] ?? 0 })),
            source: { type: 'reservation_extra', id: extra.id, key: day },
            event: 'reservations.extra_charged',
            isPrice: true,
          },
        ],
  )
}

type Charging = { businessDate: string; stays: readonly ChargedStay[]; through: string }

/**
 * Charges the extras of stays on their days of service up to `through` (R35), as `chargeNights` does nights. What is sold for a whole stay is charged on
 * its first day.
 */
export const chargeExtras = async (trx: Trx, { businessDate, stays, through }: Charging): Promise<Charged> => {
  const extras = await sql<Served>(
    trx,
    `select e.id, e.reservation_id, e.name, e.basis, e."from", e."until", e.amount, e.taxes, e.charged_until, x.revenue_group
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
     where e.reservation_id = any(?::uuid[]) and e.status = 'active' and e."from" <= ?::date and coalesce(e.charged_until < e."until", true)
     order by e.reservation_id, e.id`,
    [stays.map((one) => one.id), through],
  )
  const stayOf = new Map(stays.map((one) => [one.id, one]))
  const charges = extras.flatMap((extra) => extraCharges(stayOf.get(extra.reservationId)!, extra, through))
  const charged = await writeCharges(trx, { businessDate, charges })
  if (extras.length > 0)
    await sql(
      trx,
      `update reservation_extra e set charged_until = case when e.basis in ('per_night', 'per_person_per_night') then least(e."until", ?::date) else e."until" end,
         version = e.version + 1 where e.id = any(?::uuid[])`,
      [through, extras.map((one) => one.id)],
    )
  return charged
}

/** Ends the daily extras of stays before a day: what was not served is neither charged nor counted. Answers what each stay has less, in minor units. */
export const cutExtras = async (
  trx: Trx,
  stayId: string,
  before: string,
): Promise<{ extras: number; taxOnTop: number }> => {
  const cut = await sql<Served>(
    trx,
    `select e.id, e.basis, e."from", e."until", e.amount, e.taxes, e.charged_until from reservation_extra e
     where e.reservation_id = ? and e.status = 'active' and e.basis in ('per_night', 'per_person_per_night') and e."until" >= ?::date order by e.id`,
    [stayId, before],
  )
  let extras = 0
  let taxOnTop = 0
  const kept = cut.map((one) => {
    const all = daysBetween(one.from, one.until) + 1
    const first = one.chargedUntil === null ? before : addDays(one.chargedUntil, 1)
    const end = first > before ? first : before
    const days = Math.max(0, daysBetween(one.from, end))
    const amount = ofFirst(one.amount, days, all)
    const taxes = one.taxes.map((tax) => ({ ...tax, amount: ofFirst(tax.amount, days, all) }))
    extras += one.amount - amount
    taxOnTop += onTop(one.taxes) - onTop(taxes)
    return { id: one.id, until: days > 0 ? addDays(one.from, days - 1) : null, amount, taxes }
  })
  if (kept.length > 0)
    await sql(
      trx,
      `update reservation_extra e set "until" = coalesce((v->>'until')::date, e."until"), amount = (v->>'amount')::bigint, taxes = v->'taxes',
         status = case when v->>'until' is null then 'cancelled' else e.status end, version = e.version + 1
       from jsonb_array_elements(?::jsonb) v where e.id = (v->>'id')::uuid`,
      [JSON.stringify(kept)],
    )
  return { extras, taxOnTop }
}
