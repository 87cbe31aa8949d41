import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The whole suite, in two runs side by side where there are two cores: much of it waits for locks and processes. Each has a PostgreSQL
 * and a Redis of its own. What failed in either stands at the end. Arguments go to Mocha, in one run.
 */
const checkout = fileURLToPath(new URL('../', import.meta.url))
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped\n?$/m
const failures = /^ +\d+ failing$[^]*/m
const children: ChildProcess[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => children.forEach((child) => child.kill(signal)))

type Ended = { code: number; output: string }

const run = (args: string[], isShown: boolean): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [mocha, ...args], {
      cwd: checkout,
      stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) },
    })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })

/** What the longest files take, in seconds, where both cores are busy; a file that is not here takes what its size says. */
const long: Record<string, number> = {
  'routes/fuzz-properties': 18,
  'routes/fuzz-units': 13,
  'routes/fuzz-auth': 10,
  'routes/fuzz-admin': 6,
  'routes/fuzz-public': 6,
  'routes/fuzz-others': 6,
  'stories/kill': 49,
  'payment/crash': 46,
  'auth/processes': 38,
  'ocp/crash': 30,
  'payment/flow': 29,
  'financial/walls': 28,
  'properties/rate-changes': 24,
  'properties/search': 24,
  'jobs/redis': 22,
  'docs/integrators': 21,
  'jobs/crash': 20,
  'jobs/relay': 17,
  'channels/push-failures': 16,
  'jobs/shutdown': 15,
  'auth/attacks-sign-in': 15,
}
const secondsPerByte = 0.000_51

/** Heavier files first, each to the run that has less. */
const weightOf = (file: string): number =>
  long[file.replace(/^test\/|\.test\.ts$/g, '')] ?? statSync(join(checkout, file)).size * secondsPerByte

const shared = (): [string[], string[]] => {
  const parts: [string[], string[]] = [[], []]
  const sums: [number, number] = [0, 0]
  const weighed = readdirSync(join(checkout, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .map((file) => ({ file, weight: weightOf(file) }))
  for (const { file, weight } of weighed.toSorted((a, b) => b.weight - a.weight || (a.file < b.file ? -1 : 1))) {
    const lighter = sums[0] <= sums[1] ? 0 : 1
    parts[lighter].push(file)
    sums[lighter] += weight
  }
  return [parts[0].toSorted(), parts[1].toSorted()]
}

const given = process.argv.slice(2)
if (given.length > 0 || availableParallelism() < 2) process.exit((await run(given, true)).code)

const total = [0, 0, 0]
let failed = ''
const ended = await Promise.all(
  shared().map(async (files) => {
    const each = await run(files, false)
    const report = each.output.replace(counts, '')
    process.stdout.write(report.replace(failures, ''))
    const found = counts.exec(each.output)
    // Without its counts a run died: its last words are what failed.
    failed += failures.exec(report)?.[0] ?? (found ? '' : report.slice(-4_000))
    for (const n of [0, 1, 2]) total[n] = (total[n] ?? 0) + Number(found?.[n + 1] ?? (n === 1 ? 1 : 0))
    return found ? each.code : 1
  }),
)
if (failed !== '') console.log(`\n== failures\n${failed}`)
console.log(`${total[0]} passed, ${total[1]} failed, ${total[2]} skipped`)
// No process.exit: what a pipe has not taken yet would be lost, the counts with it.
process.exitCode = ended.every((code) => code === 0) ? 0 : 1
