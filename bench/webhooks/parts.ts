import { randomUUID } from 'node:crypto'
import { promoCodeCreated } from '../../config/events/properties.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import { eventTypes, numberEvents, readFeed } from '../../db/webhooks/index.ts'
import { percentile } from '../report.ts'
import { sized } from '../size.ts'
import { fact } from './fact.ts'

const bare = `insert into event (id, type, entity, actor, request_id, changed, data) values (?, 'promo_code.created', ?, ?, 'bench', '[]', ?)`

/** Milliseconds of one event in a transaction of many: by `emit`, and as a bare insert. */
export const writing = async (tenantId: string) => {
  const events = sized(8_000, 4_000)
  const timed = async (work: (index: number) => Promise<void>) => {
    const from = performance.now()
    for (let done = 0; done < events; done += 200) await work(done)
    return (performance.now() - from) / events
  }
  const ours = () =>
    timed((from) =>
      inTenant(tenantId, async (trx) => {
        for (let index = from; index < from + 200; index += 1) await emit(trx, promoCodeCreated, fact(index))
      }),
    )
  const reference = () =>
    timed((from) =>
      inTenant(tenantId, async (trx) => {
        for (let index = from; index < from + 200; index += 1) {
          const { id, data } = fact(index)
          await sql(trx, bare, [
            randomUUID(),
            JSON.stringify({ type: 'promo_code', id, version: 1 }),
            JSON.stringify({ type: 'system', id: null }),
            JSON.stringify(data),
          ])
        }
      }),
    )
  await ours()
  return { ours: await ours(), reference: await reference() }
}

/** Milliseconds of 100 events of the feed in the middle of many, and of a bare select of them. */
export const reading = async (tenantId: string) => {
  const types = eventTypes.map(({ type }) => type)
  const turns = 200
  let last = 0
  for (let count = 1; count > 0;) {
    count = await inTenant(tenantId, numberEvents)
    last += count
  }
  const timed = async (work: (after: number) => Promise<unknown>) => {
    const all: number[] = []
    for (let turn = 0; turn < turns; turn += 1) {
      const after = Math.floor((turn / turns) * (last - 200))
      const from = performance.now()
      await work(after)
      all.push(performance.now() - from)
    }
    return percentile(all, 0.95)
  }
  const ours = await timed((after) =>
    inTenant(tenantId, (trx) => readFeed(trx, { types, propertyIds: null }, { after: String(after), limit: 100 })),
  )
  const reference = await timed((after) =>
    inTenant(tenantId, (trx) =>
      sql(trx, `select * from event where sequence > ? order by sequence limit 100`, [after]),
    ),
  )
  return { ours, reference }
}
