import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { rollPartitions } from '../../db/jobs/operate.ts'
import { purgeExternalCalls } from '../../jobs/jobs.ts'
import { processors } from '../../workers/jobs/index.ts'
import { useDatabase } from '../support/database.ts'
import { deliver, dispatch } from './deliver.ts'
import { ask } from './support.ts'

describe('the archive of jobs', () => {
  const held = useDatabase()

  /** A week's partition that begins so many days ago. */
  const makeWeek = async (parent: 'job_archive_money' | 'job_archive_other', days: number): Promise<string> => {
    const [week] = await sql<{ name: string; from: string; until: string }>(
      held.database.admin,
      `select to_char(d, 'YYYYMMDD') as name, d::date::text as "from", (d + interval '7 days')::date::text as until
       from (select (now() at time zone 'UTC')::date - make_interval(days => ?) as d) w`,
      [days],
    )
    const name = `${parent}_${week?.name}`
    await held.database.admin.raw(
      `create table ${name} partition of ${parent} for values from ('${week?.from} 00:00Z') to ('${week?.until} 00:00Z')`,
    )
    return name
  }
  const there = async (names: string[]) =>
    (
      await sql<{ relname: string }>(
        held.database.admin,
        `select relname from pg_class where relname = any(?) order by relname`,
        [names],
      )
    ).map(({ relname }) => relname)

  it('forgets a week once all of it is 30 days old, one of money once it is 400; next weeks are ready', async () => {
    const kept = [await makeWeek('job_archive_other', 37), await makeWeek('job_archive_money', 407)]
    const gone = [await makeWeek('job_archive_other', 45), await makeWeek('job_archive_money', 415)]
    const money = await makeWeek('job_archive_money', 45)
    await inPlatform(rollPartitions)
    expect(await there([...kept, ...gone, money])).to.deep.equal([...kept, money].sort())
    const [ahead] = await sql<{ isReady: boolean }>(
      held.database.admin,
      `select count(*) = 2 as is_ready from pg_class where relname ~ ('^job_archive_(money|other)_' || to_char(date_trunc('week', now() at time zone 'UTC') + interval '28 days', 'YYYYMMDD') || '$')`,
    )
    expect(ahead?.isReady).to.equal(true)
  })

  it('takes with it what its jobs asked of the outside: nothing younger, of a job that is still here, or of which nobody knows what came', async () => {
    const { admin } = held.database
    const live = await ask(purgeExternalCalls, {})
    const filed = `insert into job_archive (id, money, queue, kind, version, payload, outcome, class, run_at, attempts, starts, dispatch_no, request_id, actor, created_at, finished_at)
      select %ID%, false, 'messages', 'messages.deliver', 1, '{}', 'done', 'normal', now(), 0, 1, 1, 'r', '{}', now(), now() - interval '35 days'`
    // More than are looked at together stand before all others, and their jobs are in the archive.
    await admin.raw(
      `with c as (insert into external_call (job_id, provider, operation, idempotency_key, state, finished_at)
         select gen_random_uuid(), 'smtp', 'send', 'filed-' || n, 'succeeded', now() - interval '600 days' from generate_series(1, 1001) n returning job_id)
       ${filed.replace('%ID%', 'job_id')} from c`,
    )
    const put = (key: string, operation: string, state: string, days: number, jobId: string | null = null) =>
      sql(
        admin,
        `insert into external_call (tenant_id, job_id, provider, operation, idempotency_key, state, started_at, finished_at)
         values (gen_random_uuid(), coalesce(?::uuid, gen_random_uuid()), 'sandbox', ?, ?, ?, now() - interval '900 days', now() - make_interval(days => ?))`,
        [jobId, operation, key, state, days],
      )
    await put('sent', 'send', 'succeeded', 31)
    await put('refused', 'push', 'failed', 31)
    await put('unsent', 'send', 'not_sent', 31)
    await put('young', 'send', 'succeeded', 29)
    await put('live', 'send', 'succeeded', 500, live)
    await put('unknown', 'send', 'unknown', 900)
    await put('started', 'submit', 'started', 900)
    await put('paid', 'submit', 'succeeded', 401)
    await put('returned', 'refund', 'failed', 401)
    await put('paid lately', 'submit', 'succeeded', 399)
    await put('closed lately', 'cancel', 'succeeded', 31)
    const purge = processors.find(({ job }) => job.name === purgeExternalCalls.name)
    if (!purge) throw new Error('nobody purges')
    await dispatch(live)
    expect(await deliver(purge, live, 1)).to.equal('done')
    const kept = await sql<{ key: string; n: number }>(
      admin,
      `select split_part(idempotency_key, '-', 1) as key, count(*) as n from external_call group by 1 order by 1`,
    )
    expect(Object.fromEntries(kept.map(({ key, n }) => [key, n]))).to.deep.equal({
      filed: 1_001,
      live: 1,
      started: 1,
      unknown: 1,
      young: 1,
      'closed lately': 1,
      'paid lately': 1,
    })
  })
})
