import { invalid, unprocessable } from '../../config/errors.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, from, pageOf, until } from '../lib/lists.ts'
import { readRow } from '../lib/records.ts'
import type { ExchangeRateRow } from '../rows.ts'
import { ExchangeRate } from './models.ts'

export const listExchangeRates = pageOf(ExchangeRate, {
  order: ['date desc', 'fromCurrency', 'toCurrency', 'id'],
  filters: {
    from: equal('fromCurrency'),
    to: equal('toCurrency'),
    dateFrom: from('date'),
    dateTo: until('date'),
  },
})

export const readExchangeRate = (trx: Trx, id: string) => readRow(trx, ExchangeRate, id)

export type DatedRate = { from: string; to: string; rate: string }

/**
 * Sets the rates of a date, units of `to` for one unit of `from`. A pair that stands gets the new rate; 422 `rate_used` where a finished report used
 * the old one. Answers the rates in the order given.
 */
export const setExchangeRates = async (trx: Trx, date: string, rates: readonly DatedRate[]) => {
  const wrong = rates.flatMap((one, index) => [
    ...(one.from === one.to ? [{ field: `rates.${index}.to`, message: 'must differ from `from`' }] : []),
    ...(/[1-9]/.test(one.rate) ? [] : [{ field: `rates.${index}.rate`, message: 'must be more than 0' }]),
    ...(rates.findIndex((other) => other.from === one.from && other.to === one.to) < index
      ? [{ field: `rates.${index}`, message: 'stands twice' }]
      : []),
  ])
  if (wrong.length > 0) throw invalid(wrong)
  const { tenantId } = contextOf(trx)
  const given = JSON.stringify(rates)
  const set = await sql<ExchangeRateRow>(
    trx,
    `insert into exchange_rate as e (tenant_id, from_currency, to_currency, date, rate)
     select ?, r."from", r."to", ?::date, r.rate from jsonb_to_recordset(?::jsonb) as r ("from" text, "to" text, rate numeric) order by 2, 3
     on conflict (tenant_id, from_currency, to_currency, date) do update set rate = excluded.rate, version = e.version + 1
       where e.used_at is null or e.rate = excluded.rate
     returning *`,
    [tenantId, date, given],
  )
  if (set.length < rates.length) throw unprocessable('rate_used', 'A finished report used a rate of this date')
  return rates.flatMap((one) => set.find((row) => row.fromCurrency === one.from && row.toCurrency === one.to) ?? [])
}

/** Deletes a rate that no report has used; 422 `rate_used`. The caller holds its row. */
export const deleteExchangeRate = async (trx: Trx, id: string) => {
  const rate = await readExchangeRate(trx, id)
  if (rate.usedAt !== null) throw unprocessable('rate_used', 'A finished report used this rate')
  await sqlOne(trx, `delete from exchange_rate where tenant_id = ? and id = ? returning id`, [
    contextOf(trx).tenantId,
    id,
  ])
  return rate
}
