import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

const workOf = new AsyncLocalStorage<object>()

/**
 * Counts how often a piece of work waits for an answer of PostgreSQL. What else this process asks meanwhile (a sandbox, a timer, a
 * request of before) is none of it: a question is known by the work on whose behalf it is asked.
 */
export const roundTrips = async (work: () => Promise<unknown>): Promise<number> => {
  const clients = pg.Client.prototype as { query: (...given: unknown[]) => unknown }
  const { query } = clients
  const own = {}
  let trips = 0
  clients.query = function counted(this: unknown, ...given) {
    if (workOf.getStore() === own) trips += 1
    return query.apply(this, given)
  }
  try {
    await workOf.run(own, work)
  } finally {
    clients.query = query
  }
  return trips
}
