import '../support/variables.ts'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ownFolder, serviceAccount, serviceRoot } from '../../scripts/services/account.ts'
import { compile } from '../support/built.ts'
import type { Violation } from './checker.ts'
import { faults, planOf, shown } from './plan.ts'
import type { FaultName } from './plan.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    guests: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    folder: { type: 'string' },
    keep: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    points: { type: 'string' },
  },
})
const number = (name: 'seed' | 'seeds' | 'minutes' | 'guests') => {
  const value = Number(values[name])
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number`)
  return value
}
const isFault = (name: string): name is FaultName => name in faults
const only = values.only
  .split(',')
  .map((name) => name.trim())
  .filter(Boolean)
  .map((name) => {
    if (!isFault(name)) throw new Error(`--only: ${name} is not one of ${Object.keys(faults).join(', ')}`)
    return name
  })
const options = { seed: number('seed'), minutes: number('minutes'), guests: number('guests'), only }

/** Runs each seed in a process of its own, one after the other, and names those that failed. */
const inSequence = async (count: number): Promise<number[]> => {
  const failed: number[] = []
  for (let seed = options.seed; seed < options.seed + count; seed += 1) {
    const child = spawn(
      process.execPath,
      [
        ...process.execArgv,
        fileURLToPath(import.meta.url),
        `--seed=${seed}`,
        `--minutes=${options.minutes}`,
        `--guests=${options.guests}`,
        `--only=${only.join(',')}`,
        ...(values.folder === undefined ? [] : [`--folder=${join(values.folder, String(seed))}`]),
        ...(values.keep ? ['--keep'] : []),
      ],
      { stdio: 'inherit' },
    )
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    if (code !== 0) failed.push(seed)
  }
  return failed
}
const count = number('seeds')
if (count > 1) {
  if (values.plan || values.points !== undefined) throw new Error('--seeds goes with neither --plan nor --points')
  const lost = await inSequence(count)
  console.log(`${count} seeds, ${lost.length} of them failed${lost.length > 0 ? `: ${lost.join(', ')}` : ''}`)
  process.exit(lost.length > 0 ? 1 : 0)
}

const announce = () => {
  console.log(`seed ${options.seed}, ${options.minutes} minutes, ${options.guests} guests`)
  for (const planned of planOf(options.seed, options.minutes * 60_000, only)) console.log(shown(planned))
}
if (values.points === undefined) announce()
if (values.plan) process.exit(0)

const folder = values.folder ?? mkdtempSync(join(tmpdir(), `pousada-chaos-${options.seed}-`))
const account = serviceAccount()
const root = serviceRoot(
  join(process.env.POUSADA_DATA_DIR ?? fileURLToPath(new URL('../../.data/', import.meta.url)), 'chaos'),
  account,
)
const services = join(root, `run-${process.pid}`)
const built = join(folder, 'built')
mkdirSync(services, { recursive: true })
ownFolder(services, account)

type Judged = { violations: Violation[]; words: string[] }

const ofFaults = async (): Promise<Judged> => {
  const { campaign } = await import('./campaign.ts')
  const { violations, faults: injected } = await campaign(options, { built, folder, services })
  const counts = [...injected].map(([name, count]) => `${name} ${count}`)
  return { violations, words: ['', `faults: ${counts.join(', ')}`, `seed ${options.seed}, ${options.minutes} minutes`] }
}

const ofPoints = async (parts: string): Promise<Judged> => {
  const { enumeration } = await import('./enumeration.ts')
  return { violations: await enumeration(parts === 'all' ? '' : parts, { built, folder, services }), words: [''] }
}

let failed = true
try {
  await compile(built, { seals: true })
  const { violations, words } = await (values.points === undefined ? ofFaults() : ofPoints(values.points))
  failed = violations.length > 0
  for (const { rule, count, examples } of violations) {
    console.log(`\nVIOLATED ${count} times: ${rule}`)
    for (const example of examples) console.log(`  ${JSON.stringify(example)}`)
  }
  for (const line of words) console.log(line)
  console.log(`${violations.length} rules violated`)
} finally {
  rmSync(services, { recursive: true, force: true, maxRetries: 3 })
  rmSync(built, { recursive: true, force: true })
  if ((failed || values.keep) && existsSync(folder)) console.log(`logs: ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
