import type { Knex } from 'knex'
import { sendable, sendTogether } from './batch.ts'
import type { Answer, Answers } from './batch.ts'
import { planAnew, planned } from './planned.ts'
import type { Connection, Planned, Statement } from './planned.ts'

// A round trip costs both sides more than most statements do. What a transaction asks for in one turn of the loop goes to PostgreSQL
// together, and so do its beginning with its first statement, what it writes with its next question, and the last of it with its end.

/** A question of knex: text and bindings before it is sent, the driver's answer after. */
type Query = { sql: string; bindings?: readonly unknown[]; response?: unknown }

type TrxClient = {
  transaction: () => never
  query: (connection: Connection, query: string | Query) => Promise<unknown>
  emit: (event: 'query', statement: object) => void
  prepBindings: (bindings: readonly unknown[]) => readonly unknown[]
  positionBindings: (sql: string) => string
}

/** What is changed here of a transaction of knex; its own types leave it out. */
export type Joinable = {
  begin: (connection: Connection) => Promise<unknown>
  commit: (connection: Connection, value: unknown) => Promise<unknown>
  rollback: (connection: Connection, error: unknown) => Promise<unknown>
  trxClient: TrxClient
  transactor: Knex
  _completed: boolean
  _resolver: (value: unknown) => void
}

export type Last = Statement & {
  /** What the division by zero means by which the statement refuses to be committed. */
  refused?: () => Error
}

/** Says what an error of the statement means; undefined for what it knows nothing of. */
export type Refused = (error: unknown) => Error | undefined

type Entry = {
  statement: Planned
  /** Its values as they were when it was asked for. */
  values: readonly unknown[]
  /** What listeners to statements are told beside it. */
  told?: object
  refused?: Refused | undefined
  /** Who waits for the rows, if anybody does. */
  asker?: { resolve: (answer: Answer) => void; reject: (error: unknown) => void }
}

/** What a transaction has yet to send, in its order. */
type Outbox = {
  ask: (statement: Statement) => Promise<unknown[]>
  add: (statement: Statement, refused?: Refused) => void
  /** Sends what waits, and then more; answers the latter alone. */
  send: (more: readonly Entry[]) => Promise<Answer[]>
}

const outboxes = new WeakMap<object, Outbox>()
const lasts = new WeakMap<object, Last>()

/** Of a transaction; undefined for what knex does of its own, such as migrations. */
export const outboxOf = (trx: Knex): Outbox | undefined => outboxes.get(trx.client as object)

/** Sent once the work is done, with the commit. Once per transaction. */
export const lastly = (trx: Knex, last: Last): void => {
  if (lasts.has(trx)) throw new Error('a transaction has one last statement')
  lasts.set(trx, last)
}

const complete = () => new Error('Transaction query already complete')
const entryOf = (statement: Planned, given: Omit<Entry, 'statement' | 'values'> = {}): Entry => ({
  ...given,
  statement,
  values: sendable(statement.values),
})
const isRefusal = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22012'

const openOutbox = (transaction: Joinable, connection: Connection, opening: readonly Statement[]): Outbox => {
  const { trxClient } = transaction
  const sendNow = trxClient.query.bind(trxClient)
  let waiting: Entry[] = opening.map((statement) => entryOf(planned(statement)))
  let isBegun = false
  let isDue = false
  /** Of a text that goes by itself, until it has gone. */
  let alone: Promise<void> | null = null
  /** Why the transaction cannot go on, where it was told to nobody who waited. */
  let failure: { error: unknown } | null = null

  const tellAndSend = async (entries: readonly Entry[]): Promise<Answers> => {
    const { __knexUid, __knexTxId } = connection
    const items = entries.map(({ statement, values, asker, told }) => {
      trxClient.emit('query', { __knexUid, __knexTxId, ...told, sql: statement.native, bindings: statement.values })
      return { ...statement, values, isMute: asker === undefined }
    })
    return sendTogether(connection, items)
  }

  /** Nothing is waited for before it is sent: what a connection is given it keeps in order. */
  const sendAtOnce = async (more: readonly Entry[], upTo = waiting.at(-1)): Promise<Answer[]> => {
    const entries = [...waiting.splice(0, waiting.findLastIndex((entry) => entry === upTo) + 1), ...more]
    if (failure) {
      for (const { asker } of entries) asker?.reject(failure.error)
      throw failure.error
    }
    if (entries.length === 0) return []
    if (!isBegun) planAnew(connection)
    isBegun = true
    const { done, error } = await tellAndSend(entries).catch((cause: Error): Answers => ({ done: [], error: cause }))
    for (const [index, answer] of done.entries()) {
      const { asker, statement } = entries[index]!
      if (answer.unread) asker?.reject(named(answer.unread, statement.native))
      else asker?.resolve(answer)
    }
    if (error) {
      // Of what comes after the first that failed PostgreSQL says no more than that.
      failure ??= {
        error: entries[done.length]?.refused?.(error) ?? named(error, entries[done.length]?.statement.native),
      }
      for (const { asker } of entries.slice(done.length)) asker?.reject(failure.error)
      throw failure.error
    }
    return done.slice(entries.length - more.length)
  }

  const send = async (more: readonly Entry[]): Promise<Answer[]> => {
    while (alone) await alone
    return sendAtOnce(more)
  }

  /** After all that was asked for before it, and before all that comes then. */
  const sendAlone = (asked: Connection, query: string | Query): Promise<unknown> => {
    const before = alone
    const upTo = waiting.at(-1)
    const sent = (async () => {
      if (before) await before
      if (upTo) await sendAtOnce([], upTo)
      if (failure) throw failure.error
      return sendNow(asked, query)
    })()
    const settled = () => {
      if (alone === over) alone = null
    }
    const over: Promise<void> = sent.then(settled, settled)
    alone = over
    return sent
  }

  /** With whatever else is asked for before the loop turns. */
  const ask = (statement: Planned, told?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      waiting.push(entryOf(statement, { told: told ?? {}, asker: { resolve, reject } }))
      if (isDue) return
      isDue = true
      process.nextTick(() => {
        isDue = false
        send([]).catch(() => {})
      })
    })

  trxClient.query = async (asked, query) => {
    const { sql, bindings = [] } = typeof query === 'string' ? { sql: query } : query
    if (/^rollback/i.test(sql)) {
      // What was to be written belongs to what is taken back.
      for (const { asker } of waiting) asker?.reject(new Error('what this was asked in was taken back'))
      waiting = []
      failure = null
      return isBegun ? sendNow(asked, query) : { response: { command: 'ROLLBACK', rows: [] } }
    }
    if (transaction._completed) return sendNow(asked, query)
    if (typeof query === 'object' && bindings.length > 0) {
      const values = trxClient.prepBindings(bindings)
      query.response = await ask({ name: '', native: trxClient.positionBindings(sql), values }, query)
      return query
    }
    // Without values it may be many statements, which go by themselves.
    return sendAlone(asked, query)
  }
  trxClient.transaction = () => {
    throw new Error('a transaction within a transaction would go past what waits; use a savepoint')
  }

  return {
    send,
    add: (statement, refused) => {
      if (transaction._completed) throw complete()
      waiting.push(entryOf(planned(statement), { refused }))
    },
    ask: async (statement) => {
      if (transaction._completed) throw complete()
      return (await ask(planned(statement))).rows
    },
  }
}

const named = (error: Error, text: string | undefined) => {
  if (text !== undefined) error.message = `${text} - ${error.message}`
  return error
}

const theEnd: Statement = { text: 'commit', bindings: [] }

/** The commit as knex does it: what is sent from here on would run after it, in no transaction, and is refused. What it throws, knex answers with a rollback. */
const joinCommit = (transaction: Joinable, outbox: Outbox): void => {
  transaction.commit = async (_, value) => {
    const last = lasts.get(transaction.transactor)
    const refused: Refused = (error) => (isRefusal(error) ? last?.refused?.() : undefined)
    const sent = outbox.send([...(last ? [entryOf(planned(last), { refused })] : []), entryOf(planned(theEnd))])
    transaction._completed = true
    try {
      const { command } = (await sent).at(-1) ?? { command: 'none' }
      // PostgreSQL answers a commit so where a statement has failed, though somebody went on as if it had not.
      if (command !== 'COMMIT') throw new Error(`an error in the transaction was passed over: its end is ${command}`)
    } catch (error) {
      transaction._completed = false
      throw error
    }
    transaction._resolver(value)
    return undefined
  }
}

/** Makes the transactions of a knex begin with their `opening`, and end with what was asked for by `lastly`. */
export const joinStatements = (knex: Knex): void => {
  const client = knex.client as { transaction: (...given: unknown[]) => Joinable }
  const simple = client.transaction.bind(client)
  client.transaction = (container, config, ...rest) => {
    const transaction = simple(container, config, ...rest)
    const { opening, isolationLevel } = (config ?? {}) as { opening?: readonly Statement[]; isolationLevel?: string }
    const text = isolationLevel === undefined ? 'begin' : `begin isolation level ${isolationLevel}`
    transaction.begin = (connection) => {
      const outbox = openOutbox(transaction, connection, opening ?? [{ text, bindings: [] }])
      outboxes.set(transaction.trxClient, outbox)
      joinCommit(transaction, outbox)
      return Promise.resolve()
    }
    return transaction
  }
}
