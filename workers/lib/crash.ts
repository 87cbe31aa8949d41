import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settings } from '../../config/env.ts'

/** Where tests end a process, as a power cut would. */
export type CrashPoint =
  | 'job.claimed'
  | 'job.committed'
  | 'call.started'
  | 'call.answered'
  | 'relay.added'
  | 'relay.committed'

/**
 * Kills this very process when NODE_ENV is test and CRASH_AT names the point, `name` or `name@marker file`: once, since the marker
 * file stays behind. Elsewhere it does nothing.
 */
export const crashPoint = (name: CrashPoint): void => {
  if (settings.crashAt === null) return
  const [point, marker = join(tmpdir(), `pousada-crash-${name}`)] = settings.crashAt.split('@')
  if (point !== name) return
  try {
    closeSync(openSync(marker, 'wx'))
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
}
