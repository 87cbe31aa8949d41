import type { Trx } from '../lib/connection.ts'
import { seal, unseal } from '../lib/sealing/index.ts'

/** Texts that may hold personal data, sealed by the key of the tenant, each in its own column. */
type Texts = {
  issue: { title: string; description: string }
  resolution: { text: string }
  score: { text: string }
  comment: { text: string }
  reason: { text: string }
  compensation: { text: string }
  decision: { text: string }
  item: { description: string; place: string }
  hand_over: { to: string | null; document: string | null; tracking: string | null; note: string | null }
}
const tables = {
  issue: 'issue',
  resolution: 'issue',
  score: 'issue',
  comment: 'issue_comment',
  reason: 'issue_event',
  compensation: 'compensation',
  decision: 'compensation',
  item: 'lost_item',
  hand_over: 'lost_item',
} as const
type Purpose = keyof Texts

const place = (purpose: Purpose, rowId: string) => ({ table: tables[purpose], rowId, purpose })

export const sealText = <P extends Purpose>(trx: Trx, purpose: P, rowId: string, texts: Texts[P]): Promise<Buffer> =>
  seal(trx, 'tenant', place(purpose, rowId), texts)

/** The texts of a record; null where they were erased, or there are none. */
export const openText = <P extends Purpose>(
  trx: Trx,
  purpose: P,
  rowId: string,
  sealed: Buffer | null,
): Promise<Texts[P] | null> =>
  sealed === null ? Promise.resolve(null) : unseal<Texts[P]>(trx, 'tenant', place(purpose, rowId), sealed)
