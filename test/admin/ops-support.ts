import { randomUUID } from 'node:crypto'
import { hashPassword } from '../../db/auth/hashing.ts'
import { grantSuperuser, createUser } from '../../db/auth/users.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { makeTenant } from '../auth/support.ts'
import type { World } from '../support/world.ts'
import { archiveJobs, putJobs } from './support.ts'

export const operator = { email: 'n1@pousada.example', password: 'a long phrase of operators' }

/** Text that an attacker would write to harm the reader of a page. */
export const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;`

export const makeOperator = async () => {
  const hash = await hashPassword(operator.password)
  return inPlatform(async (trx) => {
    const userId = await createUser(trx, { email: operator.email, name: 'N1', hash })
    await grantSuperuser(trx, userId, 'N1', 'the tests of operations')
    return userId
  })
}

/** Something on every page: dead letters, a flood, pauses, schedules, calls, gates, processes, an hour of minutes. */
export const fill = async (world: Pick<World, 'database'>) => {
  const { admin } = world.database
  const tenantId = await makeTenant('Starter', `Casa ${hostile}`)
  const other = await makeTenant('Starter', 'Pousada do Sol')
  const requestId = 'request-of-a-booking'
  await putJobs(world, 12, { tenantId, message: `connect refused ${hostile}`, requestId })
  await putJobs(world, 3, { queue: 'payments', kind: 'payments.read', code: 'payload_invalid', tenantId: other })
  await putJobs(world, 40, { tenantId: other, status: 'pending', kind: 'messages.deliver' })
  await putJobs(world, 6, { status: 'dispatched', queue: 'inventory', kind: 'inventory.assign', tenantId })
  const [done = ''] = await putJobs(world, 1, {
    queue: 'payments',
    kind: 'payments.process-callback',
    status: 'pending',
    tenantId: other,
    requestId,
  })
  await archiveJobs(world, [done])
  await admin.raw(`update jobs set history = '[{"at": "2026-11-20T11:00:00Z", "what": "failed", "dispatchNo": 1, "delivery": 1, "attempts": 1,
      "worker": "host-1", "code": "ECONNREFUSED", "message": "no answer", "stackHash": "abc", "waitMs": 4000},
      {"at": "2026-11-20T12:00:00Z", "what": "died", "dispatchNo": 2, "delivery": 1, "attempts": 7, "worker": "host-1", "code": "ECONNREFUSED",
      "message": "no answer", "stackHash": "abc", "waitMs": null}]' where status = 'dead'`)
  const [dead] = await sql<{ id: string }>(
    admin,
    `select id from jobs where status = 'dead' and request_id = ? order by seq limit 1`,
    [requestId],
  )
  const jobId = dead?.id ?? ''
  await admin.raw(
    `insert into external_call (tenant_id, job_id, provider, operation, idempotency_key, state, http_status, answer_reference, finished_at) values
       (?, ?, 'sandbox', 'submit', 'one', 'succeeded', 200, 'ch_1', now()), (?, gen_random_uuid(), 'smtp', 'send', 'two', 'unknown', null, null, null)`,
    [tenantId, jobId, tenantId],
  )
  await admin.raw(
    `insert into provider_gate (gate, provider, tenant_id, state, closed_at, closed_until, reason, failures, closures, last_failure_at) values
       ('sandbox:acct_1', 'sandbox', ?, 'closed', now(), now() + interval '2 minutes', 'HTTP 503', 5, 1, now()),
       ('smtp', 'smtp', null, 'open', null, null, null, 0, 0, null)`,
    [tenantId],
  )
  await admin.raw(
    `insert into event (tenant_id, id, type, property_id, entity, actor, request_id, data)
     values (?, gen_random_uuid(), 'guest.created', null, '{"type": "guest", "id": "b-1"}', '{"type": "system", "id": null}', ?, ?)`,
    [tenantId, requestId, JSON.stringify({ guestId: randomUUID(), source: 'desk' })],
  )
  await admin.raw(
    `insert into schedule (kind, every_seconds, cron, backfill, next_at, last_at, misses) values
       ('payments.sweep', 5, null, 'none', now() + interval '3 seconds', now(), 0),
       ('maintenance.roll-partitions', null, '10 1 * * *', 'last', now() - interval '5 minutes', null, 3)`,
  )
  await admin.raw(
    `insert into worker_heartbeat (id, process, name, host, pid, version, queues, running, loop_lag_ms, current) values
       (gen_random_uuid(), 'worker', 'host-1-1', 'host-1', 4711, '0.1.0', '{"payments": 20, "messages": 10}', 1, 3,
         jsonb_build_array(jsonb_build_object('jobId', cast(? as text), 'kind', 'messages.trigger'))),
       (gen_random_uuid(), 'relay', 'relay', 'host-1', 4712, '0.1.0', '{}', 0, 240, '[]')`,
    [jobId],
  )
  await admin.raw(
    `insert into queue_minute (minute, queue, done, failed, pending, running, dead, oldest_seconds)
     select date_trunc('minute', now()) - make_interval(mins => n), queue, 40 + (n * 37) % 60, (n * 7) % 9, (n * 13) % 80, 5, 0, (n * 11) % 45
     from generate_series(0, 59) as n, (values ('messages'), ('payments')) as q (queue)`,
  )
  return { tenantId, jobId, done }
}

/** Ids of dead jobs, the oldest first. */
export const deadIn = async ({ database }: Pick<World, 'database'>): Promise<string[]> =>
  (await sql<{ id: string }>(database.admin, `select id from jobs where status = 'dead' order by seq`)).map(
    ({ id }) => id,
  )

/** The last act of an operator in the audit trail. */
export const lastAct = ({ database }: Pick<World, 'database'>) =>
  sql<{ action: string; reason: string; actorId: string; actorType: string }>(
    database.admin,
    `select action, reason, actor_id, actor_type from audit_entry where actor_type = 'superuser' order by at desc limit 1`,
  )
