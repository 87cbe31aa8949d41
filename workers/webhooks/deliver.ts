import {
  beginSending,
  endSending,
  freeSlot,
  giveSlot,
  holdEndpoint,
  isSuccess,
  nextSending,
  recordAnswers,
} from '../../db/webhooks/index.ts'
import type { Answer, Sending } from '../../db/webhooks/index.ts'
import { webhookLimits as limits } from '../../config/limits.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { keepConnections } from '../lib/outgoing.ts'
import type { Connections } from '../lib/outgoing.ts'
import { processor } from '../lib/processor.ts'
import type { JobContext } from '../lib/processor.ts'
import { send } from './call.ts'

/** No request begins after this: together with the longest one it stays within what one start may take. */
const enoughMs = 4_000
/** The wait for a slot. */
export const slotWaitMs = 500
const turnWaitMs = 250
const downWaitMs = 1_000

type Context = JobContext<{ tenantId: string; webhookEndpointId: string }>
type Turn = Sending | { isOver: boolean; hasEnded: boolean }

/**
 * Sends what is due to an endpoint, one request after the other. Each transaction writes what became of a few requests and takes the next deliveries. A
 * crash in between sends those few again, each under its own `webhook-id`.
 */
const sendDue = async (context: Context, connections: Connections): Promise<unknown> => {
  const { webhookEndpointId: id } = context.payload
  const slotId = context.jobId
  const startedAt = Date.now()
  let isDown = false
  const isEnough = () => isDown || Date.now() - startedAt > enoughMs || context.signal.aborted
  /** Sends deliveries until one fails or the turn is over. Answers what came of the first ones. */
  const sendAll = async ({ deliveries }: Sending): Promise<Answer[]> => {
    const answers: Answer[] = []
    const until = Date.now() + limits.turnMs
    for (const { call } of deliveries) {
      const { answer, isDown: seemsDown } = await send(context, 'deliver', call, connections)
      answers.push(answer)
      isDown = seemsDown
      if (!isSuccess(answer) || isEnough() || Date.now() > until) break
    }
    return answers
  }
  /**
   * Writes what became of the last requests, and takes the next deliveries, or frees the slot. Where they seemed to be the last ones, the endpoint is held
   * from the beginning, and the job ends in the same transaction.
   */
  const turn = (sending: Sending, answers: readonly Answer[], place: number) =>
    context.finishWhere<Turn>(
      async (trx) => {
        if (sending.isLast) holdEndpoint(trx, id)
        await recordAnswers(trx, id, sending, answers)
        // The usual end first: nothing more is asked then.
        if (sending.isLast && (await endSending(trx, id))) {
          giveSlot(trx, slotId)
          return { isOver: true, hasEnded: true }
        }
        const next = isEnough() ? null : await nextSending(trx, id, { slotId, place })
        return next ?? { isOver: await freeSlot(trx, id, slotId), hasEnded: false }
      },
      (value) => 'hasEnded' in value && value.hasEnded,
    )
  const first = await context.effect(async (trx) => {
    const begun = await beginSending(trx, id, slotId)
    return begun ?? { isOver: await freeSlot(trx, id, slotId), hasEnded: false }
  })
  if (first === 'full') return context.putBack(slotWaitMs)
  if (first === 'over') return context.finish()
  let next: Turn = first
  for (let place = 1; 'deliveries' in next; place += 1) next = await turn(next, await sendAll(next), place)
  if (next.hasEnded) return undefined
  // Another endpoint of the tenant may take the slot before this one comes again.
  if (!next.isOver) return context.putBack(isDown ? downWaitMs : turnWaitMs)
  return context.finish(async (trx) => {
    if (!(await endSending(trx, id))) context.putBack(turnWaitMs)
  })
}

/** A sender keeps its connections from one request to the next, and closes them at its end. */
export const deliver = processor(deliverEvents, async (context) => {
  const connections = keepConnections()
  try {
    return await sendDue(context, connections)
  } finally {
    connections.close()
  }
})
