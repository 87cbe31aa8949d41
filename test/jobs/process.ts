import { settings } from '../../config/env.ts'
import type { QueueName } from '../../config/queues.ts'
import { runProcess } from '../../workers/lib/process.ts'
import { startWorkers } from '../../workers/workers.ts'
import { processors } from './kinds.ts'

// A worker process like any other, for the kinds of these tests.
const queues = Object.fromEntries(
  settings.workerQueues.map(({ queue, concurrency }) => [queue as QueueName, concurrency]),
)
const everyMs = Number(process.env.TEST_WATCHDOG_MS ?? 5_000)
await runProcess('test-worker', 20, () => startWorkers({ queues, processors, patience: { everyMs, looks: 6 } }))
