import type { ChannelDriver } from '../../config/channels.ts'
import { beginPush, isClosingOut, pushArrived, pushFailed, pushLater } from '../../db/channels/index.ts'
import { pushChannel } from '../../jobs/channels.ts'
import { externalCall } from '../lib/external-call.ts'
import { processor } from '../lib/processor.ts'
import { driverOf } from './drivers/index.ts'
import { pushedAfter, pushesUnder } from './metrics.ts'

/** Well within what one start may take, so that the next one goes on rather than this one is ended. */
const enoughMs = 8_000

/**
 * Tells a channel what has changed, until nothing is left: reads marks and values, sends, then deletes exactly those marks. What is not answered
 * is made anew of the values of then, since the marks are still there.
 */
export const pushProcessor = processor(
  pushChannel,
  async (context) => {
    const { channelConnectionId: id } = context.payload
    const startedAt = Date.now()
    for (;;) {
      if (context.signal.aborted) context.retryLater('the push was interrupted')
      const push = await context.effect((trx) => beginPush(trx, id, context.jobId))
      if (typeof push === 'string') return context.finish()
      const { account, pushId, ranges, kind } = push
      const driver: ChannelDriver = account.driver
      if (ranges.length > 0) {
        const { outcome } = await externalCall(context, { provider: driver, operation: 'push', key: pushId }, () =>
          driverOf(driver).push(account, { pushId, kind, ranges }, context.signal),
        )
        if (outcome.kind !== 'known') {
          pushesUnder.inc({ driver, outcome: outcome.kind })
          return context.finish((trx) => pushFailed(trx, id, context.jobId, push, outcome))
        }
        pushesUnder.inc({ driver, outcome: outcome.rejected.length > 0 ? 'partial' : 'accepted' })
        pushedAfter.observe({ driver, kind }, (Date.now() - push.oldestAt.getTime()) / 1_000)
        const hasMore = await context.effect((trx) => pushArrived(trx, id, context.jobId, push, outcome.rejected))
        if (!hasMore) return context.finish()
      } else if (!(await context.effect((trx) => pushArrived(trx, id, context.jobId, push, []))))
        return context.finish()
      if (Date.now() - startedAt > enoughMs) return context.finish((trx) => pushLater(trx, id, context.jobId))
    }
  },
  { ends: isClosingOut },
)
