import {
  beginSending,
  endSending,
  freeSlot,
  giveSlot,
  holdEndpoint,
  nextSending,
  recordAnswer,
} from '../../db/webhooks/index.ts'
import type { Answer, Sending } from '../../db/webhooks/index.ts'
import { deliverEvents } from '../../jobs/webhooks.ts'
import { processor } from '../lib/processor.ts'
import { send } from './call.ts'

/** No request begins after this: together with the longest one it stays within what one start may take. */
const enoughMs = 4_000
const slotWaitMs = 500
const turnWaitMs = 250
const downWaitMs = 1_000

type Sent = { sending: Sending; answer: Answer }
type Turn = Sending | { isOver: boolean; hasEnded: boolean }

/**
 * Sends what is due to an endpoint, one request after the other. Each transaction writes what became of one request and takes the next delivery. A crash in
 * between sends that one again, under its own `webhook-id`.
 */
export const deliver = processor(deliverEvents, async (context) => {
  const { webhookEndpointId: id } = context.payload
  const slotId = context.jobId
  const startedAt = Date.now()
  let isDown = false
  const isEnough = () => isDown || Date.now() - startedAt > enoughMs || context.signal.aborted
  /**
   * Writes what became of the last request, and takes the next delivery, or frees the slot. Where it seemed to be the last one, the endpoint is held from
   * the beginning, and the job ends in the same transaction.
   */
  const turn = (last: Sent, place: number) =>
    context.finishWhere<Turn>(
      async (trx) => {
        if (last.sending.isLast) await holdEndpoint(trx, id)
        await recordAnswer(trx, id, last.sending, last.answer)
        const next = isEnough() ? null : await nextSending(trx, id, { slotId, place })
        if (next) return next
        if (!last.sending.isLast) return { isOver: await freeSlot(trx, id, slotId), hasEnded: false }
        giveSlot(trx, slotId)
        const hasEnded = await endSending(trx, id)
        return { isOver: hasEnded, hasEnded }
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
  for (let place = 1; 'call' in next; place += 1) {
    const { answer, isDown: seemsDown } = await send(context, 'deliver', next.call)
    isDown = seemsDown
    next = await turn({ sending: next, answer }, place)
  }
  if (next.hasEnded) return undefined
  // Another endpoint of the tenant may take the slot before this one comes again.
  if (!next.isOver) return context.putBack(isDown ? downWaitMs : turnWaitMs)
  return context.finish(async (trx) => {
    if (!(await endSending(trx, id))) context.putBack(turnWaitMs)
  })
})
