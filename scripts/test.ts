import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { events } from '../config/events/all.ts'

/**
 * The whole suite, in two runs side by side where there are two cores: much of it waits for locks and processes. Each has a PostgreSQL
 * and a Redis of its own. The cost of each module stands at the end, then the failures of all runs. `--runs=N` makes N runs; `--record`
 * keeps the cost of each file in test/seconds.json, by which files are shared out. Types of events that no test has raised are named. Other arguments go to
 * Mocha, in one run.
 */
const checkout = fileURLToPath(new URL('../', import.meta.url))
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped\n?$/m
const failures = /^ +\d+ failing$[^]*/m
const children: ChildProcess[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => children.forEach((child) => child.kill(signal)))

/** By file below test/, without its ending. */
type Seconds = Record<string, number>
type Ended = { code: number; output: string; seconds: Seconds; raised: string[] }

const scratch = mkdtempSync(join(tmpdir(), 'pousada-test-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** Records of a run. One that died has recorded nothing. */
const readRecord = <T>(file: string, nothing: T): T => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch {
    return nothing
  }
}

const run = (args: string[], isShown: boolean): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const secondsFile = join(scratch, `${children.length}.json`)
    const eventsFile = join(scratch, `${children.length}-events.json`)
    const child = spawn(process.execPath, [mocha, ...args], {
      cwd: checkout,
      stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TEST_SECONDS: secondsFile,
        TEST_EVENTS: eventsFile,
        ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
      },
    })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({
        code: code ?? 1,
        output,
        seconds: readRecord<Seconds>(secondsFile, {}),
        raised: readRecord<string[]>(eventsFile, []),
      }),
    )
  })

/** The seconds that each file took when they were last recorded. A file without a record weighs by its size. */
const recordFile = join(checkout, 'test/seconds.json')
const recorded = JSON.parse(readFileSync(recordFile, 'utf8')) as Seconds
const secondsPerByte = 0.000_4

const weightOf = (file: string): number =>
  recorded[file.replace(/^test\/|\.test\.ts$/g, '')] ?? statSync(join(checkout, file)).size * secondsPerByte

/** Heavier files first, each to the run that has least. */
const shared = (runs: number): string[][] => {
  const parts = Array.from({ length: runs }, () => ({ files: [] as string[], sum: 0 }))
  const weighed = readdirSync(join(checkout, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .map((file) => ({ file, weight: weightOf(file) }))
  for (const { file, weight } of weighed.toSorted((a, b) => b.weight - a.weight || (a.file < b.file ? -1 : 1))) {
    const lightest = parts.reduce((least, part) => (part.sum < least.sum ? part : least))
    lightest.files.push(file)
    lightest.sum += weight
  }
  return parts.map(({ files }) => files.toSorted())
}

/** Seconds, files and the dearest file of each module: of each folder of test/. */
const told = (seconds: Seconds): string => {
  const files = Object.entries(seconds).map(([name, each]) => ({ name, each, module: name.split('/')[0] ?? '' }))
  const modules = [...new Set(files.map(({ module }) => module))].map((module) => {
    const own = files.filter((file) => file.module === module).toSorted((a, b) => b.each - a.each)
    return { module, own, sum: own.reduce((sum, { each }) => sum + each, 0) }
  })
  return modules
    .toSorted((a, b) => b.sum - a.sum)
    .map(({ module, own, sum }) => {
      const dearest = own[0] ? `${own[0].name} ${own[0].each.toFixed(1)} s` : ''
      return `${module.padEnd(13)}${sum.toFixed(1).padStart(6)} s ${String(own.length).padStart(4)} files, the dearest ${dearest}`
    })
    .join('\n')
}

const record = (seconds: Seconds) => {
  const rounded = Object.entries(seconds).map(([name, each]) => [name, Math.round(each * 10) / 10] as const)
  const sorted = rounded.toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

const own = /^--(?:record|runs=(\d+))$/
const asked = process.argv.slice(2)
const given = asked.filter((argument) => !own.test(argument))
const isRecorded = asked.includes('--record')
const runs = Number(
  asked.map((argument) => own.exec(argument)?.[1]).find(Boolean) ?? Math.min(2, availableParallelism()),
)
if (given.length > 0) process.exit((await run(given, true)).code)

const total = [0, 0, 0]
let failed = ''
const ended = await Promise.all(
  shared(runs).map(async (files) => {
    const each = await run(files, false)
    const report = each.output.replace(counts, '')
    process.stdout.write(report.replace(failures, ''))
    const found = counts.exec(each.output)
    // Without its counts a run died: its last words are what failed.
    failed += failures.exec(report)?.[0] ?? (found ? '' : report.slice(-4_000))
    for (const n of [0, 1, 2]) total[n] = (total[n] ?? 0) + Number(found?.[n + 1] ?? (n === 1 ? 1 : 0))
    return found ? each : { ...each, code: 1 }
  }),
)
const seconds: Seconds = Object.assign({}, ...ended.map((each) => each.seconds))
console.log(`\n== seconds of each module\n${told(seconds)}`)
const isWhole = ended.every(({ code }) => code === 0)
if (isRecorded && isWhole) record(seconds)
const raised = new Set(ended.flatMap((each) => each.raised))
const unraised = events.map(({ type }) => type).filter((type) => !raised.has(type))
if (unraised.length > 0)
  console.log(`\n== ${unraised.length} types of events that no test raised\n${unraised.join('\n')}`)
if (failed !== '') console.log(`\n== failures\n${failed}`)
console.log(`${total[0]} passed, ${total[1]} failed, ${total[2]} skipped`)
// No process.exit: what a pipe has not taken yet would be lost, the counts with it.
process.exitCode = isWhole ? 0 : 1
