import { database } from '../db/connection.ts'

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
  return heard.map(({ text, values, rows, transaction }) => ({ text, values, rows, transaction }))
}

/** Those of the transaction in which a statement matches, with its beginning and its end. */
export const transactionOf = (statements: Statement[], pattern: RegExp): Statement[] => {
  const found = statements.find((statement) => pattern.test(statement.text))
  if (!found) throw new Error(`no statement matches ${String(pattern)}`)
  return statements.filter((statement) => statement.transaction === found.transaction)
}
