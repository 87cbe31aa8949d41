import { readFileSync } from 'node:fs'
import { UnrecoverableError } from 'bullmq'
import { expect } from 'chai'
import pg from 'pg'
import { queues } from '../../config/queues.ts'
import { compile } from '../../config/validator.ts'
import { inPlatform, inTenant } from '../../db/lib/connection.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { markDispatched } from '../../db/jobs/dispatch.ts'
import { jobs, schedules } from '../../jobs/all.ts'
import { upcast } from '../../jobs/job.ts'
import type { Job } from '../../jobs/job.ts'
import { tenantOf } from '../../workers/lib/context.ts'
import { runStart } from '../../workers/lib/run-job.ts'
import type { Worker } from '../../workers/lib/run-job.ts'
import { processors } from '../../workers/processors.ts'
import { byKind } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'

type Fixture = { version: number; payload: Record<string, unknown> }

/** Every payload ever used, by kind; lines are added and never changed. */
const fixtures = JSON.parse(readFileSync(new URL('payloads.json', import.meta.url), 'utf8')) as Record<
  string,
  Fixture[]
>
const current = (job: Job) => (fixtures[job.name] ?? []).find((fixture) => fixture.version === job.version)

describe('every declared job', () => {
  it('has a permanent name of its own, a queue, and one processor', () => {
    expect(new Set(jobs.map((job) => job.name)).size).to.equal(jobs.length)
    for (const job of jobs) expect(job.name).to.match(/^[a-z]+\.[a-z]+(-[a-z]+)*$/)
    expect(byKind(processors, Object.keys(queues) as (keyof typeof queues)[]).size).to.equal(jobs.length)
  })

  it('has a closed payload of ids, numbers, days and words of a list', () => {
    const loose: string[] = []
    const look = (schema: Record<string, unknown>, path: string) => {
      if (schema.type === 'object' && schema.additionalProperties !== false) loose.push(path)
      if (
        schema.type === 'string' &&
        !schema.enum &&
        !schema.format &&
        !schema.pattern &&
        Number(schema.maxLength ?? Infinity) > 200
      )
        loose.push(path)
      for (const [name, part] of Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>))
        look(part, `${path}.${name}`)
      for (const part of (schema.anyOf ?? []) as Record<string, unknown>[]) look(part, path)
    }
    for (const job of jobs) look(JSON.parse(JSON.stringify(job.payload)) as Record<string, unknown>, job.name)
    expect(loose).to.deep.equal([])
  })

  it('has a fixture of each payload that it ever took, and still understands all of them', () => {
    expect(Object.keys(fixtures).sort()).to.deep.equal(jobs.map((job) => job.name).sort())
    for (const job of jobs) {
      const ever = fixtures[job.name] ?? []
      const versions = Array.from({ length: job.version }, (_, index) => index + 1)
      expect(
        [...new Set(ever.map(({ version }) => version))].toSorted((a, b) => a - b),
        job.name,
      ).to.deep.equal(versions)
      for (const { version, payload } of ever)
        expect(compile(job.payload)(upcast(job, payload, version)), `${job.name} version ${version}`).to.equal(null)
    }
  })

  it('that comes by the clock takes an empty payload, once', () => {
    expect(new Set(schedules.map((schedule) => schedule.job.name)).size).to.equal(schedules.length)
    for (const { job } of schedules) {
      expect(compile(job.payload)({}), job.name).to.equal(null)
      expect(jobs.map((each) => each.name)).to.include(job.name)
    }
    const ticks = jobs.filter((job) => job.retry === 'tick' && compile(job.payload)({}) === null)
    for (const job of ticks)
      expect(
        schedules.map((schedule) => schedule.job.name),
        job.name,
      ).to.include(job.name)
  })
})

describe('every job, run twice', function () {
  this.timeout(240_000)
  let reader: pg.Client
  // Ahead of the hook that drops the database under it.
  after(() => reader.end())
  const held = useDatabase()
  const worker: Worker = { name: 'test', inHand: new Set(), isEnding: false }
  // Tables that the run of any job changes.
  const around = new Set([
    'jobs',
    'job_archive',
    // When a chain was looked at last.
    'audit_chain',
    'external_call',
    'worker_heartbeat',
    'schedule',
    'schema_migration',
    'schema_migration_lock',
  ])

  /** A look at every table, which the connection plans once: planned each time, it costs most of what a job does. */
  let contents: string
  const readState = async () => {
    const { rows } = await reader.query<{ name: string; hash: string }>({ name: 'contents', text: contents })
    return new Map(rows.map(({ name, hash }) => [name, hash]))
  }
  const run = async (job: Job, payload: Record<string, unknown>): Promise<string> => {
    const tenantId = tenantOf(payload)
    const make = (trx: Parameters<typeof enqueue>[0]) => enqueue(trx, job, payload)
    const id = tenantId === null ? await inPlatform(make) : await inTenant(tenantId, make)
    if (id === null) throw new Error(`${job.name} was not made`)
    await inPlatform(async (trx) => markDispatched(trx, [id]))
    const delivery = {
      fence: { jobId: id, dispatchNo: 1, delivery: 1 },
      kind: job.name,
      handed: { tenantId, requestId: 'twice-0001', traceparent: null },
    }
    const each = processors.find((processor) => processor.job.name === job.name)
    const outcome = await runStart(each, delivery, worker).catch((error: unknown) => {
      if (error instanceof UnrecoverableError) return `given up: ${error.message}`
      throw error
    })
    await held.database.admin.raw(`delete from jobs`)
    return outcome
  }
  before(async () => {
    await seedDemo()
    await held.database.admin.raw(`delete from jobs`)
    reader = new pg.Client({ connectionString: held.database.adminUrl })
    await reader.connect()
    const { rows } = await reader.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition`,
    )
    const looks = rows
      .filter(({ name }) => !around.has(name))
      .map(
        ({ name }) =>
          `select '${name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from "${name}" t`,
      )
    expect(looks).to.have.length.above(200)
    contents = looks.join(' union all ')
  })
  for (const job of [...jobs].sort((one, other) => one.name.localeCompare(other.name)))
    it(`${job.name}: the second run changes nothing, and neither fails in a way that it would repeat`, async () => {
      const payload = current(job)?.payload ?? {}
      const first = await run(job, payload)
      const between = await readState()
      const second = await run(job, payload)
      expect(second).to.equal(first)
      expect(first).to.match(/^(done|skipped|given up: \w+)$/)
      const after = await readState()
      const changed = [...after].filter(([table, hash]) => hash !== between.get(table)).map(([table]) => table)
      expect(changed).to.deep.equal([])
    })
})
