import { openContacts } from '../../documents/index.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { queueMessage } from '../../ocp/index.ts'
import type { SupplierRecord } from './suppliers.ts'

/** The house that writes to suppliers, who belong to the tenant: the oldest one of the default book, else of any. */
const writer = (trx: Trx): Promise<{ id: string } | null> =>
  sqlOne<{ id: string }>(
    trx,
    `select p.id from property p join book b on b.tenant_id = p.tenant_id and b.id = p.book_id where p.tenant_id = ?
     order by p.status = 'archived', b.is_default desc, p.created_at, p.id limit 1`,
    [contextOf(trx).tenantId],
  )

/** Tells a supplier, at the address that was known before, that the destination of its money is changed (R3): once for each step. */
export const noticeSupplier = async (trx: Trx, supplier: SupplierRecord, step: string): Promise<void> => {
  const { email } = await openContacts(trx, 'supplier', supplier.id, supplier.sealed)
  const house = email === null ? null : await writer(trx)
  if (email === null || house === null) return
  await queueMessage(trx, {
    propertyId: house.id,
    templateKey: 'bank-details-changed',
    dedupeKey: `bank-details-${step}`,
    recipient: { name: supplier.legalName, email },
    data: { supplierId: supplier.id },
    plan: [{ channel: 'email', waitMinutes: 30 }],
  })
}
