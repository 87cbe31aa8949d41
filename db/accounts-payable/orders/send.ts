import { openContacts } from '../../documents/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { queueMessage } from '../../ocp/index.ts'
import type { OrderRecord } from '../models.ts'

/** Mails an approved order to the address of its supplier, once; one without an address is not sent. */
export const sendOrder = async (trx: Trx, order: OrderRecord): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const supplier = await sqlOne<{ legalName: string; sealed: Buffer | null }>(
    trx,
    `select legal_name, sealed from supplier where tenant_id = ? and id = ?`,
    [tenantId, order.supplierId],
  )
  if (!supplier) return
  const { email } = await openContacts(trx, 'supplier', order.supplierId, supplier.sealed)
  if (email === null) return
  await queueMessage(trx, {
    propertyId: order.propertyId,
    templateKey: 'purchase-order',
    dedupeKey: `purchase-order-${order.id}`,
    recipient: { name: supplier.legalName, email },
    data: { purchaseOrderId: order.id },
    plan: [{ channel: 'email', waitMinutes: 30 }],
  })
  await sql(trx, `update purchase_order set sent_at = now() where tenant_id = ? and id = ?`, [tenantId, order.id])
}
