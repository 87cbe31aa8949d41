import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { emit, folders } from '../../scripts/build.ts'
import { serviceAccount, serviceRoot } from '../../scripts/services/account.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
/** Of the tests and benches themselves: what runs as a process of its own. */
const programs = [
  'bench/processes',
  'test/jobs/process.ts',
  'test/race/player.ts',
  'test/chaos/worker.ts',
  'test/chaos/peers.ts',
  'test/support/channel-simulator/main.ts',
]
const root = serviceRoot(join(process.env.POUSADA_DATA_DIR ?? join(checkout, '.data'), 'test'), serviceAccount())
const dayMs = 86_400_000

/** Of everything that a process may consist of, by what stands in it: an edit makes another. */
const stateOfSources = (): string => {
  const hash = createHash('sha256').update(checkout)
  const read = [...folders, 'bench', 'test'].flatMap((folder) =>
    readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => !/\.(test\.ts|md)$|^results/.test(name))
      .map((name) => join(folder, name)),
  )
  for (const name of [...read, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].toSorted()) {
    const file = join(checkout, name)
    if (statSync(file).isFile()) hash.update(name).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 16)
}

/**
 * Compiles the service, and the processes of tests, into a folder of its own. Types are not checked: a test of one file need not wait
 * for another's. `seals`: the document is made here, as for a release, which spares each start of an api half of its work.
 */
export const compile = async (target: string, { seals = false } = {}) => {
  mkdirSync(target, { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(target, 'node_modules'))
  writeFileSync(join(target, 'package.json'), JSON.stringify({ type: 'module' }))
  const project = join(target, 'tsconfig.json')
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(checkout, 'tsconfig.build.json'),
      compilerOptions: {
        outDir: target,
        rootDir: checkout,
        noCheck: true,
        typeRoots: [join(checkout, 'node_modules/@types')],
      },
      include: [...folders, ...programs].map((name) => join(checkout, name)),
      exclude: [],
    }),
  )
  await emit(project, target)
  const contract = 'test/support/twilio-messages.json'
  cpSync(join(checkout, contract), join(target, contract))
  if (seals) await promisify(execFile)(process.execPath, [join(target, 'scripts/seal.js')])
}

/** Removes what nobody has used for a day, and drafts whose maker was killed. */
const tidy = () => {
  for (const name of readdirSync(root).filter((each) => each.startsWith('built-'))) {
    const { mtimeMs } = statSync(join(root, name), { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > dayMs) rmSync(join(root, name), { recursive: true, force: true, maxRetries: 3 })
  }
}

const made = async (): Promise<string> => {
  mkdirSync(root, { recursive: true })
  tidy()
  for (;;) {
    const state = stateOfSources()
    const target = join(root, `built-${state}`)
    if (!existsSync(target)) {
      const draft = `${target}.${process.pid}`
      // Of one who was killed, and had this number before.
      rmSync(draft, { recursive: true, force: true })
      try {
        await compile(draft)
        // A draft compiled while sources were saved matches neither state, and is dropped.
        if (stateOfSources() === state) renameSync(draft, target)
      } catch (error) {
        // Another run may have been first.
        if (!existsSync(target)) throw error
      } finally {
        rmSync(draft, { recursive: true, force: true })
      }
      if (!existsSync(target)) continue
    }
    const now = new Date()
    utimesSync(target, now, now)
    return target
  }
}

let making: Promise<string> | null = null

/**
 * The folder in which the service stands compiled, with the processes of tests: compiled once for each state of the sources, it costs a
 * process half of what compiling at its start does.
 */
export const built = (): Promise<string> => (making ??= made())
