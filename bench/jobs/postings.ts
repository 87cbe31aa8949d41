import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import { startChild } from '../child.ts'
import { sized } from '../size.ts'

const books = sized(20, 4)
const raised = sized(10_000, 3_000)
const inFlight = 8
const concurrency = 50

export const makeBooks = async (): Promise<House[]> => {
  const houses: House[] = []
  while (houses.length < books) houses.push(await makeHouse({ units: 1 }))
  return houses
}

const raise = ({ tenantId, propertyId }: House) =>
  inTenant(tenantId, (trx) => {
    const payment = randomUUID()
    return raisePosting(trx, {
      event: 'payment.payment_captured',
      source: { id: payment },
      propertyId,
      payload: { amounts: { amount: 700 }, documents: { payment }, context: { money: 'gateway' } },
    })
  })

/** Each in a transaction of its own with its job, the books in turn. */
const raiseAll = async (houses: readonly House[]): Promise<void> => {
  let next = 0
  const lane = async () => {
    while (next < raised) {
      const house = houses[next % houses.length]
      next += 1
      if (house) await raise(house)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}

const waiting = (admin: Knex) =>
  sqlOne<{ jobs: number; events: number }>(
    admin,
    `select (select count(*)::int from jobs where kind = 'ledger.post') as jobs,
       (select count(*)::int from posting_event where status <> 'posted') as events`,
  )

/**
 * Postings of the ledger a second: events with a job each, through a relay and one worker process, until every event is posted and every job ended.
 */
export const postingRate = async (
  admin: Knex,
  houses: readonly House[],
  empty: () => Promise<unknown>,
): Promise<number> => {
  await sql(admin, `truncate jobs`)
  await raiseAll(houses)
  await sql(admin, `analyze jobs`)
  await sql(admin, `analyze posting_event`)
  await sql(admin, `checkpoint`)
  await empty()
  const worker = await startChild('jobs', 'worker', { concurrency })
  await wait(1_000)
  const relay = await startChild('jobs', 'relay')
  const from = performance.now()
  try {
    for (;;) {
      const left = await waiting(admin)
      if (!left || left.jobs + left.events === 0) return raised / ((performance.now() - from) / 1_000)
      if (performance.now() - from > 120_000)
        throw new Error(`${left.events} events and ${left.jobs} jobs are left after two minutes`)
      await wait(20)
    }
  } finally {
    await Promise.all([relay.stop(), worker.stop()])
  }
}
