import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../db/lib/connection.ts'
import { externalCall } from '../../workers/lib/external-call.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'
import { call, note, send } from './support.ts'

const write = (trx: Parameters<typeof sql>[0], key: string, detail = '') =>
  sql(trx, `insert into effect (key, detail) values (?, ?)`, [key, detail])

/** Milliseconds that a slow job sleeps, so that a test can end its process midway. */
const slowMs = Number(process.env.TEST_SLOW_MS ?? 1_500)

/** Processors of the tests' kinds, for workers in this process and in others. */
export const processors: readonly Processor[] = [
  onDatabase(note, (trx, { key }) => write(trx, key)),
  processor(call, async (context) => {
    const { priorState, outcome } = await externalCall(
      context,
      { provider: 'test', operation: 'charge', key: context.payload.key },
      async (prior) => {
        await sleep(prior === null ? 50 : 1)
        return { kind: 'known' as const, reference: 'reference-1' }
      },
    )
    await context.finish((trx) => write(trx, context.payload.key, `${String(priorState)} ${outcome.kind}`))
  }),
  processor(send, async (context) => {
    // Long enough to be stopped in, and asks nobody whether it may go on: that is for the fence.
    if (context.payload.key.startsWith('slow')) await sleep(slowMs)
    await context.finish((trx) => write(trx, context.payload.key))
  }),
]
