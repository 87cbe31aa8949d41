import pg from 'pg'

/** Counts how often a piece of work waits for an answer of PostgreSQL. */
export const roundTrips = async (work: () => Promise<unknown>): Promise<number> => {
  const clients = pg.Client.prototype as { query: (...given: unknown[]) => unknown }
  const { query } = clients
  let trips = 0
  clients.query = function counted(this: unknown, ...given) {
    trips += 1
    return query.apply(this, given)
  }
  try {
    await work()
  } finally {
    clients.query = query
  }
  return trips
}
