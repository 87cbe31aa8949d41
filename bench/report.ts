import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, loadavg } from 'node:os'
import { sql, database } from '../db/lib/connection.ts'
import { writePage } from './page.ts'
import { isPart, quick } from './size.ts'

const round = (value: number) => Number(value.toPrecision(4))

/** Processes of others that ran or waited for a processor before the run, over a minute. */
const waiting = round(loadavg()[0] ?? 0)

export type Measure = {
  name: string
  unit: string
  ours: number
  /** The figure that it is compared with in the same run; null where the goal is a number of its own. */
  reference: number | null
}

export type Goal =
  /** At least this share of the reference: throughput. */
  | { least: number }
  /** At most this, in the unit. */
  | { most: number }
  | null

export type Result = Measure & { ratio: number | null; goal: string | null; holds: boolean | null }

export const judge = (measure: Measure, goal: Goal): Result => {
  const ratio = measure.reference === null ? null : round(measure.ours / measure.reference)
  const holds = goal === null ? null : 'least' in goal ? (ratio ?? 0) >= goal.least : measure.ours <= goal.most
  const text =
    goal === null
      ? null
      : 'least' in goal
        ? `at least ${goal.least} of the reference`
        : `at most ${goal.most} ${measure.unit}`
  return {
    ...measure,
    ours: round(measure.ours),
    reference: measure.reference === null ? null : round(measure.reference),
    ratio,
    goal: text,
    holds,
  }
}

const dependency = (name: string) =>
  (
    JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as {
      version: string
    }
  ).version

const serverVersion = async (): Promise<string> => {
  const rows = await sql<{ version: string }>(database(), `select current_setting('server_version') as version`)
  return rows[0]?.version ?? ''
}

const versions = (postgres: string) => {
  return {
    node: process.versions.node,
    postgres,
    ...Object.fromEntries(
      ['koa', 'pg', 'knex', 'objection', 'bullmq', 'ioredis'].map((name) => [name, dependency(name)]),
    ),
  }
}

const commit = () => {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

/**
 * Prints the table; a whole run also writes bench/results/<name>.json and docs/performance.md.
 * @param postgres the version of PostgreSQL that was measured; asked of the open database unless said.
 */
export const report = async (name: string, results: Result[], notes: string[], postgres?: string) => {
  const [cpu] = cpus()
  const machine = {
    cpu: cpu?.model ?? '',
    cores: cpus().length,
    memoryGb: round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
  }
  const content = {
    name,
    at: new Date().toISOString(),
    commit: commit(),
    machine,
    waiting,
    versions: versions(postgres ?? (await serverVersion())),
    results,
    notes,
  }
  if (!quick && !isPart) {
    const folder = new URL('./results/', import.meta.url)
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(content, null, 2)}\n`)
    writePage()
  }
  console.log(`\n${name}: ${machine.cores} × ${machine.cpu}, Node ${process.versions.node}`)
  console.table(
    Object.fromEntries(
      results.map(({ name: row, unit, ours, reference, ratio, goal, holds }) => [
        row,
        { unit, ours, reference, ratio, goal, holds },
      ]),
    ),
  )
  for (const note of notes) console.log(note)
}

/** The value below which this share of the values lies. */
export const percentile = (values: number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
