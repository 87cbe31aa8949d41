import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settings } from './env.ts'

/** The points at which tests end a process, as a power cut would: before and after every commit, and around every call to the outside. */
export const crashPoints = [
  /** After the claim has committed; of a job on the database, in its one transaction. */
  'job.claimed',
  /** In a transaction that ends a job: everything is written, nothing is committed. */
  'job.completing',
  /** The job is over, and Redis has not heard of it. */
  'job.committed',
  /** A failure is written down, and Redis has not heard of it. */
  'job.failed',
  /** In a transaction that does not end its job: everything is written, nothing is committed. */
  'effect.writing',
  'effect.committed',
  /** In a transaction of one tenant, of a job that goes through several: everything is written, nothing is committed. */
  'part.writing',
  'part.committed',
  /** The call is journalled, and not yet made. */
  'call.started',
  /** The provider has answered, and the answer is not stored yet. */
  'call.answered',
  'relay.picked',
  'relay.added',
  'relay.committed',
  /** Redis was told of a new epoch, and PostgreSQL has not committed it. */
  'relay.epoch',
  'scheduler.firing',
  'scheduler.fired',
  /** The command and its kept reply are written, nothing is committed. */
  'api.writing',
  /** The command has committed, and its caller has no answer. */
  'api.committed',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/**
 * Kills this very process when NODE_ENV is test and CRASH_AT names the point: `name` or `name/kind`, with `@marker file` behind it.
 * Once, since the marker file stays behind. `kind` is the job's, the endpoint's, or the queue's. Elsewhere it does nothing.
 */
export const crashPoint = (name: CrashPoint, kind = ''): void => {
  if (settings.crashAt === null) return
  const [point = '', marker = join(tmpdir(), `pousada-crash-${name}`)] = settings.crashAt.split('@')
  if (point !== name && point !== `${name}/${kind}`) return
  try {
    closeSync(openSync(marker, 'wx'))
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
}
