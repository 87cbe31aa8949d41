import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleApi } from './bundle.ts'

const checkout = fileURLToPath(new URL('../', import.meta.url))
const dist = join(checkout, 'dist')
const stamp = join(dist, '.built')
export const folders = ['config', 'jobs', 'db', 'api', 'workers', 'scripts']

const files = (folder: string) =>
  readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(checkout, folder, file))

/** Digest of all that dist is made of: content and names, so that a copied, restored or deleted file counts as well as an edited one. */
const digestOfSources = (): string => {
  const hash = createHash('sha256')
  const parts = [...folders.flatMap(files), join(checkout, 'tsconfig.build.json'), join(checkout, 'package-lock.json')]
  for (const file of parts.toSorted())
    if (statSync(file).isFile())
      hash
        .update(`${relative(checkout, file)}\0`)
        .update(readFileSync(file))
        .update('\0')
  return hash.digest('hex')
}

/** Tells whether dist was made of the sources as they are now and, with `proves`, was proven. */
export const isBuilt = ({ proves = false } = {}): boolean => {
  if (!existsSync(stamp)) return false
  const digest = digestOfSources()
  return [`${digest} proven`, ...(proves ? [] : [digest])].includes(readFileSync(stamp, 'utf8'))
}

const run = async (command: string[], failure: string): Promise<void> => {
  const child = spawn(process.execPath, command, { cwd: checkout, stdio: 'inherit' })
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) throw new Error(failure)
}

/** Compiles by a project whose `outDir` is `target`, copies there what is not TypeScript, and bundles the api. */
export const emit = async (project: string, target: string, options: readonly string[] = []): Promise<void> => {
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
  await run([compiler, '-p', project, '--checkers', '1', ...options], 'the sources do not compile')
  for (const folder of folders)
    cpSync(join(checkout, folder), join(target, folder), {
      recursive: true,
      filter: (file) => statSync(file).isDirectory() || !/\.(ts|md)$/.test(file),
    })
  await bundleApi(target)
}

/**
 * Compiles into dist, from nothing: what is gone from the sources is gone there too. `proves`: types and schemas are proven, too, as a
 * release needs it. That takes longer than all the rest, and a start in development leaves it to the checks. Answers the milliseconds.
 */
export const build = async ({ proves }: { proves: boolean }): Promise<number> => {
  const started = Date.now()
  // Before anything is read: a file that is saved meanwhile makes the build an old one.
  const digest = digestOfSources()
  rmSync(dist, { recursive: true, force: true })
  await emit('tsconfig.build.json', dist, proves ? [] : ['--noCheck'])
  await run([join(dist, 'scripts/seal.js'), ...(proves ? ['--proves'] : [])], 'the build is refused')
  writeFileSync(stamp, proves ? `${digest} proven` : digest)
  return Date.now() - started
}

if (import.meta.filename === process.argv[1]) console.log(`built in ${await build({ proves: true })} ms`)
