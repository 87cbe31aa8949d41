import { unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { minorDigits } from '../../config/minor-units.ts'
import { addDays, daysIn } from '../../config/time.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Range } from './rules/dates.ts'
import { converted, inverseOf, meanOf, one, parseRate } from './rules/exchange.ts'
import type { Rate } from './rules/exchange.ts'

/** A rate stands for the days after it, so many at most. */
const staleDays = 7

type Stored = { id: string; date: string; rate: string; isInverse: boolean }

/** Amounts of one currency in another one. What is missing is collected: ask `refuseMissing` before the amounts are used. */
export type Exchange = {
  at: (amount: number, day: string) => number
  /** At the mean of the rates of each day of a range. */
  over: (amount: number, range: Range) => number
}

export type Exchanges = {
  between: (from: string, to: string) => Promise<Exchange>
  used: () => string[]
  /** 422 `rate_missing` with pair and day of each rate that is not there. */
  refuseMissing: () => void
}

const same: Exchange = { at: (amount) => amount, over: (amount) => amount }

export const exchanges = (trx: Trx): Exchanges => {
  const used = new Set<string>()
  const missing = new Map<string, FieldError>()

  const between = async (from: string, to: string): Promise<Exchange> => {
    if (from === to) return same
    const stored = await sql<Stored>(
      trx,
      `select distinct on (date) id, date, cast(rate as text) as rate, from_currency <> :from as is_inverse from exchange_rate
       where tenant_id = :tenantId and (from_currency = :from and to_currency = :to or from_currency = :to and to_currency = :from)
       order by date, from_currency <> :from`,
      { tenantId: contextOf(trx).tenantId, from, to },
    )
    const digits = { from: minorDigits(from), to: minorDigits(to) }
    const rateOn = (day: string): Rate => {
      const found = stored.findLast(({ date }) => date <= day)
      if (!found || found.date < addDays(day, -staleDays)) {
        missing.set(`${from} ${to} ${day}`, { field: `${from}/${to}`, message: day })
        return one
      }
      used.add(found.id)
      const rate = parseRate(found.rate)
      return found.isInverse ? inverseOf(rate) : rate
    }
    const means = new Map<string, ReturnType<typeof meanOf>>()
    const meanOver = (range: Range) => {
      const key = `${range.from} ${range.to}`
      const mean = means.get(key) ?? meanOf(daysIn(range.from, addDays(range.to, 1)).map(rateOn))
      means.set(key, mean)
      return mean
    }
    return {
      at: (amount, day) => (amount === 0 ? 0 : converted(amount, meanOf([rateOn(day)]), digits)),
      over: (amount, range) => (amount === 0 ? 0 : converted(amount, meanOver(range), digits)),
    }
  }
  return {
    between,
    used: () => [...used],
    refuseMissing: () => {
      if (missing.size > 0)
        throw unprocessable('rate_missing', 'Exchange rates are missing', [...missing.values()].slice(0, 50))
    },
  }
}

/** Marks rates that a finished report used: they do not change any more. */
export const markRates = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  await sql(
    trx,
    `update exchange_rate set used_at = now() where tenant_id = ? and id = any(?::uuid[]) and used_at is null`,
    [contextOf(trx).tenantId, ids],
  )
}
