import pg from 'pg'
import type { Connection, Planned } from './planned.ts'

/** `isMute`: nobody wants its rows, and so PostgreSQL is not asked what they look like. */
export type Item = Planned & { isMute: boolean }

/** What PostgreSQL has answered to one statement. */
export type Answer = { command: string | null; rows: unknown[] }

/** Answers of the statements that were done, and why the one after them was not; then none is missing but for it and what follows. */
export type Answers = { done: Answer[]; error: Error | null }

type Message = { text: string; name: string; values: unknown[]; portal: string; type: string; rows: number }
type Wire = Record<'parse' | 'bind' | 'describe' | 'execute', (message: Partial<Message>) => void> & {
  parsedStatements: Record<string, string | undefined>
  sync: () => void
  sendCopyFail: (reason: string) => void
  stream: { cork: () => void; uncork: () => void }
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

/** One question of many statements as the driver runs it: it calls what is here by its name, message by message. */
const questionOf = (connection: Connection, items: readonly Item[], tell: (answers: Answers) => void) => {
  const values = items.map((item) => item.values.map(prepareValue))
  const result = () => new pg.Result('', connection as unknown as typeof pg.types) as pg.Result & Parsing
  const done: pg.Result[] = []
  let current = result()
  let failed: { at: number; error: Error } | null = null
  const end = (error: Error | null) => tell({ done: failed ? done.slice(0, failed.at) : done, error })
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
      for (const [index, { name, native }] of items.entries()) {
        if (name === '' || (wire.parsedStatements[name] !== native && !known.has(name)))
          wire.parse({ name, text: native })
        known.add(name)
        wire.bind({ statement: name, values: values[index]! } as Partial<Message>)
        if (!items[index]!.isMute) wire.describe({ type: 'P', name: '' })
        wire.execute({})
      }
      wire.sync()
      wire.stream.uncork()
      return null
    },
    callback: end,
    handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }) => current.addFields(fields),
    handleDataRow({ fields }: { fields: unknown[] }) {
      if (items[done.length]?.isMute) return
      try {
        current.rows.push(current.parseRow(fields))
      } catch (error) {
        failed ??= { at: done.length, error: error as Error }
      }
    },
    handleCommandComplete(message: { text: string }) {
      current.addCommandComplete(message)
      done.push(current)
      current = result()
    },
    handleEmptyQuery: () => void done.push(current),
    handlePortalSuspended: () => {},
    handleCopyInResponse: (wire: Wire) => wire.sendCopyFail('nothing is copied here'),
    handleCopyData: () => {},
    handleError: (error: Error) => end(error),
    handleReadyForQuery: () => end(failed?.error ?? null),
  }
}

/** What is used here of a result of pg; its own types leave it out. */
type Parsing = {
  addFields: (fields: pg.FieldDef[]) => void
  parseRow: (values: unknown[]) => unknown
  addCommandComplete: (message: { text: string }) => void
}

/**
 * Sends statements in one go, and reads their answers in one go: a round trip costs both sides more than most statements do. PostgreSQL runs them in their
 * order, each as if it had come alone, and none after one that fails.
 */
export const sendTogether = (connection: Connection, items: readonly Item[]): Promise<Answers> =>
  new Promise((resolve) => connection.query(questionOf(connection, items, resolve)))
