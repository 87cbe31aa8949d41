import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { Int, Obj, Text, Uuid } from '../../config/schema.ts'
import type { QueueName } from '../../config/queues.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { lookAt } from '../../db/jobs/dispatch.ts'
import type { Picked, Room } from '../../db/jobs/dispatch.ts'
import { pickFair } from '../../db/jobs/fair.ts'
import { claim } from '../../db/jobs/fence.ts'
import type { Fence, JobStart } from '../../db/jobs/fence.ts'
import type { EnqueueOptions } from '../../db/lib/enqueue.ts'
import { job } from '../../jobs/job.ts'
import type { Job, PayloadOf } from '../../jobs/job.ts'

/** Kinds of these tests, one per retry class that matters. They write to the table `effect`. */
const payload = Obj({ key: Text(1, 60) })
export const note = job({ name: 'inventory.test-note', queue: 'inventory', payload, retry: 'internal' })
export const call = job({ name: 'payments.test-call', queue: 'payments', payload, retry: 'provider' })
export const send = job({ name: 'messages.test-send', queue: 'messages', payload, retry: 'message' })
export const once = job({ name: 'payments.test-once', queue: 'payments', payload, retry: 'provider', tries: 1 })
export const inTenantJob = job({
  name: 'inventory.test-tenant',
  queue: 'inventory',
  payload: Obj({ tenantId: Uuid, number: Int(0, 1_000_000) }),
  retry: 'internal',
})
export const tick = job({ name: 'maintenance.test-tick', queue: 'maintenance', payload: Obj({}), retry: 'tick' })

/** A table of effects that nothing makes unique: a repeated effect shows. */
export const makeEffects = async (admin: { raw: (text: string) => unknown }) => {
  await admin.raw(`create table effect (key text not null, detail text not null default '')`)
  await admin.raw(`grant select, insert, update, delete on effect to pousada_service`)
}

export const ask = <J extends Job>(kind: J, given: PayloadOf<J>, options: EnqueueOptions = {}): Promise<string> =>
  inPlatform(async (trx) => {
    const id = await enqueue(trx, kind, given, options)
    if (id === null) throw new Error('a live job has this key')
    return id
  })

/** One delivery claims its job, as a start does; null where it is a ghost. */
export const takeStart = (fence: Fence, worker = 'test', unseen = 0): Promise<JobStart | null> =>
  inPlatform((_, [row]: JobStart[]) => Promise.resolve(row ?? null), {}, { first: claim(fence, worker, 1_000, unseen) })

export type Row = {
  id: string
  status: string
  attempts: number
  starts: number
  dispatchNo: number
  delivery: number
  runAt: Date
  leasedUntil: Date | null
  lastError: { code: string; message: string; stack: string | null; stackHash: string } | null
}
export const rowOf = async (id: string): Promise<Row | null> =>
  (await inPlatform((trx) => sql<Row>(trx, `select * from jobs where id = ?`, [id])))[0] ?? null

export type Archived = {
  id: string
  kind: string
  outcome: string
  reason: string | null
  attempts: number
  starts: number
  money: boolean
}
export const archived = async (id: string): Promise<Archived | null> =>
  (await inPlatform((trx) => sql<Archived>(trx, `select * from job_archive where id = ?`, [id])))[0] ?? null

export const effects = async (key?: string): Promise<string[]> => {
  const rows = await inPlatform((trx) =>
    sql<{ key: string }>(trx, `select key from effect where ?::text is null or key = ? order by key`, [
      key ?? null,
      key ?? null,
    ]),
  )
  return rows.map((row) => row.key)
}

/** The count of the most repeated key of the table of effects: 1 when nothing was repeated. */
export const mostRepeated = async (): Promise<number> => {
  const rows = await inPlatform((trx) =>
    sql<{ count: number }>(trx, `select count(*) from effect group by key order by 1 desc limit 1`),
  )
  return rows[0]?.count ?? 0
}

export const newKey = (): string => randomUUID()

/** A connection of the test itself; disconnect it. */
export const openRedis = () => new Redis(settings.redisUrl, { maxRetriesPerRequest: 3 })

/** The jobs that the relay would hand over next from a queue, within the room of its window unless `room` says otherwise. Marks nothing. */
export const pick = async (trx: PlatformTrx, queue: QueueName, room: Partial<Room> = {}): Promise<Picked> => {
  const look = await lookAt(trx, queue)
  return pickFair(trx, queue, { ...look, due: look.window - look.held, waiting: 0, depth: look.window, ...room })
}

/** Of a shared Redis only this test's keys. */
export const wipe = async (redis: Redis) => {
  for (const key of await redis.keys(`${settings.redisPrefix.replace(/[[\]*?\\]/g, '\\$&')}*`)) await redis.del(key)
}
