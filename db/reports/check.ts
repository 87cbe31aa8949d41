import { invalid } from '../../config/errors.ts'
import { reportOf } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { Obj } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import type { Trx } from '../lib/connection.ts'
import { ledgerBook, rangeOf, refusePart } from './ledger-context.ts'
import type { Asked, Sight } from './reading.ts'
import { checkConsolidated } from './statements/consolidated.ts'

const whole: ReadonlySet<ReportKey> = new Set(['balance_sheet', 'cash_flow', 'journal'])

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
  if (whole.has(key)) refusePart(given, sight)
  const book = await ledgerBook(trx, given, sight)
  if (key === 'balance_sheet') return { ...given, bookId: book.id, asOf: given['asOf'] ?? book.today }
  const { from, to } = rangeOf(key, given, book, null)
  return { ...given, bookId: book.id, startDate: from, endDate: to }
}
