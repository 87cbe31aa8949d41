import { UnrecoverableError } from 'bullmq'
import { forbidden } from '../../config/errors.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { markDispatched } from '../../db/jobs/dispatch.ts'
import type { Job } from '../../jobs/job.ts'
import { onDatabase } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'
import { WaitInRedis, runStart } from '../../workers/lib/run-job.ts'
import type { Worker } from '../../workers/lib/run-job.ts'
import { ask, newKey, note } from './support.ts'

export const testWorker: Worker = { name: 'test', inHand: new Set(), isEnding: false }
export const handed = { tenantId: null as string | null, requestId: 'request-1', traceparent: null }
export const dispatch = (id: string) => inPlatform(async (trx) => markDispatched(trx, [id]))

/** One delivery, as BullMQ would make it. */
export const deliver = async (each: Processor, jobId: string, delivery: number, dispatchNo = 1, given = handed) => {
  try {
    return await runStart(
      each,
      { fence: { jobId, dispatchNo, delivery }, kind: each.job.name, handed: given },
      testWorker,
    )
  } catch (error) {
    if (error instanceof WaitInRedis) return `again in ${error.delayMs <= 5_000 ? 'a moment' : 'a while'}`
    if (error instanceof UnrecoverableError) return `given up: ${error.message}`
    throw error
  }
}
export const ready = async <J extends Job<typeof note.payload>>(kind: J) => {
  const id = await ask(kind, { key: newKey() } as never)
  await dispatch(id)
  return id
}

/** A delivery that has nothing to do, and succeeds. */
export const fine = (id: string, delivery = 1, dispatchNo = 1) =>
  deliver(
    onDatabase(note, () => Promise.resolve()),
    id,
    delivery,
    dispatchNo,
  )

/** A delivery that no other try can mend: the job is dead. */
export const refused = (id: string) =>
  deliver(
    onDatabase(note, () => Promise.reject(forbidden())),
    id,
    1,
  )
