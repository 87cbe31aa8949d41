import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { events } from '../config/events/all.ts'

/**
 * The whole suite, in two runs side by side where there are two cores: much of it waits for locks and processes. Each has a PostgreSQL
 * and a Redis of its own, and takes the next file when it has ended one, the dearest first, so that both end together. The cost of each
 * module stands at the end, then the failures of all files. `--runs=N` makes N runs; `--record` keeps the cost of each file in
 * test/seconds.json, which says what is dear; with either, folders and files may be named. Types of events that no test has raised are
 * named. Other arguments go to Mocha, in one run.
 */
const checkout = fileURLToPath(new URL('../', import.meta.url))
const children: ChildProcess[] = []
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isStopped = true
    children.forEach((child) => child.kill(signal))
  })

/** A file as a run reports it; `failed` tells of its failures alone. */
export type Ended = {
  file: string
  passes: number
  failures: number
  pending: number
  report: string
  failed: string
  seconds: number
}
/** The answer to a run that asks: a file, or the end. */
export type Next = { file: string | null }

const start = (args: string[], streams: 'ipc' | 'ignore', env: NodeJS.ProcessEnv = {}): ChildProcess => {
  const child = spawn(process.execPath, args, {
    cwd: checkout,
    stdio: ['ignore', 'inherit', 'inherit', streams],
    env: { ...process.env, ...env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) },
  })
  children.push(child)
  return child
}

const ending = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })

const asked = process.argv.slice(2)
const own = /^--(?:record|runs=(\d+))$/
const given = asked.filter((argument) => !own.test(argument))
if (given.length > 0 && given.length === asked.length) {
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
  process.exit(await ending(start([mocha, ...given], 'ignore')))
}

const isAsked = (file: string): boolean =>
  given.length === 0 || given.some((path) => file === path || file.startsWith(path.replace(/\/?$/, '/')))

/**
 * The seconds that each file took when they were last recorded, by its name below test/. A file without a record weighs by its size, and
 * ten seconds at least: a short one may stand for hundreds of tests.
 */
const recordFile = join(checkout, 'test/seconds.json')
const recorded = JSON.parse(readFileSync(recordFile, 'utf8')) as Record<string, number>
const secondsPerByte = 0.000_4
const nameOf = (file: string) => file.replace(/^test\/|\.test\.ts$/g, '')
const weightOf = (file: string): number =>
  recorded[nameOf(file)] ?? Math.max(10, statSync(join(checkout, file)).size * secondsPerByte)

const queue = readdirSync(join(checkout, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => join('test', file))
  .filter(isAsked)
  .toSorted()
  .map((file) => ({ file, weight: weightOf(file) }))
  .toSorted((a, b) => b.weight - a.weight)
  .map(({ file }) => file)
if (queue.length === 0) throw new Error(`no test file is named by ${given.join(' ')}`)

const scratch = mkdtempSync(join(tmpdir(), 'pousada-test-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
const { 'node-option': nodeOptions } = JSON.parse(readFileSync(join(checkout, '.mocharc.json'), 'utf8')) as {
  'node-option': string[]
}

const ended: Ended[] = []
const raised = new Set<string>()

/** One run, to the end of the queue. A run that dies fails the file that it had; another takes its place. */
const run = async (): Promise<boolean> => {
  const eventsFile = join(scratch, `${children.length}.json`)
  const program = join(checkout, 'test/support/run.ts')
  const child = start([...nodeOptions.map((option) => `--${option}`), program], 'ipc', { TEST_EVENTS: eventsFile })
  let file: string | null = null
  child.on('message', (told: Ended | null) => {
    if (told) {
      ended.push(told)
      console.log(`${told.report}\n`)
    }
    file = queue.shift() ?? null
    child.send({ file: file && join(checkout, file) } satisfies Next)
  })
  const code = await ending(child)
  // Absent where no file of the run had a database.
  if (existsSync(eventsFile))
    for (const type of JSON.parse(readFileSync(eventsFile, 'utf8')) as string[]) raised.add(type)
  if (code === 0 && file === null) return true
  const failed = `\n  The run ended with ${code} ${file === null ? 'without a file' : 'before the file did'}.\n`
  ended.push({
    file: file ?? 'test/support/run.ts',
    passes: 0,
    failures: 1,
    pending: 0,
    report: '',
    failed,
    seconds: 0,
  })
  if (file !== null && queue.length > 0 && !isStopped) await run()
  return false
}

/** Seconds, share, files and the dearest file of each module: of each folder of test/. */
const shares = (): string => {
  const files = ended.map(({ file, seconds }) => ({ name: nameOf(file), seconds }))
  const moduleOf = (file: { name: string }) => file.name.split('/')[0] ?? ''
  const sumOf = (some: { seconds: number }[]) => some.reduce((sum, { seconds }) => sum + seconds, 0)
  const modules = [...new Set(files.map(moduleOf))].map((module) => {
    const some = files.filter((file) => moduleOf(file) === module).toSorted((a, b) => b.seconds - a.seconds)
    return { module, some, sum: sumOf(some) }
  })
  return modules
    .toSorted((a, b) => b.sum - a.sum)
    .map(({ module, some, sum }) => {
      const share = ((100 * sum) / sumOf(files)).toFixed(1).padStart(5)
      const dearest = some[0] ? `${some[0].name} ${some[0].seconds.toFixed(1)} s` : ''
      return `${module.padEnd(20)}${sum.toFixed(1).padStart(7)} s ${share} % ${String(some.length).padStart(4)} files, the dearest ${dearest}`
    })
    .join('\n')
}

/** Files that were not asked for keep what they had. */
const record = () => {
  const kept = Object.entries(recorded).filter(([name]) => existsSync(join(checkout, `test/${name}.test.ts`)))
  const found = ended.map(({ file, seconds }) => [nameOf(file), Math.round(seconds * 10) / 10] as const)
  const sorted = [...new Map([...kept, ...found])].toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

const runs = Number(
  asked.map((argument) => own.exec(argument)?.[1]).find(Boolean) ?? Math.min(2, availableParallelism()),
)
const held = await Promise.all(Array.from({ length: runs }, run))

console.log(`\n== seconds of each module\n${shares()}`)
const total = (of: 'passes' | 'failures' | 'pending') => ended.reduce((sum, each) => sum + each[of], 0)
const isWhole = held.every(Boolean) && total('failures') === 0 && queue.length === 0
if (isWhole && asked.includes('--record')) record()
const unraised = events.map(({ type }) => type).filter((type) => !raised.has(type))
if (given.length === 0 && unraised.length > 0)
  console.log(`\n== ${unraised.length} types of events that no test raised\n${unraised.join('\n')}`)
const failed = ended.filter(({ failures }) => failures > 0)
if (failed.length > 0)
  console.log(`\n== failures\n${failed.map((each) => `\n${each.file}\n${each.failed}`).join('\n')}`)
console.log(`${total('passes')} passed, ${total('failures')} failed, ${total('pending')} skipped`)
// No process.exit: what a pipe has not taken yet would be lost, the counts with it.
process.exitCode = isWhole ? 0 : 1
