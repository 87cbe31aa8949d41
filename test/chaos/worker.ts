import { queueNames } from '../../config/queues.ts'
import { runProcess } from '../../workers/lib/process.ts'
import { processors as declared } from '../../workers/processors.ts'
import { startWorkers } from '../../workers/workers.ts'
import { processors } from './kinds.ts'

// A worker process like any other, which also knows the jobs that this campaign makes to harm it.
const concurrency = 3
const queues = Object.fromEntries(queueNames.map((name) => [name, concurrency]))
const isNewer = process.env.CHAOS_NEWER === 'yes'
await runProcess('worker', 40, () => startWorkers({ queues, processors: [...declared, ...processors(isNewer)] }))
