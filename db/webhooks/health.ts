import { webhookLimits as limits } from '../../config/limits.ts'
import { later, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { mailUser } from '../ocp/index.ts'
import { stopEndpoint } from './endpoints/moves.ts'

/** The outcome of a request. `error` is null where an answer came, of whatever status. */
export type Answer = {
  at: Date
  durationMs: number
  httpStatus: number | null
  error: 'connect_failed' | 'tls_failed' | 'timeout' | 'redirect' | 'address_refused' | 'too_large' | null
  /** The beginning of the answer, printable. */
  excerpt: string | null
  /** The time for which the receiver asked to be left alone. */
  retryAfterMs: number | null
}

/** Tells whether an answer is 2xx. */
export const isSuccess = ({ httpStatus, error }: Answer) =>
  error === null && httpStatus !== null && httpStatus >= 200 && httpStatus < 300

/** Tells owner and admins, once for each time that an endpoint fails. */
const warn = async (trx: Trx, endpointId: string, kind: 'failing' | 'paused', since: Date): Promise<void> => {
  const warning = await sqlOne<{ id: string }>(
    trx,
    `insert into webhook_warning (tenant_id, webhook_endpoint_id, host, kind, since)
     select e.tenant_id, e.id, substring(e.url from '^[a-z]+://([^/]+)'), ?, ? from webhook_endpoint e where e.id = ?
     on conflict (tenant_id, webhook_endpoint_id, kind, since) do nothing returning id`,
    [kind, since, endpointId],
  )
  if (!warning) return
  const people = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where status = 'active' and role in ('owner', 'admin') order by user_id`,
  )
  const mail = kind === 'paused' ? 'webhook_paused' : 'webhook_failing'
  for (const { userId } of people) await mailUser(trx, userId, mail, warning.id)
}

/** Writes the health of an endpoint after a success. */
export const noteSuccess = (trx: Trx, endpointId: string, { at, httpStatus }: Answer): void =>
  later(
    trx,
    `update webhook_health set failures = 0, failing_since = null, warned_at = null, last_success_at = :at, last_status = :status, last_error = null
     where id = :endpointId and (failures > 0 or last_status is distinct from :status::int or last_success_at is null
       or last_success_at < :at::timestamptz - interval '1 second')`,
    { endpointId, at, status: httpStatus },
  )

export type Failing = { failures: number; failingSince: Date; isOver: boolean; isLong: boolean }

/** Writes the health of an endpoint after a failure. The endpoint is held. */
export const noteFailure = (trx: Trx, endpointId: string, answer: Answer): Promise<Failing | null> =>
  preparedOne<Failing>(
    trx,
    `update webhook_health set failures = failures + 1, failing_since = coalesce(failing_since, :at), last_status = :status, last_error = :error
     where id = :endpointId returning failures, failing_since,
       failing_since <= clock_timestamp() - make_interval(days => :days::int) and failures >= :most::int as is_over,
       failing_since <= clock_timestamp() - make_interval(hours => :hours::int) as is_long`,
    {
      endpointId,
      at: answer.at,
      status: answer.httpStatus,
      error: answer.error,
      days: limits.pausedAfterDays,
      most: limits.pausedAfterFailures,
      hours: limits.warnedAfterHours,
    },
  )

/** Pauses an endpoint that is gone, or has failed for long, and tells its people. Its health is written, and the endpoint is held. */
export const judgeFailure = async (
  trx: Trx,
  endpointId: string,
  answer: Answer,
  health: Failing | null,
): Promise<void> => {
  if (!health) return
  if (answer.httpStatus === 410) return stopEndpoint(trx, endpointId, { cause: 'gone' })
  if (health.isOver) {
    await stopEndpoint(trx, endpointId, { cause: 'failing' })
    return warn(trx, endpointId, 'paused', health.failingSince)
  }
  if (health.isLong) await warn(trx, endpointId, 'failing', health.failingSince)
}
