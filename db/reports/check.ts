import { invalid } from '../../config/errors.ts'
import { reportOf } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { Obj } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import type { Trx } from '../lib/connection.ts'
import { daysAsked, houseOf, housesOf, housesOfOneCurrency, openDayOf } from './houses.ts'
import { ledgerBook, rangeOf, refusePart } from './ledger-context.ts'
import type { Asked, Sight } from './reading.ts'
import { paceDays } from './operating/pace.ts'
import { parametersOn } from './rules/schedule.ts'
import { checkConsolidated } from './statements/consolidated.ts'

const whole: ReadonlySet<ReportKey> = new Set(['balance_sheet', 'cash_flow', 'journal'])

/** Houses and days of an operating report. */
const checkDays = async (trx: Trx, key: ReportKey, given: Asked, sight: Sight): Promise<Asked> => {
  const houses = await housesOfOneCurrency(trx, key, given, sight, null)
  const { from, to } = daysAsked(key, given, houses, null)
  return { ...given, startDate: from, endDate: to }
}

type Check = (trx: Trx, given: Asked, sight: Sight) => Promise<Asked>
const ofDays =
  (key: ReportKey): Check =>
  (trx, given, sight) =>
    checkDays(trx, key, given, sight)

const ofHouses =
  (key: ReportKey): Check =>
  async (trx, given, sight) => {
    const { from, to } = daysAsked(key, given, await housesOf(trx, key, given, sight, null), null)
    return { ...given, startDate: from, endDate: to }
  }

/** Lists of houses, of a range or as they stand at the end of a day: the properties of several books may be named, as long as they have one currency. */
const ofLists =
  (key: ReportKey): Check =>
  async (trx, given, sight) => {
    const { parameters } = reportOf(key)
    if ('startDate' in parameters) return checkDays(trx, key, given, sight)
    const houses = await housesOfOneCurrency(trx, key, given, sight, null)
    return 'asOf' in parameters ? { ...given, asOf: given['asOf'] ?? openDayOf(houses) } : given
  }

/** Debts of a book as they stand at the end of a day. */
const ofDebts: Check = async (trx, given, sight) => {
  const book = await ledgerBook(trx, given, sight)
  return { ...given, bookId: book.id, asOf: given['asOf'] ?? book.today }
}

const operating: Partial<Record<ReportKey, Check>> = {
  occupancy: ofDays('occupancy'),
  production: ofDays('production'),
  pace: async (trx, given, sight) => {
    const days = await checkDays(trx, 'pace', given, sight)
    const { asOf } = paceDays(given, await housesOfOneCurrency(trx, 'pace', given, sight, null))
    return { ...days, asOf }
  },
  housekeeping: ofHouses('housekeeping'),
  financial_overview: ofHouses('financial_overview'),
  inventory_cost: ofDays('inventory_cost'),
  daily_revenue: async (trx, given, sight) => {
    const house = await houseOf(trx, 'daily_revenue', given, sight)
    const date = (given['date'] as string | undefined) ?? house.closedOn ?? house.openOn
    if (date > house.openOn)
      throw invalid(
        [{ field: 'parameters.date', message: `is after the open business day ${house.openOn}` }],
        'range_invalid',
      )
    return { ...given, propertyId: house.id, date }
  },
  open_folios: ofLists('open_folios'),
  deposits_held: ofLists('deposits_held'),
  payments_by_method: ofLists('payments_by_method'),
  register_sessions: ofLists('register_sessions'),
  stock_value: ofLists('stock_value'),
  payables_ageing: ofDebts,
  receivables_ageing: ofDebts,
  forecast: async (trx, given, sight) => ({ ...given, propertyId: (await houseOf(trx, 'forecast', given, sight)).id }),
}

/**
 * Checks the parameters of a run before it is queued: their schema, the book and properties, the days. Throws what the endpoint would throw. Answers the
 * parameters with their days filled in, so that a run that starts tomorrow reads the range that was meant today.
 */
export const checkedParameters = async (trx: Trx, key: ReportKey, given: Asked, sight: Sight): Promise<Asked> => {
  const problems = compile(Obj(reportOf(key).parameters))(given)
  if (problems)
    throw invalid(
      problems.map(({ field, message }) => ({ field: field === '' ? 'parameters' : `parameters.${field}`, message })),
    )
  if (key === 'consolidated_statements') return checkConsolidated(trx, given, sight)
  const check = operating[key]
  if (check) return check(trx, given, sight)
  if (whole.has(key)) refusePart(given, sight)
  const book = await ledgerBook(trx, given, sight)
  if (key === 'balance_sheet') return { ...given, bookId: book.id, asOf: given['asOf'] ?? book.today }
  const { from, to } = rangeOf(key, given, book, null)
  return { ...given, bookId: book.id, startDate: from, endDate: to }
}

/**
 * Parameters of a schedule as they are on a day, with the days of their period. A report of one day that has not begun in its house yet, since the day before it is not
 * closed, is of the open business day: its figures so far.
 */
export const parametersAt = async (
  trx: Trx,
  key: ReportKey,
  { given, on, sight }: { given: Asked; on: string; sight: Sight },
): Promise<Asked> => {
  const known = new Set(Object.keys(reportOf(key).parameters))
  const parameters = parametersOn(given, known, on)
  const date = parameters['date'] as string | undefined
  if (given['period'] === undefined || date === undefined || date > on) return parameters
  const { openOn } = await houseOf(trx, key, parameters, sight)
  return date > openOn ? { ...parameters, date: openOn } : parameters
}
