import pg from 'pg'
import { database } from '../db/lib/connection.ts'

export type Statement = {
  text: string
  values: unknown[]
  /** Rows as the driver answered them. */
  rows: unknown[]
  transaction: string
}

type Heard = { sql: string; bindings?: unknown[]; __knexTxId?: string; __knexQueryUid: string }

/** The statements that a piece of work sends to PostgreSQL, in their order. */
export const capture = async (work: () => Promise<unknown>): Promise<Statement[]> => {
  const knex = database()
  // Beginning and end of a transaction share an id.
  const heard: (Statement & { uid: string })[] = []
  const onQuery = ({ sql, bindings, __knexTxId, __knexQueryUid }: Heard) =>
    void heard.push({
      text: sql,
      values: bindings ?? [],
      rows: [],
      transaction: __knexTxId ?? 'none',
      uid: __knexQueryUid,
    })
  const onResponse = (response: unknown, { __knexQueryUid }: Heard) => {
    const statement = heard.findLast(({ uid }) => uid === __knexQueryUid)
    const rows = response !== null && typeof response === 'object' && 'rows' in response ? response.rows : []
    if (statement && Array.isArray(rows)) statement.rows = rows
  }
  knex.on('query', onQuery)
  knex.on('query-response', onResponse)
  try {
    await work()
  } finally {
    knex.off('query', onQuery)
    knex.off('query-response', onResponse)
  }
  return heard.map(({ text, values, rows, transaction }) => ({ text, values, rows, transaction })).reduce(opened, [])
}

const settingsIn = /set_config\('([\w.]+)', \$\d+, true\)/g

/** The beginning of a transaction with what is set in it: one text, as anybody would write it who has nothing else to send with it. */
const opened = (before: Statement[], statement: Statement): Statement[] => {
  const begin = before.at(-1)
  const isOpening =
    begin?.transaction === statement.transaction &&
    begin.text.startsWith('begin') &&
    /^set local|set_config/.test(statement.text.trim())
  if (!isOpening) return [...before, statement]
  const set = [...statement.text.matchAll(settingsIn)].map(
    ([, name], index) => `set local ${name} = ${pg.escapeLiteral(String(statement.values[index]))}`,
  )
  const text = [begin.text, ...(set.length > 0 ? set : [statement.text])].join('; ')
  return [...before.slice(0, -1), { ...begin, text }]
}
