import { endSending, freeSlot, nextSending, recordAnswer, takeSlot } from '../../db/webhooks/index.ts'
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

/**
 * Sends what is due to an endpoint, one request after the other. Each transaction writes what became of one request and takes the next delivery. A crash in
 * between sends that one again, under its own `webhook-id`.
 */
export const deliver = processor(deliverEvents, async (context) => {
  const { webhookEndpointId: id } = context.payload
  const slotId = context.jobId
  const startedAt = Date.now()
  let isDown = false
  /** Writes what became of the last request, and takes the next delivery, or frees the slot. */
  const turn = (last: Sent | null, place: number) => {
    const isEnough = isDown || Date.now() - startedAt > enoughMs || context.signal.aborted
    return context.effect<Sending | 'full' | 'over' | { isOver: boolean }>(async (trx) => {
      if (last) await recordAnswer(trx, id, last.sending, last.answer)
      else {
        const slot = await takeSlot(trx, id, slotId)
        if (slot !== 'taken') return slot
      }
      const next = isEnough ? null : await nextSending(trx, id, { slotId, place })
      return next ?? { isOver: await freeSlot(trx, id, slotId) }
    })
  }
  let next = await turn(null, 0)
  for (let place = 1; typeof next === 'object' && 'call' in next; place += 1) {
    const sent = await send(context, 'deliver', next.call)
    isDown = sent.isDown
    next = await turn({ sending: next, answer: sent.answer }, place)
  }
  if (next === 'full') return context.putBack(slotWaitMs)
  // Another endpoint of the tenant may take the slot before this one comes again.
  if (next !== 'over' && !next.isOver) return context.putBack(isDown ? downWaitMs : turnWaitMs)
  return context.finish(async (trx) => {
    if (!(await endSending(trx, id))) context.putBack(turnWaitMs)
  })
})
