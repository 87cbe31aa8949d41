import { taskKinds } from '../../config/housekeeping.ts'
import {
  AnyOf,
  Amount,
  Count,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'

const Ratio = Nullable(Text(1, 30))
const Money = Nullable(SignedAmount)
const Basis = OneOf(['actual', 'open', 'on_the_books'])

/** Figures of the house with their parts; null where they cannot be told apart, or where the divisor is 0. */
export const figures = {
  units: Nullable(Count),
  outOfOrder: Nullable(Count),
  outOfService: Nullable(Count),
  available: Nullable(Int(-1_000_000, 1_000_000_000)),
  sold: Count,
  complimentary: Count,
  houseUse: Count,
  adults: Count,
  children: Count,
  roomRevenue: SignedAmount,
  includedTax: SignedAmount,
  totalRevenue: Money,
  grossOperatingProfit: Money,
  occupancy: Ratio,
  occupancyWithFree: Ratio,
  adr: Money,
  adrNet: Money,
  revpar: Money,
  trevpar: Money,
  goppar: Money,
  guestsPerUnit: Ratio,
  lengthOfStay: Ratio,
  leadTime: Ratio,
  cancellationRate: Ratio,
  noShowRate: Ratio,
  outOfOrderRate: Ratio,
}

export const OccupancyRow = Obj(
  { key: Text(1, 60), startDate: Day, endDate: Day, basis: Basis, ...figures },
  { title: 'OccupancyRow' },
)

const Units = Int(-1_000_000_000, 1_000_000_000)
export const pace = {
  unitNights: Units,
  roomRevenue: SignedAmount,
  adr: Money,
  available: Nullable(Units),
  occupancy: Ratio,
  pickupUnits: Units,
  pickupRevenue: SignedAmount,
  lastYear: Opt(
    Obj({
      unitNights: Units,
      roomRevenue: SignedAmount,
      finalUnitNights: Units,
      finalRoomRevenue: SignedAmount,
    }),
  ),
}
export const PaceRow = Obj({ key: Text(1, 60), ...pace }, { title: 'PaceRow' })

const foreseen = {
  onTheBooksUnits: Units,
  onTheBooksRevenue: SignedAmount,
  units: Units,
  revenue: SignedAmount,
  available: Units,
  occupancy: Ratio,
}
export const forecastTotals = { ...foreseen, rate: Money }
export const ForecastRow = Obj(
  {
    date: Day,
    lead: Int(1, 365),
    ...foreseen,
    rate: SignedAmount,
    method: OneOf(['pickup', 'on_the_books']),
    comparables: Int(0, 8),
    error: Ratio,
  },
  { title: 'ForecastRow' },
)

export const produced = {
  bookings: Count,
  unitNights: Count,
  sold: Count,
  roomRevenue: SignedAmount,
  share: Ratio,
  adr: Money,
  commission: Amount,
  netRevenue: SignedAmount,
  cancellations: Count,
  leadTime: Ratio,
  otherRevenue: SignedAmount,
  otherRevenueByCategory: List(Obj({ category: Text(1, 40), amount: SignedAmount }), { max: 40 }),
}
export const ProductionRow = Obj({ key: Text(1, 60), basis: Basis, ...produced }, { title: 'ProductionRow' })

const Value = Nullable(AnyOf([SignedAmount, Text(1, 30)]))
/** Amounts and counts are whole numbers, ratios decimal strings: `unit` says which. */
export const dailyValues = { day: Value, monthToDate: Value, yearToDate: Value, lastYear: Value, budget: Value }
export const DailyRevenueRow = Obj(
  {
    group: OneOf(['revenue', 'payments', 'taxes', 'statistics', 'ledgers']),
    key: Text(1, 80),
    name: Text(1, 200),
    level: Int(0, 9),
    unit: OneOf(['amount', 'count', 'ratio']),
    ...dailyValues,
  },
  { title: 'DailyRevenueRow' },
)

const tasks = { planned: Count, done: Count, failed: Count, skipped: Count, minutes: Count }
const work = {
  ...tasks,
  passRate: Ratio,
  onTimeRate: Ratio,
  kinds: List(Obj({ kind: OneOf([...taskKinds]), ...tasks, meanMinutes: Ratio }), { max: 20 }),
}
export const HousekeepingRow = Obj(
  { date: Day, propertyId: Uuid, attendantId: Nullable(Uuid), ...work },
  { title: 'HousekeepingReportRow' },
)
export const housekeepingTotals = {
  ...work,
  days: List(
    Obj({
      date: Day,
      propertyId: Uuid,
      conditions: List(Obj({ condition: Text(1, 30), units: Count }), { max: 20 }),
    }),
    { max: 100_000 },
  ),
}

export const cost = {
  opening: Money,
  receipts: Money,
  produced: Money,
  transfersIn: Money,
  transfersOut: Money,
  adjustments: Money,
  used: SignedAmount,
  closing: Money,
  theoretical: SignedAmount,
  actual: SignedAmount,
  variance: SignedAmount,
  revenue: Money,
  costRate: Ratio,
}
export const InventoryCostRow = Obj({ key: Text(1, 60), ...cost }, { title: 'InventoryCostRow' })

const overview = {
  ...figures,
  result: SignedAmount,
  deposits: SignedAmount,
  overdueReceivables: SignedAmount,
  overduePayables: SignedAmount,
  cash: Money,
}
export const overviewTotals = { ...overview, compared: Opt(Obj(overview)) }
export const OverviewRow = Obj(
  { propertyId: Uuid, bookId: Uuid, currency: Currency, propertyCurrency: Currency, ...overviewTotals },
  { title: 'OverviewRow' },
)
