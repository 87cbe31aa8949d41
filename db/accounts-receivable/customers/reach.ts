import { changedContacts, openContacts, sealContacts } from '../../documents/index.ts'
import type { PartyContacts, PartyContactsChange } from '../../documents/index.ts'
import type { Trx } from '../../lib/connection.ts'
import type { CustomerRecord } from '../models.ts'

/** The addresses of a customer. Invoices go to `invoiceEmails`; where there are none, to `email`. */
export type Reach = PartyContacts & { invoiceEmails: string[] }

export const noReach: Reach = { email: null, phone: null, address: null, contacts: [], invoiceEmails: [] }

/** Seals the reach of a customer with a change: lists are replaced whole, null clears a field. */
export const sealReach = (
  trx: Trx,
  id: string,
  before: Reach,
  { invoiceEmails, ...change }: PartyContactsChange & { invoiceEmails?: string[] | undefined },
): Promise<Buffer> => {
  const reach: Reach = { ...changedContacts(before, change), invoiceEmails: invoiceEmails ?? before.invoiceEmails }
  return sealContacts(trx, 'customer', id, reach)
}

/** Opens the reach of a customer. */
export const openReach = async (trx: Trx, { id, sealed }: Pick<CustomerRecord, 'id' | 'sealed'>): Promise<Reach> => ({
  ...noReach,
  ...(await openContacts(trx, 'customer', id, sealed)),
})
