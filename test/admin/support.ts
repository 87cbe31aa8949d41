import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import type { World } from '../support/world.ts'

export type Given = {
  queue?: string
  kind?: string
  status?: string
  code?: string
  message?: string
  tenantId?: string | null
  payload?: Record<string, unknown>
  uniqueKey?: string | null
  createdAt?: string
  requestId?: string
}

/** Rows of jobs as they would be left by workers: `count` alike, made a second after one another. Answers their ids. */
export const putJobs = async (world: Pick<World, 'database'>, count: number, given: Given = {}): Promise<string[]> => {
  const { queue = 'messages', kind = 'messages.trigger', status = 'dead', code = 'ECONNREFUSED' } = given
  const dead = {
    code,
    message: given.message ?? 'no answer',
    stack: null,
    stackHash: 'abc',
    at: '2026-11-20T12:00:00Z',
  }
  const rows = await sql<{ id: string }>(
    world.database.admin,
    `insert into jobs (id, tenant_id, queue, kind, payload, status, attempts, starts, dispatch_no, delivery, last_error, request_id, actor,
       unique_key, created_at, run_at)
     select gen_random_uuid(), :tenantId, :queue, :kind, cast(:payload as jsonb), :status, 7, 9, 9, 1, cast(:error as jsonb), :requestId,
       '{"type": "system", "id": null}', :uniqueKey, cast(:createdAt as timestamptz) + make_interval(secs => n),
       least(now(), cast(:createdAt as timestamptz) + make_interval(secs => n))
     from generate_series(1, :count) as n returning id`,
    {
      queue,
      kind,
      status,
      count,
      tenantId: given.tenantId ?? null,
      payload: JSON.stringify(given.payload ?? { eventId: randomUUID() }),
      error: status === 'dead' ? JSON.stringify(dead) : null,
      requestId: given.requestId ?? randomUUID(),
      uniqueKey: given.uniqueKey ?? null,
      createdAt: given.createdAt ?? '2026-11-01T00:00:00Z',
    },
  )
  return rows.map((row) => row.id)
}

/** Puts rows into the archive, as if they had ended so. */
export const archiveJobs = (world: Pick<World, 'database'>, ids: string[], outcome = 'done') =>
  sql(
    world.database.admin,
    `with gone as (delete from jobs where id = any(:ids) returning *)
     insert into job_archive (id, money, tenant_id, queue, kind, version, payload, outcome, class, run_at, unique_key, attempts, starts,
       dispatch_no, request_id, actor, created_at, finished_at)
     select id, queue in ('payments', 'ledger', 'billing'), tenant_id, queue, kind, version, payload, :outcome, class, run_at, unique_key, attempts,
       starts, dispatch_no, request_id, actor, created_at, now() from gone`,
    { ids, outcome },
  )
