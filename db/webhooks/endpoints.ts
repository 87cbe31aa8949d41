import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../config/errors.ts'
import {
  webhookEndpointChanged,
  webhookEndpointCreated,
  webhookEndpointDeleted,
  webhookEndpointPaused,
  webhookEndpointResumed,
} from '../../config/events/webhooks.ts'
import { webhookLimits } from '../../config/limits.ts'
import { pingEndpoint } from '../../jobs/webhooks.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit, sentFields } from '../lib/events.ts'
import { notFound } from '../../config/errors.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import type { Condition } from '../lib/conditions.ts'
import { changeRow, fieldsOf, insertRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import type { WebhookEndpointRow } from '../rows.ts'
import { WebhookEndpoint, WebhookHealth } from './models.ts'
import type { Ping } from './models.ts'
import { holdHead } from './feed.ts'
import { newSecret } from './rules/secrets.ts'
import { beginReplay } from './replay.ts'

export const endpointLifecycle = lifecycle<'active' | 'paused'>('A webhook endpoint')({
  paused: { from: ['active'], to: 'paused' },
  resumed: { from: ['paused'], to: 'active' },
})

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

const status = `case when e.status = 'active' and h.failures > 0 then 'failing' else e.status end`
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

const place = (id: string, purpose: 'secret' | 'previous_secret') => ({ table: 'webhook_endpoint', rowId: id, purpose })

/** The secrets that sign now: the present one, and the one before while it still does. */
export const secretsOf = async (
  trx: Trx,
  {
    id,
    secret,
    previousSecret,
    previousUntil,
  }: Pick<WebhookEndpointRow, 'id' | 'secret' | 'previousSecret' | 'previousUntil'>,
): Promise<string[]> => {
  const present = await unseal<string>(trx, 'tenant', place(id, 'secret'), secret)
  const isValid = previousSecret !== null && previousUntil !== null && previousUntil > new Date()
  return isValid
    ? [present, await unseal<string>(trx, 'tenant', place(id, 'previous_secret'), previousSecret)]
    : [present]
}

const tell = async (
  trx: Trx,
  id: string,
  event: typeof webhookEndpointCreated,
  sent: object = {},
  before: object = {},
) => {
  const { types, version } = await readEndpoint(trx, id)
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { webhookEndpointId: id, types },
    changed: sentFields(sent, before),
  })
}

const userOf = (trx: Trx): string | null => {
  const { actor } = contextOf(trx)
  return actor.type === 'user' ? actor.id : null
}

const refuseUnknownProperties = async (trx: Trx, propertyIds: readonly string[]): Promise<void> => {
  if (propertyIds.length === 0) return
  const found = await sql(trx, `select id from property where id = any(?::uuid[])`, [propertyIds])
  if (found.length < new Set(propertyIds).size)
    throw unprocessable('reference_not_found', 'A property that the request names does not exist', [
      { field: 'propertyIds', message: 'names a property that does not exist' },
    ])
}

const pending: Ping = { status: 'pending', at: null, httpStatus: null, durationMs: null, error: null, excerpt: null }

const askForPing = async (trx: Trx, id: string): Promise<void> => {
  const row = await sqlOne<{ pingNo: number }>(
    trx,
    `update webhook_endpoint set ping_no = ping_no + 1, ping = ? where id = ? returning ping_no`,
    [JSON.stringify(pending), id],
  )
  await enqueue(trx, pingEndpoint, {
    tenantId: contextOf(trx).tenantId ?? '',
    webhookEndpointId: id,
    pingNo: row?.pingNo ?? 1,
  })
}

export type NewEndpoint = {
  /** Judged by the caller: a command resolves no names. */
  url: string
  description?: string | undefined
  types: string[]
  /** Subjects that the endpoint may tell of: those that its author may read. */
  subjects: string[]
  propertyIds?: string[] | undefined
}

/** Makes an endpoint, and has it pinged. Answers its id and the secret, which is told this once. */
export const createEndpoint = async (
  trx: Trx,
  { url, description = '', types, subjects, propertyIds = [] }: NewEndpoint,
): Promise<{ id: string; secret: string }> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('webhook endpoints ' || ?, 0))`, [tenantId])
  const counted = await sqlOne<{ count: number }>(trx, `select count(*) as count from webhook_endpoint`)
  if ((counted?.count ?? 0) >= webhookLimits.endpointsPerTenant)
    throw unprocessable('endpoint_limit', `A tenant has at most ${webhookLimits.endpointsPerTenant} endpoints`)
  await refuseUnknownProperties(trx, propertyIds)
  await holdHead(trx)
  const id = randomUUID()
  const secret = newSecret()
  await insertRow(trx, WebhookEndpoint, {
    id,
    url,
    description,
    types,
    subjects,
    propertyIds,
    secret: await seal(trx, 'tenant', place(id, 'secret'), secret),
    createdBy: userOf(trx),
  })
  await insertRow(trx, WebhookHealth, { id })
  await askForPing(trx, id)
  await tell(trx, id, webhookEndpointCreated)
  return { id, secret }
}

export type EndpointChange = { [Field in keyof NewEndpoint]?: NewEndpoint[Field] | undefined }

/** Changes an endpoint, whose row the caller holds. Deliveries that wait go to the new address. */
export const changeEndpoint = async (trx: Trx, id: string, change: EndpointChange): Promise<void> => {
  const before = await readEndpoint(trx, id)
  if (change.propertyIds) await refuseUnknownProperties(trx, change.propertyIds)
  if (fieldsOf(change).length === 0) return
  await changeRow(trx, WebhookEndpoint, id, change)
  const { subjects: _, ...sent } = change
  await tell(trx, id, webhookEndpointChanged, sent, before)
}

/** Gives an endpoint, whose row the caller holds, another secret. The old one signs on for `overlapHours`. Answers the new one. */
export const rotateSecret = async (
  trx: Trx,
  id: string,
  overlapHours: number = webhookLimits.overlapHours,
): Promise<string> => {
  const row = await sqlOne<Pick<WebhookEndpointRow, 'secret'>>(
    trx,
    `select secret from webhook_endpoint where id = ?`,
    [id],
  )
  if (!row) throw notFound()
  const old = await unseal<string>(trx, 'tenant', place(id, 'secret'), row.secret)
  const secret = newSecret()
  await sql(
    trx,
    `update webhook_endpoint set secret = :secret, previous_secret = :previous,
       previous_until = case when :hours::int > 0 then now() + make_interval(hours => :hours::int) end, version = version + 1
     where id = :id`,
    {
      id,
      secret: await seal(trx, 'tenant', place(id, 'secret'), secret),
      previous: overlapHours > 0 ? await seal(trx, 'tenant', place(id, 'previous_secret'), old) : null,
      hours: overlapHours,
    },
  )
  await audit(trx, { action: 'webhook_endpoint.rotate_secret', subjectType: 'WebhookEndpoint', subjectId: id })
  await tell(trx, id, webhookEndpointChanged)
  return secret
}

/** Sends a ping, paused or not. The caller holds the row. */
export const testEndpoint = (trx: Trx, id: string): Promise<void> => askForPing(trx, id)

/** Ends what waits for an endpoint: its deliveries are dropped, its replay is cancelled. */
const dropPending = async (trx: Trx, id: string): Promise<void> => {
  await sql(
    trx,
    `update webhook_delivery set status = 'dropped', sending_until = null where webhook_endpoint_id = ? and status = 'pending'`,
    [id],
  )
  await sql(
    trx,
    `update webhook_replay set status = 'cancelled' where webhook_endpoint_id = ? and status = 'running'`,
    [id],
  )
}

/** Stops an active endpoint, whose row the caller holds, and keeps the place from which nothing was told. */
export const stopEndpoint = async (
  trx: Trx,
  id: string,
  { cause, reason = null }: { cause: 'command' | 'gone' | 'failing'; reason?: string | null },
): Promise<void> => {
  await sql(
    trx,
    `update webhook_endpoint set status = 'paused', paused_cause = :cause, paused_by = :by, paused_reason = :reason, version = version + 1,
       paused_after_sequence = coalesce(
         (select min(d.sequence) - 1 from webhook_delivery d where d.webhook_endpoint_id = :id and d.status = 'pending' and d.replay_id is null),
         (select last_sequence from event_head), 0)
     where id = :id`,
    { id, cause, reason, by: cause === 'command' ? userOf(trx) : null },
  )
  await dropPending(trx, id)
  const { types, version } = await readEndpoint(trx, id)
  await emit(trx, webhookEndpointPaused, {
    propertyId: null,
    id,
    version,
    data: { webhookEndpointId: id, types, cause },
  })
}

const isDue = async (trx: Trx, id: string, move: 'paused' | 'resumed'): Promise<boolean> => {
  const row = await sqlOne<{ status: 'active' | 'paused' }>(trx, `select status from webhook_endpoint where id = ?`, [
    id,
  ])
  if (!row) throw notFound()
  return endpointLifecycle.isDue(move, row.status)
}

export const pauseEndpoint = async (trx: Trx, id: string, reason?: string): Promise<void> => {
  if (await isDue(trx, id, 'paused')) await stopEndpoint(trx, id, { cause: 'command', reason: reason ?? null })
}

/** Sends again from now on, with what was missed if asked for. 422 `replay_too_large`. */
export const resumeEndpoint = async (trx: Trx, id: string, replayMissed: boolean): Promise<void> => {
  if (!(await isDue(trx, id, 'resumed'))) return
  await holdHead(trx)
  const { pausedAfterSequence } = await readEndpoint(trx, id)
  await sql(
    trx,
    `update webhook_endpoint set status = 'active', paused_cause = null, paused_by = null, paused_reason = null, paused_after_sequence = null,
       version = version + 1 where id = ?`,
    [id],
  )
  await sql(
    trx,
    `update webhook_health set failures = 0, failing_since = null, warned_at = null, last_error = null where id = ?`,
    [id],
  )
  if (replayMissed) await beginReplay(trx, id, { fromSequence: (pausedAfterSequence ?? 0) + 1, isMissed: true })
  await tell(trx, id, webhookEndpointResumed)
}

/** Deletes an endpoint, whose row the caller holds, with its secrets; the log of its deliveries stays. Answers it as it was. */
export const deleteEndpoint = async (trx: Trx, id: string): Promise<EndpointRecord> => {
  const before = await readEndpoint(trx, id)
  await dropPending(trx, id)
  await emit(trx, webhookEndpointDeleted, {
    propertyId: null,
    id,
    version: before.version,
    data: { webhookEndpointId: id, types: before.types },
  })
  await sql(trx, `delete from webhook_endpoint where id = ?`, [id])
  return before
}
