import { reportOf } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import type { Report } from './reading.ts'
import { openPayablesAgeing, openReceivablesAgeing } from './lists/ageing.ts'
import { openDepositsHeld, openOpenFolios, openPaymentsByMethod, openRegisterSessions } from './lists/lists.ts'
import { openStockValue } from './lists/stock-value.ts'
import { openDailyRevenue } from './operating/daily-revenue.ts'
import { openForecast } from './operating/forecast.ts'
import { openHousekeeping } from './operating/housekeeping.ts'
import { openInventoryCost } from './operating/inventory-cost.ts'
import { openOccupancy } from './operating/occupancy.ts'
import { openOverview } from './operating/overview.ts'
import { openPace } from './operating/pace.ts'
import { openProduction } from './operating/production.ts'
import { openBalanceSheet } from './statements/balance-sheet.ts'
import { openCashFlow } from './statements/cash-flow.ts'
import { openConsolidated } from './statements/consolidated.ts'
import { openGeneralLedger } from './statements/general-ledger.ts'
import { openHotelLedgers } from './statements/hotel-ledgers.ts'
import { openIncomeStatement } from './statements/income.ts'
import { openJournal } from './statements/journal.ts'
import { openTaxes } from './statements/taxes.ts'
import { openTrialBalance } from './statements/trial-balance.ts'

const readers = {
  trial_balance: openTrialBalance,
  balance_sheet: openBalanceSheet,
  income_statement: openIncomeStatement,
  cash_flow: openCashFlow,
  general_ledger: openGeneralLedger,
  journal: openJournal,
  taxes: openTaxes,
  hotel_ledgers: openHotelLedgers,
  occupancy: openOccupancy,
  pace: openPace,
  forecast: openForecast,
  production: openProduction,
  daily_revenue: openDailyRevenue,
  housekeeping: openHousekeeping,
  inventory_cost: openInventoryCost,
  financial_overview: openOverview,
  consolidated_statements: openConsolidated,
  payables_ageing: openPayablesAgeing,
  receivables_ageing: openReceivablesAgeing,
  open_folios: openOpenFolios,
  deposits_held: openDepositsHeld,
  payments_by_method: openPaymentsByMethod,
  register_sessions: openRegisterSessions,
  stock_value: openStockValue,
} as const satisfies Record<ReportKey, unknown>

/** The function of a report. Its endpoint and its runs read it in the same way. */
export const report = (key: ReportKey): Report => ({
  declaration: reportOf(key),
  open: readers[key] as unknown as Report['open'],
})
