import { Redis } from 'ioredis'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import { insertJobs, makeEffects, median, whenDone } from '../jobs/rows.ts'
import { posting } from '../probe.ts'
import { judge } from '../report.ts'
import { quick, sized } from '../size.ts'

const sizes = quick ? [10_000, 50_000] : [10_000, 100_000, 1_000_000]
const rounds = sized(3, 1)
const worked = sized(5_000, 1_500)

/** Live jobs of 500 tenants, half of them due in a queue that nobody works on, half due within a week; and as many in the archive. */
const fill = async (admin: Knex, from: number, to: number) => {
  const tenant = `('00000000-0000-4000-9000-' || lpad(to_hex(n % 500), 12, '0'))::uuid`
  const payload = `jsonb_build_object('tenantId', ${tenant}, 'number', n)`
  const range = { from: from + 1, to }
  await sql(
    admin,
    `insert into jobs (id, tenant_id, queue, kind, payload, run_at, request_id, actor)
     select gen_random_uuid(), ${tenant}, case n % 2 when 0 then 'channels' else 'messages' end, 'messages.bench-ballast', ${payload},
       case n % 2 when 0 then now() else now() + make_interval(secs => 600 + n % 600000) end, 'ballast-' || n, '{"type": "system", "id": null}'
     from generate_series(cast(:from as int), cast(:to as int)) n`,
    range,
  )
  await sql(
    admin,
    `insert into job_archive (id, money, tenant_id, queue, kind, payload, version, outcome, class, run_at, attempts, starts, dispatch_no, request_id, actor,
       created_at, started_at, finished_at)
     select gen_random_uuid(), false, ${tenant}, 'messages', 'messages.bench-ballast', ${payload}, 1, 'done', 'normal', now(), 0, 1, 1, 'ballast-' || n,
       '{"type": "system", "id": null}', now(), now(), now()
     from generate_series(cast(:from as int), cast(:to as int)) n`,
    range,
  )
  await sql(admin, `vacuum analyze jobs`)
  await sql(admin, `vacuum analyze job_archive`)
  await sql(admin, `checkpoint`)
}

/** Milliseconds of one job from the table to its completion, at full speed. */
const cost = async (admin: Knex): Promise<number> => {
  const redis = new Redis(settings.redisUrl)
  await redis.flushall()
  redis.disconnect()
  const children = [await startChild('jobs', 'relay'), await startChild('jobs', 'worker', { concurrency: 50 })]
  try {
    const times: number[] = []
    await wait(6_000)
    for (let round = 0; round < rounds; round += 1) {
      const from = await insertJobs(admin, posting, worked)
      times.push(((await whenDone(admin, posting, 180_000)) - from) / worked)
    }
    return median(times)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

export const bench: Bench = async ({ admin }) => {
  await makeEffects(admin)
  const found: { size: number; ms: number }[] = []
  for (const [at, size] of sizes.entries()) {
    await fill(admin, sizes[at - 1] ?? 0, size)
    found.push({ size, ms: await cost(admin) })
  }
  const smallest = found[0]?.ms ?? Number.NaN
  const last = found.at(-1)
  const thousand = (size: number) => `${size / 1_000} thousand`
  return {
    results: [
      ...found.map(({ size, ms }) =>
        judge(
          {
            name: `a posting beside ${thousand(size)} live and as many archived jobs`,
            unit: 'ms',
            ours: ms,
            reference: smallest,
          },
          null,
        ),
      ),
      judge(
        {
          name: `growth of its cost from ${thousand(found[0]?.size ?? 0)} to ${thousand(last?.size ?? 0)}`,
          unit: 'times',
          ours: (last?.ms ?? Number.NaN) / smallest,
          reference: null,
        },
        { most: 1.2 },
      ),
    ],
    notes: [
      `${worked} postings at once through a relay and one worker with 50 places; the time until the last is completed, per job, median of ${rounds}.`,
      'Beside them stand jobs of 500 tenants: half are due in a queue without workers, half wait for their day; what the relay measures of them is part of it.',
    ],
  }
}
