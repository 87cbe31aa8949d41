import { acknowledged, beginPull, pullFailed, storePulled, unacknowledged } from '../../db/channels/index.ts'
import { acknowledgeRevision, pullChannel } from '../../jobs/channels.ts'
import { externalCall, readCall } from '../lib/external-call.ts'
import { processor } from '../lib/processor.ts'
import { driverOf } from './drivers/index.ts'

const page = 100
const mostPages = 20

/** Asks a channel for its bookings, page by page; each is kept, and where to go on with it, before the next is asked for. */
export const pullProcessor = processor(pullChannel, async (context) => {
  const { channelConnectionId: id } = context.payload
  for (let pages = 0; pages < mostPages && !context.signal.aborted; pages += 1) {
    const pull = await context.effect((trx) => beginPull(trx, id))
    if (!pull) break
    const { account, cursor: after } = pull
    const outcome = await readCall(context, { provider: account.driver, operation: 'pull' }, () =>
      driverOf(account.driver).pull(account, { after, limit: page }, context.signal),
    )
    if (outcome.kind !== 'known') return context.finish((trx) => pullFailed(trx, id, outcome.code))
    const { revisions, cursor } = outcome
    try {
      await context.effect((trx) => storePulled(trx, account, revisions, { after, cursor }))
    } catch (error) {
      // A revision that cannot be stored would come again and again: an operator must hear of it.
      await context.effect((trx) => pullFailed(trx, id, 'not_stored'))
      throw error
    }
    if (revisions.length < page || cursor === after) break
  }
  return context.finish()
})

/** Tells a channel which revisions are stored here: never before they are. */
export const acknowledgeProcessor = processor(acknowledgeRevision, async (context) => {
  const unsaid = await context.effect((trx) => unacknowledged(trx, context.payload.channelBookingId))
  if (!unsaid) return context.finish()
  const { account, ids, bookingIds } = unsaid
  const key = `${context.payload.channelBookingId}`
  const { outcome } = await externalCall(context, { provider: account.driver, operation: 'acknowledge', key }, () =>
    driverOf(account.driver).acknowledge(account, ids, context.signal),
  )
  if (outcome.kind === 'known') return context.finish((trx) => acknowledged(trx, bookingIds))
  if (outcome.kind === 'refused') return context.giveUp(outcome.code, 'The channel refuses the acknowledgement')
  return context.retryLater(`the acknowledgement did not arrive: ${outcome.code}`, { afterMs: outcome.afterMs ?? 0 })
})
