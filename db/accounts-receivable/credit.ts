import { conflict, unprocessable } from '../../config/errors.ts'
import { authorOf } from '../lib/authors.ts'
import { audit } from '../lib/audit.ts'
import type { Trx } from '../lib/connection.ts'
import type { CustomerRecord } from './models.ts'
import { tellLimit } from './state.ts'

/** Lets a bill pass the limit. The caller has judged that the person may. */
export type CreditOverride = { reason: string } | null | undefined
export type Overridden = { creditOverrideBy: string | null; creditOverrideReason: string | null }

const within: Overridden = { creditOverrideBy: null, creditOverrideReason: null }

/** 409 `customer_archived`; 422 `customer_on_hold`, `currency_mismatch`. */
export const refuseCustomer = (customer: CustomerRecord, currency: string): void => {
  if (customer.status === 'archived')
    throw conflict('customer_archived', 'The customer is archived', [{ field: 'customerId', message: 'is archived' }])
  if (customer.onHold)
    throw unprocessable('customer_on_hold', 'The customer is on hold', [
      { field: 'customerId', message: customer.holdReason ?? 'is on hold' },
    ])
  if (customer.currency !== currency)
    throw unprocessable('currency_mismatch', 'The customer is billed in another currency', [
      { field: 'customerId', message: `is billed in ${customer.currency}, the book is in ${currency}` },
    ])
}

/**
 * Checks that a customer, whose row the caller holds, may owe so much more (R2): 422 `credit_limit_exceeded` with limit, exposure and amount. An override is kept
 * with the document, and in the audit trail. The insert of the document raises the exposure under the same lock. An amount of 0 is always within.
 */
export const takeCredit = async (
  trx: Trx,
  customer: CustomerRecord,
  amount: number,
  override: CreditOverride,
): Promise<Overridden> => {
  const { id, creditLimit, exposure } = customer
  // Bills of stays that become one invoice owe nothing new, whatever the limit was lowered to since.
  if (amount === 0) return within
  if (creditLimit === null || exposure + amount <= creditLimit) {
    if (creditLimit !== null && exposure + amount === creditLimit)
      await tellLimit(trx, { ...customer, exposure: creditLimit })
    return within
  }
  if (!override)
    throw unprocessable('credit_limit_exceeded', 'The customer would owe more than the limit', [
      { field: 'creditLimit', message: String(creditLimit) },
      { field: 'exposure', message: String(exposure) },
      { field: 'amount', message: String(amount) },
    ])
  await audit(trx, {
    action: 'customer.override_limit',
    subjectType: 'Customer',
    subjectId: id,
    reason: override.reason,
  })
  await tellLimit(trx, { ...customer, exposure: exposure + amount })
  return { creditOverrideBy: await authorOf(trx), creditOverrideReason: override.reason }
}
