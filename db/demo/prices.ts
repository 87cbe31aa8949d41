import { addDays, daysIn, todayIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import { writePrices } from '../properties/index.ts'
import type { PriceCell } from '../properties/index.ts'

export const timeZone = 'America/Sao_Paulo'
export const pricedDays = 400

/** The demo's inn has been open for so many days: their business days are closed. */
const daysClosed = 2

/** The first business day of the inn. */
export const firstDay = (): string => addDays(todayIn(timeZone), -daysClosed)

/** Fridays and Saturdays cost a quarter more, the summer and the turn of the year more again; in whole units of 10. */
const factor = (date: string): number => {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  const month = date.slice(5, 7)
  const day = date.slice(5)
  const season =
    day >= '12-26' || day <= '01-02'
      ? 1.6
      : month === '01' || month === '02' || month === '07' || month === '12'
        ? 1.3
        : 1
  return season * (weekday === 5 || weekday === 6 ? 1.25 : 1)
}

/** Prices of a plan for 400 days from `from` on, from the price of a plain night for each type. */
export const pricePlan = async (
  trx: Trx,
  propertyId: string,
  ratePlanId: string,
  plain: Record<string, number>,
  from = todayIn(timeZone),
): Promise<void> => {
  const dates = daysIn(from, addDays(from, pricedDays))
  const cells: PriceCell[] = Object.entries(plain).flatMap(([unitTypeId, amount]) =>
    dates.map((date) => ({ ratePlanId, unitTypeId, date, amount: Math.round((amount * factor(date)) / 1000) * 1000 })),
  )
  await writePrices(trx, propertyId, cells)
}
