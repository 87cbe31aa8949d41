import type { Actor } from '../lib/connection.ts'

/** One thing that happened to a job before its present life: a try that failed, its death, an operator's replay. */
export type HistoryEntry = { at: string } & (
  | {
      what: 'failed' | 'died'
      dispatchNo: number
      delivery: number
      /** Failures counted so far, this one included. */
      attempts: number
      worker: string | null
      code: string
      message: string
      stackHash: string | null
      /** Until the next try; null after the last. */
      waitMs: number | null
    }
  | { what: 'replayed'; by: Actor; reason: string; requestId: string; of: string | null }
)

const most = 50

/** The history of a row with one more entry, an expression of jsonb; the newest fifty stay. */
export const historyAnd = (entry: string) =>
  `(case when jsonb_array_length(history) >= ${most} then history - 0 else history end) || ${entry}`
