import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
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

/** Heavier files first, each to the run that has less: those that start processes and wait for their ends are the long ones. */
const weightOf = (file: string): number => {
  const text = readFileSync(join(checkout, file), 'utf8')
  const processes = (text.match(/startProcess|crashAt|CRASH_AT/g) ?? []).length
  return statSync(join(checkout, file)).size + processes * 20_000 + (file.endsWith('fuzz.test.ts') ? 300_000 : 0)
}

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
