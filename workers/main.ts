import { assertKeys, settings } from '../config/env.ts'
import { queueNames, queues as settingsOf } from '../config/queues.ts'
import type { QueueName } from '../config/queues.ts'
import { runProcess } from './lib/process.ts'
import { startWorkers } from './workers.ts'

// Connections beside one per job at work: heartbeats and failures are written while all are in use.
const spare = 4

const isQueue = (name: string): name is QueueName => (queueNames as string[]).includes(name)

const queues: Partial<Record<QueueName, number>> = {}
for (const { queue, concurrency } of settings.workerQueues) {
  if (!isQueue(queue)) throw new Error(`WORKER_QUEUES: ${queue} is not one of ${queueNames.join(', ')}`)
  queues[queue] = concurrency ?? settingsOf[queue].places
}
if (settings.workerQueues.length === 0) for (const queue of queueNames) queues[queue] = settingsOf[queue].places

assertKeys('worker')
const total = Object.values(queues).reduce((sum, concurrency) => sum + concurrency, 0)
await runProcess('worker', Math.min(total + spare, Math.max(settings.databasePool, 40)), () => startWorkers({ queues }))
