import type { Knex } from 'knex'
import { aside, asWords, planAnew, plannedQuery } from './planned.ts'
import type { Connection, Statement } from './planned.ts'

// A round trip costs both sides more than most statements of the jobs do: the first statement of a transaction goes with its beginning,
// the last one with its end.

type Tagged = { rows: unknown; command: string }
type Answer = { response: Tagged[] }

/** What is changed here of a transaction of knex; its own types leave it out. */
export type Joinable = {
  begin: (connection: Connection) => Promise<unknown>
  commit: (connection: Connection, value: unknown) => Promise<unknown>
  trxClient: { query: (connection: Connection, query: unknown) => Promise<unknown> }
  transactor: Knex
  _completed: boolean
  _resolver: (value: unknown) => void
}

/** What a transaction begins with: `begin; set local …`, and the statement that follows at once. */
export type Opening = {
  text: string
  first: Statement | undefined
  /** What the first statement answered, columns as PostgreSQL names them; null where it is yet to be sent. */
  rows: unknown
}

export type Last = Statement & {
  /** What the division by zero means by which the statement refuses to be committed. */
  refused?: () => Error
}

const lasts = new WeakMap<object, Last>()

/** Sent once the work is done, with the commit where it can be. Once per transaction. */
export const lastly = (trx: Knex, last: Last): void => {
  if (lasts.has(trx)) throw new Error('a transaction has one last statement')
  lasts.set(trx, last)
}

const isRefusal = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22012'

const joinBegin = (transaction: Joinable, opening: Opening): void => {
  transaction.begin = async (connection) => {
    await planAnew(connection)
    const words = opening.first ? asWords(connection, opening.first) : null
    const text = words === null ? opening.text : `${opening.text}; ${words}`
    try {
      const { response } = (await transaction.trxClient.query(connection, text)) as Answer
      if (words !== null) opening.rows = response.at(-1)?.rows ?? null
    } catch (error) {
      // The beginning stands where what came after it failed; nothing else would end it before the connection is another's.
      await aside(connection, 'rollback')
      throw error
    }
  }
}

/** The commit as knex does it: what is sent from here on would run after it, in no transaction, and is refused. */
const commit = async (transaction: Joinable, connection: Connection, text: string): Promise<void> => {
  const sent = transaction.trxClient.query(connection, text) as Promise<Answer | { response: Tagged }>
  transaction._completed = true
  const { response } = await sent
  const { command } = [response].flat().at(-1) ?? { command: 'none' }
  // PostgreSQL answers a commit so where a statement has failed, though somebody went on as if it had not.
  if (command !== 'COMMIT') throw new Error(`an error in the transaction was passed over: its end is ${command}`)
}

/** What it throws, knex answers with a rollback. */
const joinCommit = (transaction: Joinable): void => {
  transaction.commit = async (connection, value) => {
    const last = lasts.get(transaction.transactor)
    const words = last ? asWords(connection, last) : null
    try {
      if (last && words === null) await transaction.trxClient.query(connection, plannedQuery(last))
      await commit(transaction, connection, words === null ? 'commit' : `${words}; commit`)
    } catch (error) {
      transaction._completed = false
      throw (isRefusal(error) && last?.refused?.()) || error
    }
    transaction._resolver(value)
    return undefined
  }
}

/** Makes the transactions of a knex begin with their `opening`, and end with what was asked for by `lastly`. */
export const joinStatements = (knex: Knex): void => {
  const client = knex.client as { transaction: (...given: unknown[]) => Joinable }
  const plain = client.transaction.bind(client)
  client.transaction = (container, config, ...rest) => {
    const transaction = plain(container, config, ...rest)
    const { opening } = (config ?? {}) as { opening?: Opening }
    if (opening) joinBegin(transaction, opening)
    joinCommit(transaction)
    return transaction
  }
}
