import { model } from '../../lib/models.ts'
import type { Taker } from '../rules/taker.ts'

export type Rejection = { code: string; message: string }
export const FiscalDocument = model<'fiscal_document', { rejection: Rejection | null }>('fiscal_document')
export type FiscalRecord = NonNullable<(typeof FiscalDocument)['row']>
export const FiscalExchange = model('fiscal_exchange')

/** The content of a document, frozen when it was queued or retried. Amounts in minor units, rates in basis points. */
export type FiscalSnapshot = {
  issuer: { name: string; countryCode: string; document: string | null; cityRegistration: string | null }
  taker: Taker
  service: {
    code: string | null
    nationalCode: string | null
    nbsCode: string | null
    cityCode: string | null
    text: string
  }
  amounts: {
    total: number
    deductions: number
    base: number
    issRate: number
    iss: number
    withheld: number
    ibsCbs: { base: number; ibs: number; cbs: number } | null
  }
}
