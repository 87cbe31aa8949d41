import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, chmodSync, chownSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ownFolder } from './account.ts'
import type { Account } from './account.ts'
import { endOrphan, guard, stopGuarded } from './guard.ts'
import { freePort } from './port.ts'

const names = ['redis-server', 'valkey-server']

const onPath = (): string | null => {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/bin',
    '/usr/local/bin',
    '/opt/homebrew/bin',
    '/usr/sbin',
  ]
  for (const name of names)
    for (const folder of folders) {
      if (folder === '') continue
      const file = join(folder, name)
      try {
        accessSync(file, constants.X_OK)
        return file
      } catch {
        continue
      }
    }
  return null
}

/** Redis 6.2 is the first with what BullMQ needs; Valkey began at 7.2. */
const oldVersion = (file: string): string | null => {
  const text = execFileSync(file, ['--version'], { encoding: 'utf8' })
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(text) ?? []
  return Number(major) * 100 + Number(minor) >= 602 ? null : `${major}.${minor}`
}

const byHand = () => {
  if (process.platform === 'darwin') return 'brew install redis'
  const known: [string, string][] = [
    ['apt-get', 'sudo apt-get install -y redis-server'],
    ['dnf', 'sudo dnf install -y valkey'],
    ['apk', 'sudo apk add valkey'],
    ['pacman', 'sudo pacman -S valkey'],
    ['zypper', 'sudo zypper install redis'],
  ]
  return (
    known.find(([tool]) => existsSync(`/usr/bin/${tool}`) || existsSync(`/sbin/${tool}`))?.[1] ??
    'see https://valkey.io/download'
  )
}

const policy = '/usr/sbin/policy-rc.d'

/** Debian and Ubuntu alone. The guard file keeps the package from starting a service of its own. */
const installWithApt = (say: (line: string) => void): boolean => {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) return false
  const root = process.getuid?.() === 0
  if (!root && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false
  const guarded = `
    set -e
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    if [ ! -e ${policy} ]; then printf '#!/bin/sh\\nexit 101\\n' > ${policy}; chmod 755 ${policy}; trap 'rm -f ${policy}' EXIT; fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends redis-server
    if [ -d /run/systemd/system ]; then systemctl disable --now redis-server >/dev/null 2>&1 || true; fi`
  say('installing redis-server with apt (its system service is not started)')
  const [command, args]: [string, string[]] = root
    ? ['/bin/sh', ['-c', guarded]]
    : ['sudo', ['-n', '/bin/sh', '-c', guarded]]
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 })
  if (status !== 0) say(`apt did not install redis-server: ${stderr.trim().split('\n').at(-1) ?? ''}`)
  return status === 0
}

/** A Redis or Valkey server to run: on the PATH, or installed where that can be done without asking. */
export const redisBinary = (say: (line: string) => void): string => {
  const file = onPath() ?? (installWithApt(say) ? onPath() : null)
  if (!file) throw new Error(`No redis-server and no valkey-server found. Install one (${byHand()}), or set REDIS_URL.`)
  const old = oldVersion(file)
  if (old)
    throw new Error(
      `${file} is version ${old}; Redis 6.2 or newer, or Valkey, is needed. Install one (${byHand()}), or set REDIS_URL.`,
    )
  return file
}

type Options = {
  binary: string
  account: Account | null
  directory: string
  password: string
  port?: number
  durable: boolean
}

export type RedisServer = { port: number; url: string; stop: () => Promise<void>; exited: Promise<number | null> }

const answers = (port: number, password: string): Promise<boolean> =>
  new Promise((resolve) => {
    let reply = ''
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.setTimeout(1_000, () => socket.destroy())
    socket.on('data', (part) => {
      reply += part.toString()
      if (reply.includes('+PONG') || reply.includes('-')) socket.destroy()
    })
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(reply.includes('+PONG')))
  })

/** Starts the server on loopback, with a password and nothing evicted; what a killed start left of it is ended first. */
export const startRedis = async ({
  binary,
  account,
  directory,
  password,
  port: wished,
  durable,
}: Options): Promise<RedisServer> => {
  ownFolder(directory, account)
  const configuration = join(directory, 'redis.conf')
  const pidFile = join(directory, 'redis.pid')
  const lastPort =
    /^port (\d+)$/m.exec(existsSync(configuration) ? readFileSync(configuration, 'utf8') : '')?.[1] ?? 'none'
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0
  // The server shows its address as its command line, and not its configuration.
  const isOurs = (command: string) => /(redis|valkey)-server/.test(command) && command.includes(`:${lastPort}`)
  await endOrphan(pid, isOurs, 'SIGTERM')
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const port = await freePort(attempt === 0 ? wished : 0)
    rmSync(pidFile, { force: true })
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `requirepass ${password}`,
      `dir "${directory}"`,
      'maxmemory-policy noeviction',
      `appendonly ${durable ? 'yes' : 'no'}`,
      'appendfsync everysec',
      'save ""',
      'tcp-backlog 128',
      `pidfile "${pidFile}"`,
    ]
    writeFileSync(configuration, `${lines.join('\n')}\n`, { mode: 0o600 })
    chmodSync(configuration, 0o600)
    if (account) chownSync(configuration, account.uid, account.gid)
    const guarded = guard([binary, configuration], {
      directory,
      account,
      logFile: join(directory, 'redis.log'),
      stopSignal: 'TERM',
    })
    let ended = false
    guarded.exited.then(
      () => (ended = true),
      () => (ended = true),
    )
    for (let waited = 0; waited < 30_000 && !ended; waited += 20) {
      if (await answers(port, password))
        return {
          port,
          url: `redis://:${password}@127.0.0.1:${port}`,
          stop: () => stopGuarded(guarded),
          exited: guarded.exited,
        }
      await wait(20)
    }
    if (!ended) await stopGuarded(guarded)
  }
  const tail = readFileSync(join(directory, 'redis.log'), 'utf8').split('\n').slice(-12).join('\n')
  throw new Error(`Redis does not start:\n${tail}`)
}
