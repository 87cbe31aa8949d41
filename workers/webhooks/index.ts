import { beginPing, recordPing, stepReplay } from '../../db/webhooks/index.ts'
import { pingEndpoint, replayEvents } from '../../jobs/webhooks.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { send } from './call.ts'
import { deliver, slotWaitMs } from './deliver.ts'
import { sequence } from './sequence.ts'

export const processors: readonly Processor[] = [
  sequence,
  deliver,

  processor(pingEndpoint, async (context) => {
    const { webhookEndpointId: id, pingNo } = context.payload
    const ping = { pingNo, slotId: context.jobId }
    const call = await context.effect((trx) => beginPing(trx, id, ping))
    if (call === 'full') return context.putBack(slotWaitMs)
    if (!call) return context.finish()
    const { answer } = await send(context, 'ping', call)
    return context.finish((trx) => recordPing(trx, id, ping, answer))
  }),

  processor(replayEvents, async (context) => {
    const { webhookReplayId: id } = context.payload
    while (!context.signal.aborted && (await context.effect((trx) => stepReplay(trx, id))));
    if (context.signal.aborted) return context.putBack(0)
    return context.finish()
  }),
]
