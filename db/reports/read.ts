import { atOnce } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { nativeError } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { tooLarge } from './ledger-context.ts'
import type { Asked, Sight, Window } from './reading.ts'
import { report } from './registry.ts'

const isTimeout = (error: unknown): boolean => {
  const native = nativeError(error)
  return native instanceof Error && 'code' in native && native.code === '57014'
}

/** A report as an endpoint answers it: all rows of a page, or all of it. 422 `report_too_large` above 5,000 rows. */
export const readReport = async (trx: Trx, key: ReportKey, asked: Asked, sight: Sight, window: NonNullable<Window>) => {
  try {
    return await readWhole(trx, key, asked, sight, window)
  } catch (error) {
    if (isTimeout(error)) throw tooLarge(key, asked, `The report takes longer than ${atOnce.seconds} seconds`)
    throw error
  }
}

const readWhole = async (trx: Trx, key: ReportKey, asked: Asked, sight: Sight, window: NonNullable<Window>) => {
  const reading = await report(key).open(trx, asked, sight, window)
  const data: object[] = []
  for await (const row of reading.rows) {
    if (data.length >= atOnce.rows) throw tooLarge(key, asked, `The report has more than ${atOnce.rows} rows`)
    data.push(row)
  }
  return {
    meta: reading.meta,
    total: reading.total ?? data.length,
    data,
    totals: reading.totals(),
    usedRates: reading.usedRates ?? [],
  }
}
