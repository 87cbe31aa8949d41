import type { DunningStep } from '../../../config/dunning.ts'
import { model } from '../../lib/models.ts'

/** Codes of a book at its authority. */
export type FiscalCodes = {
  cityCode: string | null
  cityRegistration: string | null
  serviceCode: string | null
  nationalServiceCode: string | null
  nbsCode: string | null
}
export const ReceivableSettings = model<
  'receivable_settings',
  { dunningSteps: DunningStep[]; fiscalCodes: Partial<FiscalCodes> }
>('receivable_settings')
export type SettingsRecord = NonNullable<(typeof ReceivableSettings)['row']>
