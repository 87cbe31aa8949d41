import { setTimeout as wait } from 'node:timers/promises'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { createEndpoint, deleteEndpoint, eventTypes } from '../../db/webhooks/index.ts'
import type { House } from '../support/factories.ts'
import type { Check } from './evidence.ts'
import { none } from './evidence.ts'

export type Removed = { path: string; at: number }
export type OpenHooks = { remove: () => Promise<Removed[]> }

const subjects = [...new Set(eventTypes.map(({ subject }) => subject))]

/** Two addresses for each tenant: one that stays, and one that is removed while it is in use. */
export const openHooks = async (houses: readonly House[], port: number): Promise<OpenHooks> => {
  const tenants = [...new Set(houses.map(({ tenantId }) => tenantId))]
  const leaving: { tenantId: string; id: string; path: string }[] = []
  for (const tenantId of tenants) {
    await inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'webhooks', reason: 'chaos' }))
    for (const kind of ['stays', 'leaves']) {
      const path = `/${kind}/${tenantId}`
      const { id } = await inTenant(tenantId, (trx) =>
        createEndpoint(trx, { url: `http://127.0.0.1:${port}${path}`, types: ['*'], subjects }),
      )
      if (kind === 'leaves') leaving.push({ tenantId, id, path })
    }
  }
  const removeOne = async ({ tenantId, id, path }: (typeof leaving)[number]): Promise<Removed> => {
    for (let tries = 0; ; tries += 1)
      try {
        await inTenant(tenantId, async (trx) => {
          const [row] = await sql(trx, `select id from webhook_endpoint where id = ? for update`, [id])
          if (row) await deleteEndpoint(trx, id)
        })
        return { path, at: Date.now() }
      } catch (error) {
        if (tries > 120) throw error
        await wait(500)
      }
  }
  return { remove: () => Promise.all(leaving.map(removeOne)) }
}

/** A process that is frozen between taking a delivery and sending it sends it when it thaws. */
const underWayMs = 60_000

export const hookChecks: Record<string, Check> = {
  'each event of the feed is there once, in order': none(
    `select e.tenant_id, count(*) as events, count(e.sequence) as numbered, count(distinct e.sequence) as numbers, max(e.sequence) as highest,
       coalesce(h.last_sequence, 0) as last
     from event e left join event_head h on h.tenant_id = e.tenant_id group by e.tenant_id, h.last_sequence
     having count(*) <> count(distinct e.sequence) or min(e.sequence) <> 1 or max(e.sequence) <> count(*)
       or max(e.sequence) is distinct from h.last_sequence`,
  ),
  'each delivery comes at least once, and never after its endpoint was removed': async (
    database,
    { hooks, removed },
  ) => {
    const deliveries = await sql<{ path: string; eventId: string; status: string }>(
      database,
      `select substring(e.url from '^[a-z]+://[^/]+(/.*)$') as path, d.event_id, d.status
       from webhook_delivery d join webhook_endpoint e on e.tenant_id = d.tenant_id and e.id = d.webhook_endpoint_id`,
    )
    const untold = await sql(
      database,
      `select v.id, v.type, e.id as endpoint_id from event v join webhook_endpoint e on e.tenant_id = v.tenant_id
       where v.occurred_at > e.created_at and e.types = '{*}' and not exists (
         select from webhook_delivery d where d.tenant_id = v.tenant_id and d.webhook_endpoint_id = e.id and d.event_id = v.id)
         and exists (select from tenant t where t.id = v.tenant_id and 'webhooks' = any(t.features))`,
    )
    const arrived = new Set(hooks.filter(({ status }) => status < 300).map(({ path, id }) => `${path} ${id}`))
    const lost = deliveries.filter(
      ({ path, eventId, status }) => status !== 'delivered' || !arrived.has(`${path} ${eventId}`),
    )
    const late = hooks.filter(({ path, at }) => removed.some((one) => one.path === path && at > one.at + underWayMs))
    return [...untold, ...lost, ...late]
  },
}
