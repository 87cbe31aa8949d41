import type { Knex } from 'knex'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Job } from '../../jobs/job.ts'
import { setTimeout as wait } from 'node:timers/promises'

export const tenants = 20

/** Waiting rows of a kind, of several tenants in turn, committed at once; answers that instant. `spread` deals them to several queues. */
export const insertJobs = async (
  admin: Knex,
  kind: Job,
  count: number,
  { spread = [kind.queue], status = 'pending' }: { spread?: readonly string[]; status?: string } = {},
): Promise<number> => {
  await admin.transaction(async (trx) => {
    await sql(
      trx,
      `insert into jobs (id, tenant_id, queue, kind, version, payload, class, status, dispatch_no, leased_until, request_id, actor)
       select gen_random_uuid(), tenant.id, (cast(:spread as text[]))[1 + n % :queues], :kind, 1,
         jsonb_build_object('tenantId', tenant.id, 'number', n), 'normal', :status, case when :status = 'pending' then 0 else 1 end,
         case when :status = 'pending' then null else now() + interval '30 seconds' end, 'bench', '{"type": "system", "id": null}'
       from generate_series(1, :count) n,
         lateral (select ('00000000-0000-4000-8000-' || lpad(to_hex(n / :queues % :tenants), 12, '0'))::uuid as id) tenant`,
      { spread, queues: spread.length, kind: kind.name, count, tenants, status },
    )
    await sql(trx, `analyze jobs`)
  })
  return Date.now()
}

/** Waits until no live job of the kind is left; answers when the last one ended. */
export const whenDone = async (admin: Knex, kind: Job, withinMs: number): Promise<number> => {
  for (const end = Date.now() + withinMs; ; await wait(50)) {
    // By the indexes that there are: the queue of the kind has no others of its own.
    const row = await sqlOne(
      admin,
      `select 1 from jobs where queue = :queue and kind = :kind and status = 'pending' and ready
       union all select 1 from jobs where queue = :queue and kind = :kind and status in ('dispatched', 'running')
       union all select 1 from jobs where queue = :queue and kind = :kind and status = 'pending' and not ready limit 1`,
      { queue: kind.queue, kind: kind.name },
    )
    if (!row) break
    if (Date.now() > end) throw new Error(`jobs of ${kind.name} are left after ${withinMs} ms`)
  }
  const last = await sqlOne<{ at: Date }>(admin, `select max(finished_at) as at from job_archive where kind = ?`, [
    kind.name,
  ])
  if (!last) throw new Error('nothing was done')
  return last.at.getTime()
}

/** Nothing of an earlier round is left behind. */
export const clearJobs = async (admin: Knex): Promise<void> => {
  await sql(admin, `truncate jobs`)
  await sql(admin, `truncate job_archive`)
  await sql(admin, `truncate bench_effect`)
  await sql(admin, `checkpoint`)
}

export const makeEffects = async (admin: Knex): Promise<void> => {
  await sql(admin, `create table bench_effect (tenant_id uuid not null, number int not null)`)
  await sql(admin, `grant select, insert on bench_effect to pousada_service`)
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
