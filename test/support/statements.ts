import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { settings } from '../../config/env.ts'
import { database } from '../../db/lib/connection.ts'

const requestOf = new AsyncLocalStorage<string[]>()
/** Reads of changes to sessions and keys happen by the clock, so they are not counted. */
const looksAtChanges = (text: string) => text.includes('(select clock_timestamp() as at) clock')

/**
 * The statements of the requests that `work` sends to the API in this process, in their order. What else uses the pool meanwhile (a timer, a
 * worker, requests of before) is none of theirs: a statement is known by the request on whose behalf it runs. Nor does it matter
 * what a connection has planned before: none goes with another.
 */
export const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  const seen: string[] = []
  const begin = () => requestOf.enterWith(seen)
  subscribe('http.server.request.start', begin)
  try {
    await noting(seen, work)
  } finally {
    unsubscribe('http.server.request.start', begin)
  }
  return seen
}

/** The statements that `work` itself sends, in their order. */
export const statementsIn = async (work: () => Promise<unknown>): Promise<string[]> => {
  const seen: string[] = []
  await requestOf.run(seen, () => noting(seen, work))
  return seen
}

const noting = async (seen: string[], work: () => Promise<unknown>): Promise<void> => {
  const pool = database()
  const note = ({ sql: text }: { sql: string }) => {
    if (requestOf.getStore() === seen && !looksAtChanges(text)) seen.push(text)
  }
  const { databasePrepare } = settings
  settings.databasePrepare = false
  pool.on('query', note)
  try {
    await work()
  } finally {
    settings.databasePrepare = databasePrepare
    pool.off('query', note)
  }
}
