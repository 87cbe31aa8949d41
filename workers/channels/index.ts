import { nilId } from '../../config/nil-id.ts'
import {
  applyStored,
  accountToTest,
  connected,
  notConnected,
  writeMarks,
  dueChannels,
  erasablePayloads,
  erasePayloads,
  keepUp,
  purgePushes,
  tenantsWithOldPushes,
} from '../../db/channels/index.ts'
import * as jobs from '../../jobs/channels.ts'
import { eraseDue } from '../lib/erasing.ts'
import { readCall } from '../lib/external-call.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { driverOf } from './drivers/index.ts'
import { acknowledgeProcessor, pullProcessor } from './pull.ts'
import { pushProcessor } from './push.ts'

const atOnce = 200
const mostTests = 3

export const processors: readonly Processor[] = [
  onDatabase(jobs.markDirty, (trx, { tenantId: _tenant, ...change }, { askedAt }) => writeMarks(trx, change, askedAt)),
  onDatabase(jobs.applyRevision, (trx, { channelBookingId }) => applyStored(trx, channelBookingId)),
  pushProcessor,
  pullProcessor,
  acknowledgeProcessor,

  processor(jobs.testChannel, async (context) => {
    const { channelConnectionId: id } = context.payload
    const account = await context.effect((trx) => accountToTest(trx, id))
    if (!account) return context.finish()
    const { driver } = account
    const outcome = await readCall(context, { provider: driver, operation: 'test' }, () =>
      driverOf(driver).test(account, context.signal),
    )
    if (outcome.kind === 'known') return context.finish((trx) => connected(trx, id))
    const isFinal = outcome.kind === 'refused' || context.attempt >= mostTests
    if (!isFinal) return context.retryLater(`the channel does not answer: ${outcome.code}`)
    return context.finish((trx) => notConnected(trx, id, outcome.code))
  }),

  // Each connection in a transaction of its own: one that cannot be looked at now does not keep the others.
  processor(jobs.tickChannels, async ({ effect, inTenant, finish, log, signal }) => {
    for (let after = nilId; !signal.aborted;) {
      const from = after
      const due = await effect((trx) => dueChannels(trx, from, atOnce))
      const last = due.at(-1)
      if (!last) break
      after = last.id
      for (const { tenantId, id } of due)
        await inTenant(tenantId, (trx) => keepUp(trx, id)).catch((error: unknown) =>
          log.warn({ err: error, tenantId, channelConnectionId: id }, 'a channel could not be looked at'),
        )
    }
    await finish()
  }),

  processor(jobs.eraseChannelPayloads, async (context) => {
    await eraseDue(context, erasablePayloads, erasePayloads)
    for (const { tenantId } of await context.effect((trx) => tenantsWithOldPushes(trx)))
      while (!context.signal.aborted && (await context.inTenant(tenantId, purgePushes)));
    await context.finish()
  }),
]
