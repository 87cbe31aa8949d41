import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { delimiter, join } from 'node:path'
import { serviceAccount } from '../../scripts/services/account.ts'
import { guard, stopGuarded } from '../../scripts/services/guard.ts'
import { freePort } from '../../scripts/services/port.ts'
import { until } from './until.ts'

/** The path at which Debian and others install it; null where it is not installed. */
export const pgBouncerBinary = (): string | null =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'pgbouncer'))
    .find((file) => existsSync(file)) ?? null

/** Since 1.21 it knows of statements that a connection keeps planned. */
export const knowsPlans = (binary: string): boolean => {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' })) ?? [])
    .slice(1)
    .map(Number)
  return major > 1 || minor >= 21
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

/** PgBouncer on loopback in transaction mode before a database: every transaction gets whichever of `pool` connections is free. */
export const startPgBouncer = async (binary: string, url: string, pool: number) => {
  const to = new URL(url)
  const account = serviceAccount()
  // Short: PostgreSQL's socket addresses are bounded.
  const directory = mkdtempSync('/tmp/pousada-pgb-')
  if (account) chownSync(directory, account.uid, account.gid)
  const users = join(directory, 'users.txt')
  const configuration = join(directory, 'pgbouncer.ini')
  const log = join(directory, 'pgbouncer.log')
  const port = await freePort()
  const name = to.pathname.slice(1)
  const [user, password] = [decodeURIComponent(to.username), decodeURIComponent(to.password)]
  const files = {
    [users]: `"${user}" "${password}"\n`,
    [configuration]: `[databases]
${name} = host=${to.hostname} port=${to.port} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${pool}
max_client_conn = 200
server_reset_query =
${knowsPlans(binary) ? 'max_prepared_statements = 200\n' : ''}`,
  }
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(file, content, { mode: 0o600 })
    if (account) chownSync(file, account.uid, account.gid)
  }
  const guarded = guard([binary, configuration], { directory, account, logFile: log, stopSignal: 'INT' })
  await until(() => answers(port), { what: `pgbouncer (${log})` }).catch((error: unknown) => {
    throw new Error(readFileSync(log, 'utf8'), { cause: error })
  })
  const through = new URL(url)
  through.port = String(port)
  return {
    url: through.href,
    stop: async () => {
      await stopGuarded(guarded)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
