import { chownSync, existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { basename, dirname, join } from 'node:path'

/** The account that the services run as. */
export type Account = { uid: number; gid: number }

const listed = (): (Account & { name: string })[] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))

/** PostgreSQL refuses to run as root; for root it is an account without rights, for anyone else nobody needs to be found. */
export const serviceAccount = (): Account | null => {
  if (process.getuid?.() !== 0) return null
  const find = () =>
    ['postgres', 'nobody'].map((name) => listed().find((entry) => entry.name === name && entry.uid > 0))
  let found = find().find((entry) => entry !== undefined)
  if (!found) {
    execFileSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'nobody'])
    found = find().find((entry) => entry !== undefined)
  }
  if (!found) throw new Error('PostgreSQL does not run as root, and no other account could be made')
  return { uid: found.uid, gid: found.gid }
}

/** Tells whether the account may pass through every folder above the path. */
export const reachable = (path: string, account: Account | null): boolean => {
  if (!account) return true
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder)) {
      const { mode, uid, gid } = statSync(folder)
      const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
      if ((mode & bit) === 0) return false
    }
    if (folder === dirname(folder)) return true
  }
}

/** A folder that belongs to the account alone. */
export const ownFolder = (path: string, account: Account | null) => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (account) chownSync(path, account.uid, account.gid)
}

/**
 * The folder of the services' files: `directory` itself, or, when root keeps it where no other account comes through (such as
 * under /root), a folder under /var/lib named after it, with a link left behind.
 */
export const serviceRoot = (directory: string, account: Account | null): string => {
  mkdirSync(directory, { recursive: true })
  if (reachable(directory, account)) return directory
  const elsewhere = join(
    '/var/lib/pousada',
    `${basename(dirname(directory))}-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`,
  )
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 })
  const link = join(directory, 'services')
  try {
    readlinkSync(link)
  } catch {
    symlinkSync(elsewhere, link)
  }
  return elsewhere
}
