import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Account } from './account.ts'

/**
 * Runs the service, and stops it once standard input ends: that is when whoever started it is gone, however it went.
 * A group of its own keeps the terminal's Ctrl-C for the one process that ends the others in order.
 */
const script = `
exec 3<&0
stop=$1; shift
"$@" 3<&- </dev/null &
child=$!
( read -r _ <&3; kill -"$stop" $child 2>/dev/null ) &
watcher=$!
exec 3<&-
wait $child
status=$?
kill $watcher 2>/dev/null
exit $status`

export type Guarded = { process: ChildProcess; exited: Promise<number | null> }

type Options = {
  directory: string
  account: Account | null
  /** The file for its output; null leaves it to be read from the process. */
  logFile: string | null
  stopSignal: 'INT' | 'TERM'
  environment?: NodeJS.ProcessEnv
}

export const guard = (command: string[], options: Options): Guarded => {
  const { directory, account, logFile, stopSignal, environment } = options
  const output = logFile === null ? 'pipe' : openSync(logFile, 'a', 0o600)
  const child = spawn('/bin/sh', ['-c', script, 'pousada-guard', stopSignal, ...command], {
    cwd: directory,
    stdio: ['pipe', output, output],
    detached: true,
    env: environment ?? { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
    ...account,
  })
  if (typeof output === 'number') closeSync(output)
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code))
  })
  // A pipe that breaks because the service is gone says nothing new.
  child.stdin?.on('error', () => {})
  if (logFile !== null) child.unref()
  return { process: child, exited }
}

/** Ends the service in order, and at once when that takes longer than `withinMs`. */
export const stopGuarded = async ({ process: child, exited }: Guarded, withinMs = 15_000) => {
  child.ref()
  child.stdin?.end()
  const late = setTimeout(() => child.pid !== undefined && signal(-child.pid, 'SIGKILL'), withinMs)
  await exited.catch(() => null)
  clearTimeout(late)
}

export const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}

/** The command line of a process, or an empty text when there is none. */
export const commandOf = (pid: number): string => {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

/** Ends what an earlier, killed start left running: only a process whose command line is the expected one. */
export const endOrphan = async (pid: number, isOurs: (command: string) => boolean, name: NodeJS.Signals) => {
  if (!Number.isInteger(pid) || pid < 2 || !isOurs(commandOf(pid))) return
  signal(pid, name)
  for (let waited = 0; waited < 20_000 && signal(pid, 0) && isOurs(commandOf(pid)); waited += 50) {
    if (waited === 15_000) signal(pid, 'SIGKILL')
    await wait(50)
  }
}

/** Ends a guarded program of an earlier, killed start with everything that it started. */
export const endGroup = async (leader: number) => {
  if (!Number.isInteger(leader) || leader < 2 || !commandOf(leader).includes('pousada-guard')) return
  signal(-leader, 'SIGTERM')
  for (let waited = 0; waited < 12_000 && signal(-leader, 0); waited += 50) {
    if (waited === 10_000) signal(-leader, 'SIGKILL')
    await wait(50)
  }
}
