import { registry } from '../../config/metrics.ts'
import { queues as settingsOf } from '../../config/queues.ts'
import type { QueueName } from '../../config/queues.ts'
import { openDatabase } from '../../db/lib/connection.ts'
import { channelsSchedules } from '../../jobs/channels.ts'
import { webhooksSchedules } from '../../jobs/webhooks.ts'
import { startRelay } from '../../workers/relay.ts'
import { startScheduler } from '../../workers/scheduler.ts'
import { startWorkers } from '../../workers/workers.ts'
import { given, onAsk, tell } from '../child.ts'

/** A process of the service as it is, in a bench: the relay, the clock of channels or of webhooks, or a worker of some queues. */
const { queues = {}, clock = 'channels' } = given<{
  queues?: Partial<Record<QueueName, number>>
  clock?: 'channels' | 'webhooks'
}>()
const starts: Record<string, () => Promise<{ stop: () => Promise<void> }>> = {
  relay: () => startRelay(),
  scheduler: () => startScheduler({ schedules: clock === 'webhooks' ? webhooksSchedules : channelsSchedules }),
  worker: () => startWorkers({ queues }),
}

process.once('disconnect', () => process.exit())
const places = Object.entries(queues).reduce((sum, [name, count]) => sum + (name in settingsOf ? count : 0), 0)
// As many as the service itself has at most.
await openDatabase(undefined, Math.min(places + 4, 40))
const running = await starts[process.argv[2] ?? '']?.()
process.once('SIGTERM', () => void running?.stop().then(() => process.exit()))
onAsk('metrics', async () => ({ metrics: await registry.getMetricsAsJSON() }))
tell({ type: 'ready' })
