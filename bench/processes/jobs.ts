import { openDatabase } from '../../db/connection.ts'
import { onCommit } from '../../db/connection.ts'
import { onDatabase } from '../../workers/lib/processor.ts'
import { startRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import { probe } from '../probe.ts'

/** A process of the jobs bench: the relay, or a worker that tells when its effect was committed. */
await openDatabase()
if (process.argv[2] === 'relay') await startRelay()
else
  await startWorkers({
    queues: { inventory: 20 },
    processors: [
      onDatabase(probe, (trx, { number }) => {
        onCommit(trx, () => process.send?.({ number, at: performance.timeOrigin + performance.now() }))
        return Promise.resolve()
      }),
    ],
  })
process.once('disconnect', () => process.exit())
process.send?.('ready')
