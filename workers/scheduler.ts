import { crashPoint } from '../config/crash.ts'
import { child } from '../config/log.ts'
import { inPlatform } from '../db/lib/connection.ts'
import type { PlatformTrx } from '../db/lib/connection.ts'
import { declareSchedules, fireDue } from '../db/jobs/index.ts'
import { schedules as declared } from '../jobs/all.ts'
import type { Schedule } from '../jobs/job.ts'
import { startBeating } from './lib/heartbeat.ts'
import * as metrics from './lib/metrics.ts'
import { isEntry, runProcess } from './lib/process.ts'

const everyMs = 500

export type RunningScheduler = { isReady: () => boolean; stop: () => Promise<void> }

/** Makes the jobs of the clock. Any number may run: a slot becomes one job. openDatabase() comes first. */
export const startScheduler = async ({
  schedules = declared,
}: { schedules?: readonly Schedule[] } = {}): Promise<RunningScheduler> => {
  const note = child({ process: 'scheduler' })
  let stopped = false
  let isDeclared = false
  let hasFailed = false
  let wakeUp = () => {}
  const turn = async () => {
    if (!isDeclared) {
      await inPlatform((trx) => declareSchedules(trx, schedules, new Date()))
      isDeclared = true
    }
    const fire = async (trx: PlatformTrx) => {
      const fired = await fireDue(trx, schedules)
      for (const kind of fired) crashPoint('scheduler.firing', kind)
      return fired
    }
    for (const kind of await inPlatform(fire)) {
      metrics.scheduleFired.inc({ kind })
      crashPoint('scheduler.fired', kind)
    }
  }
  const run = async () => {
    while (!stopped) {
      try {
        await turn()
        hasFailed = false
      } catch (error) {
        if (!hasFailed) note.warn({ err: error }, 'a round of the scheduler failed')
        hasFailed = true
      }
      if (!stopped)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, everyMs)
          wakeUp = () => {
            clearTimeout(timer)
            resolve()
          }
        })
    }
  }
  const running = run()
  const beating = startBeating('scheduler', 'scheduler', () => ({ queues: {}, running: 0 }))
  const stop = async () => {
    stopped = true
    wakeUp()
    await running
    await beating.stop()
  }
  let stopping: Promise<void> | null = null
  return { isReady: () => stopping === null && isDeclared && !hasFailed, stop: () => (stopping ??= stop()) }
}

if (isEntry(import.meta.url)) await runProcess('scheduler', 2, startScheduler)
