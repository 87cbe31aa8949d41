import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { log } from '../../config/log.ts'
import { release } from '../../config/release.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { beat, endBeat, addTallies } from '../../db/jobs/index.ts'
import type { Beat } from '../../db/jobs/index.ts'
import { returnTallies, takeTallies } from './tally.ts'

const everyMs = 5_000

type State = Pick<Beat, 'queues' | 'running'> & Partial<Pick<Beat, 'current'>>

/** Writes every five seconds that this process lives, what it takes, has in hand, and has finished since the last time. */
export const startBeating = (kind: Beat['process'], name: string, state: () => State) => {
  const id = randomUUID()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let writing: Promise<unknown> = Promise.resolve()
  const write = () => {
    const loopLagMs = Math.max(0, Math.round(delay.percentile(99) / 1e6) - 20) || 0
    delay.reset()
    const finished = takeTallies()
    const own = {
      id,
      process: kind,
      name,
      host: hostname(),
      pid: process.pid,
      version: release,
      loopLagMs,
      current: [],
    }
    writing = inPlatform(async (trx) => {
      await beat(trx, { ...own, ...state() })
      if (finished.length > 0) await addTallies(trx, finished)
    }).catch((error: unknown) => {
      returnTallies(finished)
      log.debug({ err: error, name }, 'no heartbeat')
    })
  }
  write()
  const timer = setInterval(write, everyMs)
  return {
    stop: async () => {
      clearInterval(timer)
      delay.disable()
      await writing
      await inPlatform(async (trx) => {
        await endBeat(trx, id)
        await addTallies(trx, takeTallies())
      }).catch(() => {})
    },
  }
}
