import { sendable, sendTogether } from './wire-batch.ts'
import type { Answer, Answers } from './wire-batch.ts'
import { planAnew, planned, unplanned } from './prepared.ts'
import type { Bindings, Connection, Planned, Statement } from './prepared.ts'

// A round trip costs both sides more than most statements do. What a transaction asks for in one turn of the loop goes to PostgreSQL
// together, and so do its beginning with its first statement, what it writes with its next question, and the last of it with its end.

/** A question of knex: text and bindings before it is sent, the driver's answer after. */
type Query = { sql: string; bindings?: readonly unknown[]; response?: unknown }

/** The part of a knex client that is used here; its own types leave it out. */
export type Client = {
  query: (connection: Connection, query: string | Query) => Promise<unknown>
  prepBindings: (bindings: readonly unknown[]) => readonly unknown[]
  positionBindings: (sql: string) => string
}

export type Last = Statement & {
  /** Error that stands for the division by zero with which the statement refuses to be committed. */
  refused?: () => Error
}

/** Says what an error of the statement means; undefined for what it knows nothing of. */
export type Refused = (error: unknown) => Error | undefined

type Entry = {
  statement: Planned
  /** Its values as they were when it was asked for. */
  values: readonly unknown[]
  /** Details for listeners to statements. */
  told?: object
  refused?: Refused | undefined
  /** The promise that waits for the rows, if there is one. */
  asker?: { resolve: (answer: Answer) => void; reject: (error: unknown) => void }
}

/** Rows of one table that a transaction writes with its commit, whenever it makes them: `text` takes them as one JSON list. */
export type Gathering = {
  text: string
  /** Matches statements that read the table: they come after the rows. */
  read: RegExp
}

/** Statements that a transaction has yet to send, in their order. */
export type Outbox = {
  ask: (statement: Statement) => Promise<unknown[]>
  /** Asks by a text that varies: the connection keeps no plan of it. */
  askOnce: (text: string, bindings: Bindings) => Promise<unknown[]>
  add: (statement: Statement, refused?: Refused) => void
  /** Adds a row to those that go together with the commit, or before anything that reads them. */
  gather: (into: Gathering, row: object) => void
  /** Queues what was gathered: what comes next must not be in force when it is written. */
  release: () => void
  /** Sent once the work is done, with the commit. Once. */
  addLast: (last: Last) => void
  /** Statements of knex's builders. */
  query: Client['query']
  /** Commits. Later statements would run outside the transaction and are refused. Throws if PostgreSQL did not commit. */
  commit: () => Promise<void>
  rollback: () => Promise<unknown>
  isOver: () => boolean
}

const withdrawn = () => new Error('what this was asked in was taken back')
const complete = () => new Error('Transaction query already complete')
const entryOf = (statement: Planned, given: Omit<Entry, 'statement' | 'values'> = {}): Entry => ({
  ...given,
  statement,
  values: sendable(statement.values),
})
const isRefusal = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22012'
const named = (error: Error, text: string | undefined) => {
  if (text !== undefined) error.message = `${text} - ${error.message}`
  return error
}
const theEnd: Statement = { text: 'commit', bindings: [] }
/** As many rows as are kept back for one statement. */
const mostGathered = 1_000

export type Way = {
  client: Client
  connection: Connection
  /** Hears of each statement that goes with others. */
  tell: (statement: Planned, told: object | undefined) => void
  /** Sends one statement by itself. */
  sendNow: (query: string | Query) => Promise<unknown>
}

export const openOutbox = ({ client, connection, tell, sendNow }: Way, opening: readonly Statement[]): Outbox => {
  let waiting: Entry[] = opening.map((statement) => entryOf(planned(statement)))
  let last: Last | null = null
  /** As JSON: what a row is made of may change later. */
  const gathered = new Map<Gathering, string[]>()
  let isBegun = false
  let isDue = false
  let isOver = false
  /** A statement that goes by itself, until it has gone. */
  let alone: Promise<void> | null = null
  /** Number of rollbacks to a savepoint: statements issued before one must not be sent after it. */
  let takenBack = 0
  /** The error that ended the transaction, if no waiting caller was told of it. */
  let failure: { error: unknown } | null = null

  const releaseOne = (into: Gathering, rows: readonly string[]) => {
    gathered.delete(into)
    waiting.push(entryOf(planned({ text: into.text, bindings: [`[${rows.join(',')}]`] })))
  }
  const release = () => {
    for (const [into, rows] of gathered) releaseOne(into, rows)
  }
  const releaseReadBy = (text: string) => {
    for (const [into, rows] of gathered) if (into.read.test(text)) releaseOne(into, rows)
  }

  const tellAndSend = async (entries: readonly Entry[]): Promise<Answers> => {
    const items = entries.map(({ statement, values, asker, told }) => {
      tell(statement, told)
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
  const sendAlone = (query: string | Query): Promise<unknown> => {
    const before = alone
    const upTo = waiting.at(-1)
    const asked = takenBack
    const mustStand = () => {
      if (takenBack !== asked) throw withdrawn()
    }
    const sent = (async () => {
      if (before) await before
      mustStand()
      if (upTo) await sendAtOnce([], upTo)
      mustStand()
      if (failure) throw failure.error
      return sendNow(query)
    })()
    const settled = () => {
      if (alone === over) alone = null
    }
    const over: Promise<void> = sent.then(settled, settled)
    alone = over
    return sent
  }

  /** Also to a savepoint: what was to be written belongs to what is taken back. */
  const takeBack = (query: string | Query): Promise<unknown> => {
    takenBack += 1
    for (const { asker } of waiting) asker?.reject(withdrawn())
    waiting = []
    gathered.clear()
    failure = null
    return isBegun ? sendNow(query) : Promise.resolve({ response: { command: 'ROLLBACK', rows: [] } })
  }

  /** Without values it may be many statements, which go by themselves. */
  const askAlone = (query: string | Query): Promise<unknown> => {
    if (isOver) throw complete()
    if (/^rollback/i.test(typeof query === 'string' ? query : query.sql)) return takeBack(query)
    // It may be a savepoint, which keeps what was told before it.
    release()
    return sendAlone(query)
  }

  /** With whatever else is asked for before the loop turns. */
  const ask = (statement: Planned, told?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (isOver) throw complete()
      releaseReadBy(statement.native)
      waiting.push(entryOf(statement, { told: told ?? {}, asker: { resolve, reject } }))
      if (isDue) return
      isDue = true
      process.nextTick(() => {
        isDue = false
        send([]).catch(() => {})
      })
    })

  return {
    ask: async (statement) => (await ask(planned(statement))).rows,

    askOnce: async (text, bindings) => {
      const statement = unplanned({ text, bindings })
      if (statement.values.length > 0) return (await ask(statement)).rows
      const { response } = (await askAlone({ sql: text })) as { response: { rows?: unknown[] } }
      return response.rows ?? []
    },

    add: (statement, refused) => {
      if (isOver) throw complete()
      waiting.push(entryOf(planned(statement), { refused }))
    },

    gather: (into, row) => {
      if (isOver) throw complete()
      const rows = gathered.get(into) ?? []
      rows.push(JSON.stringify(row))
      if (rows.length < mostGathered) gathered.set(into, rows)
      else releaseOne(into, rows)
    },

    release,

    addLast: (given) => {
      if (isOver) throw complete()
      if (last) throw new Error('a transaction has one last statement')
      last = given
    },

    query: async (asked, query) => {
      if (asked !== connection) throw new Error('another connection than that of the transaction')
      const { sql, bindings = [] } = typeof query === 'string' ? { sql: query } : query
      if (typeof query === 'string' || bindings.length === 0) return askAlone(query)
      const values = client.prepBindings(bindings)
      query.response = await ask({ name: '', native: client.positionBindings(sql), values }, query)
      return query
    },

    commit: async () => {
      const refused: Refused = (error) => (isRefusal(error) ? last?.refused?.() : undefined)
      release()
      const sent = send([...(last ? [entryOf(planned(last), { refused })] : []), entryOf(planned(theEnd))])
      isOver = true
      const { command } = (await sent).at(-1) ?? { command: 'none' }
      // PostgreSQL answers a commit like this if a statement failed and its error was ignored.
      if (command !== 'COMMIT') throw new Error(`an error in the transaction was passed over: its end is ${command}`)
    },

    rollback: () => {
      gathered.clear()
      isOver = true
      return takeBack('ROLLBACK')
    },

    isOver: () => isOver,
  }
}
