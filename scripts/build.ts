import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleApi } from './bundle.ts'

const checkout = fileURLToPath(new URL('../', import.meta.url))
const dist = join(checkout, 'dist')
const stamp = join(dist, '.built')
export const folders = ['config', 'jobs', 'db', 'api', 'workers', 'scripts']

const files = (folder: string) =>
  readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(checkout, folder, file))

/** Whether dist holds what the sources say now. */
export const isBuilt = (): boolean => {
  if (!existsSync(stamp)) return false
  const at = statSync(stamp).mtimeMs
  return [
    ...folders.flatMap(files),
    ...folders.map((folder) => join(checkout, folder)),
    join(checkout, 'tsconfig.build.json'),
    // The api's bundle holds packages.
    join(checkout, 'package-lock.json'),
  ].every((file) => statSync(file).mtimeMs <= at)
}

const run = async (command: string[], failure: string): Promise<void> => {
  const child = spawn(process.execPath, command, { cwd: checkout, stdio: 'inherit' })
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) throw new Error(failure)
}

/** Compiles by a project whose `outDir` is `target`, copies there what is not TypeScript, and bundles the api. */
export const emit = async (project: string, target: string): Promise<void> => {
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
  await run([compiler, '-p', project, '--checkers', '1'], 'the sources do not compile')
  for (const folder of folders)
    cpSync(join(checkout, folder), join(target, folder), {
      recursive: true,
      filter: (file) => statSync(file).isDirectory() || !/\.(ts|md)$/.test(file),
    })
  await bundleApi(target)
}

/** Compiles into dist, from nothing: what is gone from the sources is gone there too. */
export const build = async (): Promise<number> => {
  const started = Date.now()
  rmSync(dist, { recursive: true, force: true })
  await emit('tsconfig.build.json', dist)
  await run([join(dist, 'scripts/seal.js')], 'the build is refused')
  writeFileSync(stamp, '')
  // Dated by its beginning: a file saved meanwhile is newer.
  utimesSync(stamp, started / 1000, started / 1000)
  return Date.now() - started
}

if (import.meta.filename === process.argv[1]) console.log(`built in ${await build()} ms`)
