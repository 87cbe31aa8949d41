import { Day } from '../../config/schema.ts'
import { reportRoute } from './report-route.ts'
import {
  DailyRevenueRow,
  ForecastRow,
  HousekeepingRow,
  InventoryCostRow,
  OccupancyRow,
  OverviewRow,
  PaceRow,
  ProductionRow,
  cost,
  dailyValues,
  figures,
  forecastTotals,
  housekeepingTotals,
  overviewTotals,
  pace as paced,
  produced,
} from './operating-schemas.ts'
import { reply } from './schemas.ts'

const occupancy = reportRoute({
  id: 'reports.occupancy',
  key: 'occupancy',
  summary: 'Show occupancy, ADR, RevPAR and their parts',
  description:
    'By day, week from Monday on, month, unit type, segment or channel. Closed days are facts of the night audit; the open day and those to come are on the books. Rows by other than time have no units to sell. `grossOperatingProfit` is there for whole months. Totals are those of the whole range: sums come before division.',
  returns: reply(OccupancyRow, figures),
  errors: ['currency_mismatch'],
  example: { by: 'month' },
})

const pace = reportRoute({
  id: 'reports.pace',
  key: 'pace',
  summary: 'Show rooms on the books, pickup and last year',
  description:
    'What was on the books for each night at the close of `asOf`, by default the last closed day, and what came since `pickupSince`, by default seven days before. `compare=last_year` adds the same weekday a year before: then, and in the end.',
  returns: reply(PaceRow, paced, { booksAsOf: Day, pickupSince: Day }),
  errors: ['currency_mismatch'],
  example: { by: 'month', compare: 'last_year' },
})

const forecast = reportRoute({
  id: 'reports.forecast',
  key: 'forecast',
  summary: 'Forecast rooms and revenue per night',
  description:
    'From the open business day on, at most 365 nights, by default 90. A night gains what the last eight nights of its weekday gained from as many days ahead; with fewer than four of them its units are those on the books. `error` is what such forecasts missed over the last 28 nights. `propertyId` is needed where there are several properties.',
  returns: reply(ForecastRow, forecastTotals, { booksAsOf: Day }),
  example: { days: 30 },
})

const production = reportRoute({
  id: 'reports.production',
  key: 'production',
  summary: 'Show nights and revenue by channel, source or segment',
  description:
    'The largest revenue first; with `top` the others are one row. `sold` are paid nights, `unitNights` all of them. Cancellations and lead time are of arrivals in the range. Other revenue is what the same guests were charged beside the room.',
  returns: reply(ProductionRow, produced),
  errors: ['currency_mismatch'],
  example: { by: 'source', top: 10 },
})

const dailyRevenue = reportRoute({
  id: 'reports.dailyRevenue',
  key: 'daily_revenue',
  summary: 'Show revenue, payments and key figures of a day',
  description:
    'Of one property and business day, by default the last closed one: the day, month and year to date, the same date a year before, and the budget of the day. Revenue, gratuities and gateway fees are the ledger’s; taxes of closed days are as they were frozen; payments are those of the business day, refunds those that succeeded on it. `propertyId` is needed where there are several properties.',
  returns: reply(DailyRevenueRow, dailyValues),
})

const housekeeping = reportRoute({
  id: 'reports.housekeeping',
  key: 'housekeeping',
  summary: 'Show tasks, minutes and room conditions per day',
  description:
    'Per day and attendant, with kinds of tasks; `attendantId` is null for tasks that nobody has. `passRate` is of inspected tasks, `onTimeRate` of those with a time. `totals.days` has units by condition at the close of each day. Attendants see their own lines.',
  returns: reply(HousekeepingRow, housekeepingTotals),
})

const inventoryCost = reportRoute({
  id: 'reports.inventoryCost',
  key: 'inventory_cost',
  summary: 'Show actual against theoretical cost per category',
  description:
    'Values of stock: opening, what came, went and was used, closing. `theoretical` is what sales, minibars, meals and kits took by recipe; `actual` adds other use, waste and count losses. `costRate` is the theoretical cost of food and beverage over their revenue less allowances. By outlet there is no stock, and so no opening or closing.',
  returns: reply(InventoryCostRow, cost),
  errors: ['currency_mismatch'],
  example: { by: 'location' },
})

const overview = reportRoute({
  id: 'reports.financialOverview',
  key: 'financial_overview',
  summary: 'Compare key figures of all properties',
  description:
    'Each property and all of them in one currency, by default their own or that of the default book: income at the mean rate of the range, balances at the rate of its last day. Averages follow from sums. `cash` is that of the whole book, and null for members with chosen properties.',
  returns: reply(OverviewRow, overviewTotals),
  errors: ['rate_missing'],
  example: { compare: 'previous_period' },
})

export const routes = [dailyRevenue, occupancy, pace, forecast, production, housekeeping, inventoryCost, overview]
