import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { sql } from '../../lib/connection.ts'

/** Writes into the trail of a tenant what was done on the command line. */
export const noteInTrail = (
  trx: Knex,
  tenantId: string,
  action: 'tenant.move_away' | 'tenant.take_back' | 'tenant.move_here',
  said: Readonly<Record<string, string>>,
): Promise<unknown> =>
  sql(
    trx,
    `insert into audit_entry (chain, tenant_id, actor_type, action, subject_type, subject_id, changes, request_id)
     values (:tenantId, :tenantId, 'system', :action, 'Tenant', :tenantId, :changes, :requestId)`,
    {
      tenantId,
      action,
      changes: JSON.stringify(Object.entries(said).map(([field, after]) => ({ field, after }))),
      requestId: randomUUID(),
    },
  )
