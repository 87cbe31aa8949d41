import { conflict, forbidden, invalid, unprocessable } from '../../config/errors.ts'
import { identityOf, normalDocument } from '../documents/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** The payee, as it is sent: a supplier, or a name. */
export type GivenPayee = {
  supplierId?: string | null | undefined
  payeeName?: string | null | undefined
  payeeDocument?: string | null | undefined
}
/** The payee, as it is kept. */
export type Payee = {
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
}
/** The terms of a supplier that bills and payments take. */
export type Terms = { termDays: number; withholdingTaxCodeIds: string[]; paymentsBlocked: boolean }

const noTerms: Terms = { termDays: 30, withholdingTaxCodeIds: [], paymentsBlocked: false }

/** The terms of a supplier, held so that it is not archived meanwhile. 422 `reference_not_found`, 409 `supplier_archived`. */
export const nameSupplier = async (trx: Trx, supplierId: string): Promise<Terms & { countryCode: string }> => {
  const found = await sqlOne<Terms & { countryCode: string; status: string }>(
    trx,
    `select term_days, withholding_tax_code_ids, payments_blocked, country_code, status from supplier where tenant_id = ? and id = ? for share`,
    [contextOf(trx).tenantId, supplierId],
  )
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such supplier', [
      { field: 'supplierId', message: 'does not exist' },
    ])
  if (found.status === 'archived')
    throw conflict('supplier_archived', 'The supplier is archived', [{ field: 'supplierId', message: 'is archived' }])
  return found
}

/**
 * The payee, and the terms of payment. A supplier needs the feature `suppliers` (403 `feature_not_enabled`); 400 unless exactly one way is taken. The number of a
 * payee in a book of Brazil is a CPF or CNPJ.
 */
export const namePayee = async (
  trx: Trx,
  { supplierId, payeeName, payeeDocument }: GivenPayee,
  { features, countryCode }: { features: readonly string[]; countryCode: string },
): Promise<{ payee: Payee; terms: Terms }> => {
  if ((supplierId ?? null) === null) {
    const name = payeeName?.trim()
    if (!name) throw invalid([{ field: 'payeeName', message: 'is required where no supplier is named' }])
    const document = payeeDocument ? normalDocument(countryCode, payeeDocument, 'payeeDocument') : null
    const payee = {
      supplierId: null,
      payeeName: name,
      payeeDocument: document,
      payeeKey: identityOf(name, document),
    }
    return { payee, terms: noTerms }
  }
  if (payeeName || payeeDocument) throw invalid([{ field: 'payeeName', message: 'does not stand beside supplierId' }])
  if (!features.includes('suppliers'))
    throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
      { field: 'feature', message: 'suppliers' },
    ])
  const id = supplierId ?? ''
  const terms = await nameSupplier(trx, id)
  return { payee: { supplierId: id, payeeName: null, payeeDocument: null, payeeKey: id }, terms }
}

/** The party of postings. */
export const partyOf = ({ supplierId }: Pick<Payee, 'supplierId'>) =>
  supplierId === null ? {} : { parties: { all: { type: 'supplier' as const, id: supplierId } } }
