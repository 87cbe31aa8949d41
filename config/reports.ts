import { Bool, Currency, Day, Int, List, OneOf, Opt, Text, Uuid } from './schema.ts'
import type { Properties } from './schema.ts'
import type { SubjectName } from './subjects.ts'

export const reportLocales = ['pt-BR', 'en', 'es'] as const
export type ReportLocale = (typeof reportLocales)[number]
export type Localised = Readonly<Record<ReportLocale, string>>

export const reportFormats = ['csv', 'xlsx', 'pdf', 'json'] as const
export type ReportFormat = (typeof reportFormats)[number]

/** A report as callers know it. `parameters` are those of its endpoint and of its runs alike; paging stands beside them. */
export type ReportDeclaration = {
  key: string
  name: Localised
  /** Permission to `read` it decides, and its feature. */
  subject: SubjectName
  parameters: Properties
  /** True if an endpoint answers it at once; runs make all of them. */
  atOnce: boolean
  /** Answered in pages. */
  paged?: true
  /** Largest file; 100,000 rows unless said. */
  mostRows?: number
  /** Longest range of a run; 10 years unless said. */
  mostDays?: number
  /** Raised with each change of a formula. */
  formulaVersion: number
}

const text = (ptBr: string, en: string, es: string): Localised => ({ 'pt-BR': ptBr, en, es })
const days = { startDate: Opt(Day), endDate: Opt(Day) }
const book = { bookId: Opt(Uuid) }
const house = { propertyId: Opt(Uuid) }
const houses = { propertyId: Opt(List(Uuid, { max: 20 })) }
const center = { costCenterId: Opt(Uuid) }

export const hotelLedgers = [
  'deposits',
  'guest_ledger',
  'open_orders',
  'refunds',
  'disputes',
  'gateway_clearing',
  'unallocated_receipts',
  'receivables',
  'taxes_and_fees',
  'gratuities',
] as const
export type HotelLedger = (typeof hotelLedgers)[number]

export const incomeViews = ['statement', 'accounts', 'departments', 'cost_centers'] as const
export const splits = ['total', 'month', 'property', 'cost_center'] as const
export const comparisons = ['previous_period', 'last_year', 'budget'] as const
export const consolidated = ['balance_sheet', 'income_statement', 'cash_flow'] as const

/** Dimensions of operating figures. */
export const occupancyViews = ['day', 'week', 'month', 'unitType', 'segment', 'channel'] as const
export const paceViews = ['day', 'month', 'segment', 'channel', 'unitType'] as const
export const productionViews = [
  'channel',
  'source',
  'segment',
  'ratePlan',
  'unitType',
  'company',
  'agency',
  'country',
] as const
export const stockViews = ['group', 'location', 'outlet'] as const
const operating = { ...houses, ...book }
const threeYears = 1_100

const declared = [
  {
    key: 'trial_balance',
    name: text('Balancete de verificação', 'Trial balance', 'Balance de comprobación'),
    subject: 'FinancialReport',
    parameters: {
      ...book,
      ...days,
      ...house,
      ...center,
      level: Opt(OneOf(['account', 'group'])),
      includeZero: Opt(Bool),
      includeClosing: Opt(Bool),
    },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'balance_sheet',
    name: text('Balanço patrimonial', 'Balance sheet', 'Balance general'),
    subject: 'FinancialReport',
    parameters: { ...book, asOf: Opt(Day), compareTo: Opt(Day), ...house },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'income_statement',
    name: text('Demonstração do resultado', 'Income statement', 'Estado de resultados'),
    subject: 'FinancialReport',
    parameters: {
      ...book,
      ...days,
      ...house,
      ...center,
      view: Opt(OneOf([...incomeViews])),
      compare: Opt(OneOf([...comparisons])),
      by: Opt(OneOf([...splits])),
      budgetId: Opt(Uuid),
    },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'cash_flow',
    name: text('Demonstração dos fluxos de caixa', 'Cash flow statement', 'Estado de flujos de efectivo'),
    subject: 'FinancialReport',
    parameters: {
      ...book,
      ...days,
      ...house,
      method: Opt(OneOf(['direct', 'indirect'])),
      by: Opt(OneOf(['total', 'month'])),
    },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'general_ledger',
    name: text('Razão', 'General ledger', 'Libro mayor'),
    subject: 'FinancialReport',
    parameters: { ...book, accountId: Opt(List(Uuid, { max: 100 })), ...days, ...house, ...center },
    atOnce: true,
    paged: true,
    mostRows: 1_000_000,
    formulaVersion: 1,
  },
  {
    key: 'journal',
    name: text('Diário', 'Journal', 'Libro diario'),
    subject: 'FinancialReport',
    parameters: { ...book, ...days, journalId: Opt(Uuid), q: Opt(Text(1, 120)) },
    atOnce: true,
    paged: true,
    mostRows: 1_000_000,
    formulaVersion: 1,
  },
  {
    key: 'taxes',
    name: text('Resumo de tributos', 'Tax summary', 'Resumen de impuestos'),
    subject: 'FinancialReport',
    parameters: { ...book, ...days, ...house, by: Opt(OneOf(['period', 'property'])) },
    atOnce: true,
    formulaVersion: 2,
  },
  {
    key: 'hotel_ledgers',
    name: text('Razões do hotel', 'Hotel ledgers', 'Libros del hotel'),
    subject: 'FinancialReport',
    parameters: { ...book, ...houses, ...days, ledger: Opt(List(OneOf([...hotelLedgers]), { max: 10 })) },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'occupancy',
    name: text('Ocupação, diária média e RevPAR', 'Occupancy, ADR and RevPAR', 'Ocupación, ADR y RevPAR'),
    subject: 'OperationalReport',
    parameters: { ...operating, ...days, by: Opt(OneOf([...occupancyViews])) },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 1,
  },
  {
    key: 'pace',
    name: text('Ritmo de reservas', 'Pace and pickup', 'Ritmo de reservas'),
    subject: 'OperationalReport',
    parameters: {
      ...operating,
      ...days,
      asOf: Opt(Day),
      pickupSince: Opt(Day),
      by: Opt(OneOf([...paceViews])),
      compare: Opt(OneOf(['last_year'])),
    },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 1,
  },
  {
    key: 'forecast',
    name: text('Previsão', 'Forecast', 'Pronóstico'),
    subject: 'OperationalReport',
    parameters: { ...house, days: Opt(Int(1, 365)) },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'production',
    name: text('Produção', 'Production', 'Producción'),
    subject: 'OperationalReport',
    parameters: { ...operating, ...days, by: Opt(OneOf([...productionViews])), top: Opt(Int(1, 500)) },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 2,
  },
  {
    key: 'daily_revenue',
    name: text('Receita do dia', 'Daily revenue', 'Ingresos del día'),
    subject: 'OperationalReport',
    parameters: { ...house, date: Opt(Day) },
    atOnce: true,
    formulaVersion: 3,
  },
  {
    key: 'housekeeping',
    name: text('Governança', 'Housekeeping', 'Limpieza'),
    subject: 'HousekeepingReport',
    parameters: { ...operating, ...days, attendantId: Opt(Uuid) },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 1,
  },
  {
    key: 'inventory_cost',
    name: text('Custo de consumo', 'Inventory cost', 'Costo de consumo'),
    subject: 'StockReport',
    parameters: { ...operating, ...days, locationId: Opt(Uuid), by: Opt(OneOf([...stockViews])) },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 2,
  },
  {
    key: 'financial_overview',
    name: text('Visão financeira', 'Financial overview', 'Panorama financiero'),
    subject: 'OverviewReport',
    parameters: { ...days, currency: Opt(Currency), compare: Opt(OneOf(['previous_period', 'last_year'])) },
    atOnce: true,
    mostDays: threeYears,
    formulaVersion: 1,
  },
  {
    key: 'consolidated_statements',
    name: text('Demonstrações consolidadas', 'Consolidated statements', 'Estados consolidados'),
    subject: 'OverviewReport',
    parameters: {
      bookId: Opt(List(Uuid, { max: 20 })),
      statement: Opt(OneOf([...consolidated])),
      ...days,
      currency: Opt(Currency),
    },
    atOnce: true,
    formulaVersion: 1,
  },
  {
    key: 'payables_ageing',
    name: text('Contas a pagar por vencimento', 'Ageing of payables', 'Antigüedad de cuentas por pagar'),
    subject: 'FinancialReport',
    parameters: { ...book, ...house, asOf: Opt(Day), by: Opt(OneOf(['payee', 'property', 'costCenter'])) },
    atOnce: false,
    formulaVersion: 1,
  },
  {
    key: 'receivables_ageing',
    name: text('Contas a receber por vencimento', 'Ageing of receivables', 'Antigüedad de cuentas por cobrar'),
    subject: 'FinancialReport',
    parameters: { ...book, ...house, asOf: Opt(Day), by: Opt(OneOf(['customer', 'property', 'kind'])) },
    atOnce: false,
    formulaVersion: 1,
  },
  {
    key: 'open_folios',
    name: text('Contas de hóspedes abertas', 'Open folios', 'Cuentas abiertas'),
    subject: 'OperationalReport',
    parameters: operating,
    atOnce: false,
    formulaVersion: 1,
  },
  {
    key: 'deposits_held',
    name: text('Adiantamentos de hóspedes', 'Deposits held', 'Anticipos de huéspedes'),
    subject: 'FinancialReport',
    parameters: { ...operating, asOf: Opt(Day) },
    atOnce: false,
    formulaVersion: 1,
  },
  {
    key: 'payments_by_method',
    name: text('Recebimentos por forma', 'Payments by method', 'Pagos por forma'),
    subject: 'FinancialReport',
    parameters: { ...operating, ...days },
    atOnce: false,
    mostDays: threeYears,
    formulaVersion: 2,
  },
  {
    key: 'register_sessions',
    name: text('Sessões de caixa', 'Register sessions', 'Sesiones de caja'),
    subject: 'FinancialReport',
    parameters: { ...operating, ...days },
    atOnce: false,
    mostDays: threeYears,
    formulaVersion: 1,
  },
  {
    key: 'stock_value',
    name: text('Valor do estoque', 'Stock value', 'Valor del inventario'),
    subject: 'StockReport',
    parameters: { ...operating, asOf: Opt(Day) },
    atOnce: false,
    formulaVersion: 1,
  },
] as const satisfies readonly ReportDeclaration[]

export type ReportKey = (typeof declared)[number]['key']
export const reports: readonly (ReportDeclaration & { key: ReportKey })[] = declared
export const reportKeys = declared.map(({ key }) => key) as [ReportKey, ...ReportKey[]]

const byKey = new Map(reports.map((one) => [one.key, one]))
export const reportOf = (key: ReportKey): ReportDeclaration & { key: ReportKey } => {
  const found = byKey.get(key)
  if (!found) throw new Error(`${key} is no report`)
  return found
}

/** At once, and in a run: days of a range, and rows of a reply. */
export const atOnce = { days: 400, rows: 5_000, seconds: 8 } as const
export const inRuns = { days: 3_660, rows: 100_000, bytes: 100 * 1024 * 1024, seconds: 600 } as const
