import { addDays, daysBetween, daysIn } from '../../../config/time.ts'
import { ofFirst, spread } from '../../lib/amounts.ts'
import { onTop } from '../../properties/rules/taxes.ts'
import type { ReservationExtraRow, ReservationNightRow } from '../../rows.ts'
import type { LineTax } from '../folio/lines.ts'
import type { Routed } from './routing.ts'

/** A charge to come, and the amount that it will add to its folio, with its taxes on top. */
export type DueCharge = { routed: Routed; owed: number }

type Extra = Pick<ReservationExtraRow, 'basis' | 'from' | 'until' | 'amount' | 'chargedUntil'> & { taxes: unknown }
type Served = Extra & Pick<ReservationExtraRow, 'id' | 'status'> & { revenueGroup: string }

const daily = new Set<Extra['basis']>(['per_night', 'per_person_per_night'])
export const isDaily = ({ basis }: Pick<Extra, 'basis'>) => daily.has(basis)

/** Days of service on which an extra is charged: each, or the first where it is sold for the whole stay. */
export const chargedDays = (extra: Pick<Extra, 'basis' | 'from' | 'until'>) =>
  isDaily(extra) ? daysIn(extra.from, addDays(extra.until, 1)) : [extra.from]

/** The remainder of a daily extra that ends before a day: the days that were served or charged. A null `until` says that none is left. */
export const endedBefore = (
  extra: Extra,
  before: string,
): { until: string | null; amount: number; taxes: LineTax[] } => {
  const all = daysBetween(extra.from, extra.until) + 1
  const first = extra.chargedUntil === null ? before : addDays(extra.chargedUntil, 1)
  const days = Math.min(all, Math.max(0, daysBetween(extra.from, first > before ? first : before)))
  const taxes = (extra.taxes as LineTax[]).map((tax) => ({ ...tax, amount: ofFirst(tax.amount, days, all) }))
  return { until: days > 0 ? addDays(extra.from, days - 1) : null, amount: ofFirst(extra.amount, days, all), taxes }
}

/** Open nights up to one, as charges. */
export const nightsDue = (
  nights: readonly Pick<ReservationNightRow, 'date' | 'amount' | 'taxes' | 'status'>[],
  through: string,
): DueCharge[] =>
  nights
    .filter((night) => night.status === 'open' && night.date <= through)
    .map(({ date, amount, taxes }) => ({
      routed: { category: 'room', date },
      owed: amount + onTop(taxes as LineTax[]),
    }))

/** Days of service up to one that are on no folio yet, as charges. */
export const extrasDue = (extras: readonly Served[], through: string): DueCharge[] =>
  extras
    .filter((extra) => extra.status === 'active')
    .flatMap((extra) => {
      const days = chargedDays(extra)
      const amounts = spread(extra.amount, days.length)
      const taxes = (extra.taxes as LineTax[]).map((tax) => ({ tax, amounts: spread(tax.amount, days.length) }))
      return days.flatMap((date, index) =>
        date > through || (extra.chargedUntil !== null && date <= extra.chargedUntil)
          ? []
          : [
              {
                routed: { category: extra.revenueGroup, date },
                owed:
                  (amounts[index] ?? 0) +
                  onTop(taxes.map(({ tax, amounts: parts }) => ({ ...tax, amount: parts[index] ?? 0 }))),
              },
            ],
      )
    })
