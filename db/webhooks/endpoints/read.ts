import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { notFound } from '../../../config/errors.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { Condition } from '../../lib/conditions.ts'
import type { WebhookEndpointRow } from '../../rows.ts'
import type { Ping } from '../models.ts'

export type EndpointRecord = Pick<
  WebhookEndpointRow,
  | 'id'
  | 'url'
  | 'description'
  | 'types'
  | 'propertyIds'
  | 'previousUntil'
  | 'pausedCause'
  | 'pausedBy'
  | 'pausedReason'
  | 'pausedAfterSequence'
  | 'createdBy'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> & {
  status: 'active' | 'failing' | 'paused'
  subjects: string[]
  failures: number
  failingSince: Date | null
  lastSuccessAt: Date | null
  lastStatus: number | null
  lastError: string | null
  lastPing: Ping | null
}

export const status = `case when e.status = 'active' and h.failures > 0 then 'failing' else e.status end`

const columns = `e.id, e.url, e.description, e.types, e.subjects, e.property_ids, ${status} as status,
  case when e.previous_until > now() then e.previous_until end as previous_until, e.paused_cause, e.paused_by, e.paused_reason, e.paused_after_sequence,
  e.created_by, e.version, e.created_at, e.updated_at, e.ping as last_ping,
  h.failures, h.failing_since, h.last_success_at, h.last_status, h.last_error`

const source = `webhook_endpoint e join webhook_health h on h.tenant_id = e.tenant_id and h.id = e.id`

type Filter = Paging & { status?: string | undefined; scope: Condition }

export const listEndpoints = (trx: Trx, { status: wanted, scope, ...paging }: Filter) =>
  readPage<EndpointRecord>(
    trx,
    {
      columns,
      from: source,
      conditions: [...inScope(scope, { propertyId: null }), ...where(`${status} = ?`, wanted)],
      order: 'e.created_at, e.id',
    },
    paging,
  )

/** An endpoint with its health, without its secrets. 404. */
export const readEndpoint = async (trx: Trx, id: string): Promise<EndpointRecord> => {
  const row = await sqlOne<EndpointRecord>(trx, `select ${columns} from ${source} where e.id = ?`, [id])
  if (!row) throw notFound()
  return row
}
