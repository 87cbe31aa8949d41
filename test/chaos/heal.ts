import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { queueNames, queues } from '../../config/queues.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { replayJobs } from '../../db/jobs/operate.ts'
import { requestReconciliation } from '../../db/payment/balance/reconcile.ts'
import type { Town } from './town.ts'

/** Everything that was broken is whole again, and a newer worker has come. */
export const mend = async (town: Town): Promise<void> => {
  for (const member of town.fleet.members) member.thaw()
  town.redisServer.thaw()
  for (const proxy of Object.values(town.proxies)) {
    proxy.delay(0)
    proxy.drop(null)
    proxy.freezeNew(false)
    proxy.thaw()
  }
  await town.gateway('well')
  await town.redis((redis) => redis.config('SET', 'maxmemory', '0'))
  await Promise.all(
    town.fleet.of('worker').map(async (worker) => {
      await worker.hold('term')
      worker.start({ CHAOS_NEWER: 'yes' })
    }),
  )
  for (const member of town.fleet.members) member.start()
  await town.fleet.ready()
}

/** Whose locks last a minute, and whose starts may take ten: one that died in a start of theirs is not missed before. */
const slowQueues = queueNames.filter((name) => queues[name].lockMs > 15_000)

type Live = { id: string; kind: string; status: string; late: number; code: string | null }

/** Jobs that are due or under way. A job that comes by the clock returns every few seconds, and counts once it is late. */
const live = (database: Knex): Promise<Live[]> =>
  sql<Live>(
    database,
    `select id, kind, status, extract(epoch from now() - run_at)::int as late, last_error->>'code' as code from jobs
     where status <> 'dead' and run_at < now() - case when unique_key like 'slot:%' then interval '10 seconds' else interval '0' end
       and not (status = 'running' and queue = any(?))`,
    [slowQueues],
  )

/** Waits until nothing is due; answers how long that took, or what was left when the time was over. */
export const quiescence = async (
  database: Knex,
  withinMs: number,
): Promise<{ tookMs: number; left: Live[]; longest: number }> => {
  const started = Date.now()
  let quietSince: number | null = null
  for (;;) {
    const left = await live(database)
    const now = Date.now()
    quietSince = left.length === 0 ? (quietSince ?? now) : null
    if (quietSince !== null && now - quietSince > 1_500) return { tookMs: quietSince - started, left: [], longest: 0 }
    if (now - started > withinMs)
      return { tookMs: now - started, left, longest: Math.max(...left.map((one) => one.late)) }
    await wait(200)
  }
}

/**
 * As an operator would: brings back what was given up because its process died three times, though it was others that were made to
 * die. Answers their kinds.
 */
export const replayInnocent = async (database: Knex): Promise<string[]> => {
  const rows = await sql<{ id: string; kind: string }>(
    database,
    `select id, kind from jobs where status = 'dead' and last_error->>'code' = 'poison' and kind <> 'chaos.poison'`,
  )
  if (rows.length > 0)
    await inPlatform((trx) => replayJobs(trx, { selection: { jobIds: rows.map((row) => row.id) }, reason: 'chaos' }), {
      actor: { type: 'superuser', id: randomUUID() },
    })
  return rows.map((row) => row.kind)
}

/** Hours pass for what waits for its time: retries, looks at the gateway, ends of holds. What is planned for a stay stays planned. */
const letTimePass = async (database: Knex, round: number): Promise<void> => {
  const statements = [
    `update jobs set run_at = now(), status = 'pending', leased_until = null, worker = null
     where status in ('pending', 'dispatched') and run_at > now() and not (kind = 'messages.deliver' and attempts = 0)`,
    `update jobs set status = 'pending', leased_until = null, worker = null where status = 'running' and run_at < now() - interval '1 minute'`,
    `update booking b set hold_expires_at = now() - interval '1 second' where hold_expires_at > now()
       and exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status = 'held')
       and not exists (select from payment p where p.tenant_id = b.tenant_id and p.target_id = b.id and p.status in ('created', 'unknown', 'processing'))`,
    `update external_call set started_at = started_at - interval '1 hour' where state <> 'succeeded'`,
    `update payment set next_read_at = now() where next_read_at > now() and status in ('created', 'unknown', 'requires_action', 'processing')`,
    // Whose worker died between the mark and the call has no call that could grow old.
    `update payment set sent_at = sent_at - interval '1 hour' where sent_at is not null and external_id is null and status in ('created', 'unknown')`,
    `update payment set expires_at = now() - interval '1 second' where expires_at > now() and status = 'requires_action' and external_id is not null`,
    // Those that succeeded too: the gateway may have taken one back and told nobody.
    `update refund set next_read_at = now() where next_read_at > now() and status in ('requested', 'unknown', 'processing', 'succeeded')`,
    `update webhook_delivery set due_at = now() where status = 'pending' and due_at > now()`,
    `delete from provider_gate where gate like 'webhook:%'`,
    `update posting_event set next_at = now() where next_at > now() and status in ('pending', 'failed')`,
  ]
  // The hourly import of each account's list is the net under lost callbacks: it is let go twice, so that the rounds come to an end.
  if (round <= 2) statements.push(`update gateway_account set next_import_at = now() where next_import_at > now()`)
  for (const statement of statements) await sql(database, statement)
}

/** The number of records that still wait for their time. */
const waiting = async (database: Knex): Promise<number> => {
  const [row] = await sql<{ count: number }>(
    database,
    `select (select count(*) from payment where status in ('created', 'unknown', 'requires_action', 'processing'))
       + (select count(*) from refund where status in ('requested', 'unknown', 'processing'))
       + (select count(*) from reservation where status = 'held')
       + (select count(*) from posting_event where status in ('pending', 'failed'))
       + (select count(*) from message where status in ('queued', 'sending'))
       + (select count(*) from webhook_delivery where status = 'pending') + (select count(*) from event where sequence is null)
       + (select count(*) from jobs where status <> 'dead' and not (kind = 'messages.deliver' and attempts = 0)
            and coalesce(unique_key, '') not like 'slot:%') as count`,
  )
  return row?.count ?? 0
}

const rounds = 12

/** Lets time pass again and again, until nothing waits any more, and once more. Answers how many rounds it took, and what is left of them. */
export const untilOver = async (database: Knex): Promise<{ rounds: number; left: number }> => {
  let isOver = false
  for (let round = 1; ; round += 1) {
    await letTimePass(database, round)
    await wait(1_500)
    await quiescence(database, 45_000)
    const left = await waiting(database)
    if ((left === 0 && isOver) || round === rounds) return { rounds: round, left }
    isOver = left === 0
  }
}

type AccountDay = { tenantId: string; gatewayAccountId: string; date: string }

/** Asks for the reconciliation of every day of every gateway account, as an accountant would at the end. */
export const reconcileAll = async (database: Knex): Promise<void> => {
  const days = await sql<AccountDay>(
    database,
    `select tenant_id, id as gateway_account_id, d::date::text as date from gateway_account,
       generate_series((created_at at time zone 'utc')::date, (now() at time zone 'utc')::date, interval '1 day') d
     where external_id is not null order by 1, 2, 3`,
  )
  for (const { tenantId, gatewayAccountId, date } of days)
    await inTenant(tenantId, (trx) => requestReconciliation(trx, { gatewayAccountId, date }))
}

/** Asks until no day is open any more: what a list contradicts is read again first. Answers how many days are not balanced. */
export const untilReconciled = async (database: Knex): Promise<number> => {
  for (let round = 1; ; round += 1) {
    await reconcileAll(database)
    // A callback asks for an import ten seconds later, and one waits at a time.
    await sql(
      database,
      `update jobs set run_at = now(), status = 'pending', leased_until = null, worker = null
       where kind = 'payments.import-balance' and status in ('pending', 'dispatched') and run_at > now()`,
    )
    await wait(1_500)
    await quiescence(database, 45_000)
    const [row] = await sql<{ count: number }>(
      database,
      `select count(*)::int as count from reconciliation where status <> 'balanced'`,
    )
    for (let tries = 0; tries < 40 && (await waiting(database)) > 0; tries += 1) await wait(500)
    if (!row?.count || round === 4) return row?.count ?? 0
  }
}
