import { contextOf, sql } from './connection.ts'
import type { Trx } from './connection.ts'

/** A call to the system of another company, as its journal has it. `code` and `reference` are theirs. */
export type AttemptRecord = {
  operation: string
  tries: number
  startedAt: Date
  finishedAt: Date | null
  outcome: 'started' | 'known' | 'refused' | 'not_sent' | 'unknown'
  code: string | null
  httpStatus: number | null
  reference: string | null
}

const outcomes = {
  started: 'started',
  succeeded: 'known',
  failed: 'refused',
  not_sent: 'not_sent',
  unknown: 'unknown',
} as const

/** The number of attempts that a record shows. */
const most = 20

type Row = Omit<AttemptRecord, 'outcome'> & { key: string; state: keyof typeof outcomes }

/** Calls under each of these keys, latest first, the last 20 of each. A key without calls is not in it. */
export const attemptsByKey = async (trx: Trx, keys: readonly string[]): Promise<Map<string, AttemptRecord[]>> => {
  const found = new Map<string, AttemptRecord[]>()
  if (keys.length === 0) return found
  const rows = await sql<Row>(
    trx,
    `select k.key, c.* from unnest(cast(? as text[])) as k (key) cross join lateral (
       select operation, tries, started_at, finished_at, state, code, http_status, answer_reference as reference from external_call
       where tenant_id = ? and idempotency_key = k.key order by started_at desc limit ${most}) c order by c.started_at desc, c.operation`,
    [keys, contextOf(trx).tenantId],
  )
  for (const { key, state, ...row } of rows)
    found.set(key, [...(found.get(key) ?? []), { ...row, outcome: outcomes[state] }])
  return found
}

/** Calls under any of these keys, latest first, the last 20. */
export const attemptsOf = async (trx: Trx, keys: readonly string[]): Promise<AttemptRecord[]> =>
  [...(await attemptsByKey(trx, keys)).values()]
    .flat()
    .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
    .slice(0, most)
