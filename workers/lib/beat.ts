import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { log } from '../../config/log.ts'
import { release } from '../../config/release.ts'
import { inPlatform } from '../../db/connection.ts'
import { beat, endBeat } from '../../db/jobs/heartbeat.ts'
import type { Beat } from '../../db/jobs/heartbeat.ts'

const everyMs = 5_000

/** Writes every five seconds that this process lives, what it takes and how much it has in hand. */
export const startBeating = (kind: Beat['process'], name: string, state: () => Pick<Beat, 'queues' | 'running'>) => {
  const id = randomUUID()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let writing: Promise<unknown> = Promise.resolve()
  const write = () => {
    const loopLagMs = Math.max(0, Math.round(delay.percentile(99) / 1e6) - 20) || 0
    delay.reset()
    writing = inPlatform((trx) =>
      beat(trx, { id, process: kind, host: hostname(), pid: process.pid, version: release, loopLagMs, ...state() }),
    ).catch((error: unknown) => log.debug({ err: error, name }, 'no heartbeat'))
  }
  write()
  const timer = setInterval(write, everyMs)
  return {
    stop: async () => {
      clearInterval(timer)
      delay.disable()
      await writing
      await inPlatform((trx) => endBeat(trx, id)).catch(() => {})
    },
  }
}
