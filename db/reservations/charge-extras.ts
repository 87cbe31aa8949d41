import { spread } from '../lib/amounts.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onTop } from '../properties/index.ts'
import type { ExtraRow, ReservationExtraRow } from '../rows.ts'
import { lineTax } from './charge-nights.ts'
import { writeCharges } from './folio/write.ts'
import type { Charge, Charged, ChargedStay } from './folio/write.ts'
import type { LineTax } from './folio/lines.ts'
import { chargedDays, endedBefore } from './rules/due-charges.ts'

type Served = Pick<
  ReservationExtraRow,
  'id' | 'reservationId' | 'name' | 'basis' | 'from' | 'until' | 'amount' | 'chargedUntil'
> &
  Pick<ExtraRow, 'revenueGroup'> & { taxes: LineTax[] }

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
            routed: { category: extra.revenueGroup, date: day },
          },
        ],
  )
}

type Charging = { businessDate: string; stays: readonly ChargedStay[]; through: string }

/** Extras of stays that have days of service up to `through` which are not charged yet. */
const openExtras = (trx: Trx, stayIds: readonly string[], through: string): Promise<Served[]> =>
  prepared<Served>(
    trx,
    `select e.id, e.reservation_id, e.name, e.basis, e."from", e."until", e.amount, e.taxes, e.charged_until, x.revenue_group
     from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
     where e.reservation_id = any(?::uuid[]) and e.status = 'active' and e."from" <= ?::date and coalesce(e.charged_until < e."until", true)
     order by e.reservation_id, e.id`,
    [stayIds, through],
  )

const chargesOf = (stays: readonly ChargedStay[], extras: readonly Served[], through: string): Charge[] => {
  const stayOf = new Map(stays.map((one) => [one.id, one]))
  return extras.flatMap((extra) => extraCharges(stayOf.get(extra.reservationId)!, extra, through))
}

/** The charges that the extras of stays will become, up to and including the day `through`. Writes nothing. */
export const comingExtras = async (trx: Trx, stays: readonly ChargedStay[], through: string): Promise<Charge[]> =>
  chargesOf(
    stays,
    await openExtras(
      trx,
      stays.map((one) => one.id),
      through,
    ),
    through,
  )

/**
 * Charges the extras of stays on their days of service up to `through` (R35), as `chargeNights` does nights. What is sold for a whole stay is charged on
 * its first day.
 */
export const chargeExtras = async (trx: Trx, { businessDate, stays, through }: Charging): Promise<Charged> => {
  const extras = await openExtras(
    trx,
    stays.map((one) => one.id),
    through,
  )
  const charges = chargesOf(stays, extras, through)
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

/**
 * Ends the daily extras of a stay before a day: what was not served is neither charged nor counted. What is taken off stands on them, so that it can be given
 * back. Answers what the stay has less, in minor units.
 */
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
    const { until, amount, taxes } = endedBefore(one, before)
    extras += one.amount - amount
    taxOnTop += onTop(one.taxes) - onTop(taxes)
    return { id: one.id, until, amount, taxes, cut: { until: one.until, amount: one.amount, taxes: one.taxes } }
  })
  if (kept.length > 0)
    await sql(
      trx,
      `update reservation_extra e set "until" = coalesce(v."until", e."until"), amount = v.amount, taxes = v.taxes,
         cut = v.cut, status = case when v."until" is null then 'cancelled' else e.status end, version = e.version + 1
       from jsonb_to_recordset(?::jsonb) as v (id uuid, "until" date, amount bigint, taxes jsonb, cut jsonb) where e.id = v.id`,
      [JSON.stringify(kept)],
    )
  return { extras, taxOnTop }
}
