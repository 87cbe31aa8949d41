import { sessionRevoked } from '../../config/events/auth.ts'
import { contextOf, enterTenant, sql } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import type { RevokeReason } from './sessions.ts'

type Ended = { id: string; userId: string; tenantId: string }

/**
 * Tells the tenants that sessions were in that these have ended. The last thing that a transaction does: it leaves it inside the last
 * of the tenants. One that has moved to another installation is not told: nothing enters it here, and the end of a session must not wait for that.
 */
export const tellEnded = async (trx: AnyTrx, sessionIds: readonly string[], reason: RevokeReason): Promise<void> => {
  if (sessionIds.length === 0) return
  const ended = await sql<Ended>(
    trx,
    `select id, user_id, active_tenant_id as tenant_id from session where id = any(?::uuid[]) and active_tenant_id is not null
       and not exists (select from tenant_move m where m.tenant_id = active_tenant_id and m.direction = 'out') order by active_tenant_id, id`,
    [sessionIds],
  )
  for (const tenantId of new Set(ended.map((session) => session.tenantId))) {
    const tenant = contextOf(trx).tenantId === tenantId ? trx : await enterTenant(trx as PlatformTrx, tenantId)
    await emitAll(
      tenant as Awaited<ReturnType<typeof enterTenant>>,
      sessionRevoked,
      ended
        .filter((session) => session.tenantId === tenantId)
        .map(({ id, userId }) => ({
          propertyId: null,
          id,
          version: null,
          data: { userId, reason },
        })),
    )
  }
}
