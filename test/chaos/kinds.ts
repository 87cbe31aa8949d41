import { Matching, Obj } from '../../config/schema.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { job } from '../../jobs/job.ts'
import type { Job } from '../../jobs/job.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import type { Processor } from '../../workers/lib/processor.ts'

const Key = Matching('^[a-z0-9-]{1,60}$', 60)
const ofKey = Obj({ key: Key })

/** Ends every process that starts it. */
export const poison = job({ name: 'chaos.poison', queue: 'inventory', payload: ofKey, retry: 'internal' })

/** Leaves the event loop to nobody for longer than its lock lasts, when it is first started, then has its effect. */
export const block = job({ name: 'chaos.block', queue: 'ledger', payload: ofKey, retry: 'internal' })

/** Version 2, which only a newer worker understands: the same name and a payload with another word in it. */
export const newer: Job = job({
  name: 'chaos.note',
  queue: 'messages',
  payload: Obj({ key: Key, note: Key }),
  upcasts: [(payload) => ({ note: 'none', ...payload })],
  retry: 'internal',
})

const older: Job = job({ name: 'chaos.note', queue: 'messages', payload: ofKey, retry: 'internal' })

/** The time for which the event loop is blocked: longer than the lock of a job, shorter than its lease. */
const blockedMs = 14_000

const effect = (trx: Parameters<typeof sql>[0], key: string) =>
  sql(trx, `insert into chaos_effect (key) values (?)`, [key])

/** Processors that a worker of this campaign runs beside the service's own. */
export const processors = (isNewer: boolean): Processor[] => [
  onDatabase(poison, () => {
    process.kill(process.pid, 'SIGKILL')
    return Promise.resolve()
  }),
  processor(block, async (context) => {
    const row = await context.effect((trx) =>
      sqlOne<{ starts: number }>(trx, `select starts from jobs where id = ?`, [context.jobId]),
    )
    // Were it to block every time it could be overtaken every time, and would rightly be taken for poison.
    const until = row?.starts === 1 ? Date.now() + blockedMs : 0
    while (Date.now() < until);
    await context.finish((trx) => effect(trx, context.payload.key))
  }),
  isNewer
    ? onDatabase(newer, (trx, payload) => effect(trx, (payload as { key: string }).key))
    : onDatabase(older, (trx, payload) => effect(trx, (payload as { key: string }).key)),
]
