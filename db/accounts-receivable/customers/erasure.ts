import type { Blocker } from '../../guests/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { CustomerRecord } from '../models.ts'

/** Guests who owe something as customers, or whose money is here, are not erased yet. */
export const receivableErasureBlockers = async (trx: Trx, guestIds: readonly string[]): Promise<Blocker[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `select c.id from customer c where c.tenant_id = ? and c.guest_id = any(?::uuid[])
       and (c.exposure > 0 or exists (select from receipt r where r.tenant_id = c.tenant_id and r.customer_id = c.id and r.status = 'recorded' and r.available > 0))
     order by c.id limit 20`,
    [contextOf(trx).tenantId, guestIds],
  )
  return rows.map(({ id }) => ({ code: 'open_receivable', message: `customer ${id} has open business` }))
}

type Identity = Pick<CustomerRecord, 'legalName' | 'tradeName' | 'document'>

const place = (id: string) => ({ table: 'customer', rowId: id, purpose: 'identity' })

/** Seals name and number of customers who were billed, as the law of taxes wants them, and empties the columns that show them (R22). */
const sealIdentities = async (trx: Trx, condition: string, values: Record<string, unknown>): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const rows = await sql<Identity & { id: string }>(
    trx,
    `select c.id, c.legal_name, c.trade_name, c.document from customer c where c.tenant_id = :tenantId and c.identity is null and c.legal_name <> 'erased'
       and exists (select from receivable r where r.tenant_id = c.tenant_id and r.customer_id = c.id and r.status <> 'draft') and ${condition}
     order by c.id for no key update`,
    { tenantId, ...values },
  )
  for (const { id, legalName, tradeName, document } of rows)
    await sql(
      trx,
      `update customer set identity = ?, legal_name = 'erased', trade_name = '', document = null, search = 'erased', status = 'archived', version = version + 1
       where tenant_id = ? and id = ?`,
      [await seal(trx, 'tenant', place(id), { legalName, tradeName, document }), tenantId, id],
    )
}

/** Before the rows of erased guests are emptied: what is on their documents is put away. */
export const sealErasedCustomers = (trx: Trx, guestIds: readonly string[]): Promise<void> =>
  sealIdentities(trx, `c.guest_id = any(cast(:guestIds as uuid[]))`, { guestIds })

/** Seals what an earlier release kept plain of erased customers. A second call finds none. */
export const sealForgottenCustomers = (trx: Trx): Promise<void> =>
  sealIdentities(
    trx,
    `c.status = 'archived' and exists (select from guest g where g.tenant_id = c.tenant_id and g.id = c.guest_id and g.status = 'erased')`,
    {},
  )

/** The name and number that an erased customer has on documents; those of the row for any other one. */
export const identityOfCustomer = async (
  trx: Trx,
  { id, identity, legalName, tradeName, document }: Identity & { id: string; identity: Buffer | null },
): Promise<Identity> =>
  identity === null ? { legalName, tradeName, document } : unseal<Identity>(trx, 'tenant', place(id), identity)
