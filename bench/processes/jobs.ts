import { setTimeout as wait } from 'node:timers/promises'
import { later, onCommit, openDatabase } from '../../db/lib/connection.ts'
import { ledgerPost } from '../../jobs/financial.ts'
import { processors as ofLedger } from '../../workers/financial/index.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'
import { startRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { given, tell } from '../child.ts'
import { pickFifo } from '../jobs/fifo.ts'
import { lengthy, posting, probe } from '../probe.ts'

/** A process of the jobs bench: the relay, or a worker for the kinds of the bench. */
const {
  concurrency = 20,
  isTold = false,
  pick = 'fair',
} = given<{ concurrency?: number; isTold?: boolean; pick?: 'fair' | 'fifo' }>()
const told = (number: number) => tell({ type: 'done', number, at: performance.timeOrigin + performance.now() })

const processors: Processor[] = [
  ...ofLedger.filter(({ job }) => job === ledgerPost),
  onDatabase(probe, (trx, { number }) => {
    if (isTold) onCommit(trx, () => told(number))
    return Promise.resolve()
  }),
  onDatabase(posting, (trx, { tenantId, number }) => {
    later(trx, `insert into bench_effect (tenant_id, number) values (?, ?)`, [tenantId, number])
    if (isTold) onCommit(trx, () => told(number))
    return Promise.resolve()
  }),
  processor(lengthy, async (context) => {
    tell({ type: 'begun', number: context.payload.number })
    await wait(1_000)
    await context.finish()
    told(context.payload.number)
  }),
]

process.once('disconnect', () => process.exit())
if (process.argv[2] === 'relay') {
  await openDatabase(undefined, 4)
  const relay = await startRelay(pick === 'fifo' ? { pick: pickFifo } : {})
  process.once('SIGTERM', () => void relay.stop().then(() => process.exit()))
} else {
  await openDatabase(undefined, concurrency + 4)
  const workers = await startWorkers({
    queues: { inventory: concurrency, ledger: concurrency, payments: concurrency },
    processors,
  })
  process.once('SIGTERM', () => void workers.stop({ deadlineMs: 3_000 }).then(() => process.exit()))
}
tell({ type: 'ready' })
