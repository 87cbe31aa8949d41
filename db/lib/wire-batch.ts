import pg from 'pg'
import { givenUp } from './prepared.ts'
import type { Connection, Planned } from './prepared.ts'

/** A statement with values from `sendable`. `isMute`: its rows are not wanted, so PostgreSQL is not asked to describe them. */
export type Item = Planned & { isMute: boolean }

/** PostgreSQL's answer to one statement; `unread` says why rows of an executed statement cannot be read. */
export type Answer = { command: string | null; rows: unknown[]; unread?: Error }

/** Answers of the statements that were done, and why the one after them was not; then none is missing but for it and what follows. */
export type Answers = { done: Answer[]; error: Error | null }

type Message = { text: string; name: string; statement: string; values: unknown[]; type: string }
type Wire = Record<'parse' | 'bind' | 'describe' | 'execute' | 'close', (message: Partial<Message>) => void> & {
  parsedStatements: Record<string, string | undefined>
  sync: () => void
  sendCopyFail: (reason: string) => void
  stream: { cork: () => void; uncork: () => void; destroy: (why: Error) => void }
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

/** Values as they go over the wire; throws where one cannot. */
export const sendable = (values: readonly unknown[]): unknown[] => values.map((value) => prepareValue(value))

/** One question of many statements as the driver runs it: it calls what is here by its name, message by message. */
const questionOf = (connection: Connection, items: readonly Item[], tell: (answers: Answers) => void) => {
  const result = () => new pg.Result('', connection as unknown as typeof pg.types) as pg.Result & Parsing
  const done: (pg.Result & Parsing)[] = []
  let current = result()
  const add = () => {
    done.push(current)
    current = result()
  }
  const end = (error: Error | null) => tell({ done, error })
  return {
    // Whatever the driver hears of as planned is the statement whose turn it is, and it notes name and text.
    get name() {
      return items[done.length]?.name
    },
    get text() {
      return items[done.length]?.native
    },
    submit(wire: Wire) {
      const known = new Set<string>()
      wire.stream.cork()
      try {
        // Ahead of what may fail: PostgreSQL passes over all that follows an error.
        for (const name of givenUp(
          wire,
          items.map((item) => item.name),
        )) {
          if (wire.parsedStatements[name] !== undefined) wire.close({ type: 'S', name })
          delete wire.parsedStatements[name]
        }
        for (const { name, native, values, isMute } of items) {
          if (name === '' || (wire.parsedStatements[name] !== native && !known.has(name)))
            wire.parse({ name, text: native })
          known.add(name)
          wire.bind({ statement: name, values: [...values] })
          if (!isMute) wire.describe({ type: 'P', name: '' })
          wire.execute({})
        }
        wire.sync()
      } catch (error) {
        // Half a question would be waited for on both sides for ever.
        wire.stream.destroy(error as Error)
      } finally {
        wire.stream.uncork()
      }
      return null
    },
    callback: end,
    handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }) => current.addFields(fields),
    handleDataRow({ fields }: { fields: unknown[] }) {
      if (items[done.length]?.isMute) return
      try {
        current.rows.push(current.parseRow(fields))
      } catch (error) {
        current.unread ??= error as Error
      }
    },
    handleCommandComplete(message: { text: string }) {
      current.addCommandComplete(message)
      add()
    },
    handleEmptyQuery: add,
    handlePortalSuspended: () => {},
    handleCopyInResponse: (wire: Wire) => wire.sendCopyFail('nothing is copied here'),
    handleCopyData: () => {},
    handleError: (error: Error) => end(error),
    handleReadyForQuery: () => end(null),
  }
}

/** The part of a pg result that is used here; its own types leave it out. */
type Parsing = {
  addFields: (fields: pg.FieldDef[]) => void
  parseRow: (values: unknown[]) => unknown
  addCommandComplete: (message: { text: string }) => void
  unread?: Error
}

/**
 * Sends statements in one go, and reads their answers in one go: a round trip costs both sides more than most statements do. PostgreSQL runs them in their
 * order, each as if it had come alone, and none after one that fails.
 */
export const sendTogether = (connection: Connection, items: readonly Item[]): Promise<Answers> =>
  new Promise((resolve) => connection.query(questionOf(connection, items, resolve)))
