import { forbidden } from '../../config/errors.ts'
import type { Admission } from '../lib/caller.ts'

/** Errors of a folio that is billed, by whichever door. */
export const billingErrors = [
  'direct_billing_not_allowed',
  'folio_not_billable',
  'folio_closed',
  'folio_busy',
  'payment_in_progress',
  'receivable_busy',
  'customer_archived',
  'customer_on_hold',
  'currency_mismatch',
  'credit_limit_exceeded',
  'date_out_of_range',
  'period_missing',
  'period_closed',
  'date_locked',
  'business_day_changed',
] as const

/** Billing is a part of the financial feature; beyond the limit of a customer it needs a permission of its own. */
export const refuseBilling = (admission: Admission, isBeyondLimit: boolean): void => {
  if (!admission.features.includes('financial'))
    throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
      { field: 'feature', message: 'financial' },
    ])
  if (isBeyondLimit && !admission.can('override', 'Customer'))
    throw forbidden('forbidden', 'Your role does not bill beyond the limit of a customer', [
      { field: 'override', message: 'needs the permission to override customers' },
    ])
}
